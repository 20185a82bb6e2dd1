//! Running agents by the ADK API server's own routes, with its own JSON.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use hotseat_core::{Event, Kind, camel_event};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Problem;
use super::extract::{Body, Entered};
use super::sse::{self, Message};
use crate::clock;
use crate::service::{AdkKey, App, RunStep, RunWish, WatchedRun, failure};

/// What ADK's clients send.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunAgentRequest {
    #[serde(alias = "app_name")]
    app_name: String,
    #[serde(alias = "user_id")]
    user_id: String,
    #[serde(alias = "session_id")]
    session_id: String,
    /// A genai Content.
    #[serde(default, alias = "new_message")]
    #[schema(value_type = Option<Object>)]
    new_message: Option<Value>,
    /// Whether pieces of answers come as partial events.
    #[serde(default)]
    streaming: bool,
    #[serde(default, alias = "state_delta")]
    #[schema(value_type = Option<Object>)]
    state_delta: Option<Map<String, Value>>,
    /// Who answers for the model in this run: `human`, `model` or `replay`. Not ADK's.
    #[serde(default)]
    seat: Option<String>,
}

/// Runs an agent and answers all its events at once.
#[utoipa::path(post, path = "/run", tag = "adk", request_body = RunAgentRequest,
    responses((status = 200, body = Vec<Object>), (status = 404, body = Problem), (status = 409, body = Problem),
        (status = 422, body = Problem), (status = 500, body = Problem)))]
pub(super) async fn run(
    Entered(app): Entered,
    Body(body): Body<RunAgentRequest>,
) -> Result<Json<Vec<Value>>, Problem> {
    let _waiter = app.waiter();
    let mut run = start(&app, body, false).await?;
    let mut events = Vec::new();
    while let Some(step) = run.next().await? {
        match step {
            RunStep::Logged(event) => events.extend(told(&event)),
            RunStep::Ended(end) => {
                if let Some((code, detail)) = failure(&end) {
                    return Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, code, detail));
                }
            }
            RunStep::Piece(_) => {}
            RunStep::Closing => return Err(crate::service::ServiceError::Closing.into()),
        }
    }
    Ok(Json(events))
}

/// Runs an agent and streams its events: `data: <Event>`, as ADK does.
#[utoipa::path(post, path = "/run_sse", tag = "adk", request_body = RunAgentRequest,
    responses((status = 200, content_type = "text/event-stream", body = String), (status = 404, body = Problem),
        (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn run_sse(
    Entered(app): Entered,
    Body(body): Body<RunAgentRequest>,
) -> Result<Response, Problem> {
    let waiter = app.waiter();
    let streaming = body.streaming;
    let run = start(&app, body, streaming).await?;
    let messages = unfold((run, waiter, false), |(mut run, waiter, over)| async move {
        if over {
            return None;
        }
        let (message, over) = next(&mut run).await?;
        Some((message, (run, waiter, over)))
    });
    Ok(sse::response(messages).into_response())
}

async fn next(run: &mut WatchedRun) -> Option<(Message, bool)> {
    loop {
        return Some(match run.next().await {
            Ok(Some(RunStep::Piece(heard))) => {
                let now = clock::now().as_duration().as_secs_f64();
                let id = clock::new_id().to_string();
                let Some(partial) = heard.piece.to_partial(&id, now) else { continue };
                (Message::data(&partial), false)
            }
            Ok(Some(RunStep::Logged(event))) => match told(&event) {
                Some(event) => (Message::data(&event), false),
                None => continue,
            },
            Ok(Some(RunStep::Ended(end))) => {
                let (_, detail) = failure(&end)?;
                (Message::data(&json!({"error": detail})), true)
            }
            Ok(Some(RunStep::Closing)) => {
                (Message::data(&json!({"error": "the server is shutting down"})), true)
            }
            Ok(None) => return None,
            Err(error) => {
                let problem = Problem::from(error);
                (Message::data(&json!({"error": problem.detail()})), true)
            }
        });
    }
}

async fn start(app: &App, body: RunAgentRequest, streaming: bool) -> Result<WatchedRun, Problem> {
    let key = AdkKey::new(&body.app_name, &body.user_id, &body.session_id)?;
    let seat = body.seat.as_deref().map(str::parse).transpose();
    let seat =
        seat.map_err(|error: hotseat_core::UnknownWord| Problem::invalid(error.to_string()))?;
    let Some(mut message) = body.new_message.filter(Value::is_object) else {
        return Err(Problem::invalid(
            "`newMessage` must be a Content: {\"role\": \"user\", \"parts\": [{\"text\": …}]}",
        ));
    };
    app.read_message(&mut message).await?;
    let wish = RunWish {
        message,
        seat,
        streaming,
        state_delta: body.state_delta.unwrap_or_default(),
        ..RunWish::default()
    };
    Ok(app.run_adk(&key, wish).await?)
}

/// What ADK's runner would tell of an entry: events, but not the user's own, nor what
/// happens inside a tool.
fn told(event: &Event) -> Option<Value> {
    if event.kind != Kind::Event || event.author == "user" || event.parent_call_id.is_some() {
        return None;
    }
    serde_json::from_str(event.payload.get()).ok().map(camel_event)
}
