//! Settling: writing down what is derived from events that were appended a while ago.
//!
//! A session's events get their places in its order, in the order of time and among the
//! identities; its row is brought up to date; figures are added up. All in the transaction
//! that says so (`settled_seq`, `settled_through`), so that each event is settled once.

use hotseat_core::{Seq, SessionId};
use rusqlite::{Connection, OptionalExtension, params};

use super::identity;
use super::row::number;
use super::tail::Unsettled;
use super::usage;
use crate::tally::Tally;

/// What was settled together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    figures: Tally,
}

impl Batch {
    /// Settles the next events of the session with a number, and says which row was the last.
    /// The session's own row says so already.
    pub(super) fn add(
        &mut self,
        connection: &Connection,
        of: Option<i64>,
        events: impl Iterator<Item = Unsettled>,
    ) -> rusqlite::Result<Option<i64>> {
        let mut place = connection.prepare_cached(
            "INSERT INTO event_places (session, seq, id, time, kind, author, invocation_id, \
             branch) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?;
        let mut time = connection.prepare_cached(
            "INSERT INTO event_times (session, time, seq, id) VALUES (?1, ?2, ?3, ?4)",
        )?;
        let mut identity = connection.prepare_cached(identity::INSERT)?;
        let mut last = None;
        for event in events {
            let (seq, id) = (number(event.seq), event.id);
            place.execute(params![
                of,
                seq,
                id,
                event.time,
                event.kind.as_str(),
                event.author,
                event.invocation_id,
                event.branch,
            ])?;
            time.execute(params![of, event.time, seq, id])?;
            identity.execute(params![of, event.hash, id])?;
            self.figures.add(event.arrived, &event.usage);
            last = Some(id);
        }
        Ok(last)
    }

    /// Writes what concerns all sessions. Events up to `through` are settled now.
    pub(super) fn finish(&self, connection: &Connection, through: i64) -> rusqlite::Result<()> {
        usage::write(&self.figures, connection)?;
        connection
            .prepare_cached("UPDATE places SET settled_through = max(settled_through, ?1)")?
            .execute([through])?;
        Ok(())
    }
}

/// Removes settled events of a session up to `through`, with all that leads to them.
pub(super) fn remove(
    connection: &Connection,
    session: SessionId,
    through: Seq,
) -> rusqlite::Result<()> {
    let (of, through) = (session_number(connection, session)?, number(through));
    identity::remove(connection, session, of, through)?;
    for sql in [
        "DELETE FROM search WHERE rowid IN \
         (SELECT id FROM event_places WHERE session = ?1 AND seq <= ?2)",
        "DELETE FROM events WHERE id IN \
         (SELECT id FROM event_places WHERE session = ?1 AND seq <= ?2)",
        "DELETE FROM event_times WHERE (session, time, seq) IN \
         (SELECT session, time, seq FROM event_places WHERE session = ?1 AND seq <= ?2)",
        "DELETE FROM event_places WHERE session = ?1 AND seq <= ?2",
    ] {
        connection.prepare_cached(sql)?.execute(params![of, through])?;
    }
    Ok(())
}

/// Notes in a session's row how far its events are settled, and says its number.
pub(super) fn note(
    connection: &Connection,
    session: SessionId,
    through: Seq,
) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("UPDATE sessions SET settled_seq = ?2 WHERE id = ?1 RETURNING number")?
        .query_row(params![session.to_string(), number(through)], |row| row.get(0))
        .optional()
}

/// By which settled events know their session; one that is not there has none.
fn session_number(connection: &Connection, session: SessionId) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT number FROM sessions WHERE id = ?1")?
        .query_row([session.to_string()], |row| row.get(0))
        .optional()
}

/// The last event, if some are not settled.
pub(super) fn unsettled(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached(
            "SELECT max(id) FROM events WHERE id > (SELECT settled_through FROM places)",
        )?
        .query_row([], |row| row.get(0))
}
