//! What a server is told when it starts.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use axum::http::HeaderName;
use hotseat_core::Role;
use hotseat_store::Limits;

use crate::identity::InstallationKey;
use crate::network::Network;
use crate::oidc::OidcConfig;
use crate::service::{MAX_FILES_BYTES, SeatConfig, ServeConfig};
use crate::tls::Tls;

/// Everything that can be set from outside. Names and defaults are those of the
/// command line.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the server listens.
    pub address: SocketAddr,
    /// Who may come in.
    pub access: Access,
    /// Further host names by which the server may be addressed.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call the API besides the server's own.
    pub cors_origins: Vec<String>,
    /// The data folder, for what is kept beside the store.
    pub data: PathBuf,
    /// The folder below which golden traces may be written when a caller names
    /// the file: the one Hotseat was started in.
    pub eval_set_root: PathBuf,
    /// What is taken into the log, and for how long it stays.
    pub ledger: LedgerConfig,
    /// What tokens of users and sessions are sealed with.
    pub key: InstallationKey,
    /// A connection whose reader took nothing for this long is closed.
    pub stalled_after: Duration,
    /// Who answers for the models of agents.
    pub seats: SeatConfig,
    /// How the agent server treats those who come.
    pub serve: ServeConfig,
    /// How people with names come in, besides with a token.
    pub people: PeopleConfig,
    /// The certificate, where connections are encrypted here.
    pub tls: Option<Tls>,
}

/// How people with names come in, besides with a token.
#[derive(Debug, Clone, Default)]
pub struct PeopleConfig {
    /// A proxy in front that says who somebody is.
    pub proxy: Option<TrustedProxy>,
    /// A provider of accounts.
    pub oidc: Option<OidcConfig>,
    /// By which address people reach the server, where it is not the one it listens on.
    pub public_url: Option<String>,
}

/// A proxy in front that knows people, and is believed.
#[derive(Debug, Clone)]
pub struct TrustedProxy {
    /// The header with the name.
    pub header: HeaderName,
    /// Where the proxy is. From anywhere else the header means nothing.
    pub networks: Vec<Network>,
    /// The role of those who are not known yet; without one they are refused.
    pub role: Option<Role>,
}

/// What is taken into the log, and for how long it stays. The store has limits of
/// its own (see [`hotseat_store::Limits`]).
#[derive(Debug, Clone, Copy)]
pub struct LedgerConfig {
    /// Whether raw events that others send over HTTP are taken.
    pub ingest: bool,
    /// The largest payload of one event.
    pub max_event_bytes: usize,
    /// Sessions that nobody touched for this long are removed.
    pub session_ttl: Option<Duration>,
    /// Sessions without a word are removed after this long.
    pub empty_session_ttl: Option<Duration>,
    /// How often that is looked for.
    pub cleanup_interval: Duration,
    /// The store's limits, to be told.
    pub limits: Limits,
}

impl Default for LedgerConfig {
    fn default() -> Self {
        Self {
            ingest: true,
            max_event_bytes: 10 * 1024 * 1024,
            session_ttl: None,
            empty_session_ttl: None,
            cleanup_interval: Duration::from_hours(1),
            limits: Limits::default(),
        }
    }
}

/// Who may come in as the owner of everything.
#[derive(Clone)]
pub enum Access {
    /// Whoever knows the token.
    Token(String),
    /// Anyone who reaches the port.
    Open,
}

/// Without the token: what is shown ends up in logs.
impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Token(_) => "Token(…)",
            Self::Open => "Open",
        })
    }
}

/// How long a reader may take nothing, unless it is told otherwise.
pub const STALLED_AFTER: Duration = Duration::from_mins(1);

/// The largest body of an HTTP request or a gRPC message. One event may be 10 MiB,
/// and a batch or a base64 wrapping is larger than its event.
pub(crate) const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The largest body that brings a message with its files: all of them as base64, and the
/// conversation around them.
pub(crate) const MAX_MESSAGE_BYTES: usize = MAX_FILES_BYTES / 3 * 4 + MAX_BODY_BYTES;

/// The most events in one call that appends.
pub(crate) const MAX_EVENTS_PER_APPEND: usize = 1000;

impl Config {
    /// Of a server that nobody reaches: it has no door, so whoever is inside may do everything,
    /// write where their account may, and needs no token.
    pub(crate) fn indoors() -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            access: Access::Open,
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            data: PathBuf::new(),
            eval_set_root: PathBuf::from("/"),
            ledger: LedgerConfig::default(),
            key: InstallationKey::new([0; InstallationKey::BYTES]),
            stalled_after: STALLED_AFTER,
            seats: SeatConfig::default(),
            serve: ServeConfig::default(),
            people: PeopleConfig::default(),
            tls: None,
        }
    }

    /// The address by which people reach the server from elsewhere.
    pub(crate) fn public_url(&self) -> String {
        let given = self.people.public_url.as_deref();
        given.map_or_else(|| self.url(), |url| url.trim_end_matches('/').to_owned())
    }

    /// Whether browsers may send our cookies over encrypted connections only.
    pub(crate) fn is_secure(&self) -> bool {
        self.public_url().starts_with("https://")
    }

    /// The address a person would open.
    pub fn url(&self) -> String {
        let port = self.address.port();
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        match self.address {
            // A server that listens everywhere is reached by this name from its own machine.
            SocketAddr::V4(address) if address.ip().is_unspecified() => {
                format!("{scheme}://127.0.0.1:{port}")
            }
            SocketAddr::V6(address) if address.ip().is_unspecified() => {
                format!("{scheme}://[::1]:{port}")
            }
            SocketAddr::V4(_) | SocketAddr::V6(_) => format!("{scheme}://{}", self.address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_the_token_nor_the_key_is_in_what_a_log_could_show() {
        let config = Config {
            access: Access::Token("wanderfalke".to_owned()),
            key: InstallationKey::new([0xee; InstallationKey::BYTES]),
            ..Config::indoors()
        };
        let text = format!("{config:?}");
        for secret in ["wanderfalke", "238", "ee, ee", "eeee"] {
            assert!(!text.contains(secret), "{text}");
        }
    }
}
