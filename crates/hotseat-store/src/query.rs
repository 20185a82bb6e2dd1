//! What can be asked of the store.

use std::fmt;
use std::str::FromStr;

use hotseat_core::{Kind, Seq, SessionId, SessionStatus};

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
    /// The last raw ADK event must stand here. Entries of other kinds are in nobody's way.
    EventHead(Seq),
    /// It must be this session and no later one that was made under the same id; and the last
    /// raw ADK event must stand where the caller says, if it says so.
    Incarnation {
        /// [`Session::incarnation`] as the caller knows it.
        incarnation: i64,
        /// The last raw ADK event that the caller has seen.
        event_head: Option<Seq>,
    },
}

impl Expected {
    /// Where the last raw ADK event must stand, if that matters.
    pub(crate) const fn event_head(self) -> Option<Seq> {
        match self {
            Self::Any | Self::Exactly(_) => None,
            Self::EventHead(head) => Some(head),
            Self::Incarnation { event_head, .. } => event_head,
        }
    }
}

/// Which events of a session to read.
#[derive(Debug, Clone, Default)]
pub struct EventQuery {
    /// Only events after this one; before it, when the order is descending and it is set.
    pub after: Seq,
    /// Only events strictly after this time, by their own account, in seconds since 1970.
    pub later_than: Option<f64>,
    /// Only events at this time or after it, by their own account.
    pub not_before: Option<f64>,
    /// Only these kinds; empty means all.
    pub kinds: Vec<Kind>,
    /// Only this invocation.
    pub invocation_id: Option<String>,
    /// Only this author.
    pub author: Option<String>,
    /// Only this branch.
    pub branch: Option<String>,
    /// Only raw events that say they are of this `type`.
    pub event_type: Option<String>,
    /// By arrival or by time.
    pub sort: Sort,
    /// Oldest or newest first.
    pub order: Order,
    /// At most this many; 0 means the maximum.
    pub limit: usize,
    /// Stop after so many bytes of payloads, but not before the first event; 0 means never.
    pub max_bytes: usize,
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

/// What a list of events is sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sort {
    /// Their place in the log.
    #[default]
    Arrival,
    /// Their own time; at the same time, their place in the log.
    Time,
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
    /// Only of this app.
    pub app_name: Option<String>,
    /// Only sessions that wait for somebody.
    pub waiting: Waiting,
    /// Only sessions with an open run.
    pub running: Running,
}

/// Whether sessions must have pending turns or open requests.
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
#[derive(Debug, Clone, Default)]
pub struct TurnQuery {
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Only in sessions of this user.
    pub user_id: Option<String>,
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

/// Which sessions to list as ADK does: oldest update first.
#[derive(Debug, Clone, Default)]
pub struct AdkSessionQuery {
    /// Of this app.
    pub app_name: String,
    /// Only of this user.
    pub user_id: Option<String>,
    /// Where the page before ended.
    pub after: Option<AdkCursor>,
    /// At most this many; 0 means 500.
    pub limit: usize,
}

/// Which raw events of a session ADK wants.
///
/// With `recent` or `not_before` they come by time, all of them; else by arrival.
#[derive(Debug, Clone, Copy)]
pub struct AdkEventQuery {
    /// Only those that arrived after this one.
    pub after: Seq,
    /// Only so many, the latest.
    pub recent: Option<u32>,
    /// Only those of this time or later, in seconds since 1970.
    pub not_before: Option<f64>,
    /// Stop after so many bytes.
    pub max_bytes: usize,
}

/// A place in ADK's list of sessions.
#[derive(Debug, Clone, PartialEq)]
pub struct AdkCursor {
    pub(crate) update_time: f64,
    pub(crate) user_id: String,
    pub(crate) id: SessionId,
}

impl AdkCursor {
    /// The place of `session` in the list.
    pub(crate) fn of(session: &Session) -> Self {
        Self {
            update_time: session.adk_update_time(),
            user_id: session.user_id.clone(),
            id: session.id,
        }
    }
}

impl fmt::Display for AdkCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}.{}.{}", self.update_time.to_bits(), self.id, self.user_id)
    }
}

impl FromStr for AdkCursor {
    type Err = InvalidCursor;

    fn from_str(text: &str) -> Result<Self, InvalidCursor> {
        let mut parts = text.splitn(3, '.');
        let mut part = || parts.next().ok_or(InvalidCursor);
        let bits = u64::from_str_radix(part()?, 16).map_err(|_| InvalidCursor)?;
        let id = part()?.parse().map_err(|_| InvalidCursor)?;
        Ok(Self { update_time: f64::from_bits(bits), id, user_id: part()?.to_owned() })
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
