//! The log on PostgreSQL, shared by any number of processes.
//!
//! No process knows anything that the database does not. Appends go through lanes that commit
//! many at once (`lane.rs`), everything else takes a connection from the pool. What is read is
//! asked for again when a connection is lost; what is written is looked for first.

mod access;
mod address;
mod adk;
mod audit;
mod book;
mod changes;
mod connect;
mod copy;
mod facts;
mod failure;
mod figures;
mod held;
mod herald;
mod lane;
mod leases;
mod people;
mod questions;
mod reader;
mod remembered;
mod retention;
mod row;
mod schema;
mod search;
mod servers;
mod sheet;
mod text;
mod tls;

use std::collections::HashMap;
use std::sync::Arc;

use deadpool_postgres::Pool;
use hotseat_core::{Event, Message, Seq, SessionId, TurnId};
use jiff::Timestamp;
use serde_json::{Map, Value};
use tokio::sync::watch;

pub(crate) use self::address::check_url;

use self::connect::Way;
use self::failure::{Failure, Patience};
use self::held::Held;
use self::herald::{Ears, Herald, Outbox};
use self::lane::Lanes;
use crate::copy::{Common, Parts, Placed};
use crate::hub::{Hub, Signal, Wake};
use crate::rules::Prepared;
use crate::written::Writing;
use crate::{
    Access, AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AppendError, Appended, AuditEntry,
    Counts, Created, EventQuery, Expected, Figures, Intrusion, Limits, NewSession, OpenError,
    Owner, Page, SearchPage, SearchQuery, Session, SessionQuery, SharedState, StoreError, Sweep,
    Turn, TurnQuery, Visit, WrittenEvents,
};

/// A database of PostgreSQL. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Postgres {
    pool: Pool,
    lanes: Lanes,
    outbox: Outbox,
    limits: Arc<Limits>,
    slot: i16,
    /// Its end is the end of the task that listens.
    _closing: Arc<watch::Sender<()>>,
}

/// Does something with a connection, again and again while it may yet go well.
macro_rules! retry {
    ($self:ident, $patience:expr, |$held:ident| $work:expr) => {{
        let mut patience = $patience;
        loop {
            let attempt = async {
                let mut connection = Held::get(&$self.pool).await?;
                let $held = &mut connection;
                let result: Result<_, Failure> = async { $work }.await;
                let result = result?;
                connection.done();
                Ok::<_, Failure>(result)
            };
            let failure = match tokio::time::timeout_at(patience.until(), attempt).await {
                Ok(Ok(result)) => break Ok(result),
                Ok(Err(failure)) => failure,
                Err(_) => {
                    Held::distrust(&$self.pool);
                    Failure::TimedOut
                }
            };
            if let Err(error) = patience.after(failure).await {
                break Err(error);
            }
        }
    }};
}

use retry;

impl Postgres {
    pub(crate) async fn open(url: &str, hub: Hub, limits: Arc<Limits>) -> Result<Self, OpenError> {
        let way = Way::new(url)?;
        let pool = way.pool()?;
        let mut client = pool.get().await.map_err(|error| way.refused(error.into()))?;
        schema::migrate(&mut client, &way.place).await?;
        drop(client);
        let ears = Ears::open(&way).await.map_err(|failure| way.refused(failure))?;
        let outbox = Outbox::new(hub.clone());
        let (closing, closed) = watch::channel(());
        let lanes = Lanes::start(&pool, &limits, &outbox);
        let herald =
            Herald { way, pool: pool.clone(), hub, outbox: outbox.clone(), closing: closed };
        tokio::spawn(herald.run(ears));
        Ok(Self { pool, lanes, outbox, limits, slot: lane::slot(), _closing: Arc::new(closing) })
    }

    pub(crate) async fn create_session(
        &self,
        new: NewSession,
        opening: Vec<Prepared>,
    ) -> Result<Created, AppendError> {
        if self.limits.max_sessions.is_some() {
            if let Some(existing) = self.session(new.id).await? {
                return Ok(Created::Existing(existing));
            }
            let wakes: Result<Vec<Wake>, StoreError> =
                retry!(self, Patience::to_write("make room for a session"), |held| {
                    retention::make_room(held, &self.limits, self.slot).await
                });
            self.outbox.tell(wakes?);
        }
        self.lanes.create(Session::fresh(&new), opening).await
    }

