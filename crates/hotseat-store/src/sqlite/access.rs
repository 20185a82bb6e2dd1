//! What readers did: visits, and attempts of those who may not.

use std::collections::HashMap;

use hotseat_core::SessionId;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};

use super::row;
use super::usage::count;
use super::writer::Work;
use crate::warnings::{change_of_client, push, text};
use crate::{Access, Intrusion, StoreError, Visit};

/// Notes visits. A session that is gone by now has none.
pub(super) fn visited(work: &mut Work<'_>, visits: &[Visit]) -> Result<(), StoreError> {
    for visit in visits {
        come_in(work.connection, visit).map_err(StoreError::backend("note a visit"))?;
    }
    Ok(())
}

fn come_in(connection: &Connection, visit: &Visit) -> rusqlite::Result<()> {
    let key = visit.session.to_string();
    if visit.watched
        && let Some(mut before) = one(connection, &key)?
        && let Some(message) = change_of_client(&before, visit)
    {
        push(&mut before.warnings, "client_changed", visit.at, message.to_owned());
        connection
            .prepare_cached("UPDATE session_access SET warnings = ?2 WHERE session_id = ?1")?
            .execute(params![key, text(&before.warnings)])?;
    }
    connection
        .prepare_cached(
            "INSERT INTO session_access (session_id, last_access_at, client_ip, user_agent) \
             SELECT id, ?2, ?3, ?4 FROM sessions WHERE id = ?1 \
             ON CONFLICT DO UPDATE SET last_access_at = max(last_access_at, ?2), \
             client_ip = COALESCE(?3, client_ip), user_agent = COALESCE(?4, user_agent)",
        )?
        .execute(params![key, visit.at.as_millisecond(), visit.client_ip, visit.user_agent])?;
    Ok(())
}

/// Notes an attempt to get into the session of another, and flags it after too many.
pub(super) fn intruded(work: &mut Work<'_>, intrusion: &Intrusion) -> Result<(), StoreError> {
    note(work.connection, intrusion).map_err(StoreError::backend("note a failed access"))
}

fn note(connection: &Connection, intrusion: &Intrusion) -> rusqlite::Result<()> {
    let key = intrusion.session.to_string();
    let exists =
        connection.prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")?.exists([&key])?;
    if !exists {
        return Ok(());
    }
    let before = one(connection, &key)?;
    let attempts = before.as_ref().map_or(0, |access| access.failed_attempts) + 1;
    let mut warnings = before.map(|access| access.warnings).unwrap_or_default();
    push(&mut warnings, "failed_access", intrusion.at, intrusion.message.clone());
    connection
        .prepare_cached(
            "INSERT INTO session_access (session_id, last_access_at, failed_attempts, flagged, warnings) \
             VALUES (?1, 0, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET failed_attempts = ?2, \
             flagged = max(flagged, ?3), warnings = ?4",
        )?
        .execute(params![
            key,
            i64::try_from(attempts).unwrap_or(i64::MAX),
            attempts >= intrusion.flag_after,
            text(&warnings),
        ])?;
    Ok(())
}

pub(super) fn one(connection: &Connection, key: &str) -> rusqlite::Result<Option<Access>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE session_id = ?1"))?
        .query_row([key], |row| read(row).map(|(_, access)| access))
        .optional()
}

/// What readers did to these sessions; those that nobody came to are left out.
pub(super) fn of_sessions(
    connection: &Connection,
    sessions: &[SessionId],
) -> rusqlite::Result<HashMap<SessionId, Access>> {
    let marks = vec!["?"; sessions.len()].join(", ");
    let keys = sessions.iter().map(|session| Value::Text(session.to_string()));
    connection
        .prepare(&format!("{SELECT} WHERE session_id IN ({marks})"))?
        .query_map(params_from_iter(keys), read)?
        .collect()
}

const SELECT: &str = "SELECT session_id, last_access_at, client_ip, user_agent, failed_attempts, \
                      flagged, warnings FROM session_access";

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<(SessionId, Access)> {
    let warnings: String = row.get(6)?;
    let access = Access {
        last_access_at: match row.get(1)? {
            0 => None,
            at => Some(row::timestamp(1, at)?),
        },
        client_ip: row.get(2)?,
        user_agent: row.get(3)?,
        failed_attempts: count(row.get(4)?),
        flagged: row.get(5)?,
        warnings: serde_json::from_str(&warnings).unwrap_or_default(),
    };
    Ok((row::parsed(row, 0)?, access))
}
