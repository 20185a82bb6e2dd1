//! Rows to values.

use hotseat_core::{Event, Kind, NewEvent, Record, Seq, SessionId, SessionStatus, TurnId};
use jiff::Timestamp;
use serde_json::value::RawValue;
use tokio_postgres::Row;
use tokio_postgres::types::FromSql;
use uuid::Uuid;

use super::failure::Failure;
use super::text::Text;
use crate::{OpenRun, Session, Turn};

/// What [`session`] reads, in its order, of `sessions s`.
pub(super) const SESSION: &str = "s.session_id, s.created_at, s.updated_at, s.description, \
     s.title, s.status, s.agent, s.app_name, s.user_id, s.source, s.last_seq, s.pending_turns, \
     s.run_id, s.run_status, s.run_since, s.adk_id, s.removed_through, s.open_requests, \
     s.event_head, s.update_time, s.event_count, s.message_count, s.bytes, s.record_status, \
     s.progress, s.current_phase, s.final_report, s.error, s.incarnation";

/// How many columns that are.
pub(super) const SESSION_COLUMNS: usize = 29;

/// What [`event`] reads, in its order, of `events e`.
pub(super) const EVENT: &str = "e.session_id, e.seq, e.event_id, e.timestamp, e.kind, e.turn_id, \
     e.agent_name, e.invocation_id, e.author, e.branch, e.parent_call_id, e.packed, e.payload";

pub(super) fn session(row: &Row) -> Result<Session, Failure> {
    let run = match (text_if(row, 12)?, text_if(row, 13)?, get::<Option<i64>>(row, 14)?) {
        (Some(run_id), Some(status), Some(since)) => {
            Some(OpenRun { run_id, status, since: timestamp(since)? })
        }
        _ => None,
    };
    Ok(Session {
        id: session_id(row, 0)?,
        created_at: timestamp(get(row, 1)?)?,
        updated_at: timestamp(get(row, 2)?)?,
        description: text_if(row, 3)?,
        title: text_if(row, 4)?,
        status: get::<&str>(row, 5)?.parse::<SessionStatus>().map_err(Failure::corrupt)?,
        agent: text_if(row, 6)?,
        app_name: text(row, 7)?,
        user_id: text(row, 8)?,
        source: text(row, 9)?,
        last_seq: seq(row, 10)?,
        pending_turns: small(row, 11)?,
        run,
        adk_id: text_if(row, 15)?,
        removed_through: seq(row, 16)?,
        open_requests: small(row, 17)?,
        event_head: seq(row, 18)?,
        update_time: get(row, 19)?,
        event_count: count(row, 20)?,
        message_count: count(row, 21)?,
        bytes: count(row, 22)?,
        record: Record {
            status: text_if(row, 23)?,
            progress: get(row, 24)?,
            current_phase: text_if(row, 25)?,
            final_report: text_if(row, 26)?,
            error: text_if(row, 27)?,
        },
        incarnation: get(row, 28)?,
    })
}

pub(super) fn event(row: &Row) -> Result<Event, Failure> {
    let entry = NewEvent {
        event_id: text(row, 2)?,
        timestamp: timestamp(get(row, 3)?)?,
        kind: get::<&str>(row, 4)?.parse::<Kind>().map_err(Failure::corrupt)?,
        turn_id: get::<Option<Uuid>>(row, 5)?.map(TurnId::new),
        agent_name: text(row, 6)?,
        invocation_id: text_if(row, 7)?,
        author: text(row, 8)?,
        branch: text_if(row, 9)?,
        parent_call_id: text_if(row, 10)?,
        payload: RawValue::from_string(payload(row, 11)?).map_err(Failure::corrupt)?,
    };
    Ok(Event { session_id: session_id(row, 0)?, seq: seq(row, 1)?, entry })
}

/// Reads `session_id, turn_id, request_seq, response_seq`.
pub(super) fn turn(row: &Row) -> Result<Turn, Failure> {
    Ok(Turn {
        session_id: session_id(row, 0)?,
        turn_id: TurnId::new(get(row, 1)?),
        request: seq(row, 2)?,
        response: seq_if(row, 3)?,
    })
}

/// A payload as it arrived, of the columns `packed, payload` from `column` on.
pub(super) fn payload(row: &Row, column: usize) -> Result<String, Failure> {
    let bytes: &[u8] = get(row, column + 1)?;
    let bytes = if get(row, column)? {
        zstd::stream::decode_all(bytes).map_err(Failure::corrupt)?
    } else {
        bytes.to_owned()
    };
    String::from_utf8(bytes).map_err(Failure::corrupt)
}

/// A value that is kept as JSON.
pub(super) fn json(row: &Row, column: usize) -> Result<serde_json::Value, Failure> {
    serde_json::from_str(get(row, column)?).map_err(Failure::corrupt)
}

pub(super) fn get<'r, T: FromSql<'r>>(row: &'r Row, column: usize) -> Result<T, Failure> {
    Ok(row.try_get(column)?)
}

pub(super) fn text(row: &Row, column: usize) -> Result<String, Failure> {
    get::<Text>(row, column).map(|text| text.0)
}

pub(super) fn text_if(row: &Row, column: usize) -> Result<Option<String>, Failure> {
    get::<Option<Text>>(row, column).map(|text| text.map(|text| text.0))
}

pub(super) fn session_id(row: &Row, column: usize) -> Result<SessionId, Failure> {
    get(row, column).map(SessionId::new)
}

pub(super) fn seq(row: &Row, column: usize) -> Result<Seq, Failure> {
    count(row, column).map(Seq::new)
}

pub(super) fn seq_if(row: &Row, column: usize) -> Result<Option<Seq>, Failure> {
    get::<Option<i64>>(row, column)
        .map(|number| number.map(|number| Seq::new(u64::try_from(number).unwrap_or(0))))
}

/// PostgreSQL has no unsigned integers; nothing here reaches 2^63.
pub(super) fn count(row: &Row, column: usize) -> Result<u64, Failure> {
    get::<i64>(row, column).map(|number| u64::try_from(number).unwrap_or(0))
}

fn small(row: &Row, column: usize) -> Result<u32, Failure> {
    get::<i32>(row, column).map(|number| u32::try_from(number).unwrap_or(0))
}

pub(super) fn number(seq: Seq) -> i64 {
    signed(seq.get())
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

pub(super) fn timestamp(milliseconds: i64) -> Result<Timestamp, Failure> {
    Timestamp::from_millisecond(milliseconds).map_err(Failure::corrupt)
}
