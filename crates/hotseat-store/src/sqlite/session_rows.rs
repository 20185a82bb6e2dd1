//! Creating, changing and removing sessions.

use hotseat_core::{Seq, SessionId};
use rusqlite::{Connection, Statement, ToSql, params};

use super::ledger::SessionLedger;
use super::row::number;
use super::writer::Work;
use super::{retention, settle};
use crate::rules::{self, Prepared, Removed};
use crate::{
    AppendError, Appended, Created, Expected, Limits, NewSession, RemovalReason, Session,
    StoreError,
};

pub(super) fn create(
    work: &mut Work<'_>,
    limits: &Limits,
    new: &NewSession,
    opening: Vec<Prepared>,
) -> Result<Created, AppendError> {
    // Nobody goes for one that is there already.
    if limits.max_sessions.is_some() {
        if let Some(existing) = find(work, new.id)? {
            return Ok(Created::Existing(existing));
        }
        retention::make_room(work, limits)?;
    }
    let session = Session::fresh(new);
    if !insert(work.connection, &session)? {
        let existing = find(work, new.id)?;
        return existing.map(Created::Existing).ok_or(AppendError::NoSession { session: new.id });
    }
    if opening.is_empty() {
        work.changed(session.id, session.last_seq);
        return Ok(Created::New(session));
    }
    append_to(work, limits, session, Expected::Any, opening)?;
    let session = find(work, new.id)?;
    session.map(Created::New).ok_or(AppendError::NoSession { session: new.id })
}

/// Makes the row of a session, and says whether there was none.
pub(super) fn insert(connection: &Connection, session: &Session) -> Result<bool, StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, created_at, updated_at, description, agent, app_name, \
             user_id, source, adk_id, incarnation) \
             VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (id) DO NOTHING",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                session.id.to_string(),
                session.created_at.as_millisecond(),
                session.description,
                session.agent,
                session.app_name,
                session.user_id,
                session.source,
                session.adk_id,
                session.incarnation,
            ])
        })
        .map(|made| made > 0)
        .map_err(StoreError::backend("create a session"))
}

pub(super) fn append(
    work: &mut Work<'_>,
    limits: &Limits,
    id: SessionId,
    expected: Expected,
    events: Vec<Prepared>,
) -> Result<Appended, AppendError> {
    let session = find(work, id)?.ok_or(AppendError::NoSession { session: id })?;
    append_to(work, limits, session, expected, events)
}

/// Appends to a session that was found, or made just now.
fn append_to(
    work: &mut Work<'_>,
    limits: &Limits,
    mut session: Session,
    expected: Expected,
    events: Vec<Prepared>,
) -> Result<Appended, AppendError> {
    let (id, removed_before) = (session.id, session.removed_through);
    let mut ledger = SessionLedger::new(work, limits, &session);
    let appended = rules::apply(&mut session, expected, events, limits, &mut ledger)?;
    let trimmed = session.removed_through.get() - removed_before.get();
    if appended.new > 0 {
        let brought = ledger.finish(session)?;
        match trimmed {
            0 => work.grew(id, appended.last_seq, brought),
            _ => work.changed(id, appended.last_seq),
        }
    }
    if trimmed > 0 {
        retention::note(work.connection, RemovalReason::TooManyEvents, 0, trimmed)?;
    }
    Ok(appended)
}

/// Removes a session with all that belongs to it. `false` if it was not there.
pub(super) fn delete(work: &mut Work<'_>, id: SessionId) -> Result<bool, StoreError> {
    let Some(session) = find(work, id)? else { return Ok(false) };
    // What it did counts, although it is gone; and what goes is found where settled events are.
    work.tail
        .settle_session(work.connection, id, Vec::new())
        .and_then(|()| settle::remove(work.connection, id, session.last_seq))
        .and_then(|()| {
            let sql = "DELETE FROM sessions WHERE id = ?1";
            work.connection.prepare_cached(sql)?.execute([id.to_string()])
        })
        .map_err(StoreError::backend("delete a session"))?;
    work.deleted(id, session.user_id);
    Ok(true)
}

