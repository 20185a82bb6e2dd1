//! Whether the server lives and can work.

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::Problem;
use crate::clock;
use crate::service::{App, ServerState};

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
    let health = report(&app).await;
    let status = match health.status {
        "healthy" => StatusCode::OK,
        _ => StatusCode::SERVICE_UNAVAILABLE,
    };
    (status, Json(health)).into_response()
}

/// The served agent is there and answers.
pub(super) async fn of_agent(app: &App) -> Response {
    let health = report(app).await;
    let status = if health.agent_ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(health)).into_response()
}

/// The server can work: its store answers, its agent is there, and it is not stopping.
#[utoipa::path(get, path = "/ready", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(super) async fn ready(State(app): State<App>) -> Response {
    let health = report(&app).await;
    let problem = match health.state {
        _ if health.status != "healthy" => Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "store_unavailable",
            "the store does not answer",
        ),
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

async fn report(app: &App) -> Health {
    let agents = app.workers.list().items.iter().filter(|agent| agent.connected).count();
    let uptime = clock::now().duration_since(app.started_at);
    let counts = app.counts().await;
    let active = app.active_guests().await;
    if let Err(error) = &counts {
        tracing::error!(error = %crate::error::causes(error), "the store does not answer");
    }
    let state = app.server_state();
    let agent_name = app.single_agent();
    Health {
        status: if counts.is_ok() { "healthy" } else { "unhealthy" },
        state,
        version: env!("CARGO_PKG_VERSION"),
        agent_ready: agents > 0,
        agent_name,
        agents,
        sessions: counts.map_or(0, |counts| counts.sessions),
        active_sessions: active.unwrap_or_default(),
        uptime_seconds: uptime.as_secs_f64(),
        sign_in: app.oidc.is_some(),
    }
}
