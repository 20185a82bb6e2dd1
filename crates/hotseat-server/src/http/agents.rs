//! The agents that can be run.

use axum::Json;

use super::extract::Entered;
use crate::service::AgentList;

/// Registered agents, and what kept others from loading.
#[utoipa::path(get, path = "/api/v1/agents", tag = "agents", responses((status = 200, body = AgentList)))]
pub(super) async fn list(Entered(app): Entered) -> Json<AgentList> {
    Json(app.agents())
}
