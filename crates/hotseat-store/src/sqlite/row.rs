//! Rows to values and back.

use std::borrow::Cow;

use hotseat_core::{
    Event, Kind, NewEvent, Record, Seq, SessionId, SessionStatus, TurnId, adk_account,
};
use jiff::Timestamp;
use rusqlite::types::{ToSqlOutput, Type, Value, ValueRef};
use rusqlite::{CachedStatement, Connection, OptionalExtension, Row, params, params_from_iter};
use serde_json::value::RawValue;

use super::moment::Moment;
use super::usage::count;
use super::whereabouts::Clue;
use crate::rules::{Prepared, catch_up};
use crate::{EventRef, Limits, OpenRun, Session, Turn};

pub(super) const SELECT_SESSIONS: &str = "SELECT id, created_at, updated_at, description, title, \
     status, agent, app_name, user_id, source, last_seq, pending_turns, run_id, run_status, \
     run_since, adk_id, removed_through, open_requests, event_head, update_time, event_count, \
     message_count, bytes, record_status, progress, current_phase, final_report, error, \
     incarnation FROM sessions";

/// What [`event`] reads, in its order, of `events e`.
pub(super) const EVENT_COLUMNS: &str = "SELECT e.session_id, e.seq, e.event_id, e.timestamp, \
     e.kind, e.turn_id, e.agent_name, e.invocation_id, e.author, e.branch, e.parent_call_id, \
     e.payload";

/// Where the payload is among them.
pub(super) const PAYLOAD: usize = 11;

pub(super) const INSERT_EVENT: &str = "INSERT INTO events (session_id, seq, event_id, timestamp, \
     time, kind, turn_id, agent_name, invocation_id, author, branch, parent_call_id, size, payload, \
     id, type) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)";

pub(super) fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    let run = match (row.get(12)?, row.get(13)?, row.get::<_, Option<i64>>(14)?) {
        (Some(run_id), Some(status), Some(since)) => {
            Some(OpenRun { run_id, status, since: timestamp(14, since)? })
        }
        _ => None,
    };
    Ok(Session {
        id: parsed(row, 0)?,
        created_at: timestamp(1, row.get(1)?)?,
        updated_at: timestamp(2, row.get(2)?)?,
        description: row.get(3)?,
        title: row.get(4)?,
        status: parsed::<SessionStatus>(row, 5)?,
        agent: row.get(6)?,
        app_name: row.get(7)?,
        user_id: row.get(8)?,
        source: row.get(9)?,
        last_seq: seq(row.get(10)?),
        pending_turns: row.get(11)?,
        run,
        adk_id: row.get(15)?,
        removed_through: seq(row.get(16)?),
        open_requests: row.get(17)?,
        event_head: seq(row.get(18)?),
        update_time: row.get(19)?,
        event_count: count(row.get(20)?),
        message_count: count(row.get(21)?),
        bytes: count(row.get(22)?),
        record: Record {
            status: row.get(23)?,
            progress: row.get(24)?,
            current_phase: row.get(25)?,
            final_report: row.get(26)?,
            error: row.get(27)?,
        },
        incarnation: row.get(28)?,
    })
}

/// The row of one session, which may be older than its log.
pub(super) fn session_row(
    connection: &Connection,
    id: SessionId,
) -> rusqlite::Result<Option<Session>> {
    connection
        .prepare_cached(&format!("{SELECT_SESSIONS} WHERE id = ?1"))?
        .query_row([id.to_string()], session)
        .optional()
}

/// One session as its log says.
pub(super) fn find_session(
    moment: &Moment<'_>,
    id: SessionId,
    clue: &Clue,
    limits: &Limits,
) -> rusqlite::Result<Option<Session>> {
    let Some(mut session) = session_row(moment, id)? else { return Ok(None) };
    let mut values = vec![Value::Text(id.to_string()), Value::Integer(number(session.last_seq))];
    let Some(unsettled) = clue.rows(moment, &mut values)? else { return Ok(Some(session)) };
    let sql = format!("{EVENT_COLUMNS} {unsettled} AND e.seq > ?2 ORDER BY e.id");
    let mut select = moment.prepare_cached(&sql)?;
    let mut rows = select.query(params_from_iter(values))?;
    while let Some(found) = rows.next()? {
        let Event { seq, entry, .. } = event(found)?;
        catch_up(&mut session, seq, &Prepared::again(entry), limits);
    }
    Ok(Some(session))
}

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<Event> {
    let entry = NewEvent {
        event_id: row.get(2)?,
        timestamp: timestamp(3, row.get(3)?)?,
        kind: parsed::<Kind>(row, 4)?,
        turn_id: row.get::<_, Option<String>>(5)?.and_then(|turn| turn.parse().ok()),
        agent_name: row.get(6)?,
        invocation_id: row.get(7)?,
        author: row.get(8)?,
        branch: row.get(9)?,
        parent_call_id: row.get(10)?,
        payload: payload(row, PAYLOAD)?,
    };
    Ok(Event { session_id: parsed(row, 0)?, seq: seq(row.get(1)?), entry })
}

