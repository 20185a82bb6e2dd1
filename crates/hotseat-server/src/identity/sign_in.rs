//! What a browser carries while somebody signs in, and after.
//!
//! Both are sealed like the other tokens, and kept in cookies that no script reads.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hotseat_core::UserName;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::InstallationKey;
use super::token::{check, decoded, fields};

/// How long somebody stays signed in, in seconds: a working day.
pub(crate) const SIGNED_IN_LIFE: i64 = 12 * 60 * 60;

/// How long somebody may take to sign in, in seconds.
pub(crate) const ATTEMPT_LIFE: i64 = 10 * 60;

/// Random bytes of each secret of an attempt.
const BYTES: usize = 32;

/// Somebody who signed in. What they may do is in the store, so that it can change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SignedIn {
    pub(crate) name: UserName,
    expires: i64,
}

impl SignedIn {
    pub(crate) const PREFIX: &'static str = "hss_";

    pub(crate) fn new(name: UserName, now: i64) -> Self {
        Self { name, expires: now.saturating_add(SIGNED_IN_LIFE) }
    }

    pub(crate) fn text(&self, key: &InstallationKey) -> String {
        let Self { name, expires } = self;
        let name = name.as_str().as_bytes();
        let seal = BASE64.encode(key.seal(&[b"signed in", name, &expires.to_be_bytes()]));
        format!("{}{}.{expires}.{seal}", Self::PREFIX, BASE64.encode(name))
    }

    /// Whoever a text says, if it is genuine and not over.
    pub(crate) fn read(key: &InstallationKey, text: &str, now: i64) -> Option<Self> {
        let [name, expires, _] = fields(text, Self::PREFIX)?;
        let token = Self { name: decoded(name)?.parse().ok()?, expires: expires.parse().ok()? };
        check(&token.text(key), text).ok()?;
        (now < token.expires).then_some(token)
    }
}

/// An attempt to sign in: what the browser has to come back with, and where it wanted to go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) state: Arc<str>,
    pub(crate) nonce: Arc<str>,
    pub(crate) verifier: Arc<str>,
    pub(crate) to: Arc<str>,
    issued: i64,
}

impl Attempt {
    const PREFIX: &'static str = "hsa_";

    pub(crate) fn new(to: &str, now: i64) -> std::io::Result<Self> {
        let random = || -> std::io::Result<Arc<str>> {
            let mut bytes = [0; BYTES];
            getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
            Ok(BASE64.encode(bytes).into())
        };
        let (state, nonce, verifier) = (random()?, random()?, random()?);
        Ok(Self { state, nonce, verifier, to: to.into(), issued: now })
    }

    pub(crate) fn text(&self, key: &InstallationKey) -> String {
        let Self { state, nonce, verifier, to, issued } = self;
        let parts: [&[u8]; 6] = [
            b"attempt",
            state.as_bytes(),
            nonce.as_bytes(),
            verifier.as_bytes(),
            to.as_bytes(),
            &issued.to_be_bytes(),
        ];
        let (seal, to) = (BASE64.encode(key.seal(&parts)), BASE64.encode(to.as_bytes()));
        format!("{}{state}.{nonce}.{verifier}.{to}.{issued}.{seal}", Self::PREFIX)
    }

    pub(crate) fn read(key: &InstallationKey, text: &str, now: i64) -> Option<Self> {
        let [state, nonce, verifier, to, issued, _] = fields(text, Self::PREFIX)?;
        let attempt = Self {
            state: state.into(),
            nonce: nonce.into(),
            verifier: verifier.into(),
            to: decoded(to)?,
            issued: issued.parse().ok()?,
        };
        check(&attempt.text(key), text).ok()?;
        (now < attempt.issued.saturating_add(ATTEMPT_LIFE)).then_some(attempt)
    }

    /// Whether a browser came back with the state it was sent away with.
    pub(crate) fn is_answered_by(&self, state: &str) -> bool {
        bool::from(self.state.as_bytes().ct_eq(state.as_bytes()))
    }

    /// What the provider is shown of the verifier.
    pub(crate) fn code_challenge(&self) -> String {
        BASE64.encode(Sha256::digest(self.verifier.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: InstallationKey = InstallationKey::new([3; 32]);

    #[test]
    fn whoever_signed_in_is_known_until_it_is_over_and_by_this_key_alone() {
        let signed_in = SignedIn::new("ada".parse().unwrap(), 1_000);
        let text = signed_in.text(&KEY);
        assert_eq!(SignedIn::read(&KEY, &text, 1_000), Some(signed_in));
        assert_eq!(SignedIn::read(&KEY, &text, 1_000 + SIGNED_IN_LIFE), None);
        assert_eq!(SignedIn::read(&InstallationKey::new([4; 32]), &text, 1_000), None);
        let other = text.replace(&BASE64.encode("ada"), &BASE64.encode("eve"));
        assert_eq!(SignedIn::read(&KEY, &other, 1_000), None);
    }

    #[test]
    fn an_attempt_is_answered_once_with_its_own_state_and_in_time() {
        let attempt = Attempt::new("/sessions/1?a=b.c", 1_000).unwrap();
        let text = attempt.text(&KEY);
        assert_eq!(Attempt::read(&KEY, &text, 1_001), Some(attempt.clone()));
        assert_eq!(Attempt::read(&KEY, &text, 1_000 + ATTEMPT_LIFE), None);
        assert!(attempt.is_answered_by(&attempt.state.clone()));
        assert!(!attempt.is_answered_by(&attempt.nonce.clone()));
        assert_eq!(Attempt::read(&KEY, &text.replacen("hsa_", "hsa_A", 1), 1_001), None);
        let other = Attempt::new("/", 1_000).unwrap();
        assert_ne!(other.state, attempt.state);
    }
}
