//! Creating, changing and removing sessions.

use hotseat_core::SessionId;
use rusqlite::{Connection, params};

use super::ledger::SessionLedger;
use super::retention;
use super::row::{self, number};
use super::writer::Work;
use crate::rules::{self, Prepared, Removed};
use crate::{
    AppendError, Appended, Created, Expected, Limits, NewSession, RemovalReason, Session,
    StoreError,
};

pub(super) fn create(
    work: &mut Work<'_>,
    limits: &Limits,
    mut new: NewSession,
) -> Result<Created, AppendError> {
    if let Some(existing) = find(work.connection, new.id)? {
        return Ok(Created::Existing(existing));
    }
    retention::make_room(work, limits)?;
    let opening: Vec<_> = new.opening.drain(..).map(Prepared::new).collect();
    let session = Session::fresh(&new);
    insert(work.connection, &session)?;
    work.grew(session.id, session.last_seq);
    if opening.is_empty() {
        return Ok(Created::New(session));
    }
    append(work, limits, session.id, Expected::Any, &opening)?;
    let session = find(work.connection, session.id)?;
    session.map(Created::New).ok_or(AppendError::NoSession { session: new.id })
}

fn insert(connection: &Connection, session: &Session) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO sessions (id, created_at, updated_at, description, agent, app_name, \
             user_id, source, adk_id, incarnation) \
             VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
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
        .map(|_| ())
        .map_err(StoreError::backend("create a session"))
}

pub(super) fn append(
    work: &mut Work<'_>,
    limits: &Limits,
    id: SessionId,
    expected: Expected,
    events: &[Prepared],
) -> Result<Appended, AppendError> {
    let mut session = find(work.connection, id)?.ok_or(AppendError::NoSession { session: id })?;
    let removed_before = session.removed_through;
    let mut ledger = SessionLedger::new(work, limits, id);
    let appended = rules::apply(&mut session, expected, events, limits, &mut ledger)?;
    if appended.new > 0 {
        update(work.connection, &session)?;
        work.grew(id, appended.last_seq);
    }
    let trimmed = session.removed_through.get() - removed_before.get();
    if trimmed > 0 {
        retention::note(work.connection, RemovalReason::TooManyEvents, 0, trimmed)?;
    }
    Ok(appended)
}

/// Removes a session with all that belongs to it. `false` if it was not there.
pub(super) fn delete(work: &mut Work<'_>, id: SessionId) -> Result<bool, StoreError> {
    let Some(session) = find(work.connection, id)? else { return Ok(false) };
    let key = id.to_string();
    let delete = |sql: &str| work.connection.prepare_cached(sql)?.execute([&key]);
    let of_session = |rows: &str| {
        delete(&format!("DELETE FROM search WHERE rowid IN (SELECT id FROM events WHERE {rows})"))?;
        delete(&format!("DELETE FROM events WHERE {rows}"))
    };
    of_session("session_id = ?1 AND settled = 1")
        .and_then(|_| of_session(row::UNSETTLED))
        .and_then(|_| delete("DELETE FROM sessions WHERE id = ?1"))
        .map_err(StoreError::backend("delete a session"))?;
    // Whatever comes under this id again is new.
    work.settled.push(id);
    work.deleted(id, session.user_id);
    Ok(true)
}

/// Removes the events of a session and leaves what was derived from them.
pub(super) fn clear(
    work: &mut Work<'_>,
    limits: &Limits,
    id: SessionId,
) -> Result<u64, AppendError> {
    let mut session = find(work.connection, id)?.ok_or(AppendError::NoSession { session: id })?;
    if session.pending_turns > 0 || session.run.is_some() {
        return Err(AppendError::StillOpen { session: id });
    }
    let through = session.last_seq;
    let mut ledger = SessionLedger::new(work, limits, id);
    let Removed { entries, .. } = rules::remove_through(&mut session, through, &mut ledger)?;
    update(work.connection, &session)?;
    retention::note(work.connection, RemovalReason::Cleared, 0, entries)?;
    work.grew(id, session.last_seq);
    Ok(entries)
}

pub(super) fn find(connection: &Connection, id: SessionId) -> Result<Option<Session>, StoreError> {
    row::find_session(connection, id).map_err(StoreError::backend("read a session"))
}

pub(super) fn update(connection: &Connection, session: &Session) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "UPDATE sessions SET updated_at = ?2, title = ?3, status = ?4, last_seq = ?5, \
             pending_turns = ?6, run_id = ?7, run_status = ?8, run_since = ?9, \
             removed_through = ?10, open_requests = ?11, event_head = ?12, update_time = ?13, \
             event_count = ?14, message_count = ?15, bytes = ?16, record_status = ?17, \
             progress = ?18, current_phase = ?19, final_report = ?20, error = ?21 WHERE id = ?1",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                session.id.to_string(),
                session.updated_at.as_millisecond(),
                session.title,
                session.status.as_str(),
                number(session.last_seq),
                session.pending_turns,
                session.run.as_ref().map(|run| &run.run_id),
                session.run.as_ref().map(|run| &run.status),
                session.run.as_ref().map(|run| run.since.as_millisecond()),
                number(session.removed_through),
                session.open_requests,
                number(session.event_head),
                session.update_time,
                i64::try_from(session.event_count).unwrap_or(i64::MAX),
                i64::try_from(session.message_count).unwrap_or(i64::MAX),
                i64::try_from(session.bytes).unwrap_or(i64::MAX),
                session.record.status,
                session.record.progress,
                session.record.current_phase,
                session.record.final_report,
                session.record.error,
            ])
        })
        .map(|_| ())
        .map_err(StoreError::backend("update a session's summary"))
}
