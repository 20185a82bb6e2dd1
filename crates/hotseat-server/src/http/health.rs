//! Whether the server lives and can work.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use serde::Serialize;

use super::Problem;
use crate::clock;
use crate::service::App;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Health {
    /// `ok`.
    status: &'static str,
    version: &'static str,
    /// Agents with a connected worker.
    agents: usize,
    sessions: u64,
    uptime_seconds: i64,
}

/// The server lives.
#[utoipa::path(get, path = "/health", tag = "server", responses((status = 200, body = Health)))]
pub(super) async fn health(State(app): State<App>) -> Result<Json<Health>, Problem> {
    // Alive even when the store is not: that is for `/ready` to say.
    let sessions = app.counts().await.map_or(0, |counts| counts.sessions);
    Ok(Json(report(&app, sessions)))
}

/// The server can work: its store answers.
#[utoipa::path(get, path = "/ready", tag = "server",
    responses((status = 200, body = Health), (status = 503, body = Problem)))]
pub(super) async fn ready(State(app): State<App>) -> Result<Json<Health>, Problem> {
    match app.counts().await {
        Ok(counts) => Ok(Json(report(&app, counts.sessions))),
        Err(error) => {
            tracing::error!(error = %crate::error::causes(&error), "the store does not answer");
            Err(Problem::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "store_unavailable",
                "the store does not answer",
            ))
        }
    }
}

fn report(app: &App, sessions: u64) -> Health {
    let agents = app.workers.list().items.iter().filter(|agent| agent.connected).count();
    let uptime = clock::now().duration_since(app.started_at);
    Health {
        status: "ok",
        version: env!("CARGO_PKG_VERSION"),
        agents,
        sessions,
        uptime_seconds: uptime.as_secs(),
    }
}
