//! The tokens that callers carry.
//!
//! A token is read by making it again from what it says and comparing the whole
//! text, in a time that does not depend on where it differs. So there is one
//! spelling of each token, and a change of any letter is a refusal.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hotseat_core::SessionId;
use subtle::ConstantTimeEq;

use super::{Caller, InstallationKey};
use crate::clock;

/// Longest token that is looked at.
const MAX_BYTES: usize = 4096;

/// How long a binding lasts, in seconds, unless it is renewed.
const BINDING_LIFE: i64 = 24 * 60 * 60;

/// A binding older than this is renewed when it is used.
const BINDING_FRESH: i64 = 60 * 60;

/// How long a CSRF token lasts, in seconds.
const CSRF_LIFE: i64 = 60 * 60;

/// Why a token is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// It is not one of ours, or was changed.
    Invalid,
    /// It was one of ours, once.
    Expired,
}

/// A token for `user_id` that lasts for `ttl`; with it, a caller sees the sessions of
/// that user and of nobody else.
pub fn user_token(key: &InstallationKey, user_id: &str, ttl: Duration) -> String {
    let now = clock::now().as_second();
    let ttl = i64::try_from(ttl.as_secs()).unwrap_or(i64::MAX);
    UserToken { user_id: user_id.into(), issued: now, expires: now.saturating_add(ttl) }.text(key)
}

/// Says who a caller is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UserToken {
    pub(crate) user_id: Arc<str>,
    issued: i64,
    expires: i64,
}

impl UserToken {
    pub(crate) const PREFIX: &'static str = "hsu_";

    pub(crate) fn text(&self, key: &InstallationKey) -> String {
        let Self { user_id, issued, expires } = self;
        let parts: [&[u8]; 4] =
            [b"user", user_id.as_bytes(), &issued.to_be_bytes(), &expires.to_be_bytes()];
        let seal = BASE64.encode(key.seal(&parts));
        format!("{}{}.{issued}.{expires}.{seal}", Self::PREFIX, BASE64.encode(user_id.as_bytes()))
    }

    pub(crate) fn read(key: &InstallationKey, text: &str, now: i64) -> Result<Self, Refusal> {
        let token = Self::claimed(text).ok_or(Refusal::Invalid)?;
        check(&token.text(key), text)?;
        if now < token.expires { Ok(token) } else { Err(Refusal::Expired) }
    }

    fn claimed(text: &str) -> Option<Self> {
        let [user_id, issued, expires, _] = fields(text, Self::PREFIX)?;
        let (issued, expires) = (issued.parse().ok()?, expires.parse().ok()?);
        Some(Self { user_id: decoded(user_id)?, issued, expires })
    }

    /// The token to go on with, once half of this one's life is over.
    pub(crate) fn renewed(&self, now: i64) -> Option<Self> {
        let life = self.expires.saturating_sub(self.issued);
        let past_half = now.saturating_sub(self.issued) > life / 2;
        past_half.then(|| Self {
            user_id: Arc::clone(&self.user_id),
            issued: now,
            expires: now.saturating_add(life),
        })
    }

    pub(crate) fn seconds_left(&self, now: i64) -> i64 {
        self.expires.saturating_sub(now)
    }
}

/// Binds its bearer to one session of one user. It is tied to no address and no
/// program: people move between networks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BindingToken {
    pub(crate) session: SessionId,
    pub(crate) user_id: Arc<str>,
    issued: i64,
}

impl BindingToken {
    pub(crate) const PREFIX: &'static str = "hsb_";

    pub(crate) fn new(session: SessionId, user_id: &str, now: i64) -> Self {
        Self { session, user_id: user_id.into(), issued: now }
    }

    pub(crate) fn text(&self, key: &InstallationKey) -> String {
        let Self { session, user_id, issued } = self;
        let id = session.to_string();
        let parts: [&[u8]; 4] =
            [b"binding", id.as_bytes(), user_id.as_bytes(), &issued.to_be_bytes()];
        let seal = BASE64.encode(key.seal(&parts));
        format!("{}{id}.{}.{issued}.{seal}", Self::PREFIX, BASE64.encode(user_id.as_bytes()))
    }

    pub(crate) fn read(key: &InstallationKey, text: &str, now: i64) -> Result<Self, Refusal> {
        let token = Self::claimed(text).ok_or(Refusal::Invalid)?;
        check(&token.text(key), text)?;
        if now < token.expires_at() { Ok(token) } else { Err(Refusal::Expired) }
    }

    /// What a text says without proof.
    pub(crate) fn claimed(text: &str) -> Option<Self> {
        let [session, user_id, issued, _] = fields(text, Self::PREFIX)?;
        let (session, issued) = (session.parse().ok()?, issued.parse().ok()?);
        Some(Self { session, user_id: decoded(user_id)?, issued })
    }

    pub(crate) fn renewed(&self, now: i64) -> Option<Self> {
        let stale = now.saturating_sub(self.issued) > BINDING_FRESH;
        stale.then(|| Self { issued: now, ..self.clone() })
    }

    /// In seconds since 1970.
    pub(crate) fn expires_at(&self) -> i64 {
        self.issued.saturating_add(BINDING_LIFE)
    }
}

/// Shows that a page which a browser trusts with a cookie made the request itself.
#[derive(Debug)]
pub(crate) struct CsrfToken {
    issued: i64,
}

impl CsrfToken {
    pub(crate) const fn new(now: i64) -> Self {
        Self { issued: now }
    }

    pub(crate) fn text(&self, key: &InstallationKey, caller: &Caller) -> String {
        let issued = self.issued;
        let (kind, id, user) = match caller {
            Caller::Owner => ("owner", String::new(), ""),
            Caller::Member(member) => ("member", String::new(), member.name.as_str()),
            Caller::User(user) => ("user", String::new(), &**user),
            Caller::Session { session, user } => ("session", session.to_string(), &**user),
        };
        let parts: [&[u8]; 5] =
            [b"csrf", kind.as_bytes(), id.as_bytes(), user.as_bytes(), &issued.to_be_bytes()];
        format!("hsc_{issued}.{}", BASE64.encode(key.seal(&parts)))
    }

    /// Whether `text` is a token of this caller that has not expired.
    pub(crate) fn is_valid(key: &InstallationKey, caller: &Caller, text: &str, now: i64) -> bool {
        let issued = fields::<2>(text, "hsc_").and_then(|[issued, _]| issued.parse().ok());
        let Some(issued) = issued else { return false };
        let token = Self { issued };
        check(&token.text(key, caller), text).is_ok() && now < token.expires_at()
    }

    /// In seconds since 1970.
    pub(crate) fn expires_at(&self) -> i64 {
        self.issued.saturating_add(CSRF_LIFE)
    }
}

pub(super) fn check(genuine: &str, presented: &str) -> Result<(), Refusal> {
    let same = genuine.as_bytes().ct_eq(presented.as_bytes());
    if bool::from(same) { Ok(()) } else { Err(Refusal::Invalid) }
}

pub(super) fn fields<'t, const N: usize>(text: &'t str, prefix: &str) -> Option<[&'t str; N]> {
    if text.len() > MAX_BYTES {
        return None;
    }
    let fields: Vec<_> = text.strip_prefix(prefix)?.split('.').collect();
    fields.try_into().ok()
}

pub(super) fn decoded(text: &str) -> Option<Arc<str>> {
    Some(String::from_utf8(BASE64.decode(text).ok()?).ok()?.into())
}

#[cfg(test)]
mod tests;
