//! The agent server's REST protocol: a message in, an answer or a stream of it out.
//!
//! Sessions are known by ULIDs, which are our own ids in another spelling. Everything
//! that is refused before an answer begins is problem+json; what fails later is an
//! `error` event with the same fields.

mod body;
mod form;
mod said;
mod stream;

use std::time::Instant;

use axum::Json;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use futures_util::stream::unfold;
use hotseat_core::{RunChange, SessionId, rfc3339};
use serde::{Deserialize, Serialize};
use ulid::Ulid;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use self::said::Said;
use self::stream::Stream;
use super::Problem;
use super::extract::{At, Entered, Params};
use super::{journal, sse};
use crate::service::{
    App, MAX_FILES_BYTES, Reply, RunStep, Saying, ServiceError, TokenUsage, ToolCallInfo,
    WatchedRun, failure,
};

/// The largest body: all files as base64, and what is around them.
const MAX_CHAT_BYTES: usize = MAX_FILES_BYTES / 3 * 4 + 1024 * 1024;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ChatResponse {
    /// ULID.
    message_id: String,
    /// The answer; may be empty.
    content: String,
    /// ULID; send it with the next message.
    session_id: String,
    tool_calls: Vec<ToolCallInfo>,
    tokens_used: Option<TokenUsage>,
    execution_time_ms: u64,
}

/// How a message is to be run.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(super) struct ChatParams {
    /// Wait for a run that is going on in the session, instead of being refused with 409.
    queue: bool,
    /// Who answers for the model in this run: `human`, `model` or `replay`.
    seat: Option<String>,
}

/// The routes, with room for files.
pub(super) fn routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(chat))
        .routes(routes!(chat_multipart))
        .routes(routes!(stream))
        .routes(routes!(stream_multipart))
        .layer(DefaultBodyLimit::max(MAX_CHAT_BYTES))
        .routes(routes!(conversation))
        .routes(routes!(delete_session))
        // The page of a session has the same address.
        .route("/sessions/{session_id}", get(super::ui::serve))
}

/// Says something to an agent and waits for its answer. JSON or `multipart/form-data`.
#[utoipa::path(post, path = "/agent/{name}/chat", tag = "agent", params(("name" = String, Path), ChatParams),
    request_body(content((Said = "application/json"), (form::ChatForm = "multipart/form-data"))),
    responses((status = 200, body = ChatResponse), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 413, body = Problem), (status = 415, body = Problem), (status = 422, body = Problem),
        (status = 429, body = Problem), (status = 502, body = Problem), (status = 503, body = Problem)))]
pub(super) async fn chat(
    Entered(app): Entered,
    At(name): At<String>,
    Params(params): Params<ChatParams>,
    request: Request,
) -> Result<Response, Problem> {
    let began = Instant::now();
    let waiter = app.waiter();
    let run = said(&app, name, params, request, false).await?;
    let answered = answer(&app, run, began).await;
    drop(waiter);
    Ok(answered?.into_response())
}

/// The same as `/chat`, for clients that want an address of its own for forms.
#[utoipa::path(post, path = "/agent/{name}/chat/multipart", tag = "agent", params(("name" = String, Path), ChatParams),
    request_body(content = form::ChatForm, content_type = "multipart/form-data"),
    responses((status = 200, body = ChatResponse), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn chat_multipart(
    entered: Entered,
    at: At<String>,
    params: Params<ChatParams>,
    request: Request,
) -> Result<Response, Problem> {
    chat(entered, at, params, request).await
}

/// Says something to an agent and streams its answer: `stream_start`, `message_delta`,
/// `tool_call_start`, `tool_call_args`, `tool_call_end`, then `stream_end` or `error`.
#[utoipa::path(post, path = "/agent/{name}/chat/stream", tag = "agent", params(("name" = String, Path), ChatParams),
    request_body(content((Said = "application/json"), (form::ChatForm = "multipart/form-data"))),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem), (status = 429, body = Problem)))]
pub(super) async fn stream(
    Entered(app): Entered,
    At(name): At<String>,
    Params(params): Params<ChatParams>,
    request: Request,
) -> Result<Response, Problem> {
    let began = Instant::now();
    let waiter = app.waiter();
    let run = said(&app, name, params, request, true).await?;
    // On the heap: it is handed on with every message.
    let stream = Box::new(Stream::new(app, run, waiter, began));
    Ok(sse::response(unfold(stream, |mut stream| async {
        let messages = stream.next().await?;
        Some((messages, stream))
    })))
}

/// The same as `/chat/stream`, for forms.
#[utoipa::path(post, path = "/agent/{name}/chat/stream/multipart", tag = "agent", params(("name" = String, Path), ChatParams),
    request_body(content = form::ChatForm, content_type = "multipart/form-data"),
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Problem)))]
pub(super) async fn stream_multipart(
    entered: Entered,
    at: At<String>,
    params: Params<ChatParams>,
    request: Request,
) -> Result<Response, Problem> {
    stream(entered, at, params, request).await
}

