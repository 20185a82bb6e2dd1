//! Computing anew what is derived from the log.

use std::sync::Arc;

use hotseat_core::{Seq, SessionId};
use rusqlite::{Connection, params};

use super::ledger::SessionLedger;
use super::session_rows::{find, update};
use super::tail::Tail;
use super::whereabouts::{Clue, Whereabouts};
use super::writer::Work;
use super::{reader, row};
use crate::hub::Hub;
use crate::rules::{before_refold, refold};
use crate::{AppendError, EventQuery, Limits, StoreError};

/// Events read at once.
const PAGE: usize = 500;

/// Folds the log of a session again: title, state, requests, record and messages.
/// What only removed events said stays as it is.
pub(super) fn session(
    work: &mut Work<'_>,
    limits: &Limits,
    id: SessionId,
) -> Result<(), AppendError> {
    // What is computed anew is told from all events, and leaves none behind it.
    work.tail
        .settle_session(work.connection, id, Vec::new())
        .map_err(StoreError::backend("settle events"))?;
    let mut session = find(work, id)?.ok_or(AppendError::NoSession { session: id })?;
    forget(work.connection, id, session.removed_through)?;
    before_refold(&mut session);
    session.message_count = messages_left(work.connection, id)?;
    let mut after = Seq::START;
    loop {
        let query = EventQuery { after, limit: PAGE, ..EventQuery::default() };
        let page = reader::events(work.connection, id, &Clue::none(), &query)
            .map_err(StoreError::backend("read events"))?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        let mut ledger = SessionLedger::new(work, limits, &session);
        for event in page {
            refold(&mut session, event.seq, event.entry, limits, &mut ledger)?;
        }
    }
    update(work.connection, &session)?;
    work.changed(id, session.last_seq);
    Ok(())
}

fn forget(connection: &Connection, id: SessionId, removed: Seq) -> Result<(), StoreError> {
    let key = id.to_string();
    let run = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
        connection
            .prepare_cached(sql)
            .and_then(|mut statement| statement.execute(values))
            .map_err(StoreError::backend("forget what was derived"))
    };
    run("DELETE FROM messages WHERE session_id = ?1 AND seq > ?2", &[&key, &row::number(removed)])?;
    if removed == Seq::START {
        run("DELETE FROM session_state WHERE session_id = ?1", &[&key])?;
    }
    run("DELETE FROM asks WHERE session_id = ?1", &[&key])?;
    Ok(())
}

fn messages_left(connection: &Connection, id: SessionId) -> Result<u64, StoreError> {
    connection
        .query_row(
            "SELECT count(*) FROM messages WHERE session_id = ?1",
            params![id.to_string()],
            |row| row.get::<_, i64>(0).map(super::usage::count),
        )
        .map_err(StoreError::backend("count messages"))
}

/// Folds every log again, for a store of a version that derived less.
pub(super) fn all_sessions(connection: &Connection) -> Result<(), AppendError> {
    let ids = connection
        .prepare("SELECT id FROM sessions")
        .and_then(|mut statement| {
            statement.query_map([], |row| row::parsed(row, 0))?.collect::<Result<Vec<_>, _>>()
        })
        .map_err(StoreError::backend("list sessions"))?;
    // There is nobody to wake yet.
    let mut tail = Tail::new(Arc::new(Limits::default()), Whereabouts::default());
    let hub = Hub::new();
    for id in ids {
        let mut work = Work::new(connection, &mut tail, &hub);
        session(&mut work, &Limits::default(), id)?;
    }
    Ok(())
}
