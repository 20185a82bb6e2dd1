//! One invocation of an EvalCase in the making.

use serde_json::{Value, json};

use super::case::{CaseInvocation, Content, IntermediateData, ToolResponse, ToolUse};
use crate::adk_event::AdkPart;
use crate::tool_calls::{EndedCall, Outcome};

/// One user message and what followed, as far as an evaluation looks at it.
#[derive(Default)]
pub(super) struct Invocation {
    /// ADK's id of it, once an event says it.
    pub(super) adk_id: Option<String>,
    user_parts: Vec<AdkPart>,
    timestamp: Value,
    data: IntermediateData,
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
        self.data.intermediate_responses.push((author, parts));
    }

    /// What was said last is the final response.
    pub(super) fn finish(&mut self) {
        self.final_text = self.data.intermediate_responses.len().checked_sub(1);
    }

    pub(super) fn call(&mut self, id: String, name: String, args: Value) {
        self.data.tool_uses.push(ToolUse { id, name, args });
    }

    /// A second result of a call replaces the first, which only said that the
    /// call waits.
    pub(super) fn end<S>(&mut self, call: EndedCall<'_, S>) {
        let responses = &mut self.data.tool_responses;
        let earlier = if call.repeated {
            responses.iter().rposition(|response| response.id == call.id)
        } else {
            None
        };
        match earlier {
            Some(index) => responses[index] = tool_response(call),
            None => responses.push(tool_response(call)),
        }
    }

    pub(super) fn into_case(mut self, invocation_id: String) -> CaseInvocation {
        let final_response = self.final_text.map(|index| {
            let (_, parts) = self.data.intermediate_responses.remove(index);
            Content { role: "model", parts }
        });
        CaseInvocation {
            invocation_id,
            user_content: Content { role: "user", parts: self.user_parts },
            final_response,
            intermediate_data: self.data,
            creation_timestamp: self.timestamp,
        }
    }
}

/// Errors have one form whoever reported them, and no traceback: it names paths
/// of the machine it was recorded on.
fn tool_response<S>(call: EndedCall<'_, S>) -> ToolResponse {
    let response = match call.outcome {
        Outcome::Output(output @ Value::Object(_)) => output,
        Outcome::Output(output) => json!({"result": output}),
        Outcome::Error { error_type, message, .. } => {
            json!({"error": {"type": error_type, "message": message}})
        }
    };
    ToolResponse { id: call.id.to_owned(), name: call.name.to_owned(), response }
}
