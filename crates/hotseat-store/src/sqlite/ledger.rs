//! One session's rows, within the savepoint of one piece of work.

use std::cell::{Cell, OnceCell};
use std::collections::HashMap;
use std::sync::Arc;

use hotseat_core::{Account, Effect, Event, Kind, Message, Seq, SessionId, StateOwner, TurnId};
use jiff::Timestamp;
use rusqlite::{OptionalExtension, params};
use serde_json::Value;

use super::row::{self, number, seq};
use super::session_rows::update;
use super::tail::{Summary, Unsettled};
use super::usage::count;
use super::whereabouts::Clue;
use super::writer::Work;
use super::{audit, identity, leases, reader, servers, settle};
use crate::rules::{Ledger, Prepared, Removed};
use crate::{EventQuery, Lease, Limits, Session, StoreError, claim_on};

pub(super) struct SessionLedger<'l, 'w> {
    work: &'l mut Work<'w>,
    limits: &'l Limits,
    session: SessionId,
    key: String,
    /// Some of its events may be settled already.
    settled: bool,
    /// Events that were written and wait to be settled.
    added: Added,
    /// The same events for those who watch, if anybody does.
    brought: Option<Vec<Arc<Event>>>,
    /// The worker that was the last to have a run, once it was looked for.
    last_worker: OnceCell<Option<String>>,
    /// Something besides events and turns was written, and the summary has to be written with it.
    touched: Cell<bool>,
}

/// The events of one append.
#[derive(Debug, Default)]
struct Added {
    ids: HashMap<Arc<str>, Seq>,
    events: Vec<Unsettled>,
    /// The id of the last one.
    last_id: i64,
}

impl<'l, 'w> SessionLedger<'l, 'w> {
    pub(super) fn new(work: &'l mut Work<'w>, limits: &'l Limits, session: &Session) -> Self {
        let id = session.id;
        let brought = work.hub.is_watched(id).then(Vec::new);
        let settled = session.last_seq != Seq::START && !work.tail.has_all_of(id);
        Self {
            work,
            limits,
            session: id,
            key: id.to_string(),
            settled,
            added: Added::default(),
            brought,
            last_worker: OnceCell::new(),
            touched: Cell::new(false),
        }
    }

    /// Leaves the events to the tail, and writes the summary if something was written that
    /// could not be told from the last rows of the log. Returns the events for those who watch.
    pub(super) fn finish(self, session: Session) -> Result<Vec<Arc<Event>>, StoreError> {
        let summary = if self.touched.get() {
            update(self.work.connection, &session)?;
            Summary::Written
        } else {
            Summary::Later
        };
        self.work.tail.enter(session, summary, self.added.events);
        Ok(self.brought.unwrap_or_default())
    }

    /// Writes what the log alone does not tell.
    fn execute(
        &self,
        action: &'static str,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<usize, StoreError> {
        self.touched.set(true);
        self.note(action, sql, values)
    }

    /// Writes what can be told from the log, too.
    fn note(
        &self,
        action: &'static str,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<usize, StoreError> {
        self.work
            .connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .map_err(StoreError::backend(action))
    }
}

impl SessionLedger<'_, '_> {
    /// Writes down what was said in events that are about to go.
    fn keep_what_was_said(&mut self, through: Seq) -> Result<(), StoreError> {
        let mut after = Seq::START;
        while after < through {
            let query = EventQuery { after, kinds: vec![Kind::Event], ..EventQuery::default() };
            let page = reader::events(self.work.connection, self.session, &Clue::none(), &query)
                .map_err(StoreError::backend("read events"))?;
            let Some(last) = page.last() else { break };
            after = last.seq;
            for event in page.into_iter().take_while(|event| event.seq <= through) {
                if let Account::Said(message) = Effect::of(&event.entry).account {
                    self.put_message(event.seq, &message)?;
                }
            }
        }
        self.trim_messages(self.limits.max_messages_per_session)
    }
}

