//! Signing in with an account from elsewhere, as a browser sees it.

use axum::Extension;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::{Problem, cookie};
use crate::clock;
use crate::error::causes;
use crate::identity::{ATTEMPT_LIFE, Attempt, PublicPort, SIGNED_IN_LIFE, SignedIn};
use crate::oidc::{Challenge, Oidc, OidcError};
use crate::service::App;

/// Where the provider sends a browser back to.
const CALLBACK: &str = "/auth/callback";

/// The longest address to go back to.
const MAX_TO: usize = 1000;

#[derive(Debug, Deserialize)]
pub(super) struct LoginParams {
    /// Where the browser wanted to go.
    to: Option<String>,
}

/// Sends a browser to the provider.
pub(super) async fn login(
    State(app): State<App>,
    Query(params): Query<LoginParams>,
    Extension(came_by): Extension<PublicPort>,
) -> Result<Response, Problem> {
    let oidc = provider(&app)?;
    let to = params.to.as_deref().filter(|to| is_own(to)).unwrap_or("/");
    let attempt = Attempt::new(to, clock::now().as_second()).map_err(|error| {
        tracing::error!(%error, "the system gave no random bytes");
        unavailable()
    })?;
    let redirect_uri = redirect_uri(&app);
    let challenge = Challenge {
        redirect_uri: &redirect_uri,
        state: &attempt.state,
        nonce: &attempt.nonce,
        hashed_verifier: &attempt.code_challenge(),
    };
    let url = oidc.authorize(&challenge).await.map_err(|error| refused(&error))?;
    let text = attempt.text(&app.config.key);
    let cookie = cookie::attempt(&app.config, came_by, &text, ATTEMPT_LIFE);
    Ok(go(url.as_str(), &[cookie]))
}

#[derive(Debug, Deserialize)]
pub(super) struct CallbackParams {
    code: Option<String>,
    state: Option<String>,
    error: Option<String>,
}

/// Takes a browser that comes back from the provider.
pub(super) async fn callback(
    State(app): State<App>,
    Query(params): Query<CallbackParams>,
    Extension(came_by): Extension<PublicPort>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let oidc = provider(&app)?;
    let config = &app.config;
    let now = clock::now().as_second();
    let attempt = cookie::attempts(came_by, &headers)
        .find_map(|text| Attempt::read(&config.key, text, now))
        .filter(|attempt| attempt.is_answered_by(params.state.as_deref().unwrap_or_default()));
    let Some(attempt) = attempt else {
        let detail = "this is not the end of a sign-in that this browser began: start again";
        return Err(Problem::new(StatusCode::BAD_REQUEST, "sign_in_lost", detail));
    };
    let Some(code) = params.code.filter(|_| params.error.is_none()) else {
        let detail = "the provider of accounts did not let you in: start again";
        return Err(Problem::new(StatusCode::FORBIDDEN, "sign_in_refused", detail));
    };
    let account = oidc
        .account(&code, &attempt.verifier, &attempt.nonce, &redirect_uri(&app), now)
        .await
        .map_err(|error| refused(&error))?;
    let member = app.signed_in(&account.name, account.role, &oidc.config).await?;
    let token = SignedIn::new(member.name, now).text(&config.key);
    // The attempt is over, whoever keeps its cookie.
    let cookies = [
        cookie::signed_in(config, came_by, &token, SIGNED_IN_LIFE),
        cookie::attempt(config, came_by, "", 0),
    ];
    Ok(go(&attempt.to, &cookies))
}

/// Makes a browser forget who is using it.
pub(super) async fn logout(
    State(app): State<App>,
    Extension(came_by): Extension<PublicPort>,
) -> Response {
    go("/", &[cookie::signed_in(&app.config, came_by, "", 0)])
}

fn provider(app: &App) -> Result<&Oidc, Problem> {
    app.oidc.as_ref().ok_or_else(|| {
        Problem::not_found("this server has no provider of accounts: set one with --oidc-issuer")
    })
}

fn redirect_uri(app: &App) -> String {
    format!("{}{CALLBACK}", app.config.public_url())
}

/// Whether an address is one of ours. Two slashes, or a slash and a backslash, would be read
/// as another host.
fn is_own(to: &str) -> bool {
    to.len() <= MAX_TO
        && to.starts_with('/')
        && !to.starts_with("//")
        && !to.starts_with("/\\")
        && to.chars().all(|c| c.is_ascii_graphic())
}

fn go(to: &str, cookies: &[String]) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(to) = HeaderValue::from_str(to) {
        headers.insert(header::LOCATION, to);
    }
    for cookie in cookies {
        if let Ok(cookie) = HeaderValue::from_str(cookie) {
            headers.append(header::SET_COOKIE, cookie);
        }
    }
    response
}

/// What somebody is told who does not come in; the cause is for the log.
fn refused(error: &OidcError) -> Problem {
    tracing::warn!(error = causes(error), "a sign-in failed");
    match error {
        OidcError::Provider { .. } => unavailable(),
        OidcError::Untrusted(_) => Problem::new(
            StatusCode::FORBIDDEN,
            "sign_in_refused",
            "the provider's answer could not be believed: start again, or ask an admin to look at the log",
        ),
        OidcError::NoName(_) => {
            Problem::new(StatusCode::FORBIDDEN, "sign_in_refused", error.to_string())
        }
    }
}

fn unavailable() -> Problem {
    let detail = "the provider of accounts does not answer as it should: try again later";
    Problem::new(StatusCode::BAD_GATEWAY, "sign_in_unavailable", detail)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_host() {
        for to in ["/", "/sessions/1?a=b", "/a#b"] {
            assert!(is_own(to), "{to}");
        }
        let long = format!("/{}", "a".repeat(MAX_TO));
        for to in
            ["", "//evil.example", "/\\evil.example", "https://evil.example", "/a b", "/\n", &long]
        {
            assert!(!is_own(to), "{to}");
        }
    }
}
