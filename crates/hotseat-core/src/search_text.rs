//! What can be found in an entry of the log: everything said and called.
//!
//! Every sentence is found once. A turn's request repeats the conversation and
//! its response comes again as an ADK event, so neither is searched, and a
//! run's message is the user's event. What is no text (pictures, signatures)
//! is left out, and so is everything beyond [`MAX_SEARCH_BYTES`].

mod snippet;

use serde_json::{Map, Value};

pub use snippet::snippet;

use crate::adk_event::read_parts;
use crate::record::event_type;
use crate::{AdkPart, Kind, NewEvent, RunChange, ToolRun, alias};

/// How much of an entry is searched.
pub const MAX_SEARCH_BYTES: usize = 64 * 1024;

/// A string of this length or more without a gap may be base64.
const SHORTEST_BLOB: usize = 256;

/// Fields that say who, when and in which state, but nothing to read.
const NO_TEXT: [&str; 9] = [
    "id",
    "type",
    "timestamp",
    "status",
    "state",
    "author",
    "branch",
    "invocation_id",
    "session_id",
];

/// The text of an entry for the search index; none if there is nothing to find.
pub fn search_text(event: &NewEvent) -> Option<String> {
    search_text_of(event.kind, event.payload.get())
}

/// The same, of an entry's kind and payload.
pub fn search_text_of(kind: Kind, payload: &str) -> Option<String> {
    let mut found = Found::default();
    match kind {
        Kind::Request | Kind::Response => return None,
        Kind::Event => found.event(object(payload)?),
        Kind::ToolRun => {
            let run: ToolRun = serde_json::from_str(payload).ok()?;
            found.add_all([run.message, run.error_type, run.error_message]);
        }
        // Few fail, and the rest need not be read to know that.
        Kind::Run if !payload.contains("\"error\"") => return None,
        Kind::Run => {
            let error = serde_json::from_str::<RunChange>(payload).ok()?.error?;
            found.add_all([Some(error.error_type), Some(error.message)]);
        }
        Kind::Session => found.fields(&object(payload)?),
        Kind::Message => {
            found.value(object(payload)?.get("content")?, false);
        }
    }
    (!found.text.trim().is_empty()).then_some(found.text)
}

fn object(payload: &str) -> Option<Map<String, Value>> {
    serde_json::from_str(payload).ok()
}

/// Text that grows up to the limit.
#[derive(Default)]
struct Found {
    text: String,
    /// Nothing more is taken, so that what is found is a beginning without holes.
    full: bool,
}

impl Found {
    fn event(&mut self, mut event: Map<String, Value>) {
        let has_content = alias::get(&event, "content").is_some_and(Value::is_object);
        if has_content && let Some(mut content) = alias::take_object(&mut event, "content") {
            for part in read_parts(&mut content) {
                self.part(part);
            }
        }
        for field in ["error_code", "error_message"] {
            self.value(alias::get(&event, field).unwrap_or(&Value::Null), false);
        }
        if event_type(&event).is_none() {
            return;
        }
        // What research says is under `data`, or beside the type.
        match event.get("data") {
            Some(Value::Object(data)) => self.fields(data),
            Some(Value::String(words)) => self.add(words),
            _ => {
                let mut rest = event;
                for read in ["actions", "error_code", "errorCode", "error_message", "errorMessage"]
                {
                    rest.remove(read);
                }
                if has_content {
                    rest.remove("content");
                }
                self.fields(&rest);
            }
        }
    }

    fn part(&mut self, part: AdkPart) {
        match part {
            AdkPart::Text { text, .. } => self.add(&text),
            AdkPart::FunctionCall { name, args, .. } => {
                self.add(&name);
                self.value(&args, true);
            }
            AdkPart::FunctionResponse { name, response, .. } => {
                self.add(&name);
                self.value(&response, false);
            }
            AdkPart::Other(part) => self.other_part(&part),
        }
    }

    /// Code and its output, names of files. Of bytes only what they are, and
    /// nothing of the signatures that models give to their thoughts.
    fn other_part(&mut self, part: &Value) {
        for (key, value) in part.as_object().into_iter().flatten() {
            match (alias::snake_key(key).as_str(), value) {
                ("thought_signature", _) => {}
                ("inline_data", Value::Object(data)) => {
                    for field in ["display_name", "mime_type"] {
                        self.value(alias::get(data, field).unwrap_or(&Value::Null), false);
                    }
                }
                _ => self.value(value, false),
            }
        }
    }

    /// The texts and numbers in `value`; also what they are called, where
    /// somebody chose the names.
    fn value(&mut self, value: &Value, with_keys: bool) {
        if self.full {
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(number) => self.add(&number.to_string()),
            Value::String(text) => self.add(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, with_keys)),
            Value::Object(fields) if with_keys => {
                for (key, value) in fields {
                    self.add(key);
                    self.value(value, true);
                }
            }
            Value::Object(fields) => fields.values().for_each(|value| self.value(value, false)),
        }
    }

    /// The values of an object whose fields are ours to know.
    fn fields(&mut self, fields: &Map<String, Value>) {
        for (key, value) in fields {
            if !NO_TEXT.contains(&alias::snake_key(key).as_str()) {
                self.value(value, false);
            }
        }
    }

    fn add_all<const N: usize>(&mut self, texts: [Option<String>; N]) {
        texts.into_iter().flatten().for_each(|text| self.add(&text));
    }

    /// One piece on a line of its own, cut where the limit is. Control
    /// characters are left out: they are nothing to read, and two of them mark
    /// the matches of a snippet.
    fn add(&mut self, text: &str) {
        if text.is_empty() || is_blob(text) || self.full {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        for c in text.chars() {
            if self.text.len() + c.len_utf8() > MAX_SEARCH_BYTES {
                self.full = true;
                return;
            }
            self.text.push(if c.is_control() && !c.is_whitespace() { ' ' } else { c });
        }
    }
}

