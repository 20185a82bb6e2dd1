//! The tokens of those who have a name here.
//!
//! Unlike the other tokens they say nothing: they are random, and the store knows whose they
//! are by their hash. That is what makes it possible to take one back.

use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hotseat_store::TokenHash;
use sha2::{Digest, Sha256};

/// Random bytes of a token.
const BYTES: usize = 32;

/// Letters of a token that lists show: enough to tell it from others, too few to be of use.
const SHOWN: usize = 12;

/// A token, to be shown once.
pub(crate) struct AccessToken(String);

impl AccessToken {
    pub(crate) const PREFIX: &'static str = "hst_";

    pub(crate) fn random() -> io::Result<Self> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self(format!("{}{}", Self::PREFIX, BASE64.encode(bytes))))
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn shown(&self) -> &str {
        &self.0[..SHOWN]
    }

    pub(crate) fn hash(&self) -> TokenHash {
        Self::hash_of(&self.0)
    }

    /// By which the store knows a token. It is looked up rather than compared, so there is
    /// nothing to time but whether the hash of a guess is there.
    pub(crate) fn hash_of(text: &str) -> TokenHash {
        Sha256::digest(text.as_bytes()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_differ_and_their_hash_is_that_of_their_text() {
        let (one, other) = (AccessToken::random().unwrap(), AccessToken::random().unwrap());
        assert_ne!(one.text(), other.text());
        assert_eq!(one.hash(), AccessToken::hash_of(one.text()));
        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.text().len(), 47);
        assert!(one.text().starts_with(one.shown()) && one.shown().starts_with("hst_"));
    }
}
