//! Rows as they are carried from one store to another.

use hotseat_core::{Seq, SessionId};
use jiff::Timestamp;
use rusqlite::{Connection, params};

use super::moment::Moment;
use super::row::{self, number};
use super::session_rows::write_summary;
use super::settle::{self, Batch};
use super::tail::Unsettled;
use super::usage;
use super::whereabouts::Clue;
use super::writer::Work;
use super::{access, adk, people, retention};
use crate::copy::{AskPart, Common, EVENTS_AT_ONCE, Parts, Placed, TokenPart, TurnPart};
use crate::rules::Prepared;
use crate::tally::{MinuteSums, ToolSums};
use crate::{AuditEntry, Limits, StoreError};

/// All that is kept of a session besides its events.
pub(super) fn parts(
    connection: &Connection,
    id: SessionId,
    clue: &Clue,
    limits: &Limits,
) -> rusqlite::Result<Option<Parts>> {
    let moment = Moment::of(connection)?;
    let Some(session) = row::find_session(&moment, id, clue, limits)? else { return Ok(None) };
    let key = id.to_string();
    let turns = moment
        .prepare_cached(
            "SELECT turn_id, request_seq, requested_at, response_seq FROM turns \
             WHERE session_id = ?1",
        )?
        .query_map([&key], |found| {
            Ok(TurnPart {
                turn: row::parsed(found, 0)?,
                request: row::seq(found.get(1)?),
                requested_at: found.get(2)?,
                response: found.get::<_, Option<i64>>(3)?.map(row::seq),
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let asks = moment
        .prepare_cached("SELECT call_id, asked_seq, answer_seq FROM asks WHERE session_id = ?1")?
        .query_map([&key], |found| {
            Ok(AskPart {
                call_id: found.get(0)?,
                asked: row::seq(found.get(1)?),
                answered: found.get::<_, Option<i64>>(2)?.map(row::seq),
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    let state = moment
        .prepare_cached("SELECT key, value FROM session_state WHERE session_id = ?1")?
        .query_map([&key], |found| Ok((found.get(0)?, found.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let messages = adk::written(&moment, id)?.into_iter().collect();
    let access = access::one(&moment, &key)?;
    Ok(Some(Parts { session, turns, asks, state, messages, access }))
}

/// The next events of a session, which are settled.
pub(super) fn events(
    connection: &Connection,
    id: SessionId,
    after: Seq,
) -> rusqlite::Result<Vec<Placed>> {
    let sql = format!(
        "{}, e.id FROM event_places p JOIN events e ON e.id = p.id \
         WHERE p.session = (SELECT number FROM sessions WHERE id = ?1) AND p.seq > ?2 \
         ORDER BY p.seq LIMIT {EVENTS_AT_ONCE}",
        row::EVENT_COLUMNS
    );
    connection
        .prepare_cached(&sql)?
        .query_map(params![id.to_string(), number(after)], |found| {
            Ok(Placed { place: found.get(12)?, event: row::event(found)? })
        })?
        .collect()
}

/// What belongs to no session.
pub(super) fn common(connection: &Connection) -> rusqlite::Result<Common> {
    let mut common = Common { removals: retention::removals(connection)?, ..Common::default() };
    common.shared = connection
        .prepare("SELECT app_name, user_id, key, value FROM shared_state")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?
        .collect::<rusqlite::Result<_>>()?;
    common.tally.minutes = connection
        .prepare("SELECT minute, events, errors, prompt_tokens, output_tokens FROM usage_minutes")?
        .query_map([], |row| {
            let sums = MinuteSums {
                events: row.get(1)?,
                errors: row.get(2)?,
                prompt_tokens: row.get(3)?,
                output_tokens: row.get(4)?,
            };
            Ok((row.get(0)?, sums))
        })?
        .collect::<rusqlite::Result<_>>()?;
    common.tally.tools = connection
        .prepare("SELECT name, calls, errors, timed, total_ms, max_ms FROM usage_tools")?
        .query_map([], |row| {
            let sums = ToolSums {
                calls: row.get(1)?,
                errors: row.get(2)?,
                timed: row.get(3)?,
                total_ms: row.get(4)?,
                max_ms: row.get(5)?,
            };
            Ok((row.get(0)?, sums))
        })?
        .collect::<rusqlite::Result<_>>()?;
    common.users = people::users(connection)?;
    let sql = people::TOKENS.replace(" FROM", ", t.user_id, t.hash FROM");
    common.tokens = connection
        .prepare(&sql)?
        .query_map([], |found| {
            Ok(TokenPart {
                token: people::token(found)?,
                user_id: row::parsed(found, 8)?,
                hash: found.get(9)?,
            })
        })?
        .collect::<rusqlite::Result<_>>()?;
    Ok(common)
}

pub(super) fn put_parts(work: &mut Work<'_>, parts: &Parts) -> Result<(), StoreError> {
    if !super::session_rows::insert(work.connection, &parts.session)? {
        let source = "there is one with its id".into();
        return Err(StoreError::Backend { action: "copy a session", source });
    }
    put_derived(work.connection, parts).map_err(StoreError::backend("copy a session"))
}

fn put_derived(connection: &Connection, parts: &Parts) -> rusqlite::Result<()> {
    let key = parts.session.id.to_string();
    write_summary(connection, &parts.session)?;
    for turn in &parts.turns {
        connection
            .prepare_cached(
                "INSERT INTO turns (session_id, turn_id, request_seq, requested_at, response_seq) \
                 VALUES (?1, ?2, ?3, ?4, ?5)",
            )?
            .execute(params![
                key,
                turn.turn.to_string(),
                number(turn.request),
                turn.requested_at,
                turn.response.map(number),
            ])?;
    }
    for ask in &parts.asks {
        connection
            .prepare_cached(
                "INSERT INTO asks (session_id, call_id, asked_seq, answer_seq) \
                 VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![key, ask.call_id, number(ask.asked), ask.answered.map(number)])?;
    }
    for (name, value) in &parts.state {
        connection
            .prepare_cached("INSERT INTO session_state VALUES (?1, ?2, ?3)")?
            .execute(params![key, name, value])?;
    }
    for (seq, message) in &parts.messages {
        let metadata =
            message.metadata.as_ref().and_then(|metadata| serde_json::to_string(metadata).ok());
        connection
            .prepare_cached("INSERT INTO messages VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
            .execute(params![
                key,
                number(*seq),
                message.id,
                message.role,
                message.content,
                message.timestamp.as_millisecond(),
                metadata,
            ])?;
    }
    let Some(access) = &parts.access else { return Ok(()) };
    connection
        .prepare_cached(
            "INSERT INTO session_access (session_id, last_access_at, client_ip, user_agent, \
             failed_attempts, flagged, warnings) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            key,
            access.last_access_at.map_or(0, Timestamp::as_millisecond),
            access.client_ip,
            access.user_agent,
            i64::try_from(access.failed_attempts).unwrap_or(i64::MAX),
            access.flagged,
            crate::warnings::text(&access.warnings),
        ])?;
    Ok(())
}

/// Writes the next events of a session, settled at once and not counted again.
pub(super) fn put_events(
    work: &mut Work<'_>,
    limits: &Limits,
    events: Vec<Placed>,
) -> Result<(), StoreError> {
    // Places are given by others here, so what is known of the last one has to be read again.
    work.tail.doubt();
    let write = || -> rusqlite::Result<()> {
        let Some(id) = events.first().map(|placed| placed.event.session_id) else { return Ok(()) };
        let key = id.to_string();
        let mut insert = work.connection.prepare_cached(row::INSERT_EVENT)?;
        let mut settled = Vec::with_capacity(events.len());
        let mut through = 0;
        for Placed { place, event } in events {
            let prepared = Prepared::new(event.entry, limits);
            row::insert_event(&mut insert, &key, event.seq, &prepared, place)?;
            settled.push(Unsettled::new(id, place, event.seq, &prepared));
            through = through.max(place);
        }
        if let Some(last) = settled.last() {
            let number = settle::note(work.connection, id, last.seq)?;
            Batch::default().add(work.connection, number, settled.into_iter())?;
        }
        Batch::default().finish(work.connection, through)
    };
    write().map_err(StoreError::backend("copy events"))
}

pub(super) fn put_common(work: &mut Work<'_>, common: &Common) -> Result<(), StoreError> {
    let write = || -> rusqlite::Result<()> {
        for (app, user, name, value) in &common.shared {
            work.connection
                .prepare_cached("INSERT OR REPLACE INTO shared_state VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![app, user, name, value])?;
        }
        for removal in &common.removals {
            work.connection
                .prepare_cached("INSERT OR REPLACE INTO removals VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![
                    removal.reason.as_str(),
                    i64::try_from(removal.sessions).unwrap_or(i64::MAX),
                    i64::try_from(removal.events).unwrap_or(i64::MAX),
                    removal.last_at.as_millisecond(),
                ])?;
        }
        put_people(work.connection, common)?;
        usage::write(&common.tally, work.connection)
    };
    write().map_err(StoreError::backend("copy figures"))
}

fn put_people(connection: &Connection, common: &Common) -> rusqlite::Result<()> {
    let time = |time: Option<Timestamp>| time.map(Timestamp::as_millisecond);
    for user in &common.users {
        connection.prepare_cached("INSERT INTO users VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(
            params![
                user.id.to_string(),
                user.name.as_str(),
                user.role.as_str(),
                user.created_at.as_millisecond(),
                time(user.revoked_at),
            ],
        )?;
    }
    for TokenPart { token, user_id, hash } in &common.tokens {
        connection
            .prepare_cached("INSERT INTO user_tokens VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)")?
            .execute(params![
                token.id.to_string(),
                user_id.to_string(),
                hash,
                token.prefix,
                token.label,
                token.created_at.as_millisecond(),
                time(token.last_used_at),
                time(token.expires_at),
                time(token.revoked_at),
            ])?;
    }
    Ok(())
}

/// Writes entries of the audit in their places.
pub(super) fn put_audit(work: &mut Work<'_>, entries: &[AuditEntry]) -> Result<(), StoreError> {
    let write = || -> rusqlite::Result<()> {
        for entry in entries {
            work.connection
                .prepare_cached("INSERT INTO audit VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?
                .execute(params![
                    i64::try_from(entry.seq).unwrap_or(i64::MAX),
                    entry.at.as_millisecond(),
                    entry.actor,
                    entry.action,
                    entry.subject,
                    entry.session.map(|session| session.to_string()),
                    entry.detail.to_string(),
                ])?;
        }
        Ok(())
    };
    write().map_err(StoreError::backend("copy the audit"))
}
