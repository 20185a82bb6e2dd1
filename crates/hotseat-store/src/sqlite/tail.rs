//! The events that are not settled yet.
//!
//! Appends go to the end of the table and into no index. Here are the ids of those events,
//! so that the writer knows which are there already, and the bulk step that settles them.
//! Only the writer holds a tail; readers look through the few rows themselves.

use std::collections::HashMap;

use hotseat_core::{Seq, SessionId};
use rusqlite::Connection;

use super::row;
use super::usage::count;

/// So many events wait to be settled at most. Readers look through them, so not too many;
/// each page of an index takes its share of them at once, so not too few.
const MOST: usize = 2000;

/// The ids of unsettled events, with their places.
#[derive(Debug, Default)]
pub(super) struct Tail {
    known: HashMap<(SessionId, String), Seq>,
    /// The id of the last event. Ids are never given twice: indexes remember them.
    last_id: i64,
    /// Changes when another connection wrote.
    version: Option<i64>,
}

/// What one piece of work added; it counts once the work may stay.
#[derive(Debug, Default)]
pub(super) struct Added(HashMap<(SessionId, String), Seq>);

impl Added {
    pub(super) fn insert(&mut self, session: SessionId, event_id: &str, seq: Seq) {
        self.0.insert((session, event_id.to_owned()), seq);
    }

    pub(super) fn seq_of(&self, session: SessionId, event_id: &str) -> Option<Seq> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(session, event_id.to_owned())).copied()
    }
}

impl Tail {
    /// Reads the tail anew if somebody else wrote to the file since.
    pub(super) fn refresh(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        let version = connection
            .prepare_cached("PRAGMA data_version")?
            .query_row([], |row| row.get::<_, i64>(0))?;
        if self.version == Some(version) {
            return Ok(());
        }
        self.known = connection
            .prepare_cached(
                "SELECT session_id, event_id, seq FROM events \
                 WHERE id > (SELECT settled_through FROM places) AND settled = 0",
            )?
            .query_map([], |found| {
                Ok(((row::parsed(found, 0)?, found.get(1)?), row::seq(found.get(2)?)))
            })?
            .collect::<rusqlite::Result<_>>()?;
        self.last_id = connection
            .prepare_cached(
                "SELECT max(settled_through, indexed_through, \
                 COALESCE((SELECT max(id) FROM events), 0)) FROM places",
            )?
            .query_row([], |found| found.get(0))?;
        self.version = Some(version);
        Ok(())
    }

    /// The id for one more event.
    pub(super) fn next_id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    /// Forgets what it knows, after a commit that failed.
    pub(super) fn doubt(&mut self) {
        self.version = None;
    }

    pub(super) fn seq_of(&self, session: SessionId, event_id: &str) -> Option<Seq> {
        self.known.get(&(session, event_id.to_owned())).copied()
    }

    pub(super) fn extend(&mut self, added: Added) {
        self.known.extend(added.0);
    }

    /// Forgets a session whose events are settled or removed.
    pub(super) fn forget(&mut self, session: SessionId) {
        self.known.retain(|(of, _), _| *of != session);
    }

    pub(super) fn is_full(&self) -> bool {
        self.known.len() >= MOST
    }

    /// Settles all.
    pub(super) fn settle(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        settle(connection)?;
        self.known.clear();
        Ok(())
    }
}

/// Puts every event into the indexes.
pub(super) fn settle(connection: &Connection) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "UPDATE events SET settled = 1 \
             WHERE id > (SELECT settled_through FROM places) AND settled = 0",
        )?
        .execute([])?;
    connection
        .prepare_cached(
            "UPDATE places SET settled_through = \
             max(settled_through, COALESCE((SELECT max(id) FROM events), 0))",
        )?
        .execute([])?;
    Ok(())
}

/// Whether every event is settled.
pub(super) fn is_settled(connection: &Connection) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT count(*) FROM events \
             WHERE id > (SELECT settled_through FROM places) AND settled = 0",
        )?
        .query_row([], |row| row.get(0).map(|rows| count(rows) == 0))
}
