//! The chunks of a streamed chat completion.

use serde_json::{Value, json};

use crate::ModelError;
use crate::provider::answer::{Answer, Words};
use crate::provider::client::{Flow, Reader};
use crate::provider::fields::set;

/// Reads chunks until `[DONE]`.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    finished: bool,
    refused: bool,
}

impl Reader for Chunks {
    fn read(&mut self, message: &str, answer: &mut Answer<'_>) -> Result<Flow, ModelError> {
        if message.trim() == "[DONE]" {
            // Without a reason to end, something in between swallowed the rest.
            return if self.finished {
                Ok(Flow::Done)
            } else {
                Err(answer.unreadable("[DONE] before the answer was finished"))
            };
        }
        let chunk: Value = serde_json::from_str(message)
            .map_err(|error| answer.unreadable(&format!("{error} in {message}")))?;
        if let Some(error) = chunk.get("error").filter(|error| !error.is_null()) {
            let code = error.get("code").and_then(Value::as_u64);
            let status = code.and_then(|code| u16::try_from(code).ok()).unwrap_or(500);
            return Err(answer.refused(status, &chunk));
        }
        if let Some(model) = chunk.get("model").and_then(Value::as_str)
            && !model.is_empty()
        {
            answer.model_version = Some(model.to_owned());
        }
        if let Some(usage) = chunk.get("usage").filter(|usage| usage.is_object()) {
            answer.usage = Some(read_usage(usage));
        }
        let Some(choice) = chunk.pointer("/choices/0") else { return Ok(Flow::More) };
        if let Some(delta) = choice.get("delta") {
            self.delta(delta, answer)?;
        }
        if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
            self.finished = true;
            answer.finish_reason = Some(finish_reason(reason, self.refused).to_owned());
        }
        Ok(Flow::More)
    }

    fn complete(&self) -> bool {
        self.finished
    }
}

impl Chunks {
    fn delta(&mut self, delta: &Value, answer: &mut Answer<'_>) -> Result<(), ModelError> {
        let text = |name: &str| delta.get(name).and_then(Value::as_str).unwrap_or_default();
        // OpenAI itself keeps its thoughts; others say them under either name.
        let thought = Some(text("reasoning_content")).filter(|thought| !thought.is_empty());
        answer.say(Words::Thought, thought.unwrap_or_else(|| text("reasoning")))?;
        answer.say(Words::Text, text("content"))?;
        if !text("refusal").is_empty() {
            self.refused = true;
            answer.say(Words::Text, text("refusal"))?;
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array);
        for (position, call) in calls.into_iter().flatten().enumerate() {
            call_delta(position, call, answer)?;
        }
        Ok(())
    }
}

/// A call begins with its id and name; later pieces have only the index. Some
/// servers leave out the index or use one index for several calls with ids of
/// their own.
fn call_delta(position: usize, call: &Value, answer: &mut Answer<'_>) -> Result<(), ModelError> {
    let index = call.get("index").and_then(Value::as_u64);
    let index = index.or_else(|| u64::try_from(position).ok()).unwrap_or_default();
    let id = call.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let name = call.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
    if !answer.has_call(index, id) {
        answer.begin_call(Some(index), id, name)?;
    }
    match call.pointer("/function/arguments") {
        Some(Value::String(more)) => answer.args(Some(index), more),
        Some(whole @ Value::Object(_)) => answer.args(Some(index), &whole.to_string()),
        _ => Ok(()),
    }
}

fn finish_reason(reason: &str, refused: bool) -> &'static str {
    match reason {
        "content_filter" => "SAFETY",
        _ if refused => "SAFETY",
        "length" => "MAX_TOKENS",
        "stop" | "tool_calls" | "function_call" => "STOP",
        _ => "OTHER",
    }
}

