//! The entries that calls, their results and failed runs become.

use serde_json::Value;

use super::{Answered, HistoryItem};
use crate::InputKind;
use crate::payload::{RunChange, RunFailure, RunStatus};
use crate::tool_calls::{EndedCall, Outcome, TRANSFER_TOOL};

/// A call as an agent makes it.
pub(super) struct NewCall<'a> {
    pub(super) agent_name: &'a str,
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
    pub(super) long_running: bool,
    pub(super) answered: Answered,
}

impl HistoryItem {
    /// A call is a tool call, the transfer that it brings about, or something
    /// that ADK asks the user, perhaps for another call.
    pub(super) fn of_call(call: NewCall<'_>, for_call_id: Option<String>) -> Self {
        let NewCall { agent_name, id: call_id, name, arguments, long_running, answered } = call;
        let agent_name = agent_name.to_owned();
        if let Some(request) = InputKind::of_call(&name) {
            return Self::InputRequest {
                agent_name,
                request,
                call_id,
                name,
                arguments,
                for_call_id,
            };
        }
        if name == TRANSFER_TOOL {
            let to_agent = arguments.get("agent_name").and_then(Value::as_str).unwrap_or_default();
            let to_agent = to_agent.to_owned();
            return Self::Transfer { agent_name, to_agent, call_id: Some(call_id) };
        }
        Self::ToolCall { agent_name, tool_name: name, arguments, call_id, long_running, answered }
    }

    /// A result is an output, an error, or the answer to what ADK asked.
    pub(super) fn of_result<S>(call: EndedCall<'_, S>) -> Self {
        let (call_id, tool_name) = (call.id.to_owned(), call.name.to_owned());
        let duration_ms = call.duration_ms;
        match call.outcome {
            Outcome::Output(response) if InputKind::of_call(call.name).is_some() => {
                Self::InputResponse { call_id, name: tool_name, response }
            }
            Outcome::Output(result) => Self::ToolOutput { call_id, tool_name, result, duration_ms },
            Outcome::Error { error_type, message: error_message, traceback } => Self::ToolError {
                call_id,
                tool_name,
                error_type,
                error_message,
                traceback,
                duration_ms,
            },
        }
    }

    /// A run that failed or was cancelled, with what it says about it.
    pub(super) fn of_failed_run(run: RunChange) -> Self {
        let (error_type, message) = match run.status {
            RunStatus::Cancelled => ("Cancelled", "the run was cancelled"),
            _ => ("RunError", "the run failed"),
        };
        let failure = run.error.unwrap_or_else(|| RunFailure {
            error_type: error_type.to_owned(),
            message: message.to_owned(),
            traceback: None,
        });
        Self::RunError {
            error_type: failure.error_type,
            error_message: failure.message,
            traceback: failure.traceback,
        }
    }
}
