//! The contract of the log, over the database that was chosen.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hotseat_core::{Event, Message, NewEvent, Seq, SessionId, TurnId};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::sync::{broadcast, watch};

use crate::copy::{Common, Parts, Placed};
use crate::gate::{Gate, Wakes};
use crate::hub::{Change, Hub, MAX_SIGNAL_BYTES, Signal, SignalTooLarge};
use crate::latency::Histogram;
use crate::postgres::Postgres;
use crate::query::{DEFAULT_EVENTS, MAX_PAGE, page_size};
use crate::rules::{Answerer, Prepared};
use crate::sqlite::{Durability, Sqlite};
use crate::written::Writing;
use crate::{
    Access, Address, AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AppendError, Appended,
    AuditEntry, Counts, Created, EventQuery, Expected, Figures, Intrusion, Latency, Limits,
    NewSession, OpenError, Owner, Page, SearchPage, SearchQuery, Session, SessionQuery,
    SharedState, StoreError, Sweep, Turn, TurnQuery, Visit, WriteEvent, WrittenEvents,
};

/// The log. Cheap to clone; all clones are one store.
#[derive(Debug, Clone)]
pub struct Store {
    backend: Backend,
    hub: Hub,
    times: Arc<Times>,
    limits: Arc<Limits>,
    gate: Option<Arc<dyn Gate>>,
    /// Where a store lives that ends with its process.
    _scratch: Option<Arc<TempDir>>,
}

/// The databases.
#[derive(Debug, Clone)]
enum Backend {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

/// Asks the database that was chosen. Both answer the same questions.
macro_rules! ask {
    ($store:ident.$question:ident($($argument:expr),*)) => {{
        let _passed = match &$store.gate {
            Some(gate) => Some(gate.pass().await),
            None => None,
        };
        match &$store.backend {
            Backend::Sqlite(database) => database.$question($($argument),*).await,
            // On the heap: it takes more room than all the rest, and a way over the network.
            Backend::Postgres(database) => Box::pin(database.$question($($argument),*)).await,
        }
    }};
}

// After the macro, which they use.
mod people;
mod shared;

pub use self::shared::Shared;

/// How long calls take.
#[derive(Debug, Default)]
struct Times {
    append: Histogram,
    read: Histogram,
}

impl Store {
    /// Opens or creates the SQLite file at `path`, and brings its schema up to date.
    pub fn sqlite(path: &Path, limits: Limits) -> Result<Self, OpenError> {
        let (hub, limits) = (Hub::new(), Arc::new(limits));
        let sqlite = Sqlite::open(path, hub.clone(), Arc::clone(&limits), Durability::Full)?;
        Ok(Self::over(Backend::Sqlite(sqlite), hub, limits, None))
    }

    /// Opens the PostgreSQL database at `url`, and brings its schema up to date. Any number of
    /// processes may share it.
    pub async fn postgres(url: &str, limits: Limits) -> Result<Self, OpenError> {
        let (hub, limits) = (Hub::new(), Arc::new(limits));
        let postgres = Postgres::open(url, hub.clone(), Arc::clone(&limits)).await?;
        Ok(Self::over(Backend::Postgres(postgres), hub, limits, None))
    }

    /// Opens the store at an address.
    pub async fn open(address: &Address, limits: Limits) -> Result<Self, OpenError> {
        match address {
            Address::Sqlite(path) => Self::sqlite(path, limits),
            Address::Postgres(url) => Self::postgres(url, limits).await,
        }
    }

    /// A store that ends with its process, and is faster because nobody has to find
    /// anything in it afterwards.
    pub fn scratch(limits: Limits) -> Result<Self, OpenError> {
        let (hub, limits) = (Hub::new(), Arc::new(limits));
        let folder = tempfile::tempdir().map_err(OpenError::Scratch)?;
        let path = folder.path().join("hotseat.db");
        let sqlite = Sqlite::open(&path, hub.clone(), Arc::clone(&limits), Durability::None)?;
        Ok(Self::over(Backend::Sqlite(sqlite), hub, limits, Some(Arc::new(folder))))
    }

    fn over(
        backend: Backend,
        hub: Hub,
        limits: Arc<Limits>,
        scratch: Option<Arc<TempDir>>,
    ) -> Self {
        Self { backend, hub, times: Arc::default(), limits, gate: None, _scratch: scratch }
    }

    /// The same log as another server sees it: its calls wait at `gate`, it hears only of
    /// what it is told, and it shares the log with the others.
    #[must_use]
    pub fn apart(&self, gate: Arc<dyn Gate>) -> (Self, Wakes) {
        let hub = Hub::new();
        let wakes = Wakes(hub.clone());
        (Self { hub, gate: Some(gate), ..self.clone() }, wakes)
    }

    /// Creates a session, or returns the one that has the id already.
    pub async fn create_session(&self, mut new: NewSession) -> Result<Created, AppendError> {
        new.created_at = to_millisecond(new.created_at);
        let opening = std::mem::take(&mut new.opening).into_iter();
        let opening = opening.map(|event| Prepared::new(kept(event), &self.limits)).collect();
        ask!(self.create_session(new, opening))
    }

