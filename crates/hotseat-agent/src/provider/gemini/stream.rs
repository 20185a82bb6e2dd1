//! The chunks of a streamed answer, each a small `GenerateContentResponse`.

use serde_json::{Value, json};

use super::request::snake_part;
use crate::ModelError;
use crate::provider::answer::{Answer, Words};
use crate::provider::client::{Flow, Reader};
use crate::provider::fields::set;

/// Reads chunks until the stream ends; no message says that it does.
#[derive(Debug, Default)]
pub(super) struct Chunks {
    finished: bool,
}

impl Reader for Chunks {
    fn read(&mut self, message: &str, answer: &mut Answer<'_>) -> Result<Flow, ModelError> {
        let chunk: Value = serde_json::from_str(message)
            .map_err(|error| answer.unreadable(&format!("{error} in {message}")))?;
        if let Some(error) = chunk.get("error") {
            let code = error.get("code").and_then(Value::as_u64);
            let status = code.and_then(|code| u16::try_from(code).ok()).unwrap_or(500);
            return Err(answer.refused(status, &chunk));
        }
        if let Some(model) = chunk.get("modelVersion").and_then(Value::as_str) {
            answer.model_version = Some(model.to_owned());
        }
        if let Some(usage) = chunk.get("usageMetadata") {
            answer.usage = Some(read_usage(usage));
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            let message = chunk.pointer("/promptFeedback/blockReasonMessage");
            self.end(reason, message, answer);
        }
        let Some(candidate) = chunk.pointer("/candidates/0") else { return Ok(Flow::More) };
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array);
        for part in parts.into_iter().flatten() {
            read_part(part, answer)?;
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.end(reason, candidate.get("finishMessage"), answer);
        }
        Ok(Flow::More)
    }

    fn complete(&self) -> bool {
        self.finished
    }
}

impl Chunks {
    fn end(&mut self, reason: &str, message: Option<&Value>, answer: &mut Answer<'_>) {
        self.finished = true;
        answer.finish_reason = Some(reason.to_owned());
        answer.finish_message = message.and_then(Value::as_str).map(str::to_owned);
    }
}

fn read_part(part: &Value, answer: &mut Answer<'_>) -> Result<(), ModelError> {
    let signature = part.get("thoughtSignature").and_then(Value::as_str);
    if let Some(call) = part.get("functionCall") {
        let text = |name: &str| call.get(name).and_then(Value::as_str);
        answer.call(text("id"), text("name").unwrap_or_default(), call.get("args"))?;
    } else if let Some(text) = part.get("text").and_then(Value::as_str) {
        let words = match part.get("thought") {
            Some(Value::Bool(true)) => Words::Thought,
            _ => Words::Text,
        };
        // A signed part goes back as it came, never merged with another.
        if signature.is_some() {
            answer.begin_words(words)?;
        }
        answer.say(words, text)?;
    } else {
        return answer.keep(snake_part(part));
    }
    match signature {
        Some(signature) => answer.sign(signature.to_owned()),
        None => Ok(()),
    }
}

fn read_usage(usage: &Value) -> Value {
    let mut read = json!({});
    for (name, adk) in [
        ("promptTokenCount", "prompt_token_count"),
        ("candidatesTokenCount", "candidates_token_count"),
        ("totalTokenCount", "total_token_count"),
        ("thoughtsTokenCount", "thoughts_token_count"),
        ("cachedContentTokenCount", "cached_content_token_count"),
        ("toolUsePromptTokenCount", "tool_use_prompt_token_count"),
    ] {
        set(&mut read, adk, usage.get(name).filter(|count| count.is_u64()).cloned());
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SeatAnswer;

    fn heard(chunks: &[Value]) -> SeatAnswer {
        let mut sink = |_| {};
        let mut answer = Answer::new("gemini", &mut sink);
        let mut reader = Chunks::default();
        for chunk in chunks {
            reader.read(&chunk.to_string(), &mut answer).unwrap();
        }
        assert!(reader.complete());
        answer.finish().unwrap()
    }

    #[test]
    fn parts_are_merged_unless_they_are_signed() {
        let chunk = |parts: Value| json!({"candidates": [{"content": {"parts": parts}}]});
        let heard = heard(&[
            chunk(json!([{"text": "a"}])),
            chunk(json!([{"text": "b"}])),
            chunk(json!([{"text": "", "thoughtSignature": "c2ln"}])),
            chunk(json!([{"executableCode": {"language": "PYTHON", "code": "1"}}, {"text": "c"}])),
            json!({"candidates": [{"finishReason": "STOP"}]}),
        ]);
        assert_eq!(
            heard.content["parts"],
            json!([
                {"text": "ab"},
                {"text": "", "thought_signature": "c2ln"},
                {"executable_code": {"language": "PYTHON", "code": "1"}},
                {"text": "c"},
            ])
        );
    }

    #[test]
    fn a_blocked_prompt_is_an_answer_with_an_error() {
        let feedback = json!({"blockReason": "SAFETY", "blockReasonMessage": "no"});
        let heard = heard(&[json!({"promptFeedback": feedback})]);
        assert_eq!(heard.error_code.as_deref(), Some("SAFETY"));
        assert_eq!(heard.error_message.as_deref(), Some("no"));
    }
}
