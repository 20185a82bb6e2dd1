//! The history of a session: what a person reads instead of the log.
//!
//! The entries are those of the golden trace's story (a query, calls, results,
//! a final response) with what the page needs besides. [`HistoryProjector`]
//! makes them event by event, so that a stream and a page that loads later show
//! the same. Kept true by it:
//!
//! * a history begins with a user query;
//! * call ids are unique, and every output or error belongs to a call;
//! * one failure is told once.

mod item;
mod projector;
mod turns;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

pub use projector::HistoryProjector;

use crate::instant::serialize_rfc3339;
use crate::{Seq, TurnId};

/// One line of a session's history.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HistoryEntry {
    /// What happened. Flattened for writing only: reading numbers back through
    /// a flattened field would lose big integers.
    #[serde(flatten)]
    pub what: HistoryItem,
    /// The event that it comes from.
    pub seq: Seq,
    /// When it happened.
    #[serde(serialize_with = "serialize_rfc3339")]
    pub timestamp: Timestamp,
    /// ADK's invocation.
    pub invocation_id: Option<String>,
    /// ADK's branch, where agents run side by side.
    pub branch: Option<String>,
    /// The function call inside which it happened.
    pub parent_call_id: Option<String>,
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum HistoryItem {
    /// The user asked something.
    UserQuery {
        /// The words.
        content: String,
    },
    /// An agent called a tool.
    ToolCall {
        /// The agent.
        agent_name: String,
        /// The tool.
        tool_name: String,
        /// The arguments.
        arguments: Value,
        /// Joins it to its output or error.
        call_id: String,
        /// Who decided it.
        #[serde(flatten)]
        answered: Answered,
    },
    /// A tool returned.
    ToolOutput {
        /// The call.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// The function response as ADK recorded it.
        result: Value,
        /// How long it took, where that was measured.
        duration_ms: Option<f64>,
    },
    /// A tool failed or was cancelled.
    ToolError {
        /// The call.
        call_id: String,
        /// The tool.
        tool_name: String,
        /// Class of the exception.
        error_type: String,
        /// Its message.
        error_message: String,
        /// Where it was raised.
        traceback: Option<String>,
        /// How long it took, where that was measured.
        duration_ms: Option<f64>,
    },
    /// An agent said something on the way.
    AgentText {
        /// The agent.
        agent_name: String,
        /// The words.
        content: String,
    },
    /// An agent handed over to another.
    Transfer {
        /// The agent.
        agent_name: String,
        /// The one that takes over.
        to_agent: String,
        /// The call that did it; an agent in code can do without.
        call_id: Option<String>,
    },
    /// An agent gave its final response.
    FinalResponse {
        /// The agent.
        agent_name: String,
        /// The words.
        content: String,
        /// Who decided it.
        #[serde(flatten)]
        answered: Answered,
    },
    /// A run failed or was cancelled.
    RunError {
        /// Class of the exception, or ADK's error code.
        error_type: String,
        /// What happened.
        error_message: String,
        /// Where it was raised.
        traceback: Option<String>,
    },
}

/// Who answered the turn that led to an entry; empty where no turn did.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Answered {
    /// The turn.
    pub turn_id: Option<TurnId>,
    /// The seat that answered it.
    pub answered_by: Option<String>,
    /// How long the turn was open.
    pub answered_after_ms: Option<u64>,
}
