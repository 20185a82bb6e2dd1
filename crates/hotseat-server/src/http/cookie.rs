//! The cookie that keeps a browser in, and the link that sets it.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

use super::Problem;
use super::credentials::{self, Presented};
use crate::clock;
use crate::config::Config;
use crate::identity::{Client, PublicPort, UserToken};
use crate::service::App;

/// How long a browser keeps a token that has no end of its own, in seconds: a year.
const LIFE: i64 = 31_536_000;

/// Cookies are shared by all ports of a host, so the port is in the name: the one that the browser
/// knows, because servers behind a proxy have others, and each is sent what another set.
fn name(came_by: PublicPort) -> String {
    named("hotseat", came_by)
}

/// The cookie of a sign-in that is going on.
fn attempt_name(came_by: PublicPort) -> String {
    named("hotseat_sign_in", came_by)
}

fn named(word: &str, came_by: PublicPort) -> String {
    came_by.0.map_or_else(|| word.to_owned(), |port| format!("{word}_{port}"))
}

/// The tokens that a request carries in our cookie.
pub(super) fn tokens(
    came_by: PublicPort,
    headers: &HeaderMap,
) -> impl Iterator<Item = &str> + use<'_> {
    values(name(came_by), headers)
}

/// The sign-ins that a browser began.
pub(super) fn attempts(
    came_by: PublicPort,
    headers: &HeaderMap,
) -> impl Iterator<Item = &str> + use<'_> {
    values(attempt_name(came_by), headers)
}

fn values(name: String, headers: &HeaderMap) -> impl Iterator<Item = &str> + use<'_> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .filter(move |(cookie, _)| *cookie == name)
        .map(|(_, token)| token)
}

/// The header that makes a browser keep a token for so many seconds.
pub(super) fn keep(config: &Config, came_by: PublicPort, token: &str, life: i64) -> String {
    set(config, &name(came_by), token, "/", "Strict", life)
}

/// The same for somebody who signed in. They come back from another site, so the cookie has to
/// be sent with the first thing that the browser asks for there; changes that other pages ask
/// for come without it.
pub(super) fn signed_in(config: &Config, came_by: PublicPort, token: &str, life: i64) -> String {
    set(config, &name(came_by), token, "/", "Lax", life)
}

/// The header that makes a browser remember what it began.
pub(super) fn attempt(config: &Config, came_by: PublicPort, text: &str, life: i64) -> String {
    set(config, &attempt_name(came_by), text, "/auth/", "Lax", life)
}

fn set(config: &Config, name: &str, value: &str, path: &str, same_site: &str, life: i64) -> String {
    let secure = if config.is_secure() { "; Secure" } else { "" };
    format!("{name}={value}; Path={path}; HttpOnly; SameSite={same_site}; Max-Age={life}{secure}")
}

/// A link carries its token once: it becomes a cookie that scripts cannot read, and
/// leaves the address bar and the history.
pub(super) async fn swap(
    app: &App,
    request: &Parts,
    client: &Client,
) -> Result<Option<Response>, Problem> {
    if request.method != Method::GET || request.uri.path().starts_with("/api/") {
        return Ok(None);
    }
    let Some((token, rest)) = take_token(&request.uri) else { return Ok(None) };
    let known = match credentials::kind(&app.config, token) {
        Presented::Owner | Presented::Access | Presented::User => {
            credentials::enter_with(app, token, credentials::By::Cookie, client).await
        }
        // A binding is for programs, and signing in sets a cookie of its own.
        Presented::Binding | Presented::SignedIn | Presented::Unknown => return Ok(None),
    };
    match known {
        Ok(_) => Ok(redirect(app, client.came_by, token, &rest)),
        Err(problem) if problem.status().is_server_error() => Err(problem),
        Err(_) => Ok(None),
    }
}

fn redirect(app: &App, came_by: PublicPort, token: &str, rest: &str) -> Option<Response> {
    let now = clock::now().as_second();
    let user = UserToken::read(&app.config.key, token, now).ok();
    let life = user.map_or(LIFE, |token| token.seconds_left(now));
    let kept = keep(&app.config, came_by, token, life);
    let headers = [
        (header::LOCATION, HeaderValue::from_str(rest).ok()?),
        (header::SET_COOKIE, HeaderValue::from_str(&kept).ok()?),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    ];
    Some((StatusCode::SEE_OTHER, headers).into_response())
}

/// The token of an address, and the address without it.
fn take_token(uri: &Uri) -> Option<(&str, String)> {
    let query = uri.query()?;
    let token = query.split('&').find_map(|pair| pair.strip_prefix("token="))?;
    let rest: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("token=")).collect();
    // A path that begins with two slashes would be read as another host.
    let path = format!("/{}", uri.path().trim_start_matches('/'));
    let address = if rest.is_empty() { path } else { format!("{path}?{}", rest.join("&")) };
    Some((token, address))
}
