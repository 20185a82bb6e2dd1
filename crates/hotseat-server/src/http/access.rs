//! Who may come in.
//!
//! Three checks, in front of everything: the request is addressed to us (`Host`,
//! against DNS rebinding), a page of someone else's did not send it (`Origin`,
//! against cross-site requests), and the caller knows the token. The page's own
//! files and the health routes need no token; they hold nothing.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::Problem;
use crate::config::{Access, Config};
use crate::service::App;

pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let config = &app.config;
    let origin = allowed_cors_origin(config, request.headers());
    let mut response = match admit(config, &request) {
        Admission::Enter => next.run(request).await,
        Admission::Preflight => preflight_answer(),
        Admission::Redirect(redirect) => redirect,
        Admission::Refused(problem) if is_grpc(request.headers()) => grpc_refusal(&problem),
        Admission::Refused(problem) => problem.into_response(),
    };
    add_headers(response.headers_mut(), origin);
    response
}

/// What becomes of a request.
enum Admission {
    Enter,
    Preflight,
    Redirect(Response),
    Refused(Problem),
}

fn admit(config: &Config, request: &Request) -> Admission {
    let addressed = check_host(config, request).and_then(|()| check_origin(config, request));
    if let Err(problem) = addressed {
        return Admission::Refused(problem);
    }
    // A browser asks without credentials whether it may ask with them.
    if request.method() == Method::OPTIONS
        && allowed_cors_origin(config, request.headers()).is_some()
    {
        return Admission::Preflight;
    }
    if let Some(redirect) = swap_token_for_cookie(config, request) {
        return Admission::Redirect(redirect);
    }
    match check_token(config, request) {
        Ok(()) => Admission::Enter,
        Err(problem) => Admission::Refused(problem),
    }
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

/// The name by which the caller addressed us. HTTP/2 has it in the target.
fn authority(request: &Request) -> Option<&str> {
    match request.uri().authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers().get(header::HOST)?.to_str().ok(),
    }
}

fn check_host(config: &Config, request: &Request) -> Result<(), Problem> {
    let host = authority(request).unwrap_or_default();
    if known_host(config, host) {
        return Ok(());
    }
    let shown: String = host.chars().take(100).collect();
    Err(Problem::new(
        StatusCode::MISDIRECTED_REQUEST,
        "unknown_host",
        format!("this server is not known as `{shown}`; allow the name with --allowed-hosts"),
    ))
}

fn known_host(config: &Config, host: &str) -> bool {
    let name = host_name(host);
    let own = config.address.ip();
    let local = ["localhost", "127.0.0.1", "[::1]"];
    local.contains(&name)
        || name.trim_start_matches('[').trim_end_matches(']') == own.to_string()
        || config.allowed_hosts.iter().any(|allowed| allowed.eq_ignore_ascii_case(name))
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

fn check_origin(config: &Config, request: &Request) -> Result<(), Problem> {
    let safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    let Some(origin) = request.headers().get(header::ORIGIN).and_then(|value| value.to_str().ok())
    else {
        return Ok(()); // Not a browser, or a page's own plain navigation.
    };
    if safe || allowed_origin(config, origin) || is_own_origin(origin, authority(request)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "foreign_origin",
        "a page of another origin sent this request; allow it with --cors-origins",
    ))
}

fn is_own_origin(origin: &str, host: Option<&str>) -> bool {
    let origin_host = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
    origin_host.is_some() && origin_host == host
}

fn allowed_origin(config: &Config, origin: &str) -> bool {
    config.cors_origins.iter().any(|allowed| allowed == "*" || allowed == origin)
}

fn check_token(config: &Config, request: &Request) -> Result<(), Problem> {
    let Access::Token(token) = &config.access else { return Ok(()) };
    if is_public(request.uri().path(), is_grpc(request.headers()))
        || presented(config, request.headers())
            .any(|presented| bool::from(presented.as_bytes().ct_eq(token.as_bytes())))
    {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::UNAUTHORIZED,
        "unauthenticated",
        "the token is missing or wrong: open the link that `hotseat web` printed, or send `Authorization: Bearer <token>`",
    ))
}

/// The page's files, the health routes and preflights. Everything else needs the token.
///
/// The gRPC services are known by their paths: they answer whatever the content type
/// says, so it must not decide whether a caller gets to them.
fn is_public(path: &str, grpc: bool) -> bool {
    let guarded = ["/api/", "/apps/", "/docs", "/hotseat."];
    let guarded = guarded.iter().any(|prefix| path.starts_with(prefix));
    !grpc && !guarded && !matches!(path, "/metrics" | "/list-apps")
}

/// The tokens that a request carries: in its header, or in our cookie.
fn presented<'r>(config: &Config, headers: &'r HeaderMap) -> impl Iterator<Item = &'r str> {
    let name = cookie_name(config);
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| token.trim());
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .filter(move |(cookie, _)| *cookie == name)
        .map(|(_, token)| token);
    bearer.into_iter().chain(cookies)
}

/// Cookies are shared by all ports of a host, so the port is in the name.
fn cookie_name(config: &Config) -> String {
    format!("hotseat_{}", config.address.port())
}

/// The printed link carries the token once: it becomes a cookie that scripts cannot
/// read, and leaves the address bar and the history.
fn swap_token_for_cookie(config: &Config, request: &Request) -> Option<Response> {
    let Access::Token(token) = &config.access else { return None };
    if request.method() != Method::GET || request.uri().path().starts_with("/api/") {
        return None;
    }
    let (presented, rest) = take_token(request.uri())?;
    if !bool::from(presented.as_bytes().ct_eq(token.as_bytes())) {
        return None;
    }
    let cookie = format!(
        "{}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000",
        cookie_name(config)
    );
    let headers = [
        (header::LOCATION, HeaderValue::from_str(&rest).ok()?),
        (header::SET_COOKIE, HeaderValue::from_str(&cookie).ok()?),
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

fn allowed_cors_origin(config: &Config, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    allowed_origin(config, origin.to_str().ok()?).then(|| origin.clone())
}

fn preflight_answer() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, "authorization, content-type, last-event-id"),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn add_headers(headers: &mut HeaderMap, cors_origin: Option<HeaderValue>) {
    if let Some(origin) = cors_origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// gRPC callers read the status from trailers, not from the HTTP status.
fn grpc_refusal(problem: &Problem) -> Response {
    let status = match problem.status() {
        StatusCode::UNAUTHORIZED => tonic::Status::unauthenticated(problem.detail()),
        StatusCode::FORBIDDEN => tonic::Status::permission_denied(problem.detail()),
        _ => tonic::Status::failed_precondition(problem.detail()),
    };
    status.into_http()
}
