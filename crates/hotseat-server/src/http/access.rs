//! Who may come in.
//!
//! Checks in front of everything: the request is addressed to us (`Host`, against DNS
//! rebinding), a page of someone else's did not send it (`Origin`, and a token where
//! a cookie says who it is, against cross-site requests), and the caller is somebody
//! (see `credentials`). The page's own files and the health routes need no token;
//! they hold nothing.

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::credentials::{self, By, Entry, Renewal};
use super::{Problem, cookie, permissions, staying, ui};
use crate::clock;
use crate::config::Config;
use crate::door::Peer;
use crate::grpc::Calls;
use crate::identity::{Caller, Client, CsrfToken, PublicPort, Visitor};
use crate::service::{App, Suspect};

/// Letters of a client's name for itself that are kept.
const MAX_USER_AGENT: usize = 256;

/// `guard` as a layer: which role a route asks for is known when the router has found it.
pub(super) async fn layer(State(app): State<App>, request: Request, next: Next) -> Response {
    guard(&app, request, |request| next.run(request)).await
}

/// Lets a request in to whoever `answer`s it, or not.
pub(super) async fn guard<F>(
    app: &App,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    // A body cannot be looked at from two threads, and who sends it may have to be looked up.
    let (mut request, body) = request.into_parts();
    let config = &app.config;
    let origin = allowed_cors_origin(config, &request.headers);
    let grpc = is_grpc(&request.headers);
    let client = client(&request);
    let mut renewal = None;
    let mut proof = None;
    let admission = admit(app, &request, &client).await;
    let mut response = match slowed_down(app, &client, admission).await {
        Admission::Enter(entry) => {
            request.extensions.insert(client.came_by);
            if let Some(entry) = entry {
                renewal = entry.renewal;
                proof = entry.proof;
                let visitor = Visitor { caller: entry.caller, client: Some(client) };
                request.extensions.insert(visitor);
            }
            answer(Request::from_parts(request, body)).await
        }
        Admission::Preflight => preflight_answer(),
        Admission::Redirect(redirect) => redirect,
        Admission::Refused(problem) if grpc => grpc_refusal(&problem),
        Admission::Refused(problem) => problem.into_response(),
    };
    if let Some(renewal) = renewal {
        renewal.put_on(&mut response);
    }
    if let Some(proof) = proof {
        response = staying::while_welcome(app, proof, response);
    }
    add_headers(response.headers_mut(), origin);
    response
}

/// What becomes of a request.
enum Admission {
    /// With whoever it is from; what is public asks for nobody.
    Enter(Option<Entry>),
    Preflight,
    Redirect(Response),
    Refused(Problem),
}

async fn admit(app: &App, request: &Parts, client: &Client) -> Admission {
    let config = &app.config;
    let addressed = check_host(config, request).and_then(|()| check_origin(config, request));
    if let Err(problem) = addressed {
        return Admission::Refused(problem);
    }
    // A browser asks without credentials whether it may ask with them.
    if request.method == Method::OPTIONS && allowed_cors_origin(config, &request.headers).is_some()
    {
        return Admission::Preflight;
    }
    match cookie::swap(app, request, client).await {
        Ok(Some(redirect)) => return Admission::Redirect(redirect),
        Ok(None) => {}
        Err(problem) => return Admission::Refused(problem),
    }
    if is_public(&request.method, request.uri.path(), is_grpc(&request.headers)) {
        return Admission::Enter(None);
    }
    let entry = credentials::identify(app, &request.headers, client)
        .await
        .and_then(|entry| check_own_page(config, request, entry))
        .and_then(|entry| check_role(request, entry));
    match entry {
        Ok(entry) => Admission::Enter(Some(entry)),
        Err(problem) => Admission::Refused(problem),
    }
}

/// Lets those wait who ask for many sessions that are not theirs, or show tokens that
/// are not genuine; before anything is done for them, so that nothing can be timed.
async fn slowed_down(app: &App, client: &Client, admission: Admission) -> Admission {
    let suspect = match &admission {
        Admission::Enter(Some(entry)) => entry.caller.user().cloned().map(Suspect::User),
        Admission::Refused(problem) if problem.status() == StatusCode::UNAUTHORIZED => {
            client.ip.map(Suspect::Ip)
        }
        _ => None,
    };
    let Some(suspect) = suspect else { return admission };
    match app.enumeration.slow_down(&suspect).await {
        Ok(()) => admission,
        Err(_) => Admission::Refused(Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            "too_many_attempts",
            "there were too many requests for sessions that are not there: wait a minute",
        )),
    }
}

/// Where a request comes from. What a proxy says of that is not believed: anybody can say it.
fn client(request: &Parts) -> Client {
    let address = request.extensions.get::<ConnectInfo<Peer>>();
    let user_agent = request.headers.get(header::USER_AGENT).and_then(|name| name.to_str().ok());
    Client {
        ip: address.map(|ConnectInfo(Peer(address))| address.ip().to_canonical()),
        user_agent: user_agent.map(|name| name.get(..MAX_USER_AGENT).unwrap_or(name).into()),
        came_by: PublicPort(authority(request).and_then(port)),
    }
}

/// Whether the role of a member is enough for the route. Where there is no route there is
/// nothing to protect.
fn check_role(request: &Parts, entry: Entry) -> Result<Entry, Problem> {
    let Caller::Member(member) = &entry.caller else { return Ok(entry) };
    let path = request.uri.path();
    let route = match request.extensions.get::<MatchedPath>() {
        // No router has seen it.
        _ if Calls::has(path) => path,
        Some(matched) => matched.as_str(),
        None => return Ok(entry),
    };
    permissions::check(&request.method, route, member.role)?;
    Ok(entry)
}

