//! The events of a streamed message.

use serde_json::{Value, json};

use crate::ModelError;
use crate::provider::answer::{Answer, Words};
use crate::provider::client::{Flow, Reader};
use crate::provider::fields::set;
use crate::provider::media::encode_signature;

/// Reads events until `message_stop`.
#[derive(Debug, Default)]
pub(super) struct Events {
    usage: Usage,
}

/// What was counted so far; later events repeat and correct earlier ones.
#[derive(Debug, Default)]
struct Usage {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_written: Option<u64>,
}

impl Reader for Events {
    fn read(&mut self, message: &str, answer: &mut Answer<'_>) -> Result<Flow, ModelError> {
        let event: Value = serde_json::from_str(message)
            .map_err(|error| answer.unreadable(&format!("{error} in {message}")))?;
        let index = event.get("index").and_then(Value::as_u64);
        match event.get("type").and_then(Value::as_str) {
            Some("message_start") => {
                let model = event.pointer("/message/model").and_then(Value::as_str);
                answer.model_version = model.map(str::to_owned);
                self.count(event.pointer("/message/usage"), answer);
            }
            Some("content_block_start") => begin(&event["content_block"], index, answer)?,
            Some("content_block_delta") => more(&event["delta"], index, answer)?,
            Some("message_delta") => {
                if let Some(reason) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
                    answer.finish_reason = Some(finish_reason(reason).to_owned());
                }
                self.count(event.get("usage"), answer);
            }
            Some("message_stop") => return Ok(Flow::Done),
            Some("error") => {
                let kind = event.pointer("/error/type").and_then(Value::as_str);
                return Err(answer.refused(status(kind.unwrap_or_default()), &event));
            }
            // Anthropic adds kinds of events and asks that unknown ones be ignored.
            Some(_) => {}
            None => return Err(answer.unreadable(&format!("an event without type: {message}"))),
        }
        Ok(Flow::More)
    }

    fn complete(&self) -> bool {
        false
    }
}

impl Events {
    fn count(&mut self, usage: Option<&Value>, answer: &mut Answer<'_>) {
        let Some(usage) = usage else { return };
        let read = |place: &str, before: Option<u64>| {
            usage.pointer(place).and_then(Value::as_u64).or(before)
        };
        self.usage = Usage {
            input: read("/input_tokens", self.usage.input),
            output: read("/output_tokens", self.usage.output),
            cache_read: read("/cache_read_input_tokens", self.usage.cache_read),
            cache_written: read("/cache_creation_input_tokens", self.usage.cache_written),
        };
        answer.usage = Some(self.usage.to_adk());
    }
}

impl Usage {
    /// Anthropic counts the cached part of the prompt apart, ADK counts it in.
    /// Thoughts are part of the output, and nobody says how much of it.
    fn to_adk(&self) -> Value {
        let cached = self.cache_read.unwrap_or_default();
        let prompt =
            self.input.unwrap_or_default() + cached + self.cache_written.unwrap_or_default();
        let output = self.output.unwrap_or_default();
        let mut usage = json!({
            "prompt_token_count": prompt,
            "candidates_token_count": output,
            "total_token_count": prompt + output,
        });
        set(&mut usage, "cached_content_token_count", (cached > 0).then(|| Value::from(cached)));
        usage
    }
}

fn begin(block: &Value, index: Option<u64>, answer: &mut Answer<'_>) -> Result<(), ModelError> {
    let text = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text" => {
            answer.begin_words(Words::Text)?;
            answer.say(Words::Text, text("text"))
        }
        "thinking" => {
            answer.begin_words(Words::Thought)?;
            answer.say(Words::Thought, text("thinking"))
        }
        "redacted_thinking" => {
            let data = encode_signature(text("data"));
            answer.keep(json!({"thought": true, "thought_signature": data}))
        }
        "tool_use" => {
            answer.begin_call(index, Some(text("id")), text("name"))?;
            // Usually empty here, and told by the deltas.
            match block.get("input") {
                Some(input @ Value::Object(args)) if !args.is_empty() => {
                    answer.args(index, &input.to_string())
                }
                _ => Ok(()),
            }
        }
        // Blocks of tools that run at Anthropic, none of which we offer.
        other => Err(answer.unreadable(&format!("a block of the unknown type `{other}`"))),
    }
}

fn more(delta: &Value, index: Option<u64>, answer: &mut Answer<'_>) -> Result<(), ModelError> {
    let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
    match text("type") {
        "text_delta" => answer.say(Words::Text, text("text")),
        "thinking_delta" => answer.say(Words::Thought, text("thinking")),
        "signature_delta" => answer.sign(encode_signature(text("signature"))),
        "input_json_delta" => answer.args(index, text("partial_json")),
        _ => Ok(()),
    }
}

fn finish_reason(reason: &str) -> &'static str {
    match reason {
        "end_turn" | "tool_use" | "stop_sequence" => "STOP",
        "max_tokens" | "model_context_window_exceeded" => "MAX_TOKENS",
        "refusal" => "SAFETY",
        _ => "OTHER",
    }
}

/// The status that the error would have had, had it come before the answer.
fn status(kind: &str) -> u16 {
    match kind {
        "invalid_request_error" => 400,
        "authentication_error" => 401,
        "billing_error" => 402,
        "permission_error" => 403,
        "not_found_error" => 404,
        "request_too_large" => 413,
        "rate_limit_error" => 429,
        "timeout_error" => 504,
        "overloaded_error" => 529,
        _ => 500,
    }
}
