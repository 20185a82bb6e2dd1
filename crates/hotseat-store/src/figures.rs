//! What the store tells about itself: how much there is, what was removed, what readers did.

use std::fmt;
use std::str::FromStr;

use hotseat_core::{Seq, SessionId};
use jiff::Timestamp;

/// Sums over everything that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Sessions.
    pub sessions: u64,
    /// Sessions that are not completed.
    pub active: u64,
    /// Derived messages.
    pub messages: u64,
    /// Raw ADK events.
    pub events: u64,
    /// Entries of all logs, of every kind.
    pub entries: u64,
    /// Bytes of payloads, as they arrived.
    pub bytes: u64,
    /// Bytes of the database itself.
    pub file_bytes: u64,
    /// Sessions that somebody tried to get into.
    pub flagged: u64,
    /// Sessions that carry a warning.
    pub warned: u64,
    /// Attempts to get into sessions of others.
    pub failed_attempts: u64,
}

/// What happened in one minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinuteUsage {
    /// Its beginning.
    pub minute: Timestamp,
    /// Events that were appended, of every kind.
    pub events: u64,
    /// Those that tell of a failure.
    pub errors: u64,
    /// Tokens that models read.
    pub prompt_tokens: u64,
    /// Tokens that models wrote.
    pub output_tokens: u64,
}

/// What a tool did.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolUsage {
    /// Its name.
    pub name: String,
    /// How often it answered.
    pub calls: u64,
    /// How often with an error.
    pub errors: u64,
    /// How often its time was taken.
    pub timed: u64,
    /// The sum of its times.
    pub total_ms: f64,
    /// The longest of its times.
    pub max_ms: f64,
}

/// A session by its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSize {
    /// The session.
    pub id: SessionId,
    /// What it is about.
    pub title: Option<String>,
    /// Entries of its log.
    pub entries: u64,
    /// Bytes of their payloads.
    pub bytes: u64,
}

/// All figures, read together.
#[derive(Debug, Clone, Default)]
pub struct Figures {
    /// Sums over everything.
    pub totals: Totals,
    /// The last hour, oldest first; minutes without events are left out.
    pub minutes: Vec<MinuteUsage>,
    /// Tools, most called first.
    pub tools: Vec<ToolUsage>,
    /// Tokens that models read, ever.
    pub prompt_tokens: u64,
    /// Tokens that models wrote, ever.
    pub output_tokens: u64,
    /// The largest sessions.
    pub largest: Vec<SessionSize>,
    /// What was removed, ever.
    pub removals: Vec<Removal>,
}

/// Why something was removed without being deleted by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalReason {
    /// Nobody touched the session for too long.
    Expired,
    /// Nothing was ever said in it.
    Empty,
    /// There were too many sessions.
    TooManySessions,
    /// There were too many bytes.
    TooManyBytes,
    /// The session had too many events; the oldest went.
    TooManyEvents,
    /// Somebody cleared its events.
    Cleared,
}

impl RemovalReason {
    const ALL: [Self; 6] = [
        Self::Expired,
        Self::Empty,
        Self::TooManySessions,
        Self::TooManyBytes,
        Self::TooManyEvents,
        Self::Cleared,
    ];

    /// The word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Expired => "expired",
            Self::Empty => "empty",
            Self::TooManySessions => "too_many_sessions",
            Self::TooManyBytes => "too_many_bytes",
            Self::TooManyEvents => "too_many_events",
            Self::Cleared => "cleared",
        }
    }
}

impl fmt::Display for RemovalReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that is no reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a reason for a removal")]
pub struct UnknownReason;

impl FromStr for RemovalReason {
    type Err = UnknownReason;

    fn from_str(word: &str) -> Result<Self, UnknownReason> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == word).ok_or(UnknownReason)
    }
}

/// What was removed for one reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Removal {
    /// The reason.
    pub reason: RemovalReason,
    /// How many sessions.
    pub sessions: u64,
    /// How many events, with their sessions or without.
    pub events: u64,
    /// When it last happened.
    pub last_at: Timestamp,
}

/// What a clean-up is to remove, besides what is over the store's limits.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sweep {
    /// Sessions that nobody read or wrote since.
    pub untouched_since: Option<Timestamp>,
    /// Sessions without a word that were created before.
    pub empty_since: Option<Timestamp>,
}

/// What readers did to a session. None of it is in the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// When it was last read or written by somebody who may.
    pub last_access_at: Option<Timestamp>,
    /// From where.
    pub client_ip: Option<String>,
    /// With what.
    pub user_agent: Option<String>,
    /// How often somebody who may not tried to.
    pub failed_attempts: u64,
    /// They tried too often.
    pub flagged: bool,
    /// What is worth a look, oldest first.
    pub warnings: Vec<AccessWarning>,
}

/// Something about a session that its owner should know.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AccessWarning {
    /// When.
    pub at: Timestamp,
    /// What, in one word.
    pub code: String,
    /// What, in words.
    pub message: String,
}

/// A reader that came in.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The session.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
    /// From where.
    pub client_ip: Option<String>,
    /// With what.
    pub user_agent: Option<String>,
    /// Whether another client than the last one is worth a warning.
    pub watched: bool,
}

/// A reader that was turned away.
#[derive(Debug, Clone)]
pub struct Intrusion {
    /// The session.
    pub session: SessionId,
    /// When.
    pub at: Timestamp,
    /// After how many of them the session is flagged.
    pub flag_after: u64,
    /// What to keep as a warning.
    pub message: String,
}

/// Where words were found.
#[derive(Debug, Clone)]
pub struct SearchHit {
    /// The session.
    pub session_id: SessionId,
    /// What it is about.
    pub title: Option<String>,
    /// The entry of its log.
    pub seq: Seq,
    /// Its kind, as a word.
    pub kind: &'static str,
    /// Who made it.
    pub author: String,
    /// When it arrived.
    pub timestamp: Timestamp,
    /// A piece of its text around the words, which stand between U+0002 and U+0003.
    pub snippet: String,
}

/// What to search for.
#[derive(Debug, Clone, Default)]
pub struct SearchQuery {
    /// Words; all of them must occur, each as the beginning of a word.
    pub text: String,
    /// Only in this session.
    pub session: Option<SessionId>,
    /// Only in sessions of this user.
    pub user_id: Option<String>,
    /// Only entries before this place; newest first.
    pub before: Option<i64>,
    /// At most this many; 0 means 20.
    pub limit: usize,
}

/// A page of what was found.
#[derive(Debug, Clone, Default)]
pub struct SearchPage {
    /// What was found, newest first.
    pub hits: Vec<SearchHit>,
    /// Where the next page starts, if there is one.
    pub next: Option<i64>,
}