/// Whether it is bytes in base64 rather than words.
fn is_blob(text: &str) -> bool {
    let is_base64 = |b: u8| b.is_ascii_alphanumeric() || b"+/-_=".contains(&b);
    text.len() >= SHORTEST_BLOB && text.bytes().all(is_base64)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::payload::raw;

    fn entry(kind: Kind, payload: &Value) -> NewEvent {
        NewEvent {
            event_id: "evt-1".to_owned(),
            timestamp: "2025-10-18T14:00:00Z".parse().unwrap(),
            kind,
            turn_id: None,
            invocation_id: None,
            author: "root".to_owned(),
            agent_name: "root".to_owned(),
            branch: None,
            parent_call_id: None,
            payload: raw(payload),
        }
    }

    fn found(kind: Kind, payload: &Value) -> Option<String> {
        search_text(&entry(kind, payload)).map(|text| text.replace('\n', "|"))
    }

    #[test]
    fn everything_said_and_called_is_found() {
        let event = json!({
            "id": "e-1", "author": "root", "timestamp": 1.5, "errorCode": "429", "errorMessage": "slow\u{2}down",
            "content": {"role": "model", "parts": [
                {"text": "I look.", "thoughtSignature": "c2ln"}, {"text": "hm", "thought": true},
                {"functionCall": {"id": "c-1", "name": "search_web", "args": {"query": "Bern", "pages": [2, true]}}},
                {"functionResponse": {"name": "search_web", "response": {"result": "{\"n\": 1}", "picture": "aGVsbG8=".repeat(100)}}},
                {"inlineData": {"mimeType": "image/png", "data": "aGVsbG8="}, "thoughtSignature": "c2ln"},
                {"executableCode": {"language": "PYTHON", "code": "print(25)"}},
            ]},
            "actions": {"stateDelta": {"city": "Basel"}},
        });
        assert_eq!(
            found(Kind::Event, &event).unwrap(),
            "I look.|hm|search_web|query|Bern|pages|2|search_web|{\"n\": 1}|image/png|PYTHON|print(25)|429|slow down"
        );
    }

    #[test]
    fn research_is_found_by_what_it_says() {
        let event = json!({"type": "research_progress", "data": {
            "status": "running", "timestamp": 1, "current_phase": "Reading", "partial_results": {"key": "Aare"},
        }});
        assert_eq!(found(Kind::Event, &event).unwrap(), "Reading|Aare");
        let event = json!({"id": "e", "type": "error", "message": "quota", "content": {"parts": [{"text": "x"}]}});
        assert_eq!(found(Kind::Event, &event).unwrap(), "x|quota");
        assert_eq!(found(Kind::Event, &json!({"type": "error", "data": "bad"})).unwrap(), "bad");
    }

    #[test]
    fn failures_and_titles_are_found_and_turns_are_not() {
        let failed = json!({"call_id": "c", "tool_name": "add", "status": "failed", "error_type": "ValueError",
            "error_message": "no", "traceback": "..."});
        assert_eq!(found(Kind::ToolRun, &failed).unwrap(), "ValueError|no");
        let run = json!({"run_id": "r", "status": "failed", "error": {"type": "E", "message": "m"},
            "message": {"parts": [{"text": "Hi"}]}});
        assert_eq!(found(Kind::Run, &run).unwrap(), "E|m");
        assert_eq!(
            found(Kind::Session, &json!({"status": "completed", "state": {"a": "b"}})),
            None
        );
        assert_eq!(found(Kind::Session, &json!({"title": "Bern"})).unwrap(), "Bern");
        assert_eq!(
            found(Kind::Message, &json!({"id": "m", "content": "Hi", "metadata": {"a": "b"}}))
                .unwrap(),
            "Hi"
        );
        let response = json!({"candidates": [{"parts": [{"text": "25"}]}]});
        assert_eq!(found(Kind::Request, &response), None);
        assert_eq!(found(Kind::Response, &response), None);
        assert_eq!(found(Kind::Event, &json!([1])), None);
        assert_eq!(
            found(Kind::Event, &json!({"author": "root", "content": {"parts": [{"text": " "}]}})),
            None
        );
    }

    proptest! {
        #[test]
        fn text_is_bounded_and_its_beginning_is_kept(words in "[a-zä€😀 ]{0,40}", times in 1..5000_usize) {
            let long = words.repeat(times);
            let event = json!({"author": "root", "content": {"parts": [{"text": long}, {"text": "end"}]}});
            let text = search_text(&entry(Kind::Event, &event)).unwrap_or_default();
            prop_assert!(text.len() <= MAX_SEARCH_BYTES);
            prop_assert!(text.starts_with(&long) || is_blob(&long) || (long.starts_with(&text) && text.len() > MAX_SEARCH_BYTES - 4));
        }
    }
}
