//! The ADK API server's own routes for sessions, with its own JSON.
//!
//! Clients of `adk api_server`, and ADK's own page, can be pointed here. Sessions are
//! known by app, user and ADK's id; names are in camelCase, as ADK writes them.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hotseat_core::{Seq, camel_event};
use hotseat_store::{AdkEventQuery, AdkRead, AdkSessionQuery, AdkStored, Expected};
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Map, Value, json};

use super::Problem;
use super::extract::{At, Body, Entered, OptionalBody, Params};
use crate::clock;
use crate::service::{AdkKey, AdkSession, App, NewAdkSession, no_events, seen};

/// A session as ADK writes it.
#[derive(Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdkSessionView {
    id: String,
    app_name: String,
    user_id: String,
    #[schema(value_type = Object)]
    state: Map<String, Value>,
    #[schema(value_type = Vec<Object>)]
    events: Vec<Box<RawValue>>,
    last_update_time: f64,
}

impl AdkSessionView {
    fn new(seen: AdkSession, events: Vec<AdkStored>) -> Self {
        let AdkSession { session, state } = seen;
        Self {
            id: session.adk_id(),
            last_update_time: session.adk_update_time(),
            app_name: session.app_name,
            user_id: session.user_id,
            state,
            events: events.into_iter().filter_map(|event| in_camel_case(event.payload)).collect(),
        }
    }

    fn of(mut read: AdkRead) -> Self {
        let events = std::mem::take(&mut read.events);
        Self::new(seen(read), events)
    }
}

/// An event as ADK's clients expect it: as it was written, unless that was in snake_case.
fn in_camel_case(payload: String) -> Option<Box<RawValue>> {
    let event: Value = serde_json::from_str(&payload).ok()?;
    let camel = camel_event(event.clone());
    if camel == event { RawValue::from_string(payload).ok() } else { to_raw_value(&camel).ok() }
}

/// The apps that are hosted here or have sessions here.
#[utoipa::path(get, path = "/list-apps", tag = "adk", responses((status = 200, body = Vec<String>)))]
pub(super) async fn list_apps(
    Entered(app): Entered,
    Params(params): Params<ListAppsParams>,
) -> Result<Response, Problem> {
    let names = app.app_names().await?;
    if !params.detailed.unwrap_or_default() {
        return Ok(Json(names).into_response());
    }
    let agents = app.workers.list().items;
    let apps: Vec<_> = names
        .into_iter()
        .map(|name| {
            let agent = agents.iter().find(|agent| agent.app_name == name);
            let description = agent.map(|agent| agent.description.as_str()).unwrap_or_default();
            let root = agent.map_or(name.as_str(), |agent| agent.name.as_str());
            json!({"name": name, "rootAgentName": root, "description": description,
                "language": "python"})
        })
        .collect();
    Ok(Json(json!({"apps": apps})).into_response())
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ListAppsParams {
    /// With descriptions.
    detailed: Option<bool>,
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
#[serde(default)]
pub(super) struct NewAdkSessionBody {
    /// One is made if it is left out.
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
    /// What it begins with.
    #[schema(value_type = Option<Object>)]
    state: Option<Map<String, Value>>,
    /// Raw events to begin with.
    #[schema(value_type = Option<Vec<Object>>)]
    events: Option<Vec<Box<RawValue>>>,
}

/// Creates a session.
#[utoipa::path(post, path = "/apps/{app}/users/{user}/sessions", tag = "adk",
    params(("app" = String, Path), ("user" = String, Path)), request_body = NewAdkSessionBody,
    responses((status = 200, body = AdkSessionView), (status = 409, body = Problem)))]
pub(super) async fn create(
    Entered(app): Entered,
    At((app_name, user_id)): At<(String, String)>,
    OptionalBody(body): OptionalBody<Option<NewAdkSessionBody>>,
) -> Result<Json<AdkSessionView>, Problem> {
    let body = body.unwrap_or_default();
    let new = NewAdkSession {
        app_name: app_name.clone(),
        user_id: user_id.clone(),
        id: body.session_id,
        state: body.state.unwrap_or_default(),
        events: body.events.unwrap_or_default(),
        created_at: None,
    };
    let made = app.create_adk_session(new).await?;
    let key = AdkKey::new(&app_name, &user_id, &made.session.adk_id())?;
    show_key(&app, &key).await
}

/// Creates a session with this id; the body is its state.
#[utoipa::path(post, path = "/apps/{app}/users/{user}/sessions/{session}", tag = "adk",
    params(("app" = String, Path), ("user" = String, Path), ("session" = String, Path)),
    request_body = Object,
    responses((status = 200, body = AdkSessionView), (status = 409, body = Problem)))]
