//! Removing what is too old or too much, and saying so.

use hotseat_core::SessionId;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::row;
use super::session_rows::delete;
use super::usage::count;
use super::writer::Work;
use crate::{Limits, Removal, RemovalReason, StoreError, Sweep};

/// Sessions removed in one piece of work, so that appends get their turn in between.
const AT_ONCE: i64 = 100;

/// The sessions that may go: nothing waits in them.
const IDLE: &str = "run_id IS NULL AND pending_turns = 0 AND open_requests = 0";

/// The sessions in which nothing was ever said. ADK's may begin with a state.
const EMPTY: &str =
    "(last_seq = 0 OR (source IN ('adk', 'ag-ui') AND event_head = 0 AND message_count = 0))";

/// When a session was last touched, by a reader or a writer.
const TOUCHED: &str = "max(s.updated_at, COALESCE(a.last_access_at, 0))";

/// Makes room for one more session, if there is a limit.
pub(super) fn make_room(work: &mut Work<'_>, limits: &Limits) -> Result<(), StoreError> {
    let Some(max) = limits.max_sessions else { return Ok(()) };
    let there: i64 = work
        .connection
        .prepare_cached("SELECT count(*) FROM sessions")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(StoreError::backend("count sessions"))?;
    let excess = count(there).saturating_add(1).saturating_sub(max);
    if excess > 0 {
        settle_all(work)?;
        let victims = least_recent(work.connection, excess)?;
        remove(work, RemovalReason::TooManySessions, &victims)?;
    }
    Ok(())
}

/// Who may go is told by the rows of sessions, so they must be up to date.
fn settle_all(work: &mut Work<'_>) -> Result<(), StoreError> {
    work.tail
        .settle_some(work.connection, usize::MAX)
        .map(|_| ())
        .map_err(StoreError::backend("settle events"))
}

/// One step of a clean-up. Returns whether there may be more to do.
pub(super) fn sweep(
    work: &mut Work<'_>,
    limits: &Limits,
    sweep: &Sweep,
) -> Result<bool, StoreError> {
    let mut more = false;
    settle_all(work)?;
    if let Some(before) = sweep.untouched_since {
        let victims = select(
            work.connection,
            &format!("{IDLE} AND {TOUCHED} < ?1 ORDER BY {TOUCHED}"),
            before.as_millisecond(),
            AT_ONCE,
        )?;
        more |= remove(work, RemovalReason::Expired, &victims)?;
    }
    if let Some(before) = sweep.empty_since {
        let condition = format!("{EMPTY} AND s.created_at < ?1 ORDER BY s.created_at");
        let victims = select(work.connection, &condition, before.as_millisecond(), AT_ONCE)?;
        more |= remove(work, RemovalReason::Empty, &victims)?;
    }
    if let Some(max) = limits.max_sessions {
        let there = sum(work.connection, "SELECT count(*) FROM sessions")?;
        if there > max {
            let excess = (there - max).min(AT_ONCE.unsigned_abs());
            let victims = least_recent(work.connection, excess)?;
            more |= remove(work, RemovalReason::TooManySessions, &victims)?;
        }
    }
    if let Some(max) = limits.max_store_bytes {
        let mut there = sum(work.connection, "SELECT COALESCE(sum(bytes), 0) FROM sessions")?;
        let mut victims = Vec::new();
        for (victim, bytes) in least_recent_sizes(work.connection)? {
            if there <= max {
                break;
            }
            there = there.saturating_sub(bytes);
            victims.push(victim);
        }
        more |= remove(work, RemovalReason::TooManyBytes, &victims)?;
    }
    Ok(more)
}

fn sum(connection: &Connection, sql: &str) -> Result<u64, StoreError> {
    connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0).map(count)))
        .map_err(StoreError::backend("sum up sessions"))
}

fn select(
    connection: &Connection,
    condition: &str,
    value: i64,
    limit: i64,
) -> Result<Vec<SessionId>, StoreError> {
    let sql = format!(
        "SELECT s.id FROM sessions s LEFT JOIN session_access a ON a.session_id = s.id \
         WHERE {condition} LIMIT ?2"
    );
    connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            statement.query_map(params![value, limit], |row| row::parsed(row, 0))?.collect()
        })
        .map_err(StoreError::backend("look for sessions to remove"))
}

fn least_recent(connection: &Connection, limit: u64) -> Result<Vec<SessionId>, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    select(connection, &format!("{IDLE} AND ?1 = 0 ORDER BY {TOUCHED}, s.id"), 0, limit)
}

fn least_recent_sizes(connection: &Connection) -> Result<Vec<(SessionId, u64)>, StoreError> {
    let sql = format!(
        "SELECT s.id, s.bytes FROM sessions s LEFT JOIN session_access a ON a.session_id = s.id \
         WHERE {IDLE} ORDER BY {TOUCHED}, s.id LIMIT {AT_ONCE}"
    );
    connection
        .prepare_cached(&sql)
        .and_then(|mut statement| {
            statement.query_map([], |row| Ok((row::parsed(row, 0)?, count(row.get(1)?))))?.collect()
        })
        .map_err(StoreError::backend("look for sessions to remove"))
}

fn remove(
    work: &mut Work<'_>,
    reason: RemovalReason,
    victims: &[SessionId],
) -> Result<bool, StoreError> {
    let mut events = 0;
    for victim in victims {
        events += sum_events(work.connection, *victim)?;
        delete(work, *victim)?;
    }
    if !victims.is_empty() {
        note(work.connection, reason, victims.len() as u64, events)?;
    }
    Ok(!victims.is_empty())
}

fn sum_events(connection: &Connection, id: SessionId) -> Result<u64, StoreError> {
    connection
        .prepare_cached("SELECT last_seq - removed_through FROM sessions WHERE id = ?1")
        .and_then(|mut statement| {
            statement.query_row([id.to_string()], |row| row.get(0).map(count))
        })
        .map_err(StoreError::backend("count events"))
}

/// Counts what was removed.
pub(super) fn note(
    connection: &Connection,
    reason: RemovalReason,
    sessions: u64,
    events: u64,
) -> Result<(), StoreError> {
    let sessions = i64::try_from(sessions).unwrap_or(i64::MAX);
    let events = i64::try_from(events).unwrap_or(i64::MAX);
    connection
        .prepare_cached(
            "INSERT INTO removals VALUES (?1, ?2, ?3, CAST(unixepoch('subsec') * 1000 AS INTEGER)) \
             ON CONFLICT DO UPDATE SET sessions = sessions + ?2, events = events + ?3, \
             last_at = excluded.last_at",
        )
        .and_then(|mut statement| statement.execute(params![reason.as_str(), sessions, events]))
        .map(|_| ())
        .map_err(StoreError::backend("count what was removed"))
}

/// All that was ever removed.
pub(super) fn removals(connection: &Connection) -> rusqlite::Result<Vec<Removal>> {
    connection
        .prepare_cached("SELECT reason, sessions, events, last_at FROM removals ORDER BY reason")?
        .query_map([], |row| {
            Ok(Removal {
                reason: row::parsed(row, 0)?,
                sessions: count(row.get(1)?),
                events: count(row.get(2)?),
                last_at: Timestamp::from_millisecond(row.get(3)?).unwrap_or_default(),
            })
        })?
        .collect()
}