/// The same where it lies. Its payload may have to be unpacked first.
pub(super) fn event_ref<'a>(
    row: &'a Row<'_>,
    session_id: SessionId,
    payload: &'a str,
) -> rusqlite::Result<EventRef<'a>> {
    let text_if = |column| row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from);
    Ok(EventRef {
        session_id,
        seq: seq(row.get(1)?),
        event_id: row.get_ref(2)?.as_str()?,
        timestamp: timestamp(3, row.get(3)?)?,
        kind: parsed::<Kind>(row, 4)?,
        turn_id: text_if(5)?.and_then(|turn| turn.parse().ok()),
        agent_name: row.get_ref(6)?.as_str()?,
        invocation_id: text_if(7)?,
        author: row.get_ref(8)?.as_str()?,
        branch: text_if(9)?,
        parent_call_id: text_if(10)?,
        payload,
    })
}

pub(super) fn turn(row: &Row<'_>) -> rusqlite::Result<Turn> {
    Ok(Turn {
        session_id: parsed(row, 0)?,
        turn_id: parsed::<TurnId>(row, 1)?,
        request: seq(row.get(2)?),
        response: row.get::<_, Option<i64>>(3)?.map(seq),
    })
}

pub(super) fn insert_event(
    statement: &mut CachedStatement<'_>,
    session: &str,
    seq: Seq,
    prepared: &Prepared,
    id: i64,
) -> rusqlite::Result<usize> {
    let event = &prepared.event;
    let text = event.payload.get();
    let payload = match &prepared.compressed {
        Some(compressed) => ValueRef::Blob(compressed),
        None => ValueRef::Text(text.as_bytes()),
    };
    statement.execute(params![
        session,
        number(seq),
        event.event_id,
        event.timestamp.as_millisecond(),
        prepared.time(),
        event.kind.as_str(),
        event.turn_id.map(|turn| turn.to_string()),
        event.agent_name,
        event.invocation_id,
        event.author,
        event.branch,
        event.parent_call_id,
        i64::try_from(text.len()).unwrap_or(i64::MAX),
        ToSqlOutput::Borrowed(payload),
        id,
        prepared.effect.event_type,
    ])
}

/// Writes down the types of all events, for a file of a version that did not.
pub(super) fn write_types(connection: &Connection) -> rusqlite::Result<()> {
    let mut select = connection.prepare("SELECT id, payload FROM events WHERE kind = 'event'")?;
    let mut update = connection.prepare("UPDATE events SET type = ?2 WHERE id = ?1")?;
    let mut rows = select.query([])?;
    while let Some(found) = rows.next()? {
        if let (Some(event_type), _) = adk_account(&payload(found, 1)?) {
            update.execute(params![found.get::<_, i64>(0)?, event_type])?;
        }
    }
    Ok(())
}

/// A payload as it arrived, whether it was compressed or not.
pub(super) fn payload_text<'a>(row: &'a Row<'_>, column: usize) -> rusqlite::Result<Cow<'a, str>> {
    match row.get_ref(column)? {
        ValueRef::Blob(compressed) => {
            let bytes =
                zstd::stream::decode_all(compressed).map_err(|error| corrupt(column, error))?;
            Ok(Cow::Owned(String::from_utf8(bytes).map_err(|error| corrupt(column, error))?))
        }
        text => Ok(Cow::Borrowed(text.as_str()?)),
    }
}

fn payload(row: &Row<'_>, column: usize) -> rusqlite::Result<Box<RawValue>> {
    let text = payload_text(row, column)?.into_owned();
    RawValue::from_string(text).map_err(|error| corrupt(column, error))
}

/// A value that is kept as JSON.
pub(super) fn json(row: &Row<'_>, column: usize) -> rusqlite::Result<serde_json::Value> {
    serde_json::from_str(row.get_ref(column)?.as_str()?).map_err(|error| corrupt(column, error))
}

/// SQLite has no unsigned integers; a log does not reach 2^63 events.
pub(super) fn number(seq: Seq) -> i64 {
    i64::try_from(seq.get()).unwrap_or(i64::MAX)
}

pub(super) fn seq(number: i64) -> Seq {
    Seq::new(u64::try_from(number).unwrap_or(0))
}

pub(super) fn timestamp(column: usize, milliseconds: i64) -> rusqlite::Result<Timestamp> {
    Timestamp::from_millisecond(milliseconds).map_err(|error| corrupt(column, error))
}

pub(super) fn parsed<T>(row: &Row<'_>, column: usize) -> rusqlite::Result<T>
where
    T: std::str::FromStr,
    T::Err: std::error::Error + Send + Sync + 'static,
{
    row.get_ref(column)?.as_str()?.parse().map_err(|error| corrupt(column, error))
}

fn corrupt(
    column: usize,
    error: impl std::error::Error + Send + Sync + 'static,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
}
