//! The log on SQLite: one thread that writes, a few connections that read.

mod access;
mod adk;
mod audit;
mod checkpoint;
mod commit;
mod copy;
mod derive;
mod identity;
mod leases;
mod ledger;
mod moment;
mod people;
mod queue;
mod reader;
mod retention;
mod row;
mod schema;
mod search;
mod servers;
mod session_rows;
mod settle;
mod tail;
mod totals;
mod usage;
mod whereabouts;
mod writer;

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hotseat_core::{Event, Message, Seq, SessionId, TurnId};
use jiff::Timestamp;
use rusqlite::Connection;
use serde_json::{Map, Value};

use self::moment::Moment;
use self::reader::Readers;
use self::servers::Roster;
use self::whereabouts::Whereabouts;
use self::writer::{Work, Writer};
use crate::copy::{Common, Parts, Placed};
use crate::hub::Hub;
use crate::rules::{self, Prepared};
use crate::written::Writing;
use crate::{
    Access, AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AppendError, Appended, AuditEntry,
    Counts, Created, EventQuery, Expected, Figures, Intrusion, Limits, NewSession, OpenError,
    Owner, Page, SearchPage, SearchQuery, Session, SessionQuery, SharedState, StoreError, Sweep,
    Turn, TurnQuery, Visit, WrittenEvents,
};

/// Events that are read where the reader stands. More of them are worth another thread.
const SHORT_PAGE: usize = 256;

#[derive(Debug, Clone)]
pub(crate) struct Sqlite {
    writer: Writer,
    readers: Readers,
    whereabouts: Whereabouts,
    limits: Arc<Limits>,
    roster: Roster,
}

impl Sqlite {
    pub(crate) fn open(
        path: &Path,
        hub: Hub,
        limits: Arc<Limits>,
        durability: Durability,
    ) -> Result<Self, OpenError> {
        let connection = schema::open_writer(path, durability)?;
        let whereabouts = Whereabouts::default();
        let writer = Writer::start(
            path,
            connection,
            hub,
            Arc::clone(&limits),
            whereabouts.clone(),
            durability,
        )
        .map_err(OpenError::Thread)?;
        let (readers, roster) = (Readers::new(path), Roster::default());
        Ok(Self { writer, readers, whereabouts, limits, roster })
    }

    pub(crate) async fn create_session(
        &self,
        new: NewSession,
        opening: Vec<Prepared>,
    ) -> Result<Created, AppendError> {
        let limits = Arc::clone(&self.limits);
        let sure = rules::may_begin_with(&opening);
        let create = move |work: &mut Work<'_>| session_rows::create(work, &limits, &new, opening);
        if sure { self.writer.write_surely(create).await } else { self.writer.write(create).await }
    }