/// OpenAI counts thoughts as part of the completion, ADK counts them apart.
fn read_usage(usage: &Value) -> Value {
    let count = |place: &str| usage.pointer(place).and_then(Value::as_u64);
    let thoughts = count("/completion_tokens_details/reasoning_tokens").filter(|count| *count > 0);
    let (prompt, completion) = (count("/prompt_tokens"), count("/completion_tokens"));
    let candidates = completion.map(|all| all.saturating_sub(thoughts.unwrap_or_default()));
    let total = count("/total_tokens")
        .or_else(|| Some(prompt.unwrap_or_default() + completion.unwrap_or_default()));
    let mut read = json!({});
    set(&mut read, "prompt_token_count", prompt.map(Value::from));
    set(&mut read, "candidates_token_count", candidates.map(Value::from));
    set(&mut read, "thoughts_token_count", thoughts.map(Value::from));
    let cached = count("/prompt_tokens_details/cached_tokens").filter(|count| *count > 0);
    set(&mut read, "cached_content_token_count", cached.map(Value::from));
    set(&mut read, "total_token_count", total.map(Value::from));
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeatAnswer;

    /// The answer to which these deltas add up.
    fn heard(deltas: &[Value]) -> SeatAnswer {
        let mut sink = |_| {};
        let mut answer = Answer::new("openai", &mut sink);
        let mut chunks = Chunks::default();
        for delta in deltas {
            let chunk = json!({"choices": [{"delta": delta}]});
            chunks.read(&chunk.to_string(), &mut answer).unwrap();
        }
        let last = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]});
        chunks.read(&last.to_string(), &mut answer).unwrap();
        // Some servers end without saying so.
        assert!(chunks.complete());
        answer.finish().unwrap()
    }

    fn calls(answer: &SeatAnswer) -> Vec<(&str, String)> {
        let parts = answer.content["parts"].as_array().unwrap();
        let calls = parts.iter().map(|part| &part["function_call"]);
        calls.map(|call| (call["id"].as_str().unwrap(), call["args"].to_string())).collect()
    }

    #[test]
    fn calls_without_an_index_are_told_apart_by_their_ids() {
        let call = |id: &str, args: &str| json!({"tool_calls": [{"id": id, "function": {"name": "f", "arguments": args}}]});
        let heard = heard(&[call("a", "{}"), call("b", "{\"n\":"), call("b", "1}")]);
        assert_eq!(calls(&heard), [("a", "{}".to_owned()), ("b", r#"{"n":1}"#.to_owned())]);
    }

    #[test]
    fn calls_may_come_whole_and_with_arguments_that_are_no_text() {
        let call = |args: Value| json!({"id": null, "function": {"name": "f", "arguments": args}});
        let heard = heard(&[json!({"tool_calls": [call(json!({"n": 1})), call(Value::Null)]})]);
        let calls = calls(&heard);
        assert_eq!((calls[0].1.as_str(), calls[1].1.as_str()), (r#"{"n":1}"#, "{}"));
        assert!(calls.iter().all(|(id, _)| id.starts_with("adk-")), "{calls:?}");
    }

    #[test]
    fn calls_that_are_told_in_turns_do_not_mix() {
        let more = |index: u64, args: &str| json!({"tool_calls": [{"index": index, "function": {"arguments": args}}]});
        let begin = |index: u64, id: &str| json!({"tool_calls": [{"index": index, "id": id, "function": {"name": "f"}}]});
        let heard = heard(&[
            begin(0, "a"),
            begin(1, "b"),
            more(1, "{\"b\""),
            more(0, "{\"a\""),
            more(0, ":1}"),
            more(1, ":2}"),
        ]);
        assert_eq!(calls(&heard), [("a", r#"{"a":1}"#.to_owned()), ("b", r#"{"b":2}"#.to_owned())]);
    }

    #[test]
    fn reasoning_has_two_names() {
        let heard = heard(&[json!({"reasoning": "Hm"}), json!({"reasoning_content": "…"})]);
        assert_eq!(heard.content["parts"], json!([{"text": "Hm…", "thought": true}]));
    }
}
