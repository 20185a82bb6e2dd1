//! The contract of the log, over the database that was chosen.

use std::path::Path;

use hotseat_core::{Event, NewEvent, Seq, SessionId, TurnId};
use jiff::Timestamp;
use tokio::sync::{broadcast, watch};

use crate::hub::{Change, Hub};
use crate::memory::Memory;
use crate::sqlite::Sqlite;
use crate::{
    AppendError, Appended, Counts, Created, EventQuery, Expected, NewSession, OpenError, Page,
    Session, SessionQuery, StoreError, Turn, TurnQuery,
};

/// The log. Cheap to clone; all clones are one store.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Backend,
    hub: Hub,
}

#[derive(Debug, Clone)]
enum Backend {
    Memory(Memory),
    Sqlite(Sqlite),
}

/// Calls the same method of whichever backend there is.
macro_rules! on_backend {
    ($self:ident, $method:ident($($argument:expr),*)) => {
        match &$self.backend {
            Backend::Memory(memory) => memory.$method($($argument),*),
            Backend::Sqlite(sqlite) => sqlite.$method($($argument),*).await,
        }
    };
}

impl Store {
    /// A store that forgets everything with the process.
    pub fn memory() -> Self {
        let hub = Hub::new();
        Self { backend: Backend::Memory(Memory::new(hub.clone())), hub }
    }

    /// Opens or creates the SQLite file at `path`, and brings its schema up to date.
    pub fn sqlite(path: &Path) -> Result<Self, OpenError> {
        let hub = Hub::new();
        Ok(Self { backend: Backend::Sqlite(Sqlite::open(path, hub.clone())?), hub })
    }

    /// Creates a session, or returns the one that has the id already.
    pub async fn create_session(&self, mut new: NewSession) -> Result<Created, StoreError> {
        new.created_at = to_millisecond(new.created_at);
        on_backend!(self, create_session(new))
    }

    /// One session.
    pub async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        on_backend!(self, session(id))
    }

    /// Sessions, newest first.
    pub async fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        on_backend!(self, sessions(query))
    }

    /// Deletes a session with its log. `false` if it was not there.
    pub async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        on_backend!(self, delete_session(id))
    }

    /// Appends `events` to a session, all or none, and says where they stand.
    ///
    /// An event whose id is in the session already, and a request whose turn is,
    /// are skipped: they are the same thing sent again. The rules of turns (see
    /// [`AppendError`]) are checked in the same transaction, so two writers
    /// cannot both answer. The events are durable once this returns `Ok`.
    pub async fn append(
        &self,
        session: SessionId,
        expected: Expected,
        mut events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        for event in &mut events {
            event.timestamp = to_millisecond(event.timestamp);
        }
        on_backend!(self, append(session, expected, events))
    }

    /// Events of a session. An unknown session has none.
    pub async fn events(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        on_backend!(self, events(session, query))
    }

    /// One event.
    pub async fn event(&self, session: SessionId, seq: Seq) -> Result<Option<Event>, StoreError> {
        let query = EventQuery {
            after: Seq::new(seq.get().saturating_sub(1)),
            limit: 1,
            ..Default::default()
        };
        let events = self.events(session, query).await?;
        Ok(events.into_iter().find(|event| event.seq == seq))
    }

    /// Turns, oldest first.
    pub async fn turns(&self, query: TurnQuery) -> Result<Vec<Turn>, StoreError> {
        on_backend!(self, turns(query))
    }

    /// One turn.
    pub async fn turn(&self, session: SessionId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
        on_backend!(self, turn(session, turn))
    }

    /// How much there is. Also the cheapest proof that the store answers.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        on_backend!(self, counts())
    }

    /// Wakes whenever the log of `session` has grown, and ends when it is deleted.
    pub fn watch(&self, session: SessionId) -> watch::Receiver<Seq> {
        self.hub.watch(session)
    }

    /// Every change of every session; a listener that lags has to look again.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.hub.changes()
    }
}

/// The log keeps milliseconds. Cut here, so that what is answered now and what is
/// read later are the same.
fn to_millisecond(timestamp: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(timestamp.as_millisecond()).unwrap_or(timestamp)
}
