//! The events of a session's log.
//!
//! An [`Event`] is an envelope around a payload that is kept verbatim: the
//! envelope holds what the log is searched and ordered by, the payload is the
//! JSON text as it arrived. Nothing here interprets the payload; the
//! projections in the modules beside this one do, each for its purpose.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{Seq, SessionId, TurnId};

/// What an event says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A turn was opened: a model request waits for an answer.
    Request,
    /// A turn was answered or dismissed.
    Response,
    /// A raw ADK event.
    Event,
    /// A tool started or ended.
    ToolRun,
    /// A run was queued, started or ended.
    Run,
    /// The session itself changed: it began with a state, or was completed.
    Session,
    /// Somebody put a message into the session that no ADK event carries.
    Message,
}

impl Kind {
    /// All kinds, in the order of their story.
    pub const ALL: [Kind; 7] = [
        Kind::Request,
        Kind::Response,
        Kind::Event,
        Kind::ToolRun,
        Kind::Run,
        Kind::Session,
        Kind::Message,
    ];

    /// The word used in JSON, SQL and proto.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Request => "request",
            Kind::Response => "response",
            Kind::Event => "event",
            Kind::ToolRun => "tool_run",
            Kind::Run => "run",
            Kind::Session => "session",
            Kind::Message => "message",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no [`Kind`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not a kind of event: use request, response, event, tool_run, run, session or message"
)]
pub struct UnknownKind(String);

impl FromStr for Kind {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        Kind::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| UnknownKind(text.chars().take(64).collect()))
    }
}

/// An event that is not in the log yet.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Unique in its session. For raw ADK events, ADK's own id.
    pub event_id: String,
    /// When it happened, as the server saw it.
    pub timestamp: Timestamp,
    /// What it says.
    pub kind: Kind,
    /// The turn it opens or ends; set exactly for requests and responses.
    pub turn_id: Option<TurnId>,
    /// ADK's id of the invocation it belongs to.
    pub invocation_id: Option<String>,
    /// Who made it: `user`, an agent, or for a response the seat.
    pub author: String,
    /// The agent it concerns.
    pub agent_name: String,
    /// ADK's branch, where agents run side by side.
    pub branch: Option<String>,
    /// The function call inside which it happened, where an agent is run as a tool.
    pub parent_call_id: Option<String>,
    /// The payload, verbatim.
    pub payload: Box<RawValue>,
}

/// An immutable entry in a session's log.
#[derive(Debug, Clone)]
pub struct Event {
    /// Its session.
    pub session_id: SessionId,
    /// Its place in the log.
    pub seq: Seq,
    /// What was appended.
    pub entry: NewEvent,
}

impl std::ops::Deref for Event {
    type Target = NewEvent;

    fn deref(&self) -> &NewEvent {
        &self.entry
    }
}