/// A conversation with an agent.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Conversation {
    /// ULID.
    session_id: String,
    created_at: String,
    /// When something last happened in it; it is over 30 minutes after, unless the server
    /// was told otherwise.
    last_activity: String,
    /// What was said, by either side.
    message_count: u64,
}

/// What is known of a conversation. Asking does not keep it alive.
#[utoipa::path(get, path = "/agent/{name}/sessions/{session_id}", tag = "agent",
    params(("name" = String, Path), ("session_id" = String, Path)),
    responses((status = 200, body = Conversation), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn conversation(
    Entered(app): Entered,
    At((name, id)): At<(String, String)>,
) -> Result<Json<Conversation>, Problem> {
    offered(&app)?;
    if app.workers.agent(&name).is_none() {
        return Err(ServiceError::UnknownAgent(name).into());
    }
    let id = session_id(&id)?;
    let session = app.present_guest(id).await?;
    if session.agent.as_deref() != Some(name.as_str()) {
        return Err(ServiceError::SessionNotFound(id).into());
    }
    Ok(Json(Conversation {
        session_id: ulid_of(id),
        created_at: rfc3339(session.created_at),
        last_activity: rfc3339(session.updated_at),
        message_count: session.message_count,
    }))
}

/// Ends a conversation. Ending one that is not there is fine.
#[utoipa::path(delete, path = "/sessions/{session_id}", tag = "agent", params(("session_id" = String, Path)),
    responses((status = 204), (status = 422, body = Problem)))]
pub(super) async fn delete_session(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    offered(&app)?;
    app.leave(session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// A message, read from whatever form it came in, on its way.
async fn said(
    app: &App,
    agent: String,
    params: ChatParams,
    request: Request,
    streaming: bool,
) -> Result<WatchedRun, Problem> {
    offered(app)?;
    // Before the body is read: an agent that is not there needs no upload.
    app.served_agent(&agent)?;
    let form = request
        .headers()
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"multipart/form-data"));
    let (said, files) =
        if form { form::read(request).await? } else { body::read(request).await?.into_parts()? };
    let session = said.session_id.as_deref().map(session_id).transpose()?;
    if let Some(session) = session {
        journal::about(session);
    }
    let seat = params.seat.as_deref().map(str::parse).transpose();
    let seat =
        seat.map_err(|error: hotseat_core::UnknownWord| Problem::invalid(error.to_string()))?;
    let parts = app.read_files(files).await?;
    let saying = Saying {
        agent,
        session,
        message: said.message,
        parts,
        seat,
        queue: params.queue,
        streaming,
    };
    let run = app.say(saying).await?;
    journal::about(run.session());
    Ok(run)
}

/// Refuses whoever comes where only AG-UI is spoken.
fn offered(app: &App) -> Result<(), Problem> {
    if app.config.serve.rest {
        return Ok(());
    }
    Err(Problem::not_found("this server does not offer REST: start it with --protocol both"))
}

async fn answer(
    app: &App,
    mut run: WatchedRun,
    began: Instant,
) -> Result<Json<ChatResponse>, Problem> {
    let mut reply = Reply::default();
    loop {
        match run.next().await? {
            Some(RunStep::Piece(_)) => {}
            Some(RunStep::Logged(event)) => drop(reply.logged(&event)),
            Some(RunStep::Ended(end)) => {
                if let Some(problem) = ended(&end, &reply) {
                    return Err(problem);
                }
                break;
            }
            Some(RunStep::Closing) | None => return Err(ServiceError::Closing.into()),
        }
    }
    let content = reply.content();
    app.log_answered(run.session(), run.run_id(), &content);
    Ok(Json(ChatResponse {
        message_id: Ulid::new().to_string(),
        content,
        session_id: ulid_of(run.session()),
        tool_calls: reply.calls,
        tokens_used: reply.usage,
        execution_time_ms: millis(began),
    }))
}

/// Why a run gave no answer.
fn ended(end: &RunChange, reply: &Reply) -> Option<Problem> {
    let refused = || Some(("agent_failed", reply.error()?.to_owned()));
    let (code, detail) = failure(end).or_else(refused)?;
    let status = match code {
        "run_cancelled" => StatusCode::CONFLICT,
        _ => StatusCode::BAD_GATEWAY,
    };
    Some(Problem::new(status, code, detail))
}

fn session_id(text: &str) -> Result<SessionId, Problem> {
    let ulid = Ulid::from_string(text)
        .map_err(|_| Problem::invalid("`session_id` must be a ULID: 26 letters and digits"))?;
    Ok(SessionId::new(uuid::Uuid::from_u128(ulid.0)))
}

fn ulid_of(id: SessionId) -> String {
    Ulid(id.uuid().as_u128()).to_string()
}

fn millis(began: Instant) -> u64 {
    began.elapsed().as_millis().try_into().unwrap_or(u64::MAX)
}

/// What the served agent is doing.
#[utoipa::path(get, path = "/health/agent", tag = "server",
    responses((status = 200, body = super::health::Health), (status = 503, body = super::health::Health)))]
pub(super) async fn health_agent(State(app): State<App>) -> Response {
    super::health::of_agent(&app).await
}
