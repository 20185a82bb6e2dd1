//! Whether the server lives and can work.

use std::time::Duration;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::Problem;
use crate::clock;
use crate::service::{App, ServerState};

/// How long the store may take. One that is away is waited for elsewhere; who asks how we
/// are wants to know that it is.
const STORE_PATIENCE: Duration = Duration::from_secs(2);

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Health {
    /// `healthy` or `unhealthy`.
    status: &'static str,
    /// `initializing`, `ready`, `running`, `shutting_down` or `stopped`.
    state: ServerState,
    version: &'static str,
    /// The one agent that is served, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    agent_name: Option<String>,
    /// There is an agent that can be run.
    agent_ready: bool,
    /// What keeps agents from working.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    problems: Vec<String>,
    /// Agents that can be run.
    agents: usize,
    sessions: u64,
    /// Sessions that were talked in lately over REST.
    active_sessions: usize,
    uptime_seconds: f64,
    /// People can sign in with an account from elsewhere, at `/auth/login`.
    sign_in: bool,
}

/// The server lives.
#[utoipa::path(get, path = "/health", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Health)))]
pub(super) async fn health(State(app): State<App>) -> Response {
    // Who only wants to know whether the server lives is not kept waiting for others.
    let health = report(&app, app.known_ailments()).await;
    let status = match health.status {
        "healthy" => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(health)).into_response()
}

/// The served agent is there and answers.
pub(super) async fn of_agent(app: &App) -> Response {
    let health = report(app, app.ailments().await).await;
    let status = if health.agent_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(health)).into_response()
}

/// The server can work: its store answers, its agent is there with its tools, and it is not stopping.
#[utoipa::path(get, path = "/ready", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(super) async fn ready(State(app): State<App>) -> Response {
    let health = report(&app, app.ailments().await).await;
    let problem = match health.state {
        _ if health.status != "healthy" => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "store_unavailable",
            "the store does not answer",
        ),
        // Where several agents are served, the others work.
        ServerState::Ready | ServerState::Running if app.serves_one() && !health.agent_ready => {
            let detail = health.problems.join("; ");
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", detail)
        }
        ServerState::Ready | ServerState::Running => return Json(health).into_response(),
        ServerState::Initializing => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "not_ready", "the agent is not ready yet")
        }
        ServerState::ShuttingDown | ServerState::Stopped => {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "closing", "the server is shutting down")
        }
    };
    let mut response = problem.into_response();
    response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
    response
}

async fn report(app: &App, problems: Vec<String>) -> Health {
    let agents = app.workers.list().items.iter().filter(|agent| agent.connected).count();
    let uptime = clock::now().duration_since(app.started_at);
    let asked = async {
        let counts = app.counts().await.map_err(|error| crate::error::causes(&error))?;
        let active = app.active_guests().await.map_err(|error| crate::error::causes(&error))?;
        Ok::<_, String>((counts.sessions, active))
    };
    let asked = tokio::time::timeout(STORE_PATIENCE, asked).await;
    let counts = asked.unwrap_or_else(|_| Err("it said nothing for too long".to_owned()));
    if let Err(error) = &counts {
        tracing::error!(error, "the store does not answer");
    }
    let status = if counts.is_ok() { "healthy" } else { "unhealthy" };
    let (sessions, active_sessions) = counts.unwrap_or_default();
    let state = app.server_state();
    let agent_name = app.single_agent();
    Health {
        status,
        state,
        version: env!("CARGO_PKG_VERSION"),
        agent_ready: agents > problems.len(),
        problems,
        agent_name,
        agents,
        sessions,
        active_sessions,
        uptime_seconds: uptime.as_secs_f64(),
        sign_in: app.oidc.is_some(),
    }
}
