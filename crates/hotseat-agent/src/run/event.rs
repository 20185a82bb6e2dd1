//! The ADK events that a run makes.

use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::host::Host;
use crate::model::SeatAnswer;

/// Makes the events of one run.
pub(super) struct Events<'a> {
    pub(super) host: &'a dyn Host,
    pub(super) author: &'a str,
    pub(super) invocation_id: &'a str,
}

impl Events<'_> {
    /// The event of an answer. `pending` are the calls whose results come later.
    pub(super) fn answer(
        &self,
        answer: SeatAnswer,
        pending: &[String],
        state_delta: Option<Value>,
    ) -> Value {
        let mut event = self.blank();
        let mut set = |key: &str, value: Value| event.insert(key.to_owned(), value);
        if !answer.content.is_null() {
            set("content", answer.content);
        }
        if let Some(usage) = answer.usage {
            set("usage_metadata", usage);
        }
        for (key, value) in [
            ("finish_reason", answer.finish_reason),
            ("model_version", answer.model_version),
            ("error_code", answer.error_code),
            ("error_message", answer.error_message),
        ] {
            if let Some(value) = value {
                set(key, value.into());
            }
        }
        if !pending.is_empty() {
            set("long_running_tool_ids", pending.into());
        }
        let actions = match state_delta {
            Some(delta) => json!({"state_delta": delta}),
            None => json!({}),
        };
        set("actions", actions);
        Value::Object(event)
    }

    /// The event with the results of an answer's calls.
    pub(super) fn results(&self, parts: &[Value]) -> Value {
        let mut event = self.blank();
        event.insert("content".to_owned(), json!({"role": "user", "parts": parts}));
        event.insert("actions".to_owned(), json!({}));
        Value::Object(event)
    }

    fn blank(&self) -> Map<String, Value> {
        let mut event = Map::with_capacity(10);
        let mut set = |key: &str, value: Value| event.insert(key.to_owned(), value);
        set("id", Uuid::new_v4().to_string().into());
        set("invocation_id", self.invocation_id.into());
        set("author", self.author.into());
        set("timestamp", self.host.now().into());
        event
    }
}
