//! ADK's sessions over gRPC: translation and nothing more.

use hotseat_core::Seq;
use hotseat_store::{AdkEventQuery, AdkSessionQuery, Expected, InvalidCursor, Session};
use jiff::Timestamp;
use prost::bytes::Bytes;
use serde_json::{Map, Value};
use tonic::{Response, Status};

use super::convert;
use crate::proto;
use crate::service::{AdkKey, AdkSession, App, NewAdkSession, seen};

/// Bytes of events in one answer, unless the caller wants another number.
const PAGE_BYTES: usize = 8 * 1024 * 1024;

pub(super) async fn create(
    app: &App,
    wish: proto::CreateAdkSessionRequest,
) -> Result<Response<proto::AdkSession>, Status> {
    let key = wish.key.unwrap_or_default();
    let created_at = match wish.create_time {
        0.0 => None,
        seconds => Some(time(seconds)?),
    };
    let new = NewAdkSession {
        app_name: key.app_name,
        user_id: key.user_id,
        id: convert::given(key.id),
        state: object(&wish.state_json)?,
        events: Vec::new(),
        created_at,
    };
    let made = app.create_adk_session(new).await?;
    Ok(Response::new(session(app, made)))
}

pub(super) async fn get(
    app: &App,
    wish: proto::GetAdkSessionRequest,
) -> Result<Response<proto::GetAdkSessionResponse>, Status> {
    let key = key(wish.key)?;
    let max_bytes = match wish.max_bytes as usize {
        0 => PAGE_BYTES,
        bytes => bytes,
    };
    let mut query = AdkEventQuery {
        after: Seq::new(wish.after_seq),
        recent: wish.num_recent_events,
        not_before: wish.after_timestamp,
        max_bytes,
    };
    let mut read = app.adk_session(&key, query).await?;
    let from_start = wish.after_seq > 0
        && (wish.incarnation != incarnation_text(&read.session)
            || wish.after_seq > read.session.event_head.get());
    if from_start {
        query.after = Seq::START;
        read = app.adk_session(&key, query).await?;
    }
    let more = read.more;
    let events = std::mem::take(&mut read.events)
        .into_iter()
        .map(|event| proto::AdkEvent {
            seq: event.seq.get(),
            timestamp: event.time,
            raw_json: Bytes::from(event.payload),
        })
        .collect();
    let session = Some(session(app, seen(read)));
    Ok(Response::new(proto::GetAdkSessionResponse { session, events, more, from_start }))
}

pub(super) async fn list(
    app: &App,
    wish: proto::ListAdkSessionsRequest,
) -> Result<Response<proto::ListAdkSessionsResponse>, Status> {
    let after = convert::given(wish.page_token)
        .map(|token| token.parse())
        .transpose()
        .map_err(|error: InvalidCursor| Status::invalid_argument(error.to_string()))?;
    let query = AdkSessionQuery {
        app_name: wish.app_name,
        user_id: convert::given(wish.user_id),
        after,
        limit: usize::try_from(wish.page_size).unwrap_or_default(),
    };
    let (sessions, next) = app.adk_sessions(query).await?;
    Ok(Response::new(proto::ListAdkSessionsResponse {
        sessions: sessions.into_iter().map(|found| session(app, found)).collect(),
        next_page_token: next.unwrap_or_default(),
    }))
}

pub(super) async fn delete(
    app: &App,
    wish: proto::DeleteAdkSessionRequest,
) -> Result<Response<proto::DeleteAdkSessionResponse>, Status> {
    let deleted = app.delete_adk_session(&key(wish.key)?).await?;
    Ok(Response::new(proto::DeleteAdkSessionResponse { deleted }))
}

pub(super) async fn append(
    app: &App,
    wish: proto::AppendAdkEventRequest,
) -> Result<proto::AppendAdkEventResponse, Status> {
    let key = key(wish.key)?;
    let payload = convert::raw_json("raw_json", &wish.raw_json)?;
    let event_head = wish.expected_head.map(Seq::new);
    let expected = match convert::given(wish.incarnation) {
        Some(text) => Expected::Incarnation { incarnation: incarnation(&text)?, event_head },
        None => event_head.map_or(Expected::Any, Expected::EventHead),
    };
    let appended = app.append_adk_event(&key, payload, expected).await?;
    Ok(proto::AppendAdkEventResponse {
        seq: appended.seq.get(),
        duplicate: appended.duplicate,
        event_head: appended.event_head.get(),
        last_update_time: appended.update_time,
    })
}

pub(super) async fn user_state(
    app: &App,
    wish: proto::GetAdkUserStateRequest,
) -> Result<Response<proto::GetAdkUserStateResponse>, Status> {
    let state = app.user_state(&wish.app_name, &wish.user_id).await?;
    Ok(Response::new(proto::GetAdkUserStateResponse { state_json: json(state) }))
}

fn key(key: Option<proto::AdkSessionKey>) -> Result<AdkKey, Status> {
    let key = key.unwrap_or_default();
    Ok(AdkKey::new(&key.app_name, &key.user_id, &key.id)?)
}

fn session(app: &App, seen: AdkSession) -> proto::AdkSession {
    let AdkSession { session, state } = seen;
    proto::AdkSession {
        key: Some(proto::AdkSessionKey {
            id: session.adk_id(),
            app_name: session.app_name.clone(),
            user_id: session.user_id.clone(),
        }),
        session_id: session.id.to_string(),
        create_time: session.created_at.as_duration().as_secs_f64(),
        last_update_time: session.adk_update_time(),
        state_json: json(state),
        event_head: session.event_head.get(),
        event_count: session.event_count,
        incarnation: incarnation_text(&session),
        removed_through: session.removed_through.get(),
        url: format!("{}/sessions/{}", app.config.url(), session.id),
    }
}

fn incarnation_text(session: &Session) -> String {
    format!("{:x}", session.incarnation)
}

fn incarnation(text: &str) -> Result<i64, Status> {
    let invalid = |_| Status::invalid_argument("incarnation is none that this server gave out");
    u64::from_str_radix(text, 16).map(u64::cast_signed).map_err(invalid)
}

fn json(state: Map<String, Value>) -> Bytes {
    Bytes::from(Value::Object(state).to_string())
}

/// A JSON object; nothing at all is an empty one.
fn object(bytes: &[u8]) -> Result<Map<String, Value>, Status> {
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    serde_json::from_slice(bytes).map_err(|error| {
        Status::invalid_argument(format!("state_json is not a JSON object: {error}"))
    })
}

fn time(seconds: f64) -> Result<Timestamp, Status> {
    let invalid = || Status::invalid_argument("create_time is not a time");
    // To the nearest millisecond, which is what is kept: cut off, a time would come back earlier.
    let milliseconds = (seconds * 1000.0).round() / 1000.0 + 1e-6;
    let duration = jiff::SignedDuration::try_from_secs_f64(milliseconds).map_err(|_| invalid())?;
    Timestamp::from_duration(duration).map_err(|_| invalid())
}
