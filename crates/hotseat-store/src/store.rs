//! The contract of the log, over the database that was chosen.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use hotseat_core::{Event, Message, NewEvent, Role, Seq, SessionId, TurnId, UserName};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tempfile::TempDir;
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use crate::hub::{Change, Hub};
use crate::latency::Histogram;
use crate::sqlite::{Durability, Sqlite};
use crate::{
    Access, Act, AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AppendError, Appended,
    AuditEntry, AuditQuery, Bearer, Counts, Created, EventQuery, Expected, Figures, Intrusion,
    Latency, Lease, LeaseRequest, Leased, Limits, NewAuditEntry, NewSession, NewToken, OpenError,
    Page, PeopleError, SearchPage, SearchQuery, Session, SessionQuery, SharedState, StoreError,
    Sweep, Token, TokenHash, Turn, TurnQuery, User, Visit,
};

/// The log. Cheap to clone; all clones are one store.
#[derive(Debug, Clone)]
pub struct Store {
    sqlite: Sqlite,
    hub: Hub,
    times: Arc<Times>,
    /// Where a store lives that ends with its process.
    _scratch: Option<Arc<TempDir>>,
}

/// How long calls take.
#[derive(Debug, Default)]
struct Times {
    append: Histogram,
    read: Histogram,
}

impl Store {
    /// Opens or creates the SQLite file at `path`, and brings its schema up to date.
    pub fn sqlite(path: &Path, limits: Limits) -> Result<Self, OpenError> {
        let hub = Hub::new();
        let sqlite = Sqlite::open(path, hub.clone(), limits, Durability::Full)?;
        Ok(Self { sqlite, hub, times: Arc::default(), _scratch: None })
    }

    /// A store that ends with its process, and is faster because nobody has to find
    /// anything in it afterwards.
    pub fn scratch(limits: Limits) -> Result<Self, OpenError> {
        let hub = Hub::new();
        let folder = tempfile::tempdir().map_err(OpenError::Scratch)?;
        let path = folder.path().join("hotseat.db");
        let sqlite = Sqlite::open(&path, hub.clone(), limits, Durability::None)?;
        Ok(Self { sqlite, hub, times: Arc::default(), _scratch: Some(Arc::new(folder)) })
    }

    /// Creates a session, or returns the one that has the id already.
    pub async fn create_session(&self, mut new: NewSession) -> Result<Created, AppendError> {
        new.created_at = to_millisecond(new.created_at);
        for event in &mut new.opening {
            event.timestamp = to_millisecond(event.timestamp);
        }
        self.sqlite.create_session(new).await
    }

