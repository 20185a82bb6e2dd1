//! What the store says about sessions and turns.

use std::collections::HashMap;

use hotseat_core::{NewEvent, Record, Seq, SessionId, SessionStatus, TurnId};
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::AdkCursor;

/// Whose a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The app it is of.
    pub app_name: String,
    /// The user it is of.
    pub user_id: String,
}

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
    /// Who drives it: `web`, `plugin` or `adk`.
    pub source: String,
    /// The id by which ADK knows it, where that is not ours.
    pub adk_id: Option<String>,
    /// What its log begins with, in the same commit.
    pub opening: Vec<NewEvent>,
}

/// A session with the summary of its log.
#[derive(Debug, Clone, PartialEq)]
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
    /// Who drives it: `web`, `plugin` or `adk`.
    pub source: String,
    /// The id by which ADK knows it, where that is not ours.
    pub adk_id: Option<String>,
    /// The last event of its log.
    pub last_seq: Seq,
    /// Events up to this one were removed by retention or clearing.
    pub removed_through: Seq,
    /// How many turns wait for an answer.
    pub pending_turns: u32,
    /// How many times ADK waits for the user: for a confirmation, a credential, an input.
    pub open_requests: u32,
    /// The run that is going on.
    pub run: Option<OpenRun>,
    /// The last raw ADK event of its log.
    pub event_head: Seq,
    /// When that one happened by its own account, in seconds since 1970.
    pub update_time: Option<f64>,
    /// How many raw ADK events its log holds.
    pub event_count: u64,
    /// How many messages were derived from it.
    pub message_count: u64,
    /// Bytes of its payloads.
    pub bytes: u64,
    /// How far the work is, where events tell.
    pub record: Record,
    /// Tells it from another session that had the same id before.
    pub incarnation: i64,
}

impl Session {
    /// A session without a log.
    pub(crate) fn fresh(new: &NewSession) -> Self {
        Self {
            id: new.id,
            created_at: new.created_at,
            updated_at: new.created_at,
            description: new.description.clone(),
            title: None,
            status: SessionStatus::Active,
            agent: new.agent.clone(),
            app_name: new.app_name.clone(),
            user_id: new.user_id.clone(),
            source: new.source.clone(),
            adk_id: new.adk_id.clone(),
            last_seq: Seq::START,
            removed_through: Seq::START,
            pending_turns: 0,
            open_requests: 0,
            run: None,
            event_head: Seq::START,
            update_time: None,
            event_count: 0,
            message_count: 0,
            bytes: 0,
            record: Record::default(),
            incarnation: uuid::Uuid::new_v4().as_u64_pair().0.cast_signed(),
        }
    }

    /// ADK's own id of it.
    pub fn adk_id(&self) -> String {
        self.adk_id.clone().unwrap_or_else(|| self.id.to_string())
    }

    /// When it last changed, as ADK tells it: by its last event's own account.
    pub fn adk_update_time(&self) -> f64 {
        self.update_time.unwrap_or_else(|| self.created_at.as_duration().as_secs_f64())
    }

    /// Whether state with a shared prefix is shared with other sessions. The sessions of
    /// the simulator stand alone: trying something out must not change what others see.
    pub fn shares_state(&self) -> bool {
        matches!(self.source.as_str(), "adk" | "ag-ui")
    }
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
#[derive(Debug, Clone, PartialEq)]
pub struct Appended {
    /// The last event of the log now.
    pub last_seq: Seq,
    /// For every event given, where it stands.
    pub seqs: Vec<Seq>,
    /// How many of them are new; the others were there already.
    pub new: usize,
    /// It answered a turn on which there is still a claim, the answerer's or one that is over.
    pub claimed: bool,
    /// The last raw ADK event of the log now.
    pub event_head: Seq,
    /// When the session last changed, as ADK tells it.
    pub update_time: f64,
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

/// What sessions share: all of an app, and all of a user in it. Keys have no prefix.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SharedState {
    /// The app's.
    pub app: Map<String, Value>,
    /// Each user's.
    pub users: HashMap<String, Map<String, Value>>,
}

/// A page of ADK's list of sessions, with the state of each that it does not share.
#[derive(Debug, Clone)]
pub struct AdkPage {
    /// The sessions, oldest update first.
    pub sessions: Vec<(Session, Map<String, Value>)>,
    /// Where the next page starts, if there is one.
    pub next: Option<AdkCursor>,
}

/// A session as ADK reads it, all of one moment.
#[derive(Debug, Clone)]
pub struct AdkRead {
    /// The session.
    pub session: Session,
    /// Its state, without what it shares.
    pub state: Map<String, Value>,
    /// What it shares.
    pub shared: SharedState,
    /// Its raw events that were asked for.
    pub events: Vec<AdkStored>,
    /// There are more after these.
    pub more: bool,
}

/// A raw ADK event in the log.
#[derive(Debug, Clone, PartialEq)]
pub struct AdkStored {
    /// Its place.
    pub seq: Seq,
    /// Its own time, in seconds since 1970; 0 if it has none.
    pub time: f64,
    /// Its JSON, as it arrived.
    pub payload: String,
}
