//! What the store says about sessions and turns.

use hotseat_core::{Seq, SessionId, SessionStatus, TurnId};
use jiff::Timestamp;

/// A session to create.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Its id; creating the same id twice returns what is there.
    pub id: SessionId,
    /// When it is created.
    pub created_at: Timestamp,
    /// A label.
    pub description: Option<String>,
    /// The agent it is with.
    pub agent: Option<String>,
    /// ADK's application name.
    pub app_name: String,
    /// ADK's user id.
    pub user_id: String,
    /// Who drives it: `web` or `plugin`.
    pub source: String,
}

/// A session with the summary of its log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its last event was appended.
    pub updated_at: Timestamp,
    /// A label.
    pub description: Option<String>,
    /// The first thing the user said.
    pub title: Option<String>,
    /// `active`, then `completed`, never back.
    pub status: SessionStatus,
    /// The agent it is with.
    pub agent: Option<String>,
    /// ADK's application name.
    pub app_name: String,
    /// ADK's user id.
    pub user_id: String,
    /// Who drives it: `web` or `plugin`.
    pub source: String,
    /// The last event of its log.
    pub last_seq: Seq,
    /// How many turns wait for an answer.
    pub pending_turns: u32,
    /// The run that is going on.
    pub run: Option<OpenRun>,
}

/// A run that has not ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRun {
    /// Its id.
    pub run_id: String,
    /// `queued` or `started`.
    pub status: String,
    /// Since when it has this status.
    pub since: Timestamp,
}

/// What creating a session did.
#[derive(Debug, Clone)]
pub enum Created {
    /// It is new.
    New(Session),
    /// The id was there already; nothing changed.
    Existing(Session),
}

impl Created {
    /// The session, new or not.
    pub fn into_session(self) -> Session {
        match self {
            Self::New(session) | Self::Existing(session) => session,
        }
    }
}

/// What an append did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The last event of the log now.
    pub last_seq: Seq,
    /// For every event given, where it stands.
    pub seqs: Vec<Seq>,
    /// How many of them are new; the others were there already.
    pub new: usize,
}

/// A turn: where its request and its response stand in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its session.
    pub session_id: SessionId,
    /// Its id.
    pub turn_id: TurnId,
    /// Where the request stands.
    pub request: Seq,
    /// Where the response stands, once there is one.
    pub response: Option<Seq>,
}

/// How much the store holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Sessions.
    pub sessions: u64,
    /// Turns that wait for an answer.
    pub pending_turns: u64,
}
