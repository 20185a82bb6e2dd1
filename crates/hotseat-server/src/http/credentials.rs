//! Who a caller is, by the tokens that they show.
//!
//! The installation's token is its owner's, a user token is a user's, and a binding
//! token admits a user to one session. The first two come in a header or in our
//! cookie, bindings only in a header. None of them is ever logged.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use subtle::ConstantTimeEq;

use super::Problem;
use crate::clock;
use crate::config::{Access, Config};
use crate::identity::{BindingToken, Caller, Client, Refusal, UserToken};
use crate::service::App;

/// How long a browser keeps the owner's token, in seconds: a year.
const OWNER_COOKIE_LIFE: i64 = 31_536_000;

/// Somebody who may come in.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) caller: Caller,
    pub(super) by: By,
    pub(super) renewal: Option<Renewal>,
}

/// How a token came. A browser sends a cookie by itself; a header is somebody's will.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    Bearer,
    Cookie,
}

/// A token to go on with.
#[derive(Debug)]
pub(super) enum Renewal {
    User { token: String, cookie: Option<String> },
    Binding { token: String },
}

/// Who sent a request.
pub(super) fn identify(app: &App, headers: &HeaderMap, client: &Client) -> Result<Entry, Problem> {
    let config = &app.config;
    let mut refused = None;
    for (by, token) in presented(config, headers) {
        if is_owners(config, token) {
            return Ok(Entry { caller: Caller::Owner, by, renewal: None });
        }
        let known = match by {
            By::Bearer if token.starts_with(BindingToken::PREFIX) => {
                bound(app, token, client).map(Some)
            }
            _ if token.starts_with(UserToken::PREFIX) => user(app, token, by, client).map(Some),
            _ => Ok(None),
        };
        match known {
            Ok(Some(entry)) => return Ok(entry),
            Ok(None) => {}
            Err(problem) => refused = refused.or(Some((by, problem))),
        }
    }
    match (refused, &config.access) {
        // Where anybody may come in, an old cookie is in nobody's way. Whoever shows a
        // token on purpose is told that it does not do what they mean.
        (None | Some((By::Cookie, _)), Access::Open) => {
            Ok(Entry { caller: Caller::Owner, by: By::Bearer, renewal: None })
        }
        (Some((_, problem)), _) => Err(problem),
        (None, Access::Token(_)) => Err(missing()),
    }
}

/// The refusal of those who show nothing that we know.
pub(super) fn missing() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "unauthenticated",
        "the token is missing or wrong: open the link that `hotseat web` printed, or send `Authorization: Bearer <token>`",
    )
}

fn is_owners(config: &Config, presented: &str) -> bool {
    match &config.access {
        Access::Token(token) => bool::from(presented.as_bytes().ct_eq(token.as_bytes())),
        Access::Open => false,
    }
}

fn user(app: &App, text: &str, by: By, client: &Client) -> Result<Entry, Problem> {
    let (config, now) = (&app.config, clock::now().as_second());
    let token = UserToken::read(&config.key, text, now).map_err(|refusal| match refusal {
        Refusal::Expired => Problem::new(
            StatusCode::UNAUTHORIZED,
            "token_expired",
            "the token has expired: ask the owner of this server for another",
        ),
        Refusal::Invalid => {
            app.forged(None, client.ip);
            missing()
        }
    })?;
    let renewal = token.renewed(now).map(|renewed| {
        let text = renewed.text(&config.key);
        let cookie = (by == By::Cookie).then(|| cookie(config, &text, renewed.seconds_left(now)));
        Renewal::User { token: text, cookie }
    });
    Ok(Entry { caller: Caller::User(token.user_id), by, renewal })
}

fn bound(app: &App, text: &str, client: &Client) -> Result<Entry, Problem> {
    let (key, now) = (&app.config.key, clock::now().as_second());
    let token = BindingToken::read(key, text, now).map_err(|refusal| {
        let (code, detail) = match refusal {
            // It was genuine: somebody slept over it, which is no attempt on anything.
            Refusal::Expired => ("binding_expired", "the binding token has expired: bind again"),
            Refusal::Invalid => {
                app.forged(BindingToken::claimed(text).map(|token| token.session), client.ip);
                ("binding_invalid", "the binding token is not one that this server gave out")
            }
        };
        Problem::new(StatusCode::UNAUTHORIZED, code, detail)
    })?;
    let renewal = token.renewed(now).map(|renewed| Renewal::Binding { token: renewed.text(key) });
    let caller = Caller::Session { session: token.session, user: token.user_id };
    Ok(Entry { caller, by: By::Bearer, renewal })
}

impl Renewal {
    /// The headers that a page may read.
    pub(super) const HEADERS: &'static str = "x-hotseat-token, x-hotseat-binding";

    pub(super) fn put_on(self, response: &mut Response) {
        let (name, token, cookie) = match self {
            Self::User { token, cookie } => ("x-hotseat-token", token, cookie),
            // A session that is gone needs no binding.
            Self::Binding { .. } if !response.status().is_success() => return,
            Self::Binding { token } => ("x-hotseat-binding", token, None),
        };
        let headers = response.headers_mut();
        if let Ok(token) = HeaderValue::from_str(&token) {
            headers.insert(HeaderName::from_static(name), token);
        }
        if let Some(cookie) = cookie.and_then(|cookie| HeaderValue::from_str(&cookie).ok()) {
            headers.insert(header::SET_COOKIE, cookie);
        }
    }
}

/// The tokens that a request carries: in its header, or in our cookie.
fn presented<'r>(config: &Config, headers: &'r HeaderMap) -> impl Iterator<Item = (By, &'r str)> {
    let name = cookie_name(config);
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split_once(' '))
        .filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"))
        .map(|(_, token)| (By::Bearer, token.trim()));
    let cookies = headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|cookie| cookie.trim().split_once('='))
        .filter(move |(cookie, _)| *cookie == name)
        .map(|(_, token)| (By::Cookie, token));
    bearer.into_iter().chain(cookies)
}

/// Cookies are shared by all ports of a host, so the port is in the name.
fn cookie_name(config: &Config) -> String {
    format!("hotseat_{}", config.address.port())
}

fn cookie(config: &Config, token: &str, life: i64) -> String {
    let name = cookie_name(config);
    format!("{name}={token}; Path=/; HttpOnly; SameSite=Strict; Max-Age={life}")
}

/// A link carries its token once: it becomes a cookie that scripts cannot read, and
/// leaves the address bar and the history.
pub(super) fn swap_token_for_cookie(config: &Config, request: &Request) -> Option<Response> {
    if request.method() != Method::GET || request.uri().path().starts_with("/api/") {
        return None;
    }
    let (presented, rest) = take_token(request.uri())?;
    let life = if is_owners(config, presented) {
        OWNER_COOKIE_LIFE
    } else {
        let now = clock::now().as_second();
        UserToken::read(&config.key, presented, now).ok()?.seconds_left(now)
    };
    let cookie = cookie(config, presented, life);
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
