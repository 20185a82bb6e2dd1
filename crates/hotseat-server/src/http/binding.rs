//! Tokens that a page asks for: one for a single session, and one against requests
//! that other pages make in its name.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hotseat_core::rfc3339;
use jiff::Timestamp;
use serde::Serialize;

use super::Problem;
use super::extract::{At, Entered, session_id};
use crate::clock;
use crate::identity::{BindingToken, CsrfToken};
use crate::service::App;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct BindingView {
    /// As a bearer token it admits to this session, and to nothing else.
    binding_token: String,
    /// For `x-csrf-token`, where a cookie says who the caller is.
    csrf_token: String,
    /// When the binding ends, unless it is used before.
    expires_at: String,
}

/// Binds a session: makes a token that admits to it alone.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/binding", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = BindingView), (status = 404, body = Problem)))]
pub(super) async fn bind(Entered(app): Entered, At(id): At<String>) -> Result<Response, Problem> {
    let session = app.session(session_id(&id)?).await?;
    app.manages(&session)?;
    let now = clock::now().as_second();
    let binding = BindingToken::new(session.id, &session.user_id, now);
    Ok(secret(BindingView {
        binding_token: binding.text(&app.config.key),
        csrf_token: csrf_text(&app, now),
        expires_at: time(binding.expires_at()),
    }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct CsrfView {
    csrf_token: String,
    expires_at: String,
}

/// A token for `x-csrf-token`, which changes that come with a cookie need where the
/// browser does not say which page made them.
#[utoipa::path(get, path = "/api/v1/csrf", tag = "server", responses((status = 200, body = CsrfView)))]
pub(super) async fn csrf(Entered(app): Entered) -> Response {
    let now = clock::now().as_second();
    let expires_at = time(CsrfToken::new(now).expires_at());
    secret(CsrfView { csrf_token: csrf_text(&app, now), expires_at })
}

fn csrf_text(app: &App, now: i64) -> String {
    CsrfToken::new(now).text(&app.config.key, &app.visitor.caller)
}

fn time(seconds: i64) -> String {
    rfc3339(Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX))
}

/// An answer that nobody may keep a copy of.
fn secret(view: impl Serialize) -> Response {
    ([(header::CACHE_CONTROL, "no-store")], Json(view)).into_response()
}
