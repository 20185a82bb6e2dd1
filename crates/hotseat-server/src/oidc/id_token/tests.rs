//! What is believed of a token, and what is not.

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use serde_json::json;

use super::*;

/// A key and a token of another implementation.
const N: &str = "wTRCCRqMznnzOhEgE0gW6kILIo9BU3Kxz26-tk3cQKh70MD1utUjr267NRgLS1-D4_ZgxHlNMD7eojFKEASA\
     RFe67uQkO_24wZbR4Sjz5qLaZVrwkd-ZjKHs6Xy1yOVCfec2lBVweInUAGVd4YTLUwWT9Lo0YdsKaJbtGYOP\
     RV8wByumzQnX1-K87x1LDU-EvXzcLX5j5otxgXcNNERTSYAkOlCp9p9SijMWXmGH3j3_qaz4ADZkyZa0p_10\
     -7vmNkhssJ6cXlq_sNY76-BurYpHSDl9kMwGI2yTsZ1H7LFQW7y3TXU40aHG1009sFuozoZ6LRj-zdWAoMe3\
     kQw22w";
const TOKEN: &str = "eyJhbGciOiJSUzI1NiIsImtpZCI6InIxIn0.\
     eyJpc3MiOiJodHRwczovL2FjY291bnRzLmV4YW1wbGUiLCJhdWQiOiJob3RzZWF0IiwiZXhwIjoyMDAwMDAw\
     MDAwLCJub25jZSI6Im4tMSIsImVtYWlsIjoiYWRhQGV4YW1wbGUub3JnIn0.\
     Kp1mURbyWfcMlcqIMMSbuKBTPJ5OeInykXf-g5Tlp7BI8GIs5Pcl0W6A-JOwq7cJtEGa2gSrz959y7skCAjT\
     2SoPmtmgaS1zJ4cfWISH_fBfPTIAE9PuylmONo5cFEig65kzB5lkoQtH8ADuG6IzsSz3WYYhvKAf371RqsnL\
     fzPXjft8gS3djXLCajju1_a4mW3uNGuTTN0AxBpaQNuDK1qIzDkjws-z77DtNS-fdbT0S3bOplMGb3YXdRHW\
     55MRelraUKaXpXJnpDsRQ_cBH77wUQH0T3RUZtY3lC9vfILxdR7qJFw_kLoe9zN13UHjFngJ9LMW6QuAJDVL\
     A9WFmw";

const EXPECTED: Expected<'static> = Expected {
    issuer: "https://accounts.example",
    client_id: "hotseat",
    nonce: "n-1",
    now: 1_900_000_000,
};

fn keys(keys: &Value) -> Keys {
    serde_json::from_value(json!({"keys": keys})).unwrap()
}

fn rsa() -> Keys {
    keys(&json!([{"kty": "RSA", "kid": "r1", "use": "sig", "n": N, "e": "AQAB"}]))
}

/// A provider with one key.
struct Provider(EcdsaKeyPair);

impl Provider {
    fn new() -> Self {
        let (algorithm, random) = (&ECDSA_P256_SHA256_FIXED_SIGNING, SystemRandom::new());
        let key = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Self(EcdsaKeyPair::from_pkcs8(algorithm, key.as_ref(), &random).unwrap())
    }

    fn keys(&self) -> Keys {
        let point = self.0.public_key().as_ref();
        let (x, y) = (BASE64.encode(&point[1..33]), BASE64.encode(&point[33..]));
        keys(&json!([{"kty": "EC", "crv": "P-256", "kid": "e1", "x": x, "y": y}]))
    }

    fn token(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| BASE64.encode(value.to_string());
        let signed = format!("{}.{}", part(header), part(claims));
        let signature = self.0.sign(&SystemRandom::new(), signed.as_bytes()).unwrap();
        format!("{signed}.{}", BASE64.encode(signature))
    }
}

fn claims() -> Value {
    json!({
        "iss": "https://accounts.example", "aud": "hotseat", "nonce": "n-1",
        "exp": 1_900_000_100, "iat": 1_900_000_000, "sub": "7",
    })
}

