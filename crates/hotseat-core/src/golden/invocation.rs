//! One invocation of an EvalCase in the making.

use serde_json::{Map, Value, json};

use crate::adk_event::AdkPart;
use crate::tool_calls::{EndedCall, Outcome};

/// One user message and what followed, as far as an evaluation looks at it.
#[derive(Default)]
pub(super) struct Invocation {
    /// ADK's id of it, once an event says it.
    pub(super) adk_id: Option<String>,
    user_parts: Vec<AdkPart>,
    timestamp: Value,
    tool_uses: Vec<Value>,
    tool_responses: Vec<Value>,
    /// What was said, in order: author and parts.
    texts: Vec<(String, Vec<AdkPart>)>,
    /// Which of the texts is the final response.
    final_text: Option<usize>,
}

impl Invocation {
    pub(super) fn new(adk_id: Option<String>, user_parts: Vec<AdkPart>, timestamp: Value) -> Self {
        Self { adk_id, user_parts, timestamp, ..Self::default() }
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.final_text.is_none()
    }

    pub(super) fn say(&mut self, author: String, parts: Vec<AdkPart>) {
        self.texts.push((author, parts));
    }

    /// What was said last is the final response.
    pub(super) fn finish(&mut self) {
        self.final_text = self.texts.len().checked_sub(1);
    }

    pub(super) fn call(&mut self, id: &str, name: &str, args: Value) {
        self.tool_uses.push(named(id, name, "args", args));
    }

    /// A second result of a call replaces the first, which only said that the
    /// call waits.
    pub(super) fn end<S>(&mut self, call: EndedCall<'_, S>) {
        let earlier = if call.repeated {
            self.tool_responses.iter().rposition(|response| response["id"] == call.id)
        } else {
            None
        };
        match earlier {
            Some(index) => self.tool_responses[index] = tool_response(call),
            None => self.tool_responses.push(tool_response(call)),
        }
    }

    pub(super) fn into_value(mut self, id: String) -> Value {
        let parts =
            |parts: Vec<AdkPart>| -> Value { parts.into_iter().map(AdkPart::into_value).collect() };
        let mut invocation = Map::new();
        let mut set = |key: &str, value| drop(invocation.insert(key.to_owned(), value));
        set("invocation_id", Value::String(id));
        set("user_content", content("user", parts(self.user_parts)));
        if let Some(index) = self.final_text {
            let (_, text) = self.texts.remove(index);
            set("final_response", content("model", parts(text)));
        }
        let said = self.texts.into_iter();
        let said = said.map(|(author, said)| Value::Array(vec![author.into(), parts(said)]));
        let data = object([
            ("tool_uses", self.tool_uses.into()),
            ("tool_responses", self.tool_responses.into()),
            ("intermediate_responses", said.collect()),
        ]);
        set("intermediate_data", data);
        set("creation_timestamp", self.timestamp);
        Value::Object(invocation)
    }
}

/// Errors have one form whoever reported them, and no traceback: it names paths
/// of the machine it was recorded on.
fn tool_response<S>(call: EndedCall<'_, S>) -> Value {
    let response = match call.outcome {
        Outcome::Output(output @ Value::Object(_)) => output,
        Outcome::Output(output) => json!({"result": output}),
        Outcome::Error { error_type, message, .. } => {
            json!({"error": {"type": error_type, "message": message}})
        }
    };
    named(call.id, call.name, "response", response)
}

/// What a call or its result is made of.
fn named(id: &str, name: &str, key: &str, value: Value) -> Value {
    object([("id", id.into()), ("name", name.into()), (key, value)])
}

/// A genai Content.
fn content(role: &str, parts: Value) -> Value {
    object([("role", role.into()), ("parts", parts)])
}

/// An object of values that are moved into it, where `json!` would copy them: what came from the
/// log may be large.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
