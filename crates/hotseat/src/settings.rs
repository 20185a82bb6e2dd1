//! Flags, environment and `hotseat.toml` as one set of decisions.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use hotseat_server::LedgerConfig;
use hotseat_store::Limits;
use serde::Deserialize;

use crate::args::{LogFormat, Web};

/// A port that nobody else in the field uses.
const DEFAULT_PORT: u16 = 4687;

/// `hotseat.toml`: the long flags, with underscores.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct File {
    agents: Vec<String>,
    host: Option<IpAddr>,
    port: Option<u16>,
    data: Option<PathBuf>,
    store: Option<String>,
    token: Option<String>,
    no_auth: bool,
    insecure: bool,
    allowed_hosts: Vec<String>,
    cors_origins: Vec<String>,
    no_open: bool,
    python: Option<PathBuf>,
    log_format: Option<LogFormat>,
    log_level: Option<String>,
    sessions: Ledger,
}

/// `[sessions]`: what is kept, and for how long. All limits are off unless given.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Ledger {
    max_sessions: Option<u64>,
    session_ttl_hours: Option<f64>,
    cleanup_interval_minutes: Option<f64>,
    empty_session_minutes: Option<f64>,
    max_messages_per_session: Option<u64>,
    max_events_per_session: Option<u64>,
    max_event_bytes: Option<usize>,
    max_store_bytes: Option<u64>,
    compress_over_bytes: Option<usize>,
    no_ingest: bool,
}

impl Ledger {
    fn decide(self) -> Result<LedgerConfig> {
        let defaults = LedgerConfig::default();
        let limits = Limits {
            max_sessions: self.max_sessions,
            max_events_per_session: self.max_events_per_session,
            max_messages_per_session: self
                .max_messages_per_session
                .unwrap_or(defaults.limits.max_messages_per_session),
            max_store_bytes: self.max_store_bytes,
            compress_over_bytes: match self.compress_over_bytes {
                None => defaults.limits.compress_over_bytes,
                Some(0) => None,
                given => given,
            },
        };
        for (key, limit) in [
            ("max_sessions", limits.max_sessions),
            ("max_events_per_session", limits.max_events_per_session),
        ] {
            if limit == Some(0) {
                bail!("`{key}` is 0, which would keep nothing\nhint: leave it out for no limit");
            }
        }
        let interval = time("cleanup_interval_minutes", self.cleanup_interval_minutes, 60.0)?;
        Ok(LedgerConfig {
            ingest: !self.no_ingest,
            max_event_bytes: self.max_event_bytes.unwrap_or(defaults.max_event_bytes),
            session_ttl: time("session_ttl_hours", self.session_ttl_hours, 3600.0)?,
            empty_session_ttl: time("empty_session_minutes", self.empty_session_minutes, 60.0)?,
            cleanup_interval: interval.unwrap_or(defaults.cleanup_interval),
            limits,
        })
    }
}

fn time(key: &str, number: Option<f64>, seconds: f64) -> Result<Option<Duration>> {
    let duration = number.map(|number| Duration::try_from_secs_f64(number * seconds));
    match duration {
        None => Ok(None),
        Some(Ok(duration)) if !duration.is_zero() => Ok(Some(duration)),
        Some(_) => bail!("`{key}` must be a number above 0\nhint: leave it out for no limit"),
    }
}

/// What was decided.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) agents: Vec<String>,
    pub(crate) address: SocketAddr,
    pub(crate) data: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) auth: Auth,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) open_browser: bool,
    pub(crate) python: Option<PathBuf>,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: Option<String>,
    pub(crate) exit_with_parent: bool,
    pub(crate) ledger: LedgerConfig,
}

/// How callers are let in.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Auth {
    /// With this token.
    Given(String),
    /// With the token in the data folder.
    Kept,
    /// Without one.
    None,
}

impl Settings {
    pub(crate) fn decide(web: Web) -> Result<Self> {
        let file = read_file(web.config.as_deref())?;
        let data = web.data.or(file.data).unwrap_or_else(|| PathBuf::from(".hotseat"));
        let data = std::path::absolute(&data)
            .with_context(|| format!("the data folder {} has no path", data.display()))?;
        let host = web.host.or(file.host).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let no_auth = web.no_auth || file.no_auth;
        if no_auth && !host.is_loopback() && !(web.insecure || file.insecure) {
            bail!(
                "--no-auth on {host} would let every machine that reaches it control your agents\n\
                 hint: leave out --no-auth, or add --insecure if that is what you want"
            );
        }
        let auth = match web.token.or(file.token) {
            _ if no_auth => Auth::None,
            Some(token) if token.len() < 8 => {
                bail!("a token of less than 8 characters is no secret")
            }
            Some(token)
                if !token
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)) =>
            {
                bail!("a token may hold only letters, digits and the characters - _ . ~")
            }
            Some(token) => Auth::Given(token),
            None => Auth::Kept,
        };
        Ok(Self {
            agents: or_else(web.agents, file.agents),
            address: SocketAddr::new(host, web.port.or(file.port).unwrap_or(DEFAULT_PORT)),
            database: database(web.store.or(file.store), &data)?,
            data,
            auth,
            allowed_hosts: or_else(web.allowed_hosts, file.allowed_hosts),
            cors_origins: or_else(web.cors_origins, file.cors_origins),
            open_browser: !(web.no_open || file.no_open),
            python: web.python.or(file.python),
            log_format: web.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            log_level: web.log_level.or(file.log_level),
            exit_with_parent: web.exit_with_parent,
            ledger: file.sessions.decide()?,
        })
    }
}

fn or_else(given: Vec<String>, file: Vec<String>) -> Vec<String> {
    if given.is_empty() { file } else { given }
}

fn read_file(path: Option<&Path>) -> Result<File> {
    let (path, required) = match path {
        Some(path) => (path, true),
        None => (Path::new("hotseat.toml"), false),
    };
    match std::fs::read_to_string(path) {
        Ok(text) => {
            toml::from_str(&text).with_context(|| format!("{} could not be read", path.display()))
        }
        Err(error) if !required && error.kind() == std::io::ErrorKind::NotFound => {
            Ok(File::default())
        }
        Err(error) => Err(error).with_context(|| format!("{} could not be read", path.display())),
    }
}

pub(crate) fn database(store: Option<String>, data: &Path) -> Result<PathBuf> {
    match store {
        None => Ok(data.join("hotseat.db")),
        Some(url) => match url.strip_prefix("sqlite://") {
            Some(path) if !path.is_empty() => Ok(PathBuf::from(path)),
            Some(_) | None => bail!("the store `{url}` is not known\nhint: use sqlite://FILE"),
        },
    }
}
