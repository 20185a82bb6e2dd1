//! Signing in with an account from elsewhere: OpenID Connect, as its client.
//!
//! The authorization code flow with PKCE, and nothing else of it. What the provider says is
//! believed only in an ID token that its published keys sign, that is meant for us, that is
//! fresh, and that answers the very attempt that this browser began.
//!
//! Every answer of the provider has a limit of size and time.

mod id_token;

use std::fmt;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use hotseat_core::Role;
use reqwest::Url;
use serde::Deserialize;
use serde_json::Value;

pub(crate) use self::id_token::Untrusted;
use self::id_token::{Expected, Keys};

/// How long the provider may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// The largest answer of a provider.
const MAX_ANSWER: usize = 1024 * 1024;

/// How long the provider's addresses are believed to be what they were.
const FRESH: Duration = Duration::from_mins(5);

/// What a provider of accounts is, and who its people are here.
#[derive(Clone)]
pub struct OidcConfig {
    /// The provider, as it names itself.
    pub issuer: String,
    /// By which it knows this installation.
    pub client_id: String,
    /// What proves that to it, where it wants proof.
    pub client_secret: Option<String>,
    /// What to ask for besides `openid`.
    pub scopes: Vec<String>,
    /// The claim that is somebody's name here.
    pub name_claim: String,
    /// The claim that says what they may do; dots lead into objects.
    pub role_claim: Option<String>,
    /// Which of its values is which role; the highest counts.
    pub roles: Vec<(String, Role)>,
    /// The role of those for whom the claim says nothing; without one they are refused.
    pub default_role: Option<Role>,
}

/// Without the secret: what is shown ends up in logs.
impl fmt::Debug for OidcConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { issuer, client_id, .. } = self;
        f.debug_struct("OidcConfig")
            .field("issuer", issuer)
            .field("client_id", client_id)
            .finish_non_exhaustive()
    }
}

/// Why nobody came in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OidcError {
    /// It could not be reached, or answered with something else.
    #[error("the provider of accounts could not be asked for its {what}")]
    Provider {
        what: &'static str,
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// What it said cannot be believed.
    #[error("the provider's answer was not accepted: {0}")]
    Untrusted(#[from] Untrusted),
    /// It knows them, but not by a name that we could use.
    #[error("the account has no claim `{0}` that could be a name here")]
    NoName(String),
}

/// Where the provider is to be found.
#[derive(Debug, Clone, Deserialize)]
struct Metadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    jwks_uri: String,
}

/// What the browser began and has to come back with.
#[derive(Debug, Clone)]
pub(crate) struct Challenge<'a> {
    pub(crate) redirect_uri: &'a str,
    pub(crate) state: &'a str,
    pub(crate) nonce: &'a str,
    /// SHA-256 of the verifier, in base64.
    pub(crate) hashed_verifier: &'a str,
}

/// Somebody with an account.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Account {
    pub(crate) name: String,
    /// What the claim says they may do, where there is one to look at.
    pub(crate) role: Option<Role>,
}

/// A provider, as its client.
#[derive(Debug)]
pub(crate) struct Oidc {
    pub(crate) config: OidcConfig,
    client: reqwest::Client,
    metadata: Mutex<Option<(Instant, Metadata)>>,
}

impl Oidc {
    pub(crate) fn new(config: OidcConfig) -> Result<Self, reqwest::Error> {
        hotseat_agent::provider::install_crypto();
        let client = reqwest::Client::builder()
            .timeout(PATIENCE)
            // A provider has no reason to send us elsewhere, and an attacker would have one.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { config, client, metadata: Mutex::default() })
    }