    pub(crate) async fn append(
        &self,
        session: SessionId,
        expected: Expected,
        events: Vec<Prepared>,
    ) -> Result<Appended, AppendError> {
        self.lanes.append(session, expected, events).await
    }

    /// Passes a signal on to the other processes.
    pub(crate) fn signal(&self, signal: &Signal) {
        self.outbox.signal(signal);
    }

    pub(crate) async fn delete_session(&self, id: SessionId) -> Result<bool, StoreError> {
        // If the connection was lost at the commit, the second attempt finds nothing to delete.
        let mut seen = None;
        let deleted = retry!(self, Patience::to_write("delete a session"), |held| {
            let transaction = held.transaction().await?;
            if let Some(deleted) = changes::delete(&transaction, id, "true").await? {
                seen = Some(deleted.user_id);
            }
            Ok(transaction.commit().await?)
        });
        deleted?;
        let Some(user_id) = seen else { return Ok(false) };
        self.outbox.tell(vec![Wake::Deleted(id, user_id)]);
        Ok(true)
    }

    pub(crate) async fn clear_events(&self, id: SessionId) -> Result<u64, AppendError> {
        let (removed, head) = retry!(self, Patience::to_write("clear events"), |held| {
            changes::clear(held, &self.limits, id, self.slot).await
        })??;
        self.outbox.tell(vec![Wake::Grew(id, head, Vec::new())]);
        Ok(removed)
    }

    pub(crate) async fn rebuild(&self, id: SessionId) -> Result<(), AppendError> {
        let head = retry!(self, Patience::to_write("rebuild a session"), |held| {
            changes::rebuild(held, &self.limits, id, self.slot).await
        })??;
        self.outbox.tell(vec![Wake::Grew(id, head, Vec::new())]);
        Ok(())
    }

    pub(crate) async fn sweep(&self, sweep: Sweep) -> Result<bool, StoreError> {
        let wakes: Vec<Wake> = retry!(self, Patience::to_write("clean up"), |held| {
            retention::sweep(held, &self.limits, &sweep, self.slot).await
        })?;
        let more = !wakes.is_empty();
        self.outbox.tell(wakes);
        Ok(more)
    }

    pub(crate) async fn visited(&self, visits: Vec<Visit>) -> Result<(), StoreError> {
        retry!(self, Patience::to_write("note a visit"), |held| {
            access::visited(held, &visits).await
        })
    }

    pub(crate) async fn intruded(&self, intrusion: Intrusion) -> Result<(), StoreError> {
        retry!(self, Patience::to_write("note a failed access"), |held| {
            access::intruded(held, &intrusion).await
        })
    }

    pub(crate) async fn index(&self) -> Result<(), StoreError> {
        let mut more = true;
        while more {
            more = retry!(self, Patience::to_write("index events"), |held| {
                search::index(held).await
            })?;
        }
        Ok(())
    }

    pub(crate) async fn search(&self, query: SearchQuery) -> Result<SearchPage, StoreError> {
        self.index().await?;
        retry!(self, Patience::to_read("search"), |held| search::search(held, &query).await)
    }

    pub(crate) async fn session(&self, id: SessionId) -> Result<Option<Session>, StoreError> {
        retry!(self, Patience::to_read("read a session"), |held| reader::session(held, id).await)
    }

    pub(crate) async fn owner(&self, id: SessionId) -> Result<Option<Owner>, StoreError> {
        retry!(self, Patience::to_read("look up an owner"), |held| reader::owner(held, id).await)
    }

    pub(crate) async fn sessions(&self, query: SessionQuery) -> Result<Page<Session>, StoreError> {
        retry!(self, Patience::to_read("list sessions"), |held| {
            reader::sessions(held, &query).await
        })
    }

    pub(crate) async fn adk_sessions(&self, query: AdkSessionQuery) -> Result<AdkPage, StoreError> {
        retry!(self, Patience::to_read("list sessions"), |held| adk::sessions(held, &query).await)
    }

    pub(crate) async fn adk_session(
        &self,
        id: SessionId,
        query: AdkEventQuery,
    ) -> Result<Option<AdkRead>, StoreError> {
        retry!(self, Patience::to_read("read a session"), |held| {
            adk::session(held, id, &query).await
        })
    }

