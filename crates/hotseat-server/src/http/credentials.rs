//! Who a caller is, by what they show.
//!
//! The installation's token is its owner's, an access token is a named user's, a user token
//! is a user's, and a binding token admits a user to one session. All come in a header or,
//! but for bindings, in our cookie. A proxy that is trusted may say a name instead. None of
//! them is ever logged.

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::Response;
use subtle::ConstantTimeEq;

use super::{Problem, cookie};
use crate::clock;
use crate::config::{Access, Config};
use crate::identity::{AccessToken, BindingToken, Caller, Client, Refusal, SignedIn, UserToken};
use crate::service::{App, Proof};

/// Somebody who may come in.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) caller: Caller,
    pub(super) by: By,
    pub(super) renewal: Option<Renewal>,
    /// What has to hold for as long as they stay.
    pub(super) proof: Option<Proof>,
}

/// How somebody showed who they are. A browser sends a cookie by itself, and a proxy its
/// header with whatever the browser sends; a bearer token is somebody's will.
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

/// What a token looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presented {
    Owner,
    Access,
    User,
    Binding,
    SignedIn,
    Unknown,
}

/// Who sent a request.
pub(super) async fn identify(
    app: &App,
    headers: &HeaderMap,
    client: &Client,
) -> Result<Entry, Problem> {
    let config = &app.config;
    let mut refused = None;
    let bearer = bearer(headers).map(|token| (By::Bearer, token));
    let cookies = cookie::tokens(client.came_by, headers).map(|token| (By::Cookie, token));
    if bearer.is_none()
        && let Some(entry) = by_proxy(app, headers, client).await?
    {
        return Ok(entry);
    }
    for (by, token) in bearer.into_iter().chain(cookies) {
        let known = match kind(config, token) {
            Presented::Unknown => continue,
            Presented::Binding if by == By::Cookie => continue,
            Presented::SignedIn if by == By::Bearer => continue,
            Presented::Owner
            | Presented::Access
            | Presented::User
            | Presented::Binding
            | Presented::SignedIn => enter_with(app, token, by, client).await,
        };
        match known {
            Ok(entry) => return Ok(entry),
            Err(problem) => refused = refused.or(Some((by, problem))),
        }
    }
    match (refused, &config.access) {
        // Where anybody may come in, an old cookie is in nobody's way. Whoever shows a
        // token on purpose is told that it does not do what they mean.
        (None | Some((By::Cookie, _)), Access::Open) => {
            Ok(Entry::new(Caller::Owner, By::Bearer, None))
        }
        (Some((_, problem)), _) => Err(problem),
        (None, Access::Token(_)) => Err(missing()),
    }
}

/// What a token looks like. Whether it is genuine is another question, but for the owner's.
pub(super) fn kind(config: &Config, token: &str) -> Presented {
    let owners = match &config.access {
        Access::Token(own) => bool::from(token.as_bytes().ct_eq(own.as_bytes())),
        Access::Open => false,
    };
    if owners {
        Presented::Owner
    } else if token.starts_with(AccessToken::PREFIX) {
        Presented::Access
    } else if token.starts_with(UserToken::PREFIX) {
        Presented::User
    } else if token.starts_with(BindingToken::PREFIX) {
        Presented::Binding
    } else if token.starts_with(SignedIn::PREFIX) {
        Presented::SignedIn
    } else {
        Presented::Unknown
    }
}

/// Lets in whoever shows a token, if it is genuine.
pub(super) async fn enter_with(
    app: &App,
    token: &str,
    by: By,
    client: &Client,
) -> Result<Entry, Problem> {
    let entry = match kind(&app.config, token) {
        Presented::Owner => return Ok(Entry::new(Caller::Owner, by, None)),
        Presented::Access => return member(app, token, by, client).await,
        Presented::User => user(app, token, by, client)?,
        Presented::Binding => bound(app, token, client)?,
        Presented::SignedIn => return signed_in(app, token, by).await,
        Presented::Unknown => return Err(missing()),
    };
    // The seal is genuine for ever; whether its user is still welcome is in the store.
    if app.is_revoked(entry.caller.name()).await? { Err(missing()) } else { Ok(entry) }
}

impl Entry {
    pub(super) fn new(caller: Caller, by: By, proof: Option<Proof>) -> Self {
        Self { caller, by, renewal: None, proof }
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

async fn member(app: &App, token: &str, by: By, client: &Client) -> Result<Entry, Problem> {
    let Some(member) = app.bearer(token).await? else {
        app.forged(None, client.ip);
        return Err(missing());
    };
    let proof = Proof::Token(AccessToken::hash_of(token));
    Ok(Entry::new(member.into(), by, Some(proof)))
}

async fn signed_in(app: &App, token: &str, by: By) -> Result<Entry, Problem> {
    let now = clock::now().as_second();
    let Some(signed_in) = SignedIn::read(&app.config.key, token, now) else {
        return Err(missing());
    };
    let member = app.member(&signed_in.name).await?.ok_or_else(missing)?;
    Ok(Entry::new(member.into(), by, Some(Proof::Name(signed_in.name))))
}

/// Whoever a trusted proxy says it is. Anybody can send its header, so it is read from the
/// proxy's own address only.
async fn by_proxy(
    app: &App,
    headers: &HeaderMap,
    client: &Client,
) -> Result<Option<Entry>, Problem> {
    let Some(proxy) = &app.config.people.proxy else { return Ok(None) };
    let trusted = client.ip.is_some_and(|ip| proxy.networks.iter().any(|net| net.contains(ip)));
    if !trusted {
        return Ok(None);
    }
    let mut names = headers.get_all(&proxy.header).iter();
    let (Some(name), None) = (names.next(), names.next()) else { return Ok(None) };
    let name = name.to_str().unwrap_or_default();
    let member = app.vouched_for(name, proxy.role).await?;
    let proof = Proof::Name(member.name.clone());
    Ok(Some(Entry::new(member.into(), By::Cookie, Some(proof))))
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
        let life = renewed.seconds_left(now);
        let cookie = (by == By::Cookie).then(|| cookie::keep(config, client.came_by, &text, life));
        Renewal::User { token: text, cookie }
    });
    Ok(Entry { renewal, ..Entry::new(Caller::User(token.user_id), by, None) })
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
    Ok(Entry { renewal, ..Entry::new(caller, By::Bearer, None) })
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

/// The token in a request's header.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
