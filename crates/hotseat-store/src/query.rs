//! What can be asked of the store.

use std::fmt;
use std::str::FromStr;

use hotseat_core::{Kind, Seq, SessionId, SessionStatus};
use jiff::Timestamp;

use crate::Session;

/// The most rows one call returns, whatever was asked for: a page of 1,000 for the
/// outside, and one more that tells whether there is a next page.
pub(crate) const MAX_PAGE: usize = 1001;

/// Events of a page for whoever names no limit.
pub(crate) const DEFAULT_EVENTS: usize = 1000;

/// What an appender has seen of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    /// It does not matter to the caller.
    Any,
    /// The log must end here.
    Exactly(Seq),
}

/// Which events of a session to read.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Only events after this one; before it, when the order is descending and it is set.
    pub after: Seq,
    /// Only events with a timestamp strictly after this one.
    pub after_timestamp: Option<Timestamp>,
    /// Only these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// Only this invocation.
    pub invocation_id: Option<String>,
    /// Only this author.
    pub author: Option<String>,
    /// Oldest or newest first.
    pub order: Order,
    /// At most this many; 0 means the maximum.
    pub limit: usize,
}

/// The order of a list of events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Oldest first.
    #[default]
    Ascending,
    /// Newest first.
    Descending,
}

/// Which sessions to list, newest first.
#[derive(Debug, Clone, Default)]
pub struct SessionQuery {
    /// Where the page before ended.
    pub cursor: Option<Cursor>,
    /// At most this many; 0 means 50.
    pub limit: usize,
    /// Words in the title, description, agent or id.
    pub text: Option<String>,
    /// Only this status.
    pub status: Option<SessionStatus>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Only this user.
    pub user_id: Option<String>,
    /// Only sessions with pending turns.
    pub waiting: Waiting,
    /// Only sessions with an open run.
    pub running: Running,
}

/// Whether sessions must have pending turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Waiting {
    /// It does not matter.
    #[default]
    Either,
    /// They must.
    Only,
}

/// Whether sessions must have an open run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Running {
    /// It does not matter.
    #[default]
    Either,
    /// They must.
    Only,
}

/// Which turns to list, oldest first.
#[derive(Debug, Clone, Copy, Default)]
pub struct TurnQuery {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Also those that have a response.
    pub answered: bool,
}

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The rows.
    pub items: Vec<T>,
    /// Where the next page starts, if there is one.
    pub next: Option<Cursor>,
}

/// A place in the list of sessions: the creation time and id of the last row
/// seen, which never change, so that a page is stable while sessions come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub(crate) created_at: i64,
    pub(crate) id: SessionId,
}

impl Cursor {
    /// The place of `session` in the list.
    pub(crate) fn of(session: &Session) -> Self {
        Self { created_at: session.created_at.as_millisecond(), id: session.id }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}", self.created_at, self.id)
    }
}

/// Text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the cursor is not one that this server gave out: leave it out to start from the newest")]
pub struct InvalidCursor;

impl FromStr for Cursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let (created_at, id) = text.split_once('.').ok_or(InvalidCursor)?;
        let created_at = i64::from_str_radix(created_at, 16).map_err(|_| InvalidCursor)?;
        let id = id.parse().map_err(|_| InvalidCursor)?;
        Ok(Self { created_at, id })
    }
}

/// The page size for a wish of `limit`.
pub(crate) fn page_size(limit: usize, default: usize) -> usize {
    if limit == 0 { default } else { limit.min(MAX_PAGE) }
}
