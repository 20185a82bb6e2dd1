//! The agents that can be run.

use axum::Json;
use axum::extract::State;

use crate::service::{AgentList, App};

/// Registered agents, and what kept others from loading.
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", responses((status = 200, body = AgentList)))]
pub(super) async fn list(State(app): State<App>) -> Json<AgentList> {
    Json(app.workers.list())
}