    /// Where to send a browser that wants in.
    pub(crate) async fn authorize(&self, challenge: &Challenge<'_>) -> Result<Url, OidcError> {
        let endpoint = self.metadata().await?.authorization_endpoint;
        let mut url: Url = endpoint.parse().map_err(|error| OidcError::Provider {
            what: "configuration",
            source: Box::new(error),
        })?;
        let scopes = ["openid"].into_iter().chain(self.config.scopes.iter().map(String::as_str));
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.config.client_id)
            .append_pair("redirect_uri", challenge.redirect_uri)
            .append_pair("scope", &scopes.collect::<Vec<_>>().join(" "))
            .append_pair("state", challenge.state)
            .append_pair("nonce", challenge.nonce)
            .append_pair("code_challenge", challenge.hashed_verifier)
            .append_pair("code_challenge_method", "S256");
        Ok(url)
    }

    /// Who came back with `code`.
    pub(crate) async fn account(
        &self,
        code: &str,
        verifier: &str,
        nonce: &str,
        redirect_uri: &str,
        now: i64,
    ) -> Result<Account, OidcError> {
        let metadata = self.metadata().await?;
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("client_id", &self.config.client_id),
            ("code_verifier", verifier),
        ];
        let mut request = self.client.post(metadata.token_endpoint).form(&form);
        if let Some(secret) = &self.config.client_secret {
            request = request.basic_auth(&self.config.client_id, Some(secret));
        }
        let answer: TokenAnswer = ask("token", request).await?;
        // Read anew: providers change their keys, and somebody signs in rarely.
        let keys: Keys = ask("keys", self.client.get(metadata.jwks_uri)).await?;
        let expected =
            Expected { issuer: &self.config.issuer, client_id: &self.config.client_id, nonce, now };
        let claims = id_token::verify(&answer.id_token, &keys, &expected)?;
        self.account_of(&claims)
    }

    fn account_of(&self, claims: &Value) -> Result<Account, OidcError> {
        let claim = &self.config.name_claim;
        let name = claims.get(claim).and_then(Value::as_str).filter(|name| !name.is_empty());
        // An address that nobody confirmed may be another person's.
        let confirmed =
            claim != "email" || claims.get("email_verified") != Some(&Value::Bool(false));
        let name = name.filter(|_| confirmed).ok_or_else(|| OidcError::NoName(claim.clone()))?;
        Ok(Account { name: name.to_owned(), role: self.role_of(claims) })
    }

    /// The highest role that the claim gives, else the default.
    fn role_of(&self, claims: &Value) -> Option<Role> {
        let claim = self.config.role_claim.as_deref()?;
        let found = claim.split('.').try_fold(claims, |value, key| value.get(key));
        let values = match found {
            Some(Value::Array(values)) => values.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        let granted =
            self.config.roles.iter().filter(|(word, _)| {
                values.iter().any(|value| value.as_str() == Some(word.as_str()))
            });
        let granted = granted.map(|(_, role)| *role);
        granted.reduce(|one, other| if one.includes(other) { one } else { other })
    }

    async fn metadata(&self) -> Result<Metadata, OidcError> {
        let known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, metadata)) = known
            && at.elapsed() < FRESH
        {
            return Ok(metadata);
        }
        let issuer = self.config.issuer.trim_end_matches('/');
        let url = format!("{issuer}/.well-known/openid-configuration");
        let metadata: Metadata = ask("configuration", self.client.get(url)).await?;
        // Otherwise one provider could speak for another.
        if metadata.issuer != self.config.issuer {
            return Err(Untrusted::Issuer.into());
        }
        let mut known = self.metadata.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some((Instant::now(), metadata.clone()));
        Ok(metadata)
    }
}

#[derive(Deserialize)]
struct TokenAnswer {
    id_token: String,
}

/// An answer of the provider, as JSON.
async fn ask<T: serde::de::DeserializeOwned>(
    what: &'static str,
    request: reqwest::RequestBuilder,
) -> Result<T, OidcError> {
    let answer = async {
        let mut response = request.send().await?.error_for_status()?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_ANSWER {
                return Err("the answer is too large".into());
            }
        }
        Ok(serde_json::from_slice(&bytes)?)
    };
    answer.await.map_err(|source| OidcError::Provider { what, source })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn provider(roles: &[(&str, Role)], claim: Option<&str>) -> Oidc {
        Oidc::new(OidcConfig {
            issuer: "https://accounts.example".to_owned(),
            client_id: "hotseat".to_owned(),
            client_secret: Some("sesame".to_owned()),
            scopes: Vec::new(),
            name_claim: "email".to_owned(),
            role_claim: claim.map(str::to_owned),
            roles: roles.iter().map(|(word, role)| ((*word).to_owned(), *role)).collect(),
            default_role: None,
        })
        .unwrap()
    }

    #[test]
    fn the_highest_role_that_a_claim_gives_counts() {
        let roles = [("staff", Role::Viewer), ("ops", Role::Admin), ("dev", Role::Developer)];
        let oidc = provider(&roles, Some("realm.groups"));
        for (claims, role) in [
            (json!({"realm": {"groups": ["dev", "staff"]}}), Some(Role::Developer)),
            (json!({"realm": {"groups": ["staff", "ops"]}}), Some(Role::Admin)),
            (json!({"realm": {"groups": "staff"}}), Some(Role::Viewer)),
            (json!({"realm": {"groups": ["Ops", 7]}}), None),
            (json!({"groups": ["ops"]}), None),
        ] {
            assert_eq!(oidc.role_of(&claims), role, "{claims}");
        }
    }

    #[test]
    fn an_address_that_nobody_confirmed_is_no_name() {
        let oidc = provider(&[], None);
        let named = |claims: Value| oidc.account_of(&claims).map(|account| account.name);
        assert_eq!(named(json!({"email": "a@b.example"})).unwrap(), "a@b.example");
        assert!(named(json!({"email": "a@b.example", "email_verified": true})).is_ok());
        assert!(named(json!({"email": "a@b.example", "email_verified": false})).is_err());
        assert!(named(json!({"sub": "7"})).is_err());
    }

    #[test]
    fn the_secret_is_not_in_what_a_log_could_show() {
        assert!(!format!("{:?}", provider(&[], None)).contains("sesame"));
    }
}
