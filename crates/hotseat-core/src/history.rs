//! The history of a session: what a person reads instead of the log.
//!
//! The entries are those of the golden trace's story (a query, calls, results,
//! a final response) with what the page needs besides. [`HistoryProjector`]
//! makes them event by event, so that a stream and a page that loads later show
//! the same. Kept true by it:
//!
//! * a history begins with a user query;
//! * call ids are unique, and every output or error belongs to a call;
//! * one failure is told once;
//! * what ADK asks the user is no tool call, and the answer no user query.
//!
//! A call that waits for the user has no result yet, so what ADK records as its
//! response meanwhile ("requires confirmation") is left out: the request says it.
//!
//! A change of state is told by the first entry of the event that made it. Some
//! events change the state and say nothing else; theirs is told by the next entry
//! that an event of the same invocation makes, and by none if there is no such
//! entry. What is kept for one step only (`temp:`) is no change.

mod item;
mod projector;
mod query;
mod state;
mod turns;

use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Map, Value};

pub use projector::HistoryProjector;

use crate::instant::serialize_rfc3339;
use crate::{InputKind, Seq, TurnId};

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
    /// How it changed the session's state.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub state_delta: Map<String, Value>,
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
        /// Its result comes later, from the user.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        long_running: bool,
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
    /// ADK asks the user something.
    InputRequest {
        /// The agent that stopped for it.
        agent_name: String,
        /// What it is about.
        request: InputKind,
        /// Joins it to its answer.
        call_id: String,
        /// ADK's name of the function that asks.
        name: String,
        /// What is asked, in ADK's words.
        arguments: Value,
        /// The tool call that waits for the answer.
        for_call_id: Option<String>,
    },
    /// The user answered it.
    InputResponse {
        /// The request.
        call_id: String,
        /// ADK's name of the function that asked.
        name: String,
        /// The answer.
        response: Value,
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
    /// The name of the person who sat there, where several share the seat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// How long the turn was open.
    pub answered_after_ms: Option<u64>,
}
