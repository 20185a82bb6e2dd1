//! A provider of accounts: what the command line and `[oidc]` in `hotseat.toml` say of it.

use anyhow::{Context, Result, bail};
use hotseat_core::Role;
use hotseat_server::OidcConfig;
use serde::Deserialize;

use crate::settings::or_else;

/// What is asked for, unless told otherwise: who somebody is.
const SCOPES: [&str; 2] = ["email", "profile"];

/// Flags, and the same words without `oidc_` below `[oidc]` in `hotseat.toml`.
#[derive(Default, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Oidc {
    /// Provider of accounts, by the URL with which it names itself; people sign in with it.
    #[arg(long = "oidc-issuer", env = "HOTSEAT_OIDC_ISSUER", value_name = "URL")]
    issuer: Option<String>,

    /// By which the provider knows this server.
    #[arg(long = "oidc-client-id", env = "HOTSEAT_OIDC_CLIENT_ID", value_name = "ID")]
    client_id: Option<String>,

    /// What proves it to the provider.
    #[arg(
        long = "oidc-client-secret",
        env = "HOTSEAT_OIDC_CLIENT_SECRET",
        value_name = "SECRET",
        hide_env_values = true
    )]
    client_secret: Option<String>,

    /// What to ask for besides `openid` [default: email,profile].
    #[arg(
        long = "oidc-scopes",
        env = "HOTSEAT_OIDC_SCOPES",
        value_delimiter = ',',
        value_name = "SCOPES"
    )]
    scopes: Vec<String>,

    /// Claim that is somebody's name here [default: email].
    #[arg(long = "oidc-name-claim", env = "HOTSEAT_OIDC_NAME_CLAIM", value_name = "CLAIM")]
    name_claim: Option<String>,

    /// Claim that says what they may do, as in `groups` or `realm_access.roles`.
    #[arg(long = "oidc-role-claim", env = "HOTSEAT_OIDC_ROLE_CLAIM", value_name = "CLAIM")]
    role_claim: Option<String>,

    /// Which of its values is which role, as in `ops=admin,dev=developer`; the highest counts.
    #[arg(
        long = "oidc-roles",
        env = "HOTSEAT_OIDC_ROLES",
        value_delimiter = ',',
        value_name = "VALUE=ROLE"
    )]
    roles: Vec<String>,

    /// Role of those for whom the claim says nothing [default: they are refused].
    #[arg(long = "oidc-default-role", env = "HOTSEAT_OIDC_DEFAULT_ROLE", value_name = "ROLE")]
    default_role: Option<Role>,
}

/// Without the secret.
impl std::fmt::Debug for Oidc {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Oidc").field("issuer", &self.issuer).finish_non_exhaustive()
    }
}

impl Oidc {
    /// What was decided; flags win over the file.
    pub(crate) fn decide(self, file: Self) -> Result<Option<OidcConfig>> {
        let Some(issuer) = self.issuer.or(file.issuer) else {
            if self.client_id.or(file.client_id).is_some() {
                bail!(
                    "--oidc-client-id means nothing alone\nhint: name the provider with --oidc-issuer"
                );
            }
            return Ok(None);
        };
        check_issuer(&issuer)?;
        let client_id = self.client_id.or(file.client_id).context(
            "--oidc-issuer needs --oidc-client-id\nhint: register this server with the provider",
        )?;
        let scopes = or_else(self.scopes, file.scopes);
        let role_claim = self.role_claim.or(file.role_claim);
        let roles = or_else(self.roles, file.roles);
        let default_role = self.default_role.or(file.default_role);
        if role_claim.is_some() == roles.is_empty() {
            bail!(
                "--oidc-role-claim and --oidc-roles need each other\nhint: as in --oidc-role-claim groups --oidc-roles ops=admin"
            );
        }
        Ok(Some(OidcConfig {
            issuer,
            client_id,
            client_secret: self.client_secret.or(file.client_secret),
            scopes: or_else(scopes, SCOPES.map(str::to_owned).to_vec()),
            name_claim: self.name_claim.or(file.name_claim).unwrap_or_else(|| "email".to_owned()),
            role_claim,
            roles: roles.iter().map(|text| role(text)).collect::<Result<_>>()?,
            default_role,
        }))
    }
}

/// The provider's word lets people in, so nobody may change it on the way.
fn check_issuer(issuer: &str) -> Result<()> {
    let near = ["http://127.0.0.1", "http://localhost", "http://[::1]"];
    if issuer.starts_with("https://") || near.iter().any(|start| is_host(issuer, start)) {
        return Ok(());
    }
    bail!("the provider {issuer} must be reached over https\nhint: plain http is for this machine")
}

/// Whether a URL is at this host, and not at one whose name only begins like it.
fn is_host(url: &str, host: &str) -> bool {
    url.strip_prefix(host)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with(':') || rest.starts_with('/'))
}

fn role(text: &str) -> Result<(String, Role)> {
    let (value, role) = text.rsplit_once('=').with_context(|| {
        format!("`{text}` maps nothing\nhint: write VALUE=ROLE, as in ops=admin")
    })?;
    Ok((value.to_owned(), role.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Oidc {
        Oidc {
            issuer: Some("https://accounts.example".to_owned()),
            client_id: Some("hotseat".to_owned()),
            role_claim: Some("groups".to_owned()),
            roles: vec!["a=b=admin".to_owned()],
            ..Oidc::default()
        }
    }

    #[test]
    fn a_provider_is_decided_whole_or_refused() {
        assert!(Oidc::default().decide(Oidc::default()).unwrap().is_none());
        let decided = told().decide(Oidc::default()).unwrap().unwrap();
        assert_eq!((decided.name_claim.as_str(), decided.scopes.len()), ("email", 2));
        assert_eq!(decided.roles, [("a=b".to_owned(), Role::Admin)]);
        let near = Oidc { issuer: Some("http://127.0.0.1:8080".to_owned()), ..told() };
        assert!(near.decide(Oidc::default()).is_ok());
        for (oidc, words) in [
            (Oidc { issuer: None, ..told() }, "means nothing alone"),
            (Oidc { client_id: None, ..told() }, "needs --oidc-client-id"),
            (Oidc { issuer: Some("http://a.example".to_owned()), ..told() }, "over https"),
            (
                Oidc { issuer: Some("http://localhost.a.example".to_owned()), ..told() },
                "over https",
            ),
            (Oidc { roles: vec!["admin".to_owned()], ..told() }, "maps nothing"),
            (Oidc { roles: vec!["a=boss".to_owned()], ..told() }, "not a role"),
            (Oidc { role_claim: None, ..told() }, "need each other"),
        ] {
            let error = oidc.decide(Oidc::default()).unwrap_err();
            assert!(format!("{error:#}").contains(words), "{error:#}");
        }
    }
}
