//! ID tokens: whether to believe one.
//!
//! Two algorithms are known, and the token does not choose between them: each belongs to a
//! kind of key, and the key is the provider's. So neither `none` nor a shared secret that is
//! really a public key gets anywhere.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, RSA_PKCS1_2048_8192_SHA256, RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;
use serde_json::Value;
use subtle::ConstantTimeEq;

/// By how many seconds the provider's clock may differ from ours.
const LEEWAY: i64 = 60;

/// The longest token that is looked at.
const MAX_BYTES: usize = 64 * 1024;

/// Why a token is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Untrusted {
    #[error("it is not a token that can be read")]
    Unreadable,
    #[error("it is signed in a way that is not accepted")]
    Algorithm,
    #[error("it is signed with a key that the provider does not have")]
    Key,
    #[error("its signature is wrong")]
    Signature,
    #[error("it is from another provider")]
    Issuer,
    #[error("it is meant for somebody else")]
    Audience,
    #[error("it has expired, or is not valid yet")]
    Time,
    #[error("it answers another attempt to sign in")]
    Nonce,
}

/// The provider's public keys.
#[derive(Debug, Deserialize)]
pub(super) struct Keys {
    keys: Vec<Key>,
}

#[derive(Debug, Deserialize)]
struct Key {
    kty: String,
    kid: Option<String>,
    #[serde(rename = "use")]
    usage: Option<String>,
    crv: Option<String>,
    n: Option<String>,
    e: Option<String>,
    x: Option<String>,
    y: Option<String>,
}

/// What a token must say.
#[derive(Debug)]
pub(super) struct Expected<'a> {
    pub(super) issuer: &'a str,
    pub(super) client_id: &'a str,
    pub(super) nonce: &'a str,
    pub(super) now: i64,
}

#[derive(Deserialize)]
struct Header {
    alg: String,
    kid: Option<String>,
    /// Extensions that must be understood; none are.
    crit: Option<Value>,
}

/// The claims of a token that is to be believed.
pub(super) fn verify(
    token: &str,
    keys: &Keys,
    expected: &Expected<'_>,
) -> Result<Value, Untrusted> {
    if token.len() > MAX_BYTES {
        return Err(Untrusted::Unreadable);
    }
    let (signed, signature) = token.rsplit_once('.').ok_or(Untrusted::Unreadable)?;
    let (header, payload) = signed.split_once('.').ok_or(Untrusted::Unreadable)?;
    let header: Header = read(header)?;
    let signature = decode(signature)?;
    check_signature(&header, keys, signed.as_bytes(), &signature)?;
    let claims: Value = read(payload)?;
    check_claims(&claims, expected)?;
    Ok(claims)
}

fn check_signature(
    header: &Header,
    keys: &Keys,
    signed: &[u8],
    signature: &[u8],
) -> Result<(), Untrusted> {
    let kind = match header.alg.as_str() {
        "RS256" => "RSA",
        "ES256" => "EC",
        _ => return Err(Untrusted::Algorithm),
    };
    if header.crit.is_some() {
        return Err(Untrusted::Algorithm);
    }
    let fits = |key: &&Key| {
        key.kty == kind
            && key.usage.as_deref().is_none_or(|usage| usage == "sig")
            && (header.kid.is_none() || header.kid == key.kid)
    };
    let mut candidates = keys.keys.iter().filter(fits).peekable();
    candidates.peek().ok_or(Untrusted::Key)?;
    if candidates.any(|key| key.signed(signed, signature).is_some()) {
        Ok(())
    } else {
        Err(Untrusted::Signature)
    }
}

impl Key {
    fn signed(&self, message: &[u8], signature: &[u8]) -> Option<()> {
        match self.kty.as_str() {
            "RSA" => {
                let (n, e) = (decode(self.n.as_deref()?).ok()?, decode(self.e.as_deref()?).ok()?);
                RsaPublicKeyComponents { n, e }
                    .verify(&RSA_PKCS1_2048_8192_SHA256, message, signature)
                    .ok()
            }
            "EC" if self.crv.as_deref() == Some("P-256") => {
                // An uncompressed point.
                let mut point = vec![4];
                point.extend(decode(self.x.as_deref()?).ok()?);
                point.extend(decode(self.y.as_deref()?).ok()?);
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(message, signature)
                    .ok()
            }
            _ => None,
        }
    }
}

fn check_claims(claims: &Value, expected: &Expected<'_>) -> Result<(), Untrusted> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    // Seconds may have a fraction.
    #[expect(clippy::cast_possible_truncation, reason = "fractions of a second do not matter")]
    let time = |name: &str| claims.get(name).and_then(Value::as_f64).map(|time| time as i64);
    if text("iss") != Some(expected.issuer) {
        return Err(Untrusted::Issuer);
    }
    let ours = match claims.get("aud") {
        Some(Value::String(audience)) => audience == expected.client_id,
        // Where it is for several, we must be the one it was given to.
        Some(Value::Array(audiences)) => {
            audiences.iter().any(|audience| audience.as_str() == Some(expected.client_id))
                && (audiences.len() == 1 || text("azp") == Some(expected.client_id))
        }
        _ => false,
    };
    if !ours || text("azp").is_some_and(|party| party != expected.client_id) {
        return Err(Untrusted::Audience);
    }
    let lasts = time("exp").is_some_and(|end| expected.now < end.saturating_add(LEEWAY));
    let began = ["iat", "nbf"]
        .iter()
        .all(|name| time(name).is_none_or(|start| start <= expected.now.saturating_add(LEEWAY)));
    if !lasts || !began {
        return Err(Untrusted::Time);
    }
    let nonce = text("nonce").unwrap_or_default();
    if bool::from(nonce.as_bytes().ct_eq(expected.nonce.as_bytes())) {
        Ok(())
    } else {
        Err(Untrusted::Nonce)
    }
}

fn read<T: serde::de::DeserializeOwned>(part: &str) -> Result<T, Untrusted> {
    serde_json::from_slice(&decode(part)?).map_err(|_| Untrusted::Unreadable)
}

fn decode(text: &str) -> Result<Vec<u8>, Untrusted> {
    BASE64.decode(text).map_err(|_| Untrusted::Unreadable)
}

#[cfg(test)]
mod tests;
