//! Flags, environment and `hotseat.toml` as one set of decisions.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use hotseat_core::Seat;
use hotseat_server::{LedgerConfig, PeopleConfig, SeatConfig, ServeConfig};
use hotseat_store::{Address, Limits, OpenError};
use serde::Deserialize;

use crate::args::{self, Common, LogFormat, Protocol, Web};
use crate::oidc::Oidc;
use crate::opening::Opening;
use crate::people::People;
use crate::seats;

/// A port that nobody else in the field uses.
pub(crate) const WEB_PORT: u16 = 4687;

/// The port that agent servers are expected on.
const SERVE_PORT: u16 = 8000;

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
    otlp_endpoint: Option<String>,
    seat: Option<String>,
    /// Seats of agents, by their names.
    seats: BTreeMap<String, String>,
    serve: ServeFile,
    sessions: Ledger,
    people: People,
    oidc: Oidc,
    tls_cert: Option<PathBuf>,
    tls_key: Option<PathBuf>,
}

/// `[serve]`: the agent server.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ServeFile {
    protocol: Option<Protocol>,
    session_ttl_minutes: Option<f64>,
    max_active_sessions: Option<usize>,
    drain_seconds: Option<f64>,
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
    pub(crate) store: Address,
    pub(crate) auth: Auth,
    pub(crate) allowed_hosts: Vec<String>,
    pub(crate) cors_origins: Vec<String>,
    pub(crate) opening: Opening,
    pub(crate) python: Option<PathBuf>,
    pub(crate) log_format: LogFormat,
    pub(crate) log_level: Option<String>,
    pub(crate) otlp_endpoint: Option<String>,
    pub(crate) exit_with_parent: bool,
    pub(crate) ledger: LedgerConfig,
    pub(crate) seats: SeatConfig,
    pub(crate) serve: ServeConfig,
    pub(crate) people: PeopleConfig,
    /// The files of the certificate and of its key.
    pub(crate) tls: Option<(PathBuf, PathBuf)>,
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
    /// What `hotseat web` was told.
    pub(crate) fn of_web(web: Web) -> Result<Self> {
        let file = read_file(web.common.config.as_deref())?;
        let no_open = web.no_open || file.no_open;
        let mut settings = Self::decide(web.common, file, WEB_PORT, Seat::Human, Serve::NONE)?;
        settings.agents = or_else(web.agents, settings.agents);
        settings.opening = if no_open { Opening::No } else { Opening::IfSomebodyIsThere };
        Ok(settings)
    }

    /// What `hotseat serve` was told.
    pub(crate) fn of_serve(serve: args::Serve) -> Result<Self> {
        let file = read_file(serve.common.config.as_deref())?;
        let given = Serve {
            single: true,
            protocol: serve.protocol,
            session_ttl_minutes: serve.session_ttl_minutes,
            max_active_sessions: serve.max_active_sessions,
            drain_seconds: serve.drain_seconds,
        };
        let mut settings = Self::decide(serve.common, file, SERVE_PORT, Seat::Model, given)?;
        settings.agents = vec![serve.agent];
        settings.opening = if serve.open { Opening::Asked } else { Opening::No };
        settings.serve.access_log = true;
        settings.serve.log_content = serve.debug;
        Ok(settings)
    }

    fn decide(common: Common, file: File, port: u16, seat: Seat, given: Serve) -> Result<Self> {
        let data = common.data.or(file.data).unwrap_or_else(|| PathBuf::from(".hotseat"));
        let data = std::path::absolute(&data)
            .with_context(|| format!("the data folder {} has no path", data.display()))?;
        let host = common.host.or(file.host).unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST));
        let no_auth = common.no_auth || file.no_auth;
        if no_auth && !host.is_loopback() && !(common.insecure || file.insecure) {
            bail!(
                "--no-auth on {host} would let every machine that reaches it control your agents\n\
                 hint: leave out --no-auth, or add --insecure if that is what you want"
            );
        }
        Ok(Self {
            agents: file.agents,
            address: SocketAddr::new(host, common.port.or(file.port).unwrap_or(port)),
            store: store_address(common.store.or(file.store).as_deref(), &data)?,
            data,
            auth: auth(common.token.or(file.token), no_auth)?,
            allowed_hosts: or_else(common.allowed_hosts, file.allowed_hosts),
            cors_origins: or_else(common.cors_origins, file.cors_origins),
            opening: Opening::No,
            python: common.python.or(file.python),
            log_format: common.log_format.or(file.log_format).unwrap_or(LogFormat::Text),
            log_level: common.log_level.or(file.log_level),
            otlp_endpoint: common.otlp_endpoint.or(file.otlp_endpoint),
            exit_with_parent: common.exit_with_parent,
            ledger: file.sessions.decide()?,
            seats: seats::decide(common.seat.or(file.seat), &file.seats, seat)?,
            serve: given.decide(file.serve)?,
            tls: tls(common.tls_cert.or(file.tls_cert), common.tls_key.or(file.tls_key))?,
            people: PeopleConfig {
                oidc: common.oidc.decide(file.oidc)?,
                ..common.people.decide(file.people)?
            },
        })
    }
}

/// What the command line says of the agent server.
struct Serve {
    single: bool,
    protocol: Option<Protocol>,
    session_ttl_minutes: Option<f64>,
    max_active_sessions: Option<usize>,
    drain_seconds: Option<f64>,
}

impl Serve {
    const NONE: Self = Self {
        single: false,
        protocol: None,
        session_ttl_minutes: None,
        max_active_sessions: None,
        drain_seconds: None,
    };

    fn decide(self, file: ServeFile) -> Result<ServeConfig> {
        let defaults = ServeConfig::default();
        let protocol = self.protocol.or(file.protocol).unwrap_or(Protocol::Both);
        let ttl = self.session_ttl_minutes.or(file.session_ttl_minutes);
        let ttl = time("session_ttl_minutes", ttl, 60.0)?;
        let drain = self.drain_seconds.or(file.drain_seconds);
        Ok(ServeConfig {
            single: self.single,
            rest: protocol != Protocol::AgUi,
            agui: protocol != Protocol::Rest,
            session_ttl: ttl.unwrap_or(defaults.session_ttl),
            max_sessions: self
                .max_active_sessions
                .or(file.max_active_sessions)
                .unwrap_or(defaults.max_sessions),
            drain: time("drain_seconds", drain, 1.0)?.unwrap_or(defaults.drain),
            ..defaults
        })
    }
}

fn tls(cert: Option<PathBuf>, key: Option<PathBuf>) -> Result<Option<(PathBuf, PathBuf)>> {
    match (cert, key) {
        (Some(cert), Some(key)) => Ok(Some((cert, key))),
        (None, None) => Ok(None),
        _ => bail!("--tls-cert and --tls-key need each other\nhint: name both files"),
    }
}

fn auth(token: Option<String>, no_auth: bool) -> Result<Auth> {
    Ok(match token {
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
    })
}

pub(crate) fn or_else(given: Vec<String>, file: Vec<String>) -> Vec<String> {
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

/// The store that was named, or the one in the data folder.
pub(crate) fn store_address(store: Option<&str>, data: &Path) -> Result<Address> {
    let Some(url) = store else { return Ok(Address::Sqlite(data.join("hotseat.db"))) };
    url.parse().map_err(|error: OpenError| {
        anyhow!("{error}\nhint: use sqlite://FILE or postgres://USER@HOST/DATABASE")
    })
}