    /// One session.
    pub async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.sqlite.session(id).await
    }

    /// Sessions, newest first.
    pub async fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        self.sqlite.sessions(query).await
    }

    /// The sessions of an app as ADK lists them.
    pub async fn adk_sessions(&self, query: AdkSessionQuery) -> Result<AdkPage, StoreError> {
        self.sqlite.adk_sessions(query).await
    }

    /// One session as ADK reads it.
    pub async fn adk_session(
        &self,
        id: SessionId,
        query: AdkEventQuery,
    ) -> Result<Option<AdkRead>, StoreError> {
        let began = Instant::now();
        let read = self.sqlite.adk_session(id, query).await;
        self.times.read.record(began.elapsed());
        read
    }

    /// The names of apps that have sessions, in order.
    pub async fn app_names(&self) -> Result<Vec<String>, StoreError> {
        self.sqlite.app_names().await
    }

    /// The state of a session, without what it shares with others.
    pub async fn session_state(&self, id: SessionId) -> Result<Map<String, Value>, StoreError> {
        self.sqlite.session_state(id).await
    }

    /// What the sessions of an app share; of one user, or of all.
    pub async fn shared_state(
        &self,
        app_name: &str,
        user_id: Option<&str>,
    ) -> Result<SharedState, StoreError> {
        self.sqlite.shared_state(app_name.to_owned(), user_id.map(str::to_owned)).await
    }

    /// The messages derived from a session's log, oldest first.
    pub async fn messages(&self, id: SessionId) -> Result<Vec<Message>, StoreError> {
        self.sqlite.messages(id).await
    }

    /// Deletes a session with its log. `false` if it was not there.
    pub async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        self.sqlite.delete_session(id).await
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
        let began = Instant::now();
        let appended = self.sqlite.append(session, expected, events).await;
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
        self.sqlite.clear_events(id).await
    }

    /// Computes anew what is derived from a session's log.
    pub async fn rebuild(&self, id: SessionId) -> Result<(), AppendError> {
        self.sqlite.rebuild(id).await
    }

    /// Removes some of what is too old or too much. `true` if there may be more.
    pub async fn sweep(&self, sweep: Sweep) -> Result<bool, StoreError> {
        self.sqlite.sweep(sweep).await
    }

    /// Notes who read sessions.
    pub async fn visited(&self, visits: Vec<Visit>) -> Result<(), StoreError> {
        self.sqlite.visited(visits).await
    }

    /// Notes who was turned away from a session.
    pub async fn intruded(&self, intrusion: Intrusion) -> Result<(), StoreError> {
        self.sqlite.intruded(intrusion).await
    }

    /// What readers did to sessions; those that nobody came to are left out.
    pub async fn access(
        &self,
        sessions: Vec<SessionId>,
    ) -> Result<HashMap<SessionId, Access>, StoreError> {
        self.sqlite.access(sessions).await
    }

    /// Brings all indexes up to date. Nothing depends on it but speed.
    pub async fn index(&self) -> Result<(), StoreError> {
        self.sqlite.settle().await?;
        self.sqlite.index().await
    }

    /// Events that hold the words, newest first.
    pub async fn search(&self, query: SearchQuery) -> Result<SearchPage, StoreError> {
        self.sqlite.search(query).await
    }

    /// Figures about everything, with the minutes from `since` on.
    pub async fn figures(&self, since: Timestamp) -> Result<Figures, StoreError> {
        self.sqlite.figures(since).await
    }

    /// Events of a session. An unknown session has none.
    pub async fn events(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        let began = Instant::now();
        let events = self.sqlite.events(session, query).await;
        self.times.read.record(began.elapsed());
        events
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
        self.sqlite.turns(query).await
    }

    /// One turn.
    pub async fn turn(&self, session: SessionId, turn: TurnId) -> Result<Option<Turn>, StoreError> {
        self.sqlite.turn(session, turn).await
    }

    /// How much there is. Also the cheapest proof that the store answers.
    pub async fn counts(&self) -> Result<Counts, StoreError> {
        self.sqlite.counts().await
    }

    /// Adds a user and writes it down.
    pub async fn add_user(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        self.sqlite.add_user(name, role, act.as_kept()).await
    }

    /// Gives a user another role and writes it down; the same role changes nothing.
    pub async fn set_role(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        self.sqlite.set_role(name, role, act.as_kept()).await
    }

    /// Revokes a user with all their tokens and writes it down. Once is enough.
    pub async fn revoke_user(&self, name: UserName, act: Act) -> Result<User, PeopleError> {
        self.sqlite.revoke_user(name, act.as_kept()).await
    }

    /// One user, revoked or not.
    pub async fn user(&self, name: UserName) -> Result<Option<User>, StoreError> {
        self.sqlite.user(name).await
    }

    /// All users by name, those who were revoked among them.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        self.sqlite.users().await
    }

    /// Keeps a token of a user and writes it down.
    pub async fn add_token(&self, mut new: NewToken, act: Act) -> Result<Token, PeopleError> {
        new.expires_at = new.expires_at.map(to_millisecond);
        self.sqlite.add_token(new, act.as_kept()).await
    }

    /// The tokens of a user, oldest first; those that are over among them.
    pub async fn tokens(&self, name: UserName) -> Result<Vec<Token>, StoreError> {
        self.sqlite.tokens(name).await
    }

    /// Revokes one token and writes it down. Once is enough.
    pub async fn revoke_token(&self, id: Uuid, act: Act) -> Result<Token, PeopleError> {
        self.sqlite.revoke_token(id, act.as_kept()).await
    }

    /// Whose token has this hash. Whether it is worth anything is [`Bearer::is_valid`].
    pub async fn bearer(&self, hash: TokenHash) -> Result<Option<Bearer>, StoreError> {
        self.sqlite.bearer(hash).await
    }

    /// Notes that somebody came with a token.
    pub async fn token_used(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        self.sqlite.token_used(id, at).await
    }

    /// Holds something of a session for a while: anew, or still. It is had if nobody else
    /// holds it at the time of the request.
    pub async fn lease(&self, request: LeaseRequest) -> Result<Leased, StoreError> {
        self.sqlite.lease(request, None).await
    }

    /// Gives what `from` holds to the request's holder; what nobody holds is theirs as well.
    pub async fn hand_over(&self, request: LeaseRequest, from: &str) -> Result<Leased, StoreError> {
        self.sqlite.lease(request, Some(from.to_owned())).await
    }

    /// Lets go of something. `false` if it was not this holder's.
    pub async fn release(
        &self,
        session: SessionId,
        subject: &str,
        holder: &str,
    ) -> Result<bool, StoreError> {
        self.sqlite.release(session, subject.to_owned(), holder.to_owned()).await
    }

    /// What is held of a session at this time.
    pub async fn leases(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<Lease>, StoreError> {
        self.sqlite.leases(session, now).await
    }

    /// Writes down what somebody did.
    pub async fn audit(&self, mut entry: NewAuditEntry) -> Result<(), StoreError> {
        entry.at = to_millisecond(entry.at);
        self.sqlite.audit(entry).await
    }

    /// What was written down.
    pub async fn audit_entries(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        self.sqlite.audit_entries(query).await
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
pub(crate) fn to_millisecond(timestamp: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(timestamp.as_millisecond()).unwrap_or(timestamp)
}
