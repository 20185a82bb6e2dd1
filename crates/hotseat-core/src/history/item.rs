//! The entries that calls, their results and failed runs become.

use serde_json::Value;

use super::{Answered, HistoryItem};
use crate::payload::{RunChange, RunFailure, RunStatus};
use crate::tool_calls::{EndedCall, Outcome, TRANSFER_TOOL};

impl HistoryItem {
    /// A call is a tool call, or the transfer that it brings about.
    pub(super) fn of_call(
        agent_name: &str,
        call_id: String,
        tool_name: String,
        arguments: Value,
        answered: Option<Answered>,
    ) -> Self {
        let agent_name = agent_name.to_owned();
        let answered = answered.unwrap_or_default();
        if tool_name != TRANSFER_TOOL {
            return Self::ToolCall { agent_name, tool_name, arguments, call_id, answered };
        }
        let to_agent = arguments.get("agent_name").and_then(Value::as_str).unwrap_or_default();
        Self::Transfer { agent_name, to_agent: to_agent.to_owned(), call_id: Some(call_id) }
    }

    /// A result is an output or an error.
    pub(super) fn of_result<S>(call: EndedCall<'_, S>) -> Self {
        let (call_id, tool_name) = (call.id.to_owned(), call.name.to_owned());
        let duration_ms = call.duration_ms;
        match call.outcome {
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