/// Removes the events of a session and leaves what was derived from them.
pub(super) fn clear(
    work: &mut Work<'_>,
    limits: &Limits,
    id: SessionId,
) -> Result<u64, AppendError> {
    let mut session = find(work, id)?.ok_or(AppendError::NoSession { session: id })?;
    if session.pending_turns > 0 || session.run.is_some() {
        return Err(AppendError::StillOpen { session: id });
    }
    let through = session.last_seq;
    let mut ledger = SessionLedger::new(work, limits, &session);
    let Removed { entries, .. } = rules::remove_through(&mut session, through, &mut ledger)?;
    ledger.finish(session)?;
    retention::note(work.connection, RemovalReason::Cleared, 0, entries)?;
    work.changed(id, through);
    Ok(entries)
}

/// A session as its log says.
pub(super) fn find(work: &Work<'_>, id: SessionId) -> Result<Option<Session>, StoreError> {
    work.tail.session(work.connection, id).map_err(StoreError::backend("read a session"))
}

pub(super) fn update(connection: &Connection, session: &Session) -> Result<(), StoreError> {
    write_summary(connection, session).map_err(StoreError::backend("update a session's summary"))
}

/// Sets all of a session's row that its events change.
macro_rules! set_summary {
    () => {
        "UPDATE sessions SET updated_at = ?2, title = ?3, status = ?4, last_seq = ?5, \
         pending_turns = ?6, run_id = ?7, run_status = ?8, run_since = ?9, \
         removed_through = ?10, open_requests = ?11, event_head = ?12, update_time = ?13, \
         event_count = ?14, message_count = ?15, bytes = ?16, record_status = ?17, \
         progress = ?18, current_phase = ?19, final_report = ?20, error = ?21"
    };
}

/// Brings a session's row up to date.
pub(super) fn write_summary(connection: &Connection, session: &Session) -> rusqlite::Result<()> {
    let sql = concat!(set_summary!(), " WHERE id = ?1");
    let mut statement = connection.prepare_cached(sql)?;
    bind_summary(&mut statement, session)?;
    statement.raw_execute().map(|_| ())
}

/// The same, with how far its events are settled. Says its number.
pub(super) fn write_settled(
    connection: &Connection,
    session: &Session,
    settled: Seq,
) -> rusqlite::Result<Option<i64>> {
    let sql = concat!(set_summary!(), ", settled_seq = ?22 WHERE id = ?1 RETURNING number");
    let mut statement = connection.prepare_cached(sql)?;
    bind_summary(&mut statement, session)?;
    statement.raw_bind_parameter(22, number(settled))?;
    let mut rows = statement.raw_query();
    rows.next()?.map(|row| row.get(0)).transpose()
}

fn bind_summary(statement: &mut Statement<'_>, session: &Session) -> rusqlite::Result<()> {
    let count = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    let run = session.run.as_ref();
    let record = &session.record;
    let values: [&dyn ToSql; 21] = [
        &session.id.to_string(),
        &session.updated_at.as_millisecond(),
        &session.title,
        &session.status.as_str(),
        &number(session.last_seq),
        &session.pending_turns,
        &run.map(|run| &run.run_id),
        &run.map(|run| &run.status),
        &run.map(|run| run.since.as_millisecond()),
        &number(session.removed_through),
        &session.open_requests,
        &number(session.event_head),
        &session.update_time,
        &count(session.event_count),
        &count(session.message_count),
        &count(session.bytes),
        &record.status,
        &record.progress,
        &record.current_phase,
        &record.final_report,
        &record.error,
    ];
    for (index, value) in values.into_iter().enumerate() {
        statement.raw_bind_parameter(index + 1, value)?;
    }
    Ok(())
}
