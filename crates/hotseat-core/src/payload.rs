//! The payloads that Hotseat itself writes into the log.
//!
//! They are read leniently: fields that a later version adds are ignored, so
//! an older server can read a newer log.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::seat::Seat;
use crate::word::words;

words!(
    /// How far a tool got.
    ToolRunStatus, "tool status", {
        /// It runs.
        Started = "started",
        /// It runs, and says how far it is.
        Progress = "progress",
        /// Somebody wants it stopped.
        CancelRequested = "cancel_requested",
        /// It returned.
        Succeeded = "succeeded",
        /// It raised.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
);

words!(
    /// How far a run got.
    RunStatus, "run status", {
        /// It waits for a worker.
        Queued = "queued",
        /// A worker works on it.
        Started = "started",
        /// It came to its end.
        Finished = "finished",
        /// It raised.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
);

impl RunStatus {
    /// Whether nothing follows.
    pub const fn is_end(self) -> bool {
        match self {
            RunStatus::Queued | RunStatus::Started => false,
            RunStatus::Finished | RunStatus::Failed | RunStatus::Cancelled => true,
        }
    }
}

/// Payload of a `tool_run` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolRun {
    /// The function call that the tool answers.
    #[serde(alias = "callId")]
    pub call_id: String,
    /// The tool's name.
    #[serde(alias = "toolName")]
    pub tool_name: String,
    /// How far it got.
    pub status: ToolRunStatus,
    /// What it does right now; with `progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// How much of it is done, from 0 to 1; with `progress`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fraction: Option<f64>,
    /// How long it took, once it ended.
    #[serde(default, alias = "durationMs", skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// Class of the exception.
    #[serde(default, alias = "errorType", skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// Message of the exception.
    #[serde(default, alias = "errorMessage", skip_serializing_if = "Option::is_none")]
    pub error_message: Option<String>,
    /// Where it was raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceback: Option<String>,
}

/// Payload of a `run` event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunChange {
    /// The run.
    ///
    /// A UUID for runs that were queued here; ADK's invocation id for those of
    /// the user's own program.
    #[serde(alias = "runId")]
    pub run_id: String,
    /// What became of it.
    pub status: RunStatus,
    /// The user message that it runs for, a genai Content; with `queued`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Value>,
    /// Who answers for the model; with `queued`. A run that says nothing has a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seat: Option<Seat>,
    /// Whether pieces of answers are wanted as they come; with `queued`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub streaming: bool,
    /// Tools that run where the user is: `{name, description, parameters}`; with `queued`.
    #[serde(default, alias = "clientTools", skip_serializing_if = "Vec::is_empty")]
    pub client_tools: Vec<Value>,
    /// Changes of the state that came with the message; with `queued`.
    #[serde(default, alias = "stateDelta", skip_serializing_if = "Map::is_empty")]
    pub state_delta: Map<String, Value>,
    /// What the front door that took the message wants to find again; with `queued`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<Value>,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<RunFailure>,
}

/// Why a run failed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFailure {
    /// Class of the exception.
    #[serde(rename = "type")]
    pub error_type: String,
    /// Its message.
    pub message: String,
    /// Where it was raised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traceback: Option<String>,
}

/// A payload that does not have the form of its kind.
#[derive(Debug, thiserror::Error)]
#[error("the payload is not a valid {what}")]
pub struct InvalidPayload {
    what: &'static str,
    #[source]
    source: serde_json::Error,
}

impl ToolRun {
    /// Reads the payload of a `tool_run` event.
    pub fn parse(payload: &RawValue) -> Result<Self, InvalidPayload> {
        serde_json::from_str(payload.get())
            .map_err(|source| InvalidPayload { what: "tool_run", source })
    }

    /// The payload to store.
    pub fn to_payload(&self) -> Box<RawValue> {
        raw(self)
    }
}

impl RunChange {
    /// Reads the payload of a `run` event.
    pub fn parse(payload: &RawValue) -> Result<Self, InvalidPayload> {
        serde_json::from_str(payload.get()).map_err(|source| InvalidPayload { what: "run", source })
    }

    /// The payload to store.
    pub fn to_payload(&self) -> Box<RawValue> {
        raw(self)
    }
}

/// The JSON text of one of our own types.
#[expect(clippy::expect_used, reason = "our types have text keys only, so writing cannot fail")]
pub(crate) fn raw(value: &impl Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).expect("a type with text keys is JSON")
}
