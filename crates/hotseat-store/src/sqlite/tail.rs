//! The events that are not settled yet, and the summaries that are not written yet.
//!
//! An append writes its events at the end of the log and nothing else, unless they change
//! more than a summary. What makes them easy to find, what they add to the figures and the
//! row of their session follow later, for many events of a session at a time: they are
//! settled. Until then they are here, for the writer's rules; whoever reads finds them in the
//! last rows of the log.
//!
//! Nothing is only here. All of it is read from the log again when the store is opened, when
//! another process wrote to the file, and when something had to be undone.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use hotseat_core::{Kind, Seq, SessionId, Usage};
use jiff::Timestamp;
use rusqlite::Connection;

use super::whereabouts::{Moved, Whereabouts};
use super::{identity, row, session_rows, settle};
use crate::rules::{Prepared, catch_up};
use crate::{Limits, Session};

/// So many events wait to be settled, and a slice more. They are read again when the store is
/// opened, so not too many; each page of a table takes its share of them at once, so not too
/// few.
const MOST: usize = 8192;

/// Events that are settled together when too many wait: enough of them to share pages, and
/// so few that an append behind them waits for some milliseconds only.
const SHARE: usize = 64;

/// Events of one session that are settled at once, at least.
const PIECE: usize = 64;

/// Sessions with unsettled events.
#[derive(Debug)]
pub(super) struct Tail {
    limits: Arc<Limits>,
    sessions: HashMap<SessionId, Waiting>,
    /// Those sessions, the one that waits for longest first: by the row of its first event here.
    order: BTreeMap<i64, SessionId>,
    /// Unsettled events of all sessions.
    events: usize,
    /// The id of the last event. Ids are never given twice: indexes remember them.
    last_id: i64,
    /// Changes when another connection wrote.
    version: Option<i64>,
    /// Counts what a rollback would have to undo here.
    changes: u64,
    /// Where readers look, and what they have not been shown yet.
    whereabouts: Whereabouts,
    moves: Vec<Moved>,
    /// A new epoch that readers have not been shown yet.
    epoch: Option<i64>,
}

/// What waits of one session.
#[derive(Debug)]
struct Waiting {
    session: Session,
    /// The session's row is older than this.
    stale: bool,
    ids: HashMap<Arc<str>, Seq>,
    events: VecDeque<Unsettled>,
}

impl Waiting {
    /// Brings the session's row up to date, with how far its events are settled now, and says
    /// its number.
    fn write_row(
        &mut self,
        connection: &Connection,
        settled: Seq,
    ) -> rusqlite::Result<Option<i64>> {
        if std::mem::take(&mut self.stale) {
            session_rows::write_settled(connection, &self.session, settled)
        } else {
            settle::note(connection, self.session.id, settled)
        }
    }
}

/// What has to be known of an event to settle it.
#[derive(Debug)]
pub(super) struct Unsettled {
    pub(super) id: i64,
    pub(super) seq: Seq,
    pub(super) event_id: Arc<str>,
    pub(super) hash: i64,
    pub(super) arrived: Timestamp,
    pub(super) time: f64,
    pub(super) kind: Kind,
    pub(super) author: String,
    pub(super) invocation_id: Option<String>,
    pub(super) branch: Option<String>,
    pub(super) usage: Usage,
}

impl Unsettled {
    pub(super) fn new(session: SessionId, id: i64, seq: Seq, prepared: &Prepared) -> Self {
        let Prepared { event, effect, .. } = prepared;
        Self {
            id,
            seq,
            hash: identity::hash(session, &event.event_id),
            event_id: event.event_id.as_str().into(),
            arrived: event.timestamp,
            time: prepared.time(),
            kind: event.kind,
            author: event.author.clone(),
            invocation_id: event.invocation_id.clone(),
            branch: event.branch.clone(),
            usage: effect.usage.clone(),
        }
    }
}

