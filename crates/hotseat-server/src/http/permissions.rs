//! What each role may do, route by route.
//!
//! Roles are checked here, at the door, before anything is looked up. A route that is not in
//! the table is nobody's: adding one without deciding about it refuses every role, and fails a
//! test. What more a use case wants (that a session is one's own, say) is decided in `service/`.

use axum::http::{Method, StatusCode};
use hotseat_core::Role;

use self::Needs::{Admin, Developer, Public, Viewer};
use super::Problem;

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Anybody, without saying who they are.
    Public,
    /// Whoever may read.
    Viewer,
    /// Whoever may run and answer.
    Developer,
    /// Whoever may do everything.
    Admin,
}

/// Every route of the API, as the OpenAPI document names it, and every call of gRPC.
#[rustfmt::skip]
pub const PERMISSIONS: &[(&str, &str, Needs)] = &[
    ("GET", "/health", Public),
    ("GET", "/health/agent", Public),
    ("GET", "/ready", Public),
    ("GET", "/auth/login", Public),
    ("GET", "/auth/callback", Public),
    ("POST", "/auth/logout", Public),
    ("GET", "/metrics", Viewer),
    ("GET", "/docs", Viewer),
    ("GET", "/docs/", Viewer),
    ("GET", "/docs/{*rest}", Viewer),
    ("GET", "/api/v1/openapi.json", Viewer),

    ("GET", "/api/v1/me", Viewer),
    ("GET", "/api/v1/csrf", Viewer),
    ("GET", "/api/v1/agents", Viewer),
    ("GET", "/api/v1/stats", Viewer),
    ("GET", "/api/v1/stream", Viewer),
    ("GET", "/api/v1/search", Viewer),
    ("GET", "/api/v1/turns", Viewer),

    ("GET", "/api/v1/sessions", Viewer),
    ("POST", "/api/v1/sessions", Developer),
    ("GET", "/api/v1/sessions/{id}", Viewer),
    // Their own; those of others are an admin's.
    ("DELETE", "/api/v1/sessions/{id}", Developer),
    ("GET", "/api/v1/sessions/{id}/artifacts", Viewer),
    ("GET", "/api/v1/sessions/{id}/artifacts/{name}", Viewer),
    ("POST", "/api/v1/sessions/{id}/backfill", Developer),
    // It acts in the name of the session's user: again, their own.
    ("POST", "/api/v1/sessions/{id}/binding", Developer),
    ("POST", "/api/v1/sessions/{id}/cancel", Developer),
    ("POST", "/api/v1/sessions/{id}/complete", Developer),
    ("GET", "/api/v1/sessions/{id}/events", Viewer),
    ("POST", "/api/v1/sessions/{id}/events", Developer),
    // Their own.
    ("DELETE", "/api/v1/sessions/{id}/events", Developer),
    ("GET", "/api/v1/sessions/{id}/events/summary", Viewer),
    ("GET", "/api/v1/sessions/{id}/export", Viewer),
    ("POST", "/api/v1/sessions/{id}/export", Developer),
    ("POST", "/api/v1/sessions/{id}/fork", Developer),
    ("GET", "/api/v1/sessions/{id}/messages", Viewer),
    ("POST", "/api/v1/sessions/{id}/messages", Developer),
    ("POST", "/api/v1/sessions/{id}/query", Developer),
    ("POST", "/api/v1/sessions/{id}/rebuild", Developer),
    ("GET", "/api/v1/sessions/{id}/record", Viewer),
    ("GET", "/api/v1/sessions/{id}/stream", Viewer),
    ("POST", "/api/v1/sessions/{id}/tools/{call_id}/cancel", Developer),
    ("GET", "/api/v1/sessions/{id}/turns", Viewer),
    ("PUT", "/api/v1/sessions/{id}/turns/{turn_id}/claim", Developer),
    ("DELETE", "/api/v1/sessions/{id}/turns/{turn_id}/claim", Developer),
    ("POST", "/api/v1/sessions/{id}/turns/{turn_id}/hand-over", Developer),
    ("POST", "/api/v1/sessions/{id}/typing", Developer),
    ("POST", "/api/v1/sessions/{id}/turns/{turn_id}/decision", Developer),
    ("POST", "/api/v1/sessions/{id}/turns/{turn_id}/dismiss", Developer),

    ("GET", "/api/v1/eval-runs", Viewer),
    ("GET", "/api/v1/eval-runs/{id}", Viewer),
    ("GET", "/api/v1/eval-sets", Viewer),
    ("GET", "/api/v1/eval-sets/file", Viewer),
    ("PUT", "/api/v1/eval-sets/case", Developer),
    ("DELETE", "/api/v1/eval-sets/case", Developer),
    ("POST", "/api/v1/eval-sets/run", Developer),
    ("POST", "/api/v1/eval-sets/validate", Viewer),

    ("GET", "/api/v1/users", Admin),
    ("POST", "/api/v1/users", Admin),
    ("DELETE", "/api/v1/users/{name}", Admin),
    ("PUT", "/api/v1/users/{name}/role", Admin),
    ("GET", "/api/v1/users/{name}/tokens", Admin),
    ("POST", "/api/v1/users/{name}/tokens", Admin),
    ("DELETE", "/api/v1/tokens/{id}", Admin),
    ("GET", "/api/v1/audit", Admin),
    ("GET", "/api/v1/audit/export", Admin),

    ("POST", "/agent/{name}/chat", Developer),
    ("POST", "/agent/{name}/chat/multipart", Developer),
    ("POST", "/agent/{name}/chat/stream", Developer),
    ("POST", "/agent/{name}/chat/stream/multipart", Developer),
    ("GET", "/agent/{name}/sessions/{session_id}", Viewer),
    ("DELETE", "/sessions/{session_id}", Developer),
    ("POST", "/ag-ui/{agent}", Developer),
    ("GET", "/ag-ui/{agent}/capabilities", Viewer),
    ("GET", "/ag-ui/{agent}/threads/{thread}", Viewer),
    ("GET", "/ag-ui/{agent}/threads/{thread}/runs/{run}", Viewer),
    ("POST", "/ag-ui/{agent}/threads/{thread}/cancel", Developer),

    // Below the name of a user: their own, unless they are an admin.
    ("GET", "/list-apps", Viewer),
    ("POST", "/run", Developer),
    ("POST", "/run_sse", Developer),
    ("GET", "/apps/{app}/users/{user}/sessions", Viewer),
    ("POST", "/apps/{app}/users/{user}/sessions", Developer),
    ("GET", "/apps/{app}/users/{user}/sessions/{session}", Viewer),
    ("POST", "/apps/{app}/users/{user}/sessions/{session}", Developer),
    ("PATCH", "/apps/{app}/users/{user}/sessions/{session}", Developer),
    ("DELETE", "/apps/{app}/users/{user}/sessions/{session}", Developer),

    ("POST", "/hotseat.v1.Seat/CreateSession", Developer),
    ("POST", "/hotseat.v1.Seat/GetSession", Viewer),
    ("POST", "/hotseat.v1.Seat/ListSessions", Viewer),
    ("POST", "/hotseat.v1.Seat/CompleteSession", Developer),
    ("POST", "/hotseat.v1.Seat/SubmitRequest", Developer),
    ("POST", "/hotseat.v1.Seat/SubmitDecision", Developer),
    ("POST", "/hotseat.v1.Seat/DismissTurn", Developer),
    ("POST", "/hotseat.v1.Seat/Subscribe", Viewer),
    ("POST", "/hotseat.v1.Sessions/AppendEvents", Developer),
    ("POST", "/hotseat.v1.Sessions/ListEvents", Viewer),
    ("POST", "/hotseat.v1.Sessions/CreateAdkSession", Developer),
    ("POST", "/hotseat.v1.Sessions/GetAdkSession", Viewer),
    ("POST", "/hotseat.v1.Sessions/ListAdkSessions", Viewer),
    ("POST", "/hotseat.v1.Sessions/DeleteAdkSession", Developer),
    ("POST", "/hotseat.v1.Sessions/AppendAdkEvent", Developer),
    ("POST", "/hotseat.v1.Sessions/AppendAdkEvents", Developer),
    ("POST", "/hotseat.v1.Sessions/GetAdkUserState", Viewer),
    // A worker is given the runs of everybody, and says which files the server writes.
    ("POST", "/hotseat.v1.Worker/Attach", Admin),
];

/// Refuses a role that may not use a route. `route` is the address with its variable parts as
/// the table has them; calls of gRPC are their own address.
pub(super) fn check(method: &Method, route: &str, role: Role) -> Result<(), Problem> {
    // A router answers HEAD where it answers GET.
    let method = if method == Method::HEAD { "GET" } else { method.as_str() };
    let listed = PERMISSIONS.iter().find(|(known, at, _)| *known == method && *at == route);
    let needed = match listed.map(|(_, _, needs)| needs) {
        Some(Public) => return Ok(()),
        Some(Viewer) => Role::Viewer,
        Some(Developer) => Role::Developer,
        Some(Admin) => Role::Admin,
        None => {
            let detail = "no role may do this here; /docs lists what there is";
            return Err(Problem::new(StatusCode::FORBIDDEN, "role", detail));
        }
    };
    if role.includes(needed) { Ok(()) } else { Err(refusal(role, needed)) }
}

fn refusal(role: Role, needed: Role) -> Problem {
    let detail = format!("this needs the role {needed}, and you are a {role}: ask an admin");
    Problem::new(StatusCode::FORBIDDEN, "role", detail)
}
