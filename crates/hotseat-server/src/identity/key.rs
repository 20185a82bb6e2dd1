//! The key of an installation, and the seals made with it.

use std::fmt;
use std::io;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The secret of an installation. It is never shown: not even its own `Debug` does.
#[derive(Clone)]
pub struct InstallationKey([u8; InstallationKey::BYTES]);

impl InstallationKey {
    /// Its length.
    pub const BYTES: usize = 32;

    /// A key that was kept.
    pub const fn new(bytes: [u8; Self::BYTES]) -> Self {
        Self(bytes)
    }

    /// A new key, and its bytes to keep.
    pub fn random() -> io::Result<(Self, [u8; Self::BYTES])> {
        let mut bytes = [0; Self::BYTES];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok((Self(bytes), bytes))
    }

    /// HMAC-SHA256 over `parts`, with their lengths, so that no two lists read the same.
    #[expect(clippy::expect_used, reason = "HMAC takes a key of any length")]
    pub(super) fn seal(&self, parts: &[&[u8]]) -> [u8; 32] {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).expect("any length is a key");
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for InstallationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("InstallationKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;

    use super::*;

    #[test]
    fn the_key_is_not_in_its_debug_text() {
        let key = InstallationKey::new([0xab; 32]);
        assert_eq!(format!("{key:?}"), "InstallationKey(…)");
    }

    #[test]
    fn moving_a_letter_from_one_part_to_the_next_changes_the_seal() {
        let key = InstallationKey::new([7; 32]);
        assert_ne!(key.seal(&[b"ab", b"c"]), key.seal(&[b"a", b"bc"]));
        assert_ne!(key.seal(&[b"ab"]), key.seal(&[b"ab", b""]));
    }

    /// Computed by another implementation. Changing it would end every token that is
    /// out there.
    #[test]
    fn seals_stay_what_they_are() {
        let seal = InstallationKey::new([1; 32]).seal(&[b"user", b"alice"]);
        assert_eq!(BASE64.encode(seal), "yZFBDT03YFug1YKAHGRTRD5rc7VYqBHg_d566YXlhcU");
    }

    #[test]
    fn two_new_keys_differ() {
        let (_, one) = InstallationKey::random().unwrap();
        let (_, other) = InstallationKey::random().unwrap();
        assert_ne!(one, other);
    }
}