pub(super) async fn create_named(
    Entered(app): Entered,
    At((app_name, user_id, id)): At<(String, String, String)>,
    OptionalBody(state): OptionalBody<Option<Map<String, Value>>>,
) -> Result<Json<AdkSessionView>, Problem> {
    let state = state.unwrap_or_default();
    let new = NewAdkSession { app_name, user_id, id: Some(id), state, ..NewAdkSession::default() };
    Ok(Json(AdkSessionView::new(app.create_adk_session(new).await?, Vec::new())))
}

/// The sessions of a user, oldest update first, without their events.
#[utoipa::path(get, path = "/apps/{app}/users/{user}/sessions", tag = "adk",
    params(("app" = String, Path), ("user" = String, Path)),
    responses((status = 200, body = Vec<AdkSessionView>)))]
pub(super) async fn list(
    Entered(app): Entered,
    At((app_name, user_id)): At<(String, String)>,
) -> Result<Json<Vec<AdkSessionView>>, Problem> {
    let mut query = AdkSessionQuery { app_name, user_id: Some(user_id), after: None, limit: 1000 };
    let mut all = Vec::new();
    loop {
        let (sessions, next) = app.adk_sessions(query.clone()).await?;
        all.extend(sessions.into_iter().map(|session| AdkSessionView::new(session, Vec::new())));
        match next.and_then(|next| next.parse().ok()) {
            Some(next) => query.after = Some(next),
            None => return Ok(Json(all)),
        }
    }
}

/// One session with its events.
#[utoipa::path(get, path = "/apps/{app}/users/{user}/sessions/{session}", tag = "adk",
    params(("app" = String, Path), ("user" = String, Path), ("session" = String, Path)),
    responses((status = 200, body = AdkSessionView), (status = 404, body = Problem)))]
pub(super) async fn show(
    Entered(app): Entered,
    At((app_name, user_id, id)): At<(String, String, String)>,
) -> Result<Json<AdkSessionView>, Problem> {
    show_key(&app, &AdkKey::new(&app_name, &user_id, &id)?).await
}

async fn show_key(app: &App, key: &AdkKey) -> Result<Json<AdkSessionView>, Problem> {
    // ADK's order: by time, then by arrival.
    let query = AdkEventQuery {
        after: Seq::START,
        recent: None,
        not_before: Some(f64::NEG_INFINITY),
        max_bytes: usize::MAX,
    };
    Ok(Json(AdkSessionView::of(app.adk_session(key, query).await?)))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct PatchBody {
    /// Values of the state, by key.
    #[serde(alias = "stateDelta")]
    #[schema(value_type = Object)]
    state_delta: Map<String, Value>,
}

/// Changes the state of a session, with an event that says so.
#[utoipa::path(patch, path = "/apps/{app}/users/{user}/sessions/{session}", tag = "adk",
    params(("app" = String, Path), ("user" = String, Path), ("session" = String, Path)),
    request_body = PatchBody,
    responses((status = 200, body = AdkSessionView), (status = 404, body = Problem)))]
pub(super) async fn patch(
    Entered(app): Entered,
    At((app_name, user_id, id)): At<(String, String, String)>,
    Body(body): Body<PatchBody>,
) -> Result<Json<AdkSessionView>, Problem> {
    let key = AdkKey::new(&app_name, &user_id, &id)?;
    let event = json!({
        "id": clock::new_id().to_string(),
        "invocationId": format!("p-{}", clock::new_id()),
        "author": "user",
        "actions": {"stateDelta": body.state_delta},
        "timestamp": clock::now().as_duration().as_secs_f64(),
    });
    let event = to_raw_value(&event).map_err(|error| Problem::bad_request(error.to_string()))?;
    app.append_adk_event(&key, event, Expected::Any).await?;
    show_key(&app, &key).await
}

/// Deletes a session.
#[utoipa::path(delete, path = "/apps/{app}/users/{user}/sessions/{session}", tag = "adk",
    params(("app" = String, Path), ("user" = String, Path), ("session" = String, Path)),
    responses((status = 200), (status = 404, body = Problem)))]
pub(super) async fn delete(
    Entered(app): Entered,
    At((app_name, user_id, id)): At<(String, String, String)>,
) -> Result<Response, Problem> {
    let key = AdkKey::new(&app_name, &user_id, &id)?;
    // A session that is not there is told apart, as everywhere here.
    app.adk_session(&key, no_events()).await?;
    app.delete_adk_session(&key).await?;
    let headers = [(header::CONTENT_TYPE, "application/json")];
    Ok((StatusCode::OK, headers, "null").into_response())
}
