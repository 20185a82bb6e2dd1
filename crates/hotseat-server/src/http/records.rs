//! What is derived from a session's log: its record and its messages.

use axum::Json;
use axum::http::StatusCode;
use hotseat_core::{Message, rfc3339};
use hotseat_store::{Access, Session};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Problem;
use super::extract::{At, Body, Entered, Params, session_id};
use super::view::{List, SessionView};
use crate::service::EventSummary;

/// A message.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct MessageView {
    id: String,
    /// `user`, `assistant`, or what its writer said.
    role: String,
    content: String,
    timestamp: String,
    #[schema(value_type = Option<Object>)]
    metadata: Option<Map<String, Value>>,
}

impl From<Message> for MessageView {
    fn from(message: Message) -> Self {
        let Message { id, role, content, timestamp, metadata } = message;
        Self { id, role, content, timestamp: rfc3339(timestamp), metadata }
    }
}

/// What readers did to a session.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
pub(super) struct SecurityView {
    last_access_at: Option<String>,
    failed_access_attempts: u64,
    is_security_flagged: bool,
    security_warnings: Vec<WarningView>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct WarningView {
    at: String,
    code: String,
    message: String,
}

impl From<Access> for SecurityView {
    fn from(access: Access) -> Self {
        let warnings = access.warnings.into_iter().map(|warning| WarningView {
            at: rfc3339(warning.at),
            code: warning.code,
            message: warning.message,
        });
        Self {
            last_access_at: access.last_access_at.map(rfc3339),
            failed_access_attempts: access.failed_attempts,
            is_security_flagged: access.flagged,
            security_warnings: warnings.collect(),
        }
    }
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(clippy::struct_field_names, reason = "they are the names of the parameters")]
pub(super) struct RecordParams {
    /// On unless it is `false`.
    #[serde(alias = "includeMessages")]
    include_messages: Option<bool>,
    /// Off unless it is `true`.
    #[serde(alias = "includeSecurity")]
    include_security: Option<bool>,
    /// Off unless it is `true`: the raw events and their number.
    #[serde(alias = "includeEvents")]
    include_events: Option<bool>,
}

/// A session as a record: where it stands, and what was said.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct RecordView {
    id: String,
    created_at: String,
    updated_at: String,
    /// As its events tell; `pending` until they do, `completed` once the session is.
    status: String,
    title: Option<String>,
    user_id: String,
    /// From 0 to 1.
    progress: Option<f64>,
    current_phase: Option<String>,
    final_report: Option<String>,
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    messages: Option<Vec<MessageView>>,
    /// The fields of a `SecurityView`, where they were asked for: all of them or none.
    #[serde(flatten)]
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Object)]
    security: Option<SecurityView>,
    /// As they arrived, oldest first.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<Object>>)]
    events: Option<Vec<Box<RawValue>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event_count: Option<u64>,
}

/// The record of a session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/record", tag = "records", params(("id" = String, Path), RecordParams),
    responses((status = 200, body = RecordView), (status = 404, body = Problem)))]
pub(super) async fn record(
    Entered(app): Entered,
    At(id): At<String>,
    Params(params): Params<RecordParams>,
) -> Result<Json<RecordView>, Problem> {
    let id = session_id(&id)?;
    let session = app.session(id).await?;
    let mut view = RecordView::new(session);
    if params.include_messages.unwrap_or(true) {
        let messages = app.messages(id).await?;
        view.messages = Some(messages.into_iter().map(MessageView::from).collect());
    }
    if params.include_security.unwrap_or_default() {
        view.security = Some(app.security(id).await?.map(Into::into).unwrap_or_default());
    }
    if params.include_events.unwrap_or_default() {
        let events = app.raw_events(id).await?;
        view.event_count = Some(events.len() as u64);
        view.events = Some(events);
    }
    Ok(Json(view))
}

impl RecordView {
    fn new(session: Session) -> Self {
        let completed = session.status == hotseat_core::SessionStatus::Completed;
        let told = session.record.status;
        let status =
            told.unwrap_or_else(|| if completed { "completed" } else { "pending" }.to_owned());
        Self {
            id: session.id.to_string(),
            created_at: rfc3339(session.created_at),
            updated_at: rfc3339(session.updated_at),
            status,
            title: session.title,
            user_id: session.user_id,
            progress: session.record.progress,
            current_phase: session.record.current_phase,
            final_report: session.record.final_report,
            error: session.record.error,
            messages: None,
            security: None,
            events: None,
            event_count: None,
        }
    }
}

/// The messages of a session, oldest first.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/messages", tag = "records", params(("id" = String, Path)),
    responses((status = 200, body = List<MessageView>), (status = 404, body = Problem)))]
pub(super) async fn messages(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<List<MessageView>>, Problem> {
    let messages = app.messages(session_id(&id)?).await?;
    let items = messages.into_iter().map(MessageView::from).collect();
    Ok(Json(List { items, next_cursor: None }))
}

/// Puts a message into a session: `{id?, role?, content, timestamp?, metadata?}`.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/messages", tag = "records", params(("id" = String, Path)),
    request_body = Object,
    responses((status = 201, body = MessageView), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn add_message(
    Entered(app): Entered,
    At(id): At<String>,
    Body(body): Body<Box<RawValue>>,
) -> Result<(StatusCode, Json<MessageView>), Problem> {
    let message = app.add_message(session_id(&id)?, body).await?;
    Ok((StatusCode::CREATED, Json(message.into())))
}

/// What the raw events of a session are, in figures.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/events/summary", tag = "records", params(("id" = String, Path)),
    responses((status = 200, body = EventSummary), (status = 404, body = Problem)))]
pub(super) async fn event_summary(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<EventSummary>, Problem> {
    Ok(Json(app.event_summary(session_id(&id)?).await?))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Cleared {
    /// How many entries went.
    removed: u64,
}

/// Removes the log of a session and leaves its messages.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}/events", tag = "records", params(("id" = String, Path)),
    responses((status = 200, body = Cleared), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn clear_events(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<Cleared>, Problem> {
    Ok(Json(Cleared { removed: app.clear_events(session_id(&id)?).await? }))
}

/// Computes anew what is derived from a session's log.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/rebuild", tag = "records", params(("id" = String, Path)),
    responses((status = 200, body = SessionView), (status = 404, body = Problem)))]
pub(super) async fn rebuild(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<SessionView>, Problem> {
    let session = app.rebuild(session_id(&id)?).await?;
    Ok(Json(SessionView::new(&app, session)))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Backfilled {
    /// How many events were made; 0 if the session has, or had, events of its own.
    events: usize,
}

/// Makes events for the messages of a session that has none.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/backfill", tag = "records", params(("id" = String, Path)),
    responses((status = 200, body = Backfilled), (status = 404, body = Problem)))]
pub(super) async fn backfill(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<Backfilled>, Problem> {
    Ok(Json(Backfilled { events: app.backfill(session_id(&id)?).await? }))
}