    pub(crate) async fn session_state(
        &self,
        id: SessionId,
    ) -> Result<Map<String, Value>, StoreError> {
        retry!(self, Patience::to_read("read a state"), |held| {
            adk::session_state(held, id).await
        })
    }

    pub(crate) async fn shared_state(
        &self,
        app_name: String,
        user_id: Option<String>,
    ) -> Result<SharedState, StoreError> {
        retry!(self, Patience::to_read("read a state"), |held| {
            adk::shared_state(held, &app_name, user_id.as_deref()).await
        })
    }

    pub(crate) async fn app_names(&self) -> Result<Vec<String>, StoreError> {
        retry!(self, Patience::to_read("list apps"), |held| adk::app_names(held).await)
    }

    pub(crate) async fn messages(&self, id: SessionId) -> Result<Vec<Message>, StoreError> {
        let limit = usize::try_from(self.limits.max_messages_per_session).unwrap_or(usize::MAX);
        retry!(self, Patience::to_read("read messages"), |held| {
            adk::messages(held, id, limit).await
        })
    }

    pub(crate) async fn access(
        &self,
        sessions: Vec<SessionId>,
    ) -> Result<HashMap<SessionId, Access>, StoreError> {
        retry!(self, Patience::to_read("read accesses"), |held| {
            access::of_sessions(held, &sessions).await
        })
    }

    pub(crate) async fn figures(&self, since: Timestamp) -> Result<Figures, StoreError> {
        retry!(self, Patience::to_read("sum up"), |held| figures::figures(held, since).await)
    }

    pub(crate) async fn events(
        &self,
        session: SessionId,
        query: EventQuery,
    ) -> Result<Vec<Event>, StoreError> {
        retry!(self, Patience::to_read("read events"), |held| {
            reader::events(held, session, &query).await
        })
    }

    pub(crate) async fn write_events(
        &self,
        session: SessionId,
        query: EventQuery,
        mut writing: Writing,
    ) -> Result<WrittenEvents, StoreError> {
        // One more than there is room for tells whether there are more.
        let query = EventQuery { limit: query.limit + 1, ..query };
        let events = self.events(session, query).await?;
        for event in &events {
            if !writing.add(&event.into()) {
                break;
            }
        }
        Ok(writing.finish())
    }

    pub(crate) async fn turns(&self, query: TurnQuery) -> Result<Vec<Turn>, StoreError> {
        retry!(self, Patience::to_read("list turns"), |held| reader::turns(held, &query).await)
    }

    pub(crate) async fn turn(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Option<Turn>, StoreError> {
        retry!(self, Patience::to_read("read a turn"), |held| {
            reader::turn(held, session, turn).await
        })
    }

    pub(crate) async fn counts(&self) -> Result<Counts, StoreError> {
        retry!(self, Patience::to_read("count sessions"), |held| reader::counts(held).await)
    }

    pub(crate) async fn parts(&self, id: SessionId) -> Result<Option<Parts>, StoreError> {
        retry!(self, Patience::to_read("read a session"), |held| copy::parts(held, id).await)
    }

    pub(crate) async fn placed_events(
        &self,
        id: SessionId,
        after: Seq,
    ) -> Result<Vec<Placed>, StoreError> {
        retry!(self, Patience::to_read("read events"), |held| copy::events(held, id, after).await)
    }

    pub(crate) async fn common(&self) -> Result<Common, StoreError> {
        retry!(self, Patience::to_read("sum up"), |held| copy::common(held).await)
    }

    pub(crate) async fn put_parts(&self, parts: Parts) -> Result<(), StoreError> {
        retry!(self, Patience::to_write("copy a session"), |held| {
            copy::put_parts(held, &parts).await
        })
    }

    pub(crate) async fn put_events(&self, events: Vec<Placed>) -> Result<(), StoreError> {
        retry!(self, Patience::to_write("copy events"), |held| {
            copy::put_events(held, &self.limits, &events).await
        })
    }

    pub(crate) async fn put_audit(&self, entries: Vec<AuditEntry>) -> Result<(), StoreError> {
        retry!(self, Patience::to_write("copy the audit"), |held| {
            copy::put_audit(held, &entries).await
        })
    }

    pub(crate) async fn put_common(&self, common: Common) -> Result<(), StoreError> {
        retry!(self, Patience::to_write("copy figures"), |held| {
            copy::put_common(held, &common, self.slot).await
        })
    }
}