    pub(crate) async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        self.writer.write(move |work| session_rows::delete(work, id)).await
    }

    pub(crate) async fn append(
        &self,
        session: SessionId,
        expected: Expected,
        events: Vec<Prepared>,
    ) -> Result<Appended, AppendError> {
        self.writer.append(session, expected, events).await
    }

    pub(crate) async fn clear_events(&self, id: SessionId) -> Result<u64, AppendError> {
        let limits = Arc::clone(&self.limits);
        self.writer.write(move |work| session_rows::clear(work, &limits, id)).await
    }

    pub(crate) async fn rebuild(&self, id: SessionId) -> Result<(), AppendError> {
        let limits = Arc::clone(&self.limits);
        self.writer.write(move |work| derive::session(work, &limits, id)).await
    }

    pub(crate) async fn sweep(&self, sweep: Sweep) -> Result<bool, StoreError> {
        self.settle().await?;
        let limits = Arc::clone(&self.limits);
        self.writer.write(move |work| retention::sweep(work, &limits, &sweep)).await
    }

    pub(crate) async fn visited(&self, visits: Vec<Visit>) -> Result<(), StoreError> {
        self.writer.write(move |work| access::visited(work, &visits)).await
    }

    pub(crate) async fn intruded(&self, intrusion: Intrusion) -> Result<(), StoreError> {
        self.writer.write(move |work| access::intruded(work, &intrusion)).await
    }

    /// Settles all events that were appended before this was called, a slice at a time so
    /// that appends get their turn in between. Costs nothing if they are.
    async fn settle(&self) -> Result<(), StoreError> {
        let last = self.readers.read("look at the log's end", settle::unsettled).await?;
        let Some(last) = last else { return Ok(()) };
        let mut through = 0;
        while through < last {
            through = self
                .writer
                .write(|work| {
                    work.tail
                        .settle_some(work.connection, commit::SLICE)
                        .map_err(StoreError::backend("settle events"))
                })
                .await?;
        }
        Ok(())
    }

    pub(crate) async fn index(&self) -> Result<(), StoreError> {
        self.settle().await?;
        // Events that come meanwhile are left to the next one, or this might never end.
        let last = self.readers.read("look at the log's end", search::last_event).await?;
        let mut through = 0;
        while through < last
            && let Some(batch) = self.readers.read("read events", search::next_batch).await?
        {
            through = batch.through();
            self.writer.write(move |work| search::index(work, &batch)).await?;
        }
        Ok(())
    }

    pub(crate) async fn search(&self, query: SearchQuery) -> Result<SearchPage, StoreError> {
        self.index().await?;
        self.readers.read("search", move |connection| search::search(connection, &query)).await
    }

    pub(crate) async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        let clue = self.whereabouts.of(id);
        self.readers
            .glance("read a session", |connection| {
                row::find_session(&Moment::of(connection)?, id, &clue, &self.limits)
            })
            .await
    }

    pub(crate) async fn owner(&self, id: SessionId) -> Result<Option<Owner>, StoreError> {
        self.readers.glance("look up an owner", |connection| reader::owner(connection, id)).await
    }

    pub(crate) async fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        self.settle().await?;
        self.readers
            .read("list sessions", move |connection| reader::sessions(connection, &query))
            .await
    }

    pub(crate) async fn adk_sessions(&self, query: AdkSessionQuery) -> Result<AdkPage, StoreError> {
        self.settle().await?;
        self.readers
            .read("list sessions", move |connection| adk::sessions(connection, &query))
            .await
    }

    pub(crate) async fn adk_session(
        &self,
        id: SessionId,
        query: AdkEventQuery,
    ) -> Result<Option<AdkRead>, StoreError> {
        let clue = self.whereabouts.of(id);
        if query.recent == Some(0) {
            let read = |connection: &_| adk::session(connection, id, &clue, &query, &self.limits);
            return self.readers.glance("read a session", read).await;
        }
        let limits = Arc::clone(&self.limits);
        self.readers
            .read("read a session", move |connection| {
                adk::session(connection, id, &clue, &query, &limits)
            })
            .await
    }

    pub(crate) async fn session_state(
        &self,
        id: SessionId,
    ) -> Result<Map<String, Value>, StoreError> {
        self.readers
            .read("read a state", move |connection| adk::session_state(connection, id))
            .await
    }

    pub(crate) async fn shared_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> Result<SharedState, StoreError> {
        self.readers
            .read("read a state", move |connection| {
                adk::shared_state(connection, &app_name, user_id.as_deref())
            })
            .await
    }

    pub(crate) async fn app_names(&self) -> Result<Vec<String>, StoreError> {
        self.readers.read("list apps", adk::app_names).await
    }

    pub(crate) async fn messages(&self, id: SessionId) -> Result<Vec<Message>, StoreError> {
        let limit = usize::try_from(self.limits.max_messages_per_session).unwrap_or(usize::MAX);
        let clue = self.whereabouts.of(id);
        self.readers
            .read("read messages", move |connection| adk::messages(connection, id, &clue, limit))
            .await
    }

    pub(crate) async fn access(
        &self,
        sessions: Vec<SessionId>,
    ) -> Result<HashMap<SessionId, Access>, StoreError> {
        self.readers
            .read("read accesses", move |connection| access::of_sessions(connection, &sessions))
            .await
    }

    pub(crate) async fn figures(&self, since: Timestamp) -> Result<Figures, StoreError> {
        self.settle().await?;
        self.readers.read("sum up", move |connection| totals::figures(connection, since)).await
    }

    pub(crate) async fn events(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        let clue = self.whereabouts.of(session);
        let short = (1..=SHORT_PAGE).contains(&query.limit);
        let read = move |connection: &Connection| {
            let moment = Moment::of(connection)?;
            reader::events(&moment, session, &clue, &query)
        };
        if short {
            return self.readers.glance("read events", read).await;
        }
        self.readers.read("read events", read).await
    }

    pub(crate) async fn write_events(
        &self,
        session: SessionId,
        query: EventQuery,
        writing: Writing,
    ) -> Result<WrittenEvents, StoreError> {
        let clue = self.whereabouts.of(session);
        let write = move |connection: &Connection| {
            let moment = Moment::of(connection)?;
            reader::write_events(&moment, session, &clue, &query, writing)
        };
        self.readers.read("read events", write).await
    }

    pub(crate) async fn turns(&self, query: TurnQuery) -> Result<Vec<Turn>, StoreError> {
        self.readers.read("list turns", move |connection| reader::turns(connection, query)).await
    }

    pub(crate) async fn turn(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Option<Turn>, StoreError> {
        self.readers
            .glance("read a turn", move |connection| reader::turn(connection, session, turn))
            .await
    }

    pub(crate) async fn counts(&self) -> Result<Counts, StoreError> {
        self.readers.read("count sessions", reader::counts).await
    }

    pub(crate) async fn parts(&self, id: SessionId) -> Result<Option<Parts>, StoreError> {
        let (clue, limits) = (self.whereabouts.of(id), Arc::clone(&self.limits));
        self.readers
            .read("read a session", move |connection| copy::parts(connection, id, &clue, &limits))
            .await
    }

    pub(crate) async fn placed_events(
        &self,
        id: SessionId,
        after: Seq,
    ) -> Result<Vec<Placed>, StoreError> {
        self.settle().await?;
        self.readers
            .read("read events", move |connection| copy::events(connection, id, after))
            .await
    }

    pub(crate) async fn common(&self) -> Result<Common, StoreError> {
        self.settle().await?;
        self.readers.read("sum up", copy::common).await
    }

    pub(crate) async fn put_parts(&self, parts: Parts) -> Result<(), StoreError> {
        self.writer.write(move |work| copy::put_parts(work, &parts)).await
    }

    pub(crate) async fn put_events(&self, events: Vec<Placed>) -> Result<(), StoreError> {
        let limits = Arc::clone(&self.limits);
        self.writer.write(move |work| copy::put_events(work, &limits, events)).await
    }

    pub(crate) async fn put_audit(&self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        self.writer.write(move |work| copy::put_audit(work, &entries)).await
    }

    pub(crate) async fn put_common(&self, common: Common) -> Result<(), StoreError> {
        self.writer.write(move |work| copy::put_common(work, &common)).await
    }
}

/// Whether a commit is on the disk when it returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    /// It is.
    Full,
    /// It is not; for stores that end with their process.
    None,
}

impl Durability {
    /// SQLite's word for it.
    fn synchronous(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::None => "OFF",
        }
    }
}