    /// One session.
    pub async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        ask!(self.session(id))
    }

    /// Whose a session is. It takes the same work whatever the session holds, so that who may
    /// not know of it learns nothing from how long it takes.
    pub async fn owner(&self, id: SessionId) -> Result<Option<Owner>, StoreError> {
        ask!(self.owner(id))
    }

    /// Sessions, newest first.
    pub async fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        ask!(self.sessions(query))
    }

    /// The sessions of an app as ADK lists them.
    pub async fn adk_sessions(&self, query: AdkSessionQuery) -> Result<AdkPage, StoreError> {
        ask!(self.adk_sessions(query))
    }

    /// One session as ADK reads it.
    pub async fn adk_session(
        &self,
        id: SessionId,
        query: AdkEventQuery,
    ) -> Result<Option<AdkRead>, StoreError> {
        let began = Instant::now();
        let read = ask!(self.adk_session(id, query));
        self.times.read.record(began.elapsed());
        read
    }

    /// The names of apps that have sessions, in order.
    pub async fn app_names(&self) -> Result<Vec<String>, StoreError> {
        ask!(self.app_names())
    }

    /// The state of a session, without what it shares with others.
    pub async fn session_state(&self, id: SessionId) -> Result<Map<String, Value>, StoreError> {
        ask!(self.session_state(id))
    }

    /// What the sessions of an app share; of one user, or of all.
    pub async fn shared_state(
        &self,
        app_name: &str,
        user_id: Option<&str>,
    ) -> Result<SharedState, StoreError> {
        ask!(self.shared_state(app_name.to_owned(), user_id.map(str::to_owned)))
    }

    /// The messages derived from a session's log, oldest first.
    pub async fn messages(&self, id: SessionId) -> Result<Vec<Message>, StoreError> {
        ask!(self.messages(id))
    }

    /// Deletes a session with its log. `false` if it was not there.
    pub async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        ask!(self.delete_session(id))
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
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        let began = Instant::now();
        let events = events.into_iter();
        let events = events.map(|event| Prepared::new(kept(event), &self.limits)).collect();
        self.append_prepared(session, expected, events, began).await
    }

    /// Appends the answer of somebody to a turn, unless somebody else has claimed it, or it is
    /// a worker's whose run another has by now. That is looked at in the same transaction.
    pub async fn answer(
        &self,
        session: SessionId,
        response: NewEvent,
        by: Answerer,
    ) -> Result<Appended, AppendError> {
        let began = Instant::now();
        let response = Prepared::answer(kept(response), by, &self.limits);
        self.append_prepared(session, Expected::Any, vec![response], began).await
    }

    /// Appends what a worker writes of a run, unless another worker has the session's run by
    /// now, or was the last to have it. That is looked at in the same transaction.
    pub async fn append_work(
        &self,
        session: SessionId,
        worker: &str,
        events: Vec<NewEvent>,
    ) -> Result<Appended, AppendError> {
        let (began, worker) = (Instant::now(), Arc::from(worker));
        let events = events.into_iter();
        let events = events.map(|event| Prepared::work(kept(event), &worker, &self.limits));
        self.append_prepared(session, Expected::Any, events.collect(), began).await
    }

    /// What events do was worked out on the caller's thread: the one that writes is the one
    /// everybody waits for.
    async fn append_prepared(
        &self,
        session: SessionId,
        expected: Expected,
        events: Vec<Prepared>,
        began: Instant,
    ) -> Result<Appended, AppendError> {
        let appended = ask!(self.append(session, expected, events));
        self.times.append.record(began.elapsed());
        appended
    }

    /// How long appends take, from the call to the disk.
    pub fn append_latency(&self) -> Latency {
        self.times.append.latency()
    }

    /// How long it takes to read events.
    pub fn read_latency(&self) -> Latency {
        self.times.read.latency()
    }

    /// Removes the events of a session and leaves its messages. Says how many went.
    pub async fn clear_events(&self, id: SessionId) -> Result<u64, AppendError> {
        ask!(self.clear_events(id))
    }

    /// Computes anew what is derived from a session's log.
    pub async fn rebuild(&self, id: SessionId) -> Result<(), AppendError> {
        ask!(self.rebuild(id))
    }

    /// Removes some of what is too old or too much. `true` if there may be more.
    pub async fn sweep(&self, sweep: Sweep) -> Result<bool, StoreError> {
        ask!(self.sweep(sweep))
    }

    /// Notes who read sessions.
    pub async fn visited(&self, visits: Vec<Visit>) -> Result<(), StoreError> {
        ask!(self.visited(visits))
    }

    /// Notes who was turned away from a session.
    pub async fn intruded(&self, intrusion: Intrusion) -> Result<(), StoreError> {
        ask!(self.intruded(intrusion))
    }

    /// What readers did to sessions; those that nobody came to are left out.
    pub async fn access(
        &self,
        sessions: Vec<SessionId>,
    ) -> Result<HashMap<SessionId, Access>, StoreError> {
        ask!(self.access(sessions))
    }

    /// Brings all indexes up to date. Nothing depends on it but speed.
    pub async fn index(&self) -> Result<(), StoreError> {
        ask!(self.index())
    }

    /// Events that hold the words, newest first.
    pub async fn search(&self, query: SearchQuery) -> Result<SearchPage, StoreError> {
        ask!(self.search(query))
    }

    /// Figures about everything, with the minutes from `since` on.
    pub async fn figures(&self, since: Timestamp) -> Result<Figures, StoreError> {
        ask!(self.figures(since))
    }

    /// Events of a session. An unknown session has none.
    pub async fn events(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        let began = Instant::now();
        let events = if let Some(known) = self.hub.recent(session, &query) {
            Ok(known.into_iter().map(Arc::unwrap_or_clone).collect())
        } else {
            ask!(self.events(session, query))
        };
        self.times.read.record(began.elapsed());
        events
    }

    /// The same for whoever follows a session: what came just now is shared by all of them.
    pub async fn following(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Arc<Event>>, StoreError> {
        if let Some(known) = self.hub.recent(session, &query) {
            return Ok(known);
        }
        // On the heap while it lasts: those who follow would each keep room for it.
        let events = Box::pin(self.events(session, query)).await?;
        Ok(events.into_iter().map(Arc::new).collect())
    }

    /// Writes a page of events behind `text`, each where it is read. See [`WrittenEvents`].
    pub async fn write_events(
        &self,
        session: SessionId,
        query: EventQuery,
        text: Vec<u8>,
        write: WriteEvent,
    ) -> Result<WrittenEvents, StoreError> {
        let began = Instant::now();
        let limit = page_size(query.limit, DEFAULT_EVENTS).min(MAX_PAGE - 1);
        let query = EventQuery { limit, ..query };
        let writing = Writing::new(text, write, limit, query.max_bytes);
        let written = ask!(self.write_events(session, query, writing));
        self.times.read.record(began.elapsed());
        written
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
        ask!(self.turns(query))
    }

    /// One turn.
    pub async fn turn(&self, session: SessionId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
        ask!(self.turn(session, turn))
    }

    pub(crate) async fn parts(&self, id: SessionId) -> Result<Option<Parts>, StoreError> {
        ask!(self.parts(id))
    }

    pub(crate) async fn placed_events(
        &self,
        id: SessionId,
        after: Seq,
    ) -> Result<Vec<Placed>, StoreError> {
        ask!(self.placed_events(id, after))
    }

    pub(crate) async fn common(&self) -> Result<Common, StoreError> {
        ask!(self.common())
    }

    pub(crate) async fn put_parts(&self, parts: Parts) -> Result<(), StoreError> {
        ask!(self.put_parts(parts))
    }

    pub(crate) async fn put_events(&self, events: Vec<Placed>) -> Result<(), StoreError> {
        ask!(self.put_events(events))
    }

    pub(crate) async fn put_common(&self, common: Common) -> Result<(), StoreError> {
        ask!(self.put_common(common))
    }

    pub(crate) async fn put_audit(&self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        ask!(self.put_audit(entries))
    }

    /// How much there is. Also the cheapest proof that the store answers.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        ask!(self.counts())
    }

    /// Wakes whenever the log of `session` has grown, and ends when it is deleted.
    pub fn watch(&self, session: SessionId) -> watch::Receiver<Seq> {
        self.hub.watch(session)
    }

    /// Tells everybody who listens, in all processes that share the database, something about
    /// a session that is not kept. It may be lost, and nothing may depend on it.
    pub fn signal(&self, session: SessionId, bytes: &[u8]) -> Result<(), SignalTooLarge> {
        if bytes.len() > MAX_SIGNAL_BYTES {
            return Err(SignalTooLarge(bytes.len()));
        }
        let signal = Signal { session, bytes: bytes.into() };
        if let Backend::Postgres(database) = &self.backend {
            database.signal(&signal);
        }
        self.hub.signal(signal);
        Ok(())
    }

    /// What servers that share the database need of each other. None where one server has it
    /// for itself.
    pub fn shared(&self) -> Option<Shared> {
        match &self.backend {
            Backend::Sqlite(_) => self.gate.is_some().then(|| Shared(self.clone())),
            Backend::Postgres(_) => Some(Shared(self.clone())),
        }
    }

    /// Every signal from now on; a listener that lags loses some.
    pub fn signals(&self) -> broadcast::Receiver<Signal> {
        self.hub.signals()
    }

    /// Every change of every session; a listener that lags has to look again.
    pub fn changes(&self) -> broadcast::Receiver<Change> {
        self.hub.changes()
    }
}

/// An event as the log keeps it.
fn kept(mut event: NewEvent) -> NewEvent {
    event.timestamp = to_millisecond(event.timestamp);
    event
}

/// The log keeps milliseconds. Cut here, so that what is answered now and what is
/// read later are the same.
pub(crate) fn to_millisecond(timestamp: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(timestamp.as_millisecond()).unwrap_or(timestamp)
}