impl Tail {
    pub(super) fn new(limits: Arc<Limits>, whereabouts: Whereabouts) -> Self {
        Self {
            limits,
            whereabouts,
            moves: Vec::new(),
            epoch: None,
            sessions: HashMap::new(),
            order: BTreeMap::new(),
            events: 0,
            last_id: 0,
            version: None,
            changes: 0,
        }
    }

    /// Reads the tail anew if somebody else wrote to the file since.
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get::<_, i64>(0))?;
        if self.version == Some(version) {
            return Ok(());
        }
        self.version = None;
        (self.events, self.sessions, self.order) = Default::default();
        self.moves.clear();
        self.epoch = connection
            .prepare_cached("UPDATE places SET epoch = random() RETURNING epoch")?
            .query_row([], |found| found.get(0))
            .map(Some)?;
        self.last_id = connection
            .prepare_cached(
                "SELECT max(settled_through, indexed_through, \
                 COALESCE((SELECT max(id) FROM events), 0)) FROM places",
            )?
            .query_row([], |found| found.get(0))?;
        let sql = format!(
            "{}, e.id FROM events e JOIN sessions s ON s.id = e.session_id \
             WHERE e.id > (SELECT settled_through FROM places) AND e.seq > s.settled_seq \
             ORDER BY e.id",
            row::EVENT_COLUMNS
        );
        let mut select = connection.prepare_cached(&sql)?;
        let mut rows = select.query([])?;
        while let Some(found) = rows.next()? {
            let event = row::event(found)?;
            self.read(connection, found.get(12)?, event)?;
        }
        self.version = Some(version);
        Ok(())
    }

    /// Takes in one event of the log.
    fn read(
        &mut self,
        connection: &Connection,
        id: i64,
        event: hotseat_core::Event,
    ) -> rusqlite::Result<()> {
        let (of, seq) = (event.session_id, event.seq);
        let Some(mut session) = self.session(connection, of)? else { return Ok(()) };
        let prepared = Prepared::again(event.entry);
        let stale = seq > session.last_seq;
        if stale {
            catch_up(&mut session, seq, &prepared, &self.limits);
        }
        let written = if stale { Summary::Later } else { Summary::AsItWas };
        self.enter(session, written, vec![Unsettled::new(of, id, seq, &prepared)]);
        Ok(())
    }

    /// A session as its log says, whatever its row says.
    pub(super) fn session(
        &self,
        connection: &Connection,
        id: SessionId,
    ) -> rusqlite::Result<Option<Session>> {
        match self.sessions.get(&id) {
            Some(waiting) => Ok(Some(waiting.session.clone())),
            None => row::session_row(connection, id),
        }
    }

    /// Where an unsettled event stands.
    pub(super) fn seq_of(&self, session: SessionId, event_id: &str) -> Option<Seq> {
        self.sessions.get(&session)?.ids.get(event_id).copied()
    }

    /// Whether every event that a session ever had waits here.
    pub(super) fn has_all_of(&self, session: SessionId) -> bool {
        let waiting = self.sessions.get(&session).and_then(|waiting| waiting.events.front());
        waiting.is_some_and(|first| first.seq == Seq::START.next())
    }

    /// The id for one more event.
    pub(super) fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// Takes in events that were appended, with the summary that they lead to.
    pub(super) fn enter(&mut self, session: Session, summary: Summary, events: Vec<Unsettled>) {
        let id = session.id;
        if events.is_empty() && !self.sessions.contains_key(&id) {
            return;
        }
        self.changes += 1;
        let first = events.first().map_or(0, |event| event.id);
        let waiting = self.sessions.entry(id).or_insert_with(|| {
            self.order.insert(first, id);
            Waiting {
                session: session.clone(),
                stale: false,
                ids: HashMap::new(),
                events: VecDeque::new(),
            }
        });
        waiting.session = session;
        waiting.stale = match summary {
            Summary::Written => false,
            Summary::Later => true,
            Summary::AsItWas => waiting.stale,
        };
        self.events += events.len();
        for event in events {
            self.moves.push(Moved::In(id, event.id));
            waiting.ids.insert(Arc::clone(&event.event_id), event.seq);
            waiting.events.push_back(event);
        }
    }

    /// Forgets what it knows, after something was undone.
    pub(super) fn doubt(&mut self) {
        self.version = None;
    }

    /// Shows readers what was committed.
    pub(super) fn show(&mut self) {
        if self.epoch.is_some() || !self.moves.is_empty() {
            self.whereabouts.show(self.epoch.take(), self.moves.drain(..));
        }
    }

    /// Differs if something changed here that a rollback does not undo.
    pub(super) fn changes(&self) -> u64 {
        self.changes
    }

    /// Whether nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Settles a share of the events if too many wait, or all that are too many.
    pub(super) fn settle_excess(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        match self.events.saturating_sub(MOST) {
            0..SHARE => Ok(()),
            excess => self.settle_some(connection, excess).map(|_| ()),
        }
    }

    /// Settles about `wanted` events, those of the sessions that waited for longest. Returns
    /// the id up to which all are settled.
    pub(super) fn settle_some(
        &mut self,
        connection: &Connection,
        wanted: usize,
    ) -> rusqlite::Result<i64> {
        let (mut left, mut settled) = (wanted, settle::Batch::default());
        while left > 0
            && let Some((_, id)) = self.order.pop_first()
        {
            let Some(mut waiting) = self.sessions.remove(&id) else { continue };
            let piece = waiting.events.len().min(left.max(PIECE));
            let through = waiting.events.get(piece - 1).map_or(Seq::START, |event| event.seq);
            let number = waiting.write_row(connection, through)?;
            let Waiting { events, ids, .. } = &mut waiting;
            let events = events.drain(..piece).inspect(|event| {
                ids.remove(&event.event_id);
            });
            let last = settled.add(connection, number, events)?;
            self.moves.extend(last.map(|row| Moved::Out(id, row)));
            self.events = self.events.saturating_sub(piece);
            left = left.saturating_sub(piece.max(1));
            if let Some(next) = waiting.events.front() {
                self.order.insert(next.id, id);
                self.sessions.insert(id, waiting);
            }
        }
        self.finish(connection, &settled)
    }

    /// Settles all events of a session, and `more` that were written just now.
    pub(super) fn settle_session(
        &mut self,
        connection: &Connection,
        id: SessionId,
        more: Vec<Unsettled>,
    ) -> rusqlite::Result<()> {
        let mut settled = settle::Batch::default();
        let through = more.last().map(|event| event.seq);
        if let Some(mut waiting) = self.sessions.remove(&id) {
            if let Some(first) = waiting.events.front() {
                self.order.remove(&first.id);
            }
            self.events = self.events.saturating_sub(waiting.events.len());
            let last = waiting.events.back().map_or(Seq::START, |event| event.seq);
            let number = waiting.write_row(connection, through.unwrap_or(last))?;
            let last = settled.add(connection, number, waiting.events.into_iter())?;
            self.moves.extend(last.map(|row| Moved::Out(id, row)));
            settled.add(connection, number, more.into_iter())?;
        } else if let Some(through) = through {
            let number = settle::note(connection, id, through)?;
            settled.add(connection, number, more.into_iter())?;
        }
        self.finish(connection, &settled).map(|_| ())
    }

    fn finish(&mut self, connection: &Connection, batch: &settle::Batch) -> rusqlite::Result<i64> {
        self.changes += 1;
        let first = self.order.first_key_value();
        let through = first.map_or(self.last_id, |(first, _)| first - 1);
        batch.finish(connection, through)?;
        Ok(through)
    }
}

/// What is known of a session's row when its events are taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Summary {
    /// It was written with them.
    Written,
    /// It is to be written.
    Later,
    /// They do not change it.
    AsItWas,
}