impl Ledger for SessionLedger<'_, '_> {
    fn seq_of(&mut self, event_id: &str) -> Result<Option<Seq>, StoreError> {
        let unsettled = self.added.ids.get(event_id).copied();
        if let Some(seq) = unsettled.or_else(|| self.work.tail.seq_of(self.session, event_id)) {
            return Ok(Some(seq));
        }
        if !self.settled {
            return Ok(None);
        }
        identity::find(self.work, self.session, &self.key, event_id)
            .map_err(StoreError::backend("look for an event"))
    }

    fn turn(&mut self, turn: TurnId) -> Result<Option<(Seq, Option<Seq>)>, StoreError> {
        self.work
            .connection
            .prepare_cached(
                "SELECT request_seq, response_seq FROM turns WHERE session_id = ?1 AND turn_id = ?2",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![self.key, turn.to_string()], |row| {
                        Ok((seq(row.get(0)?), row.get::<_, Option<i64>>(1)?.map(seq)))
                    })
                    .optional()
            })
            .map_err(StoreError::backend("look for a turn"))
    }

    fn claim(&mut self, turn: TurnId) -> Result<Option<Lease>, StoreError> {
        leases::one(self.work.connection, &self.key, &claim_on(turn))
            .map_err(StoreError::backend("look at a claim"))
    }

    fn last_worker(&mut self) -> Result<Option<&str>, StoreError> {
        if let Some(known) = self.last_worker.get() {
            return Ok(known.as_deref());
        }
        let lease = servers::lease(self.work.connection, &self.key)
            .map_err(StoreError::backend("look who has a run"))?;
        Ok(self.last_worker.get_or_init(|| lease.and_then(|lease| lease.worker)).as_deref())
    }

    fn head(&mut self) -> Result<Option<TurnId>, StoreError> {
        let head: Option<String> = self
            .work
            .connection
            .prepare_cached(
                "SELECT turn_id FROM turns WHERE session_id = ?1 AND response_seq IS NULL \
                 ORDER BY request_seq LIMIT 1",
            )
            .and_then(|mut statement| statement.query_row([&self.key], |row| row.get(0)).optional())
            .map_err(StoreError::backend("find the head of a queue"))?;
        Ok(head.and_then(|head| head.parse().ok()))
    }

    fn insert(&mut self, seq: Seq, event: &Prepared) -> Result<(), StoreError> {
        self.added.last_id = self.work.tail.next_id();
        self.work
            .insert_event()
            .and_then(|statement| {
                row::insert_event(statement, &self.key, seq, event, self.added.last_id)
            })
            .map_err(StoreError::backend("insert an event"))?;
        let Some(entry) = event.audit_entry(self.session, seq) else { return Ok(()) };
        audit::insert(self.work.connection, &entry).map_err(StoreError::backend("write the audit"))
    }

    fn entered(&mut self, seq: Seq, event: Prepared) {
        let unsettled = Unsettled::new(self.session, self.added.last_id, seq, &event);
        if let Some(brought) = &mut self.brought {
            let event = Event { session_id: self.session, seq, entry: event.event };
            brought.push(Arc::new(event));
        }
        self.added.ids.insert(Arc::clone(&unsettled.event_id), seq);
        self.added.events.push(unsettled);
    }

    fn open_turn(&mut self, turn: TurnId, seq: Seq, at: Timestamp) -> Result<(), StoreError> {
        let sql = "INSERT INTO turns (session_id, turn_id, request_seq, requested_at) \
                   VALUES (?1, ?2, ?3, ?4)";
        let values = params![self.key, turn.to_string(), number(seq), at.as_millisecond()];
        self.note("open a turn", sql, values)?;
        Ok(())
    }

    fn close_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError> {
        let sql = "UPDATE turns SET response_seq = ?3 WHERE session_id = ?1 AND turn_id = ?2";
        self.note("close a turn", sql, params![self.key, turn.to_string(), number(seq)])?;
        Ok(())
    }

    fn open_ask(&mut self, call_id: &str, seq: Seq) -> Result<bool, StoreError> {
        let sql = "INSERT INTO asks (session_id, call_id, asked_seq) VALUES (?1, ?2, ?3) \
                   ON CONFLICT DO NOTHING";
        let rows = self.execute("note a request", sql, params![self.key, call_id, number(seq)])?;
        Ok(rows > 0)
    }

    fn close_ask(&mut self, call_id: &str, seq: Seq) -> Result<bool, StoreError> {
        let sql = "UPDATE asks SET answer_seq = ?3 \
                   WHERE session_id = ?1 AND call_id = ?2 AND answer_seq IS NULL";
        let rows = self.execute("note an answer", sql, params![self.key, call_id, number(seq)])?;
        Ok(rows > 0)
    }

    fn set_state(
        &mut self,
        session: &Session,
        owner: StateOwner<'_>,
        value: &Value,
    ) -> Result<(), StoreError> {
        const OWN: &str = "INSERT INTO session_state VALUES (?1, ?2, ?3) \
                           ON CONFLICT DO UPDATE SET value = excluded.value";
        const SHARED: &str = "INSERT INTO shared_state VALUES (?1, ?2, ?3, ?4) \
                              ON CONFLICT DO UPDATE SET value = excluded.value";
        let (action, value) = ("set a state", value.to_string());
        match owner {
            StateOwner::Session(key) => self.execute(action, OWN, params![self.key, key, value]),
            StateOwner::App(key) => {
                self.execute(action, SHARED, params![session.app_name, "", key, value])
            }
            StateOwner::User(key) => {
                self.execute(action, SHARED, params![session.app_name, session.user_id, key, value])
            }
        }?;
        Ok(())
    }

    fn put_message(&mut self, seq: Seq, message: &Message) -> Result<bool, StoreError> {
        const UPDATE: &str = "UPDATE messages SET content = ?3, timestamp = ?4, \
                              metadata = COALESCE(?5, metadata) \
                              WHERE session_id = ?1 AND message_id = ?2";
        const INSERT: &str = "INSERT INTO messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let Message { id, role, content, timestamp, metadata } = message;
        let at = timestamp.as_millisecond();
        let metadata = metadata.as_ref().and_then(|metadata| serde_json::to_string(metadata).ok());
        let there = self.execute(
            "replace a message",
            UPDATE,
            params![self.key, id, content, at, metadata],
        )?;
        if there > 0 {
            return Ok(false);
        }
        let values = params![self.key, number(seq), id, role, content, at, metadata];
        self.execute("write a message", INSERT, values)?;
        Ok(true)
    }

    fn trim_messages(&mut self, keep: u64) -> Result<(), StoreError> {
        let sql = "DELETE FROM messages WHERE session_id = ?1 AND seq <= (SELECT seq FROM messages \
                   WHERE session_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)";
        let keep = i64::try_from(keep).unwrap_or(i64::MAX);
        self.execute("trim messages", sql, params![self.key, keep])?;
        Ok(())
    }

    fn remove_events(&mut self, through: Seq) -> Result<Removed, StoreError> {
        // What is removed is found in the tables of settled events.
        let added = std::mem::take(&mut self.added.events);
        self.work
            .tail
            .settle_session(self.work.connection, self.session, added)
            .map_err(StoreError::backend("settle events"))?;
        self.keep_what_was_said(through)?;
        let values = params![self.key, number(through)];
        let removed = self
            .work
            .connection
            .prepare_cached(
                "SELECT count(*), COALESCE(sum(e.kind = 'event'), 0), COALESCE(sum(e.size), 0) \
                 FROM event_places p JOIN events e ON e.id = p.id \
                 WHERE p.session = (SELECT number FROM sessions WHERE id = ?1) AND p.seq <= ?2",
            )
            .and_then(|mut statement| {
                statement.query_row(values, |row| {
                    let sum = |index| row.get(index).map(count);
                    Ok(Removed { entries: sum(0)?, events: sum(1)?, bytes: sum(2)? })
                })
            })
            .map_err(StoreError::backend("count events to remove"))?;
        settle::remove(self.work.connection, self.session, through)
            .map_err(StoreError::backend("remove events"))?;
        let sql = "DELETE FROM turns WHERE session_id = ?1 AND request_seq <= ?2 \
                   AND response_seq IS NOT NULL";
        self.execute("remove turns", sql, params![self.key, number(through)])?;
        Ok(removed)
    }
}