/// A browser sends its cookie with whatever any page asks for. So a change that comes
/// with a cookie must be known to come from a page of ours: by what the browser says
/// of it, or by a token that only such a page can read.
fn check_own_page(config: &Config, request: &Parts, entry: Entry) -> Result<Entry, Problem> {
    let headers = &request.headers;
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // A foreign origin was refused already.
    let own_page = text("origin").is_some()
        || text("sec-fetch-site").is_some_and(|site| site == "same-origin");
    if is_safe(&request.method) || entry.by == By::Bearer || own_page {
        return Ok(entry);
    }
    let now = clock::now().as_second();
    let proven = text("x-csrf-token")
        .is_some_and(|token| CsrfToken::is_valid(&config.key, &entry.caller, token, now));
    if proven {
        return Ok(entry);
    }
    tracing::warn!(
        event = "csrf_validation_failed",
        "a change that came with a cookie was refused"
    );
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "csrf",
        "a change that comes with a cookie needs `Origin` or `x-csrf-token` (GET /api/v1/csrf)",
    ))
}

fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn is_grpc(headers: &HeaderMap) -> bool {
    headers
        .get(header::CONTENT_TYPE)
        .is_some_and(|value| value.as_bytes().starts_with(b"application/grpc"))
}

/// The name by which the caller addressed us. HTTP/2 has it in the target.
fn authority(request: &Parts) -> Option<&str> {
    match request.uri.authority() {
        Some(authority) => Some(authority.as_str()),
        None => request.headers.get(header::HOST)?.to_str().ok(),
    }
}

fn check_host(config: &Config, request: &Parts) -> Result<(), Problem> {
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

/// The port of a host, where it is named.
fn port(host: &str) -> Option<u16> {
    host.strip_prefix(host_name(host))?.strip_prefix(':')?.parse().ok()
}

/// A host without its port.
fn host_name(host: &str) -> &str {
    match host.rfind(':') {
        Some(colon) if !host[colon..].contains(']') => &host[..colon],
        _ => host,
    }
}

fn check_origin(config: &Config, request: &Parts) -> Result<(), Problem> {
    let safe = is_safe(&request.method);
    let Some(origin) = request.headers.get(header::ORIGIN).and_then(|value| value.to_str().ok())
    else {
        return Ok(()); // Not a browser, or a page's own plain navigation.
    };
    if safe || allowed_origin(config, origin) || is_own_origin(config, origin, authority(request)) {
        return Ok(());
    }
    Err(Problem::new(
        StatusCode::FORBIDDEN,
        "foreign_origin",
        "a page of another origin sent this request; allow it with --cors-origins",
    ))
}

/// Where people come over TLS, a page without it may be somebody else's on the way. The
/// other way round it is a proxy in front of us that has the TLS.
fn is_own_origin(config: &Config, origin: &str, host: Option<&str>) -> bool {
    let plain = origin.strip_prefix("http://").filter(|_| !config.is_secure());
    let origin_host = plain.or_else(|| origin.strip_prefix("https://"));
    origin_host.is_some() && origin_host == host
}

fn allowed_origin(config: &Config, origin: &str) -> bool {
    config.cors_origins.iter().any(|allowed| allowed == "*" || allowed == origin)
}

/// The page's files, the health routes and preflights. Everything else needs the token.
///
/// The gRPC services are known by their paths: they answer whatever the content type
/// says, so it must not decide whether a caller gets to them.
fn is_public(method: &Method, path: &str, grpc: bool) -> bool {
    let guarded = ["/api/", "/apps/", "/docs", "/hotseat.", "/agent/", "/ag-ui/"];
    let guarded = guarded.iter().any(|prefix| path.starts_with(prefix));
    // `/sessions/…` is a page for those who read it.
    let guarded = guarded || (path.starts_with("/sessions/") && !is_safe(method));
    !grpc && !guarded && !matches!(path, "/metrics" | "/list-apps" | "/run" | "/run_sse")
}

fn allowed_cors_origin(config: &Config, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(header::ORIGIN)?;
    allowed_origin(config, origin.to_str().ok()?).then(|| origin.clone())
}

fn preflight_answer() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"),
        (
            header::ACCESS_CONTROL_ALLOW_HEADERS,
            "authorization, content-type, last-event-id, x-csrf-token",
        ),
        (header::ACCESS_CONTROL_MAX_AGE, "600"),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}

fn add_headers(headers: &mut HeaderMap, cors_origin: Option<HeaderValue>) {
    if let Some(origin) = cors_origin {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::VARY, HeaderValue::from_static("origin"));
        let exposed = HeaderValue::from_static(Renewal::HEADERS);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    // Every document, also those that come with a library.
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    if kind.is_some_and(|kind| kind.starts_with(b"text/html")) {
        let policy = HeaderValue::from_static(ui::CONTENT_SECURITY_POLICY);
        headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(policy);
    }
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
}

/// gRPC callers read the status from trailers, not from the HTTP status.
fn grpc_refusal(problem: &Problem) -> Response {
    let status = match problem.status() {
        StatusCode::UNAUTHORIZED => tonic::Status::unauthenticated(problem.detail()),
        StatusCode::FORBIDDEN => tonic::Status::permission_denied(problem.detail()),
        StatusCode::TOO_MANY_REQUESTS => tonic::Status::resource_exhausted(problem.detail()),
        _ => tonic::Status::failed_precondition(problem.detail()),
    };
    status.into_http()
}
