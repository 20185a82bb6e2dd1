//! How people with names come in: what the command line and `[people]` in `hotseat.toml` say.

use anyhow::{Context, Result, bail};
use hotseat_core::Role;
use hotseat_server::{Network, PeopleConfig, TrustedProxy};
use serde::Deserialize;

/// Flags, and the same words below `[people]` in `hotseat.toml`.
#[derive(Debug, Default, clap::Args, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct People {
    /// Header in which a proxy in front says who somebody is, as in `x-forwarded-user`.
    #[arg(long, env = "HOTSEAT_TRUST_PROXY_HEADER", value_name = "NAME")]
    trust_proxy_header: Option<String>,

    /// Where that proxy is, as addresses or networks; from elsewhere its header means nothing.
    #[arg(long, env = "HOTSEAT_TRUSTED_PROXIES", value_delimiter = ',', value_name = "NETWORKS")]
    trusted_proxies: Vec<String>,

    /// Role of those whom the proxy names and nobody has added [default: they are refused].
    #[arg(long, env = "HOTSEAT_PROXY_ROLE", value_name = "ROLE")]
    proxy_role: Option<Role>,

    /// Address by which people reach the server, where it is not the one it listens on.
    #[arg(long, env = "HOTSEAT_PUBLIC_URL", value_name = "URL")]
    public_url: Option<String>,
}

impl People {
    /// What was decided; flags win over the file.
    pub(crate) fn decide(self, file: Self) -> Result<PeopleConfig> {
        let header = self.trust_proxy_header.or(file.trust_proxy_header);
        let networks = super::settings::or_else(self.trusted_proxies, file.trusted_proxies);
        let role = self.proxy_role.or(file.proxy_role);
        Ok(PeopleConfig {
            proxy: proxy(header, &networks, role)?,
            oidc: None,
            public_url: self.public_url.or(file.public_url),
        })
    }
}

fn proxy(
    header: Option<String>,
    networks: &[String],
    role: Option<Role>,
) -> Result<Option<TrustedProxy>> {
    let Some(header) = header else {
        if !networks.is_empty() || role.is_some() {
            bail!(
                "--trusted-proxies and --proxy-role mean nothing alone\nhint: name the header with --trust-proxy-header"
            );
        }
        return Ok(None);
    };
    if networks.is_empty() {
        bail!(
            "--trust-proxy-header alone would believe anybody\nhint: say where the proxy is with --trusted-proxies, as in 10.0.0.5"
        );
    }
    let networks = networks.iter().map(|network| network.parse::<Network>());
    Ok(Some(TrustedProxy {
        header: header.parse().with_context(|| format!("`{header}` is no name of a header"))?,
        networks: networks.collect::<Result<_, _>>()?,
        role,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(header: &str, networks: &[&str]) -> People {
        People {
            trust_proxy_header: Some(header.to_owned()),
            trusted_proxies: networks.iter().map(|&network| network.to_owned()).collect(),
            proxy_role: Some(Role::Viewer),
            public_url: None,
        }
    }

    #[test]
    fn a_header_is_trusted_from_somewhere_or_not_at_all() {
        assert!(People::default().decide(People::default()).unwrap().proxy.is_none());
        let proxy = told("X-User", &["10.0.0.0/8"]).decide(People::default()).unwrap().proxy;
        let proxy = proxy.unwrap();
        assert_eq!((proxy.header.as_str(), proxy.role), ("x-user", Some(Role::Viewer)));
        for (people, words) in [
            (told("X-User", &[]), "would believe anybody"),
            (told("X User", &["10.0.0.1"]), "no name of a header"),
            (told("X-User", &["everywhere"]), "is no network"),
            (People { trust_proxy_header: None, ..told("", &["::1"]) }, "mean nothing alone"),
        ] {
            let error = people.decide(People::default()).unwrap_err();
            assert!(format!("{error:#}").contains(words), "{error:#}");
        }
    }
}