#[test]
fn a_token_of_another_implementation_is_believed() {
    assert_eq!(verify(TOKEN, &rsa(), &EXPECTED).unwrap()["email"], "ada@example.org");
    let (signed, signature) = TOKEN.rsplit_once('.').unwrap();
    let swapped = format!("{signed}.{}A", &signature[..signature.len() - 1]);
    let changed = [swapped, TOKEN.replacen("eyJpc3Mi", "eyJpc3Mj", 1)];
    for token in changed {
        assert!(verify(&token, &rsa(), &EXPECTED).is_err());
    }
}

#[test]
fn a_token_must_be_signed_by_the_provider_in_a_way_that_we_know() {
    let provider = Provider::new();
    let header = json!({"alg": "ES256", "kid": "e1"});
    let token = provider.token(&header, &claims());
    assert_eq!(verify(&token, &provider.keys(), &EXPECTED).unwrap()["sub"], "7");
    let refused = |token: &str, keys: &Keys| verify(token, keys, &EXPECTED).unwrap_err();
    assert_eq!(refused(&token, &rsa()), Untrusted::Key);
    assert_eq!(refused(&token, &Provider::new().keys()), Untrusted::Signature);
    for alg in ["none", "None", "HS256", "RS512", ""] {
        let token = provider.token(&json!({"alg": alg, "kid": "e1"}), &claims());
        assert_eq!(refused(&token, &provider.keys()), Untrusted::Algorithm, "{alg}");
    }
    let unsigned = token.rsplit_once('.').unwrap().0.to_owned() + ".";
    assert_eq!(refused(&unsigned, &provider.keys()), Untrusted::Signature);
    // The right signature under the name of another kind of key.
    let other = provider.token(&json!({"alg": "RS256", "kid": "r1"}), &claims());
    assert_eq!(refused(&other, &rsa()), Untrusted::Signature);
    let unknown = provider.token(&json!({"alg": "ES256", "kid": "e2"}), &claims());
    assert_eq!(refused(&unknown, &provider.keys()), Untrusted::Key);
    let critical = provider.token(&json!({"alg": "ES256", "crit": ["b64"]}), &claims());
    assert_eq!(refused(&critical, &provider.keys()), Untrusted::Algorithm);
    for text in ["", "a.b", "a.b.c", "..", &"a".repeat(70_000)] {
        assert_eq!(refused(text, &provider.keys()), Untrusted::Unreadable);
    }
}

#[test]
fn a_token_must_be_for_us_now_and_for_this_attempt() {
    let provider = Provider::new();
    for (name, value, expected) in [
        ("iss", json!("https://accounts.example/"), Err(Untrusted::Issuer)),
        ("aud", json!("other"), Err(Untrusted::Audience)),
        ("aud", json!(["hotseat"]), Ok(())),
        ("aud", json!(["hotseat", "other"]), Err(Untrusted::Audience)),
        ("aud", Value::Null, Err(Untrusted::Audience)),
        ("azp", json!("other"), Err(Untrusted::Audience)),
        ("azp", json!("hotseat"), Ok(())),
        ("exp", json!(1_899_999_940), Err(Untrusted::Time)),
        ("exp", json!(1_899_999_941), Ok(())),
        ("exp", Value::Null, Err(Untrusted::Time)),
        ("iat", json!(1_900_000_061), Err(Untrusted::Time)),
        ("nbf", json!(1_900_000_061.5), Err(Untrusted::Time)),
        ("nonce", json!("n-2"), Err(Untrusted::Nonce)),
        ("nonce", Value::Null, Err(Untrusted::Nonce)),
    ] {
        let mut claims = claims();
        claims[name] = value.clone();
        let token = provider.token(&json!({"alg": "ES256"}), &claims);
        let seen = verify(&token, &provider.keys(), &EXPECTED).map(drop);
        assert_eq!(seen, expected, "{name}: {value}");
    }
}
