//! What can be said on the command line.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use hotseat_store::Address;

use crate::evalset::Evalset;
use crate::init::Init;
use crate::oidc::Oidc;
use crate::people::People;
use crate::sessions::Sessions;
use crate::settings::store_address;
use crate::store::StoreCommand;
use crate::token::Token;
use crate::users::Users;

/// Puts a person in the model's seat of an AI agent.
#[derive(Debug, Parser)]
#[command(name = "hotseat", version, about, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the server and the page, and host agents.
    Web(Web),
    /// Offer one agent over AG-UI and REST, with a person, a model or a recording in its seat.
    Serve(Serve),
    /// Work with sessions: list, show, export, import, rebuild, delete.
    Sessions(Sessions),
    /// Work with a store as a whole: copy.
    Store(StoreCommand),
    /// Work with EvalSet files: add, list, show, diff, validate.
    Evalset(Evalset),
    /// Make `adk web` and `adk api_server` keep their sessions in Hotseat.
    Init(Init),
    /// Make a token that shows one user's sessions and no others.
    Token(Token),
    /// Manage those who work with this server: their names, roles and tokens.
    Users(Users),
    /// Check Python, ADK, the port and the store, and say how to mend what is wrong.
    Doctor(Web),
}

/// Where the sessions are.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct StoreArgs {
    /// Folder of the store [default: .hotseat].
    #[arg(long, env = "HOTSEAT_DATA", value_name = "FOLDER", global = true)]
    data: Option<PathBuf>,

    /// The store itself, as sqlite://FILE or postgres://USER@HOST/DATABASE
    /// [default: sqlite://<data>/hotseat.db].
    #[arg(long, env = "HOTSEAT_STORE", hide_env_values = true, value_name = "URL", global = true)]
    store: Option<String>,
}

impl StoreArgs {
    /// The store, which has to be there: a mistyped folder must not become an empty one.
    pub(crate) fn address(&self) -> anyhow::Result<Address> {
        let data = self.data.clone().unwrap_or_else(|| PathBuf::from(".hotseat"));
        let address = store_address(self.store.as_deref(), &data)?;
        if let Address::Sqlite(file) = &address {
            anyhow::ensure!(
                file.exists(),
                "there is no store at {}\nhint: name its folder with --data",
                file.display()
            );
        }
        Ok(address)
    }
}

/// Flags win over `HOTSEAT_…` in the environment, which wins over `hotseat.toml`.
#[derive(Debug, clap::Args)]
pub(crate) struct Web {
    /// ADK agent folders, their parent folder, `module:attribute`, `file.py:attribute`, or
    /// agent.yaml files.
    #[arg(value_name = "AGENTS")]
    pub(crate) agents: Vec<String>,

    #[command(flatten)]
    pub(crate) common: Common,

    /// Do not open a browser.
    #[arg(long, env = "HOTSEAT_NO_OPEN")]
    pub(crate) no_open: bool,
}

/// The agent server.
#[derive(Debug, clap::Args)]
pub(crate) struct Serve {
    /// An ADK agent folder, `module:attribute`, `file.py:attribute`, or an agent.yaml file.
    #[arg(value_name = "AGENT", default_value = "agent.yaml")]
    pub(crate) agent: String,

    #[command(flatten)]
    pub(crate) common: Common,

    /// What to offer.
    #[arg(long, env = "HOTSEAT_PROTOCOL", value_name = "PROTOCOL")]
    pub(crate) protocol: Option<Protocol>,

    /// Open the page in a browser.
    #[arg(long, env = "HOTSEAT_OPEN")]
    pub(crate) open: bool,

    /// Log what is said, too.
    #[arg(long, env = "HOTSEAT_DEBUG")]
    pub(crate) debug: bool,

    /// Minutes after which a silent REST session is over [default: 30].
    #[arg(long, env = "HOTSEAT_SESSION_TTL_MINUTES", value_name = "MINUTES")]
    pub(crate) session_ttl_minutes: Option<f64>,

    /// REST sessions that may be active at a time [default: 1000].
    #[arg(long, env = "HOTSEAT_MAX_ACTIVE_SESSIONS", value_name = "NUMBER")]
    pub(crate) max_active_sessions: Option<usize>,

    /// Seconds that answers may still take when the server stops [default: 5].
    #[arg(long, env = "HOTSEAT_DRAIN_SECONDS", value_name = "SECONDS")]
    pub(crate) drain_seconds: Option<f64>,
}

/// What the agent server offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Protocol {
    /// AG-UI 1.0.
    AgUi,
    /// The REST protocol.
    Rest,
    /// Both, on one port.
    Both,
}

/// What every server can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Common {
    /// Address to listen on [default: 127.0.0.1].
    #[arg(long, env = "HOTSEAT_HOST")]
    pub(crate) host: Option<IpAddr>,

    /// Port to listen on, 0 for a free one [default: 4687 for `web`, 8000 for `serve`].
    #[arg(long, env = "HOTSEAT_PORT")]
    pub(crate) port: Option<u16>,

    /// Folder for the store and the token [default: .hotseat].
    #[arg(long, env = "HOTSEAT_DATA", value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,

    /// Where sessions are kept, as sqlite://FILE or postgres://USER@HOST/DATABASE
    /// [default: sqlite://<data>/hotseat.db].
    #[arg(long, env = "HOTSEAT_STORE", hide_env_values = true, value_name = "URL")]
    pub(crate) store: Option<String>,

    /// The token that callers need [default: made once and kept in the data folder].
    #[arg(long, env = "HOTSEAT_TOKEN", hide_env_values = true)]
    pub(crate) token: Option<String>,

    /// Let anyone in who reaches the port.
    #[arg(long, env = "HOTSEAT_NO_AUTH")]
    pub(crate) no_auth: bool,

    /// Allow --no-auth on an address that other machines reach.
    #[arg(long)]
    pub(crate) insecure: bool,

    /// Further host names by which the server may be addressed.
    #[arg(long, env = "HOTSEAT_ALLOWED_HOSTS", value_delimiter = ',', value_name = "NAMES")]
    pub(crate) allowed_hosts: Vec<String>,

    /// Origins of other pages that may call the API, `*` for all.
    #[arg(long, env = "HOTSEAT_CORS_ORIGINS", value_delimiter = ',', value_name = "ORIGINS")]
    pub(crate) cors_origins: Vec<String>,

    /// Certificate with which connections are encrypted, and those above it, in PEM.
    #[arg(long, env = "HOTSEAT_TLS_CERT", value_name = "FILE")]
    pub(crate) tls_cert: Option<PathBuf>,

    /// Key of the certificate, in PEM.
    #[arg(long, env = "HOTSEAT_TLS_KEY", value_name = "FILE")]
    pub(crate) tls_key: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) people: People,

    #[command(flatten)]
    pub(crate) oidc: Oidc,

    /// Who answers for the model: `human`, `model` or `replay:FILE`, where FILE is an EvalSet or an
    /// exported session [default: human for `web`, model for `serve`].
    #[arg(long, env = "HOTSEAT_SEAT", value_name = "SEAT")]
    pub(crate) seat: Option<String>,

    /// Python that runs the agents [default: that of the active or local virtual environment].
    #[arg(long, env = "HOTSEAT_PYTHON", value_name = "PROGRAM")]
    pub(crate) python: Option<PathBuf>,

    /// How to write the log to stderr.
    #[arg(long, env = "HOTSEAT_LOG_FORMAT", value_name = "FORMAT")]
    pub(crate) log_format: Option<LogFormat>,

    /// What to log, as in `debug` or `hotseat_server=debug` [default: info].
    #[arg(long, env = "HOTSEAT_LOG_LEVEL", value_name = "FILTER")]
    pub(crate) log_level: Option<String>,

    /// Collector that traces are sent to, by OTLP over gRPC, as in `http://127.0.0.1:4317`
    /// [default: OTEL_EXPORTER_OTLP_ENDPOINT, else none].
    #[arg(long, env = "HOTSEAT_OTLP_ENDPOINT", value_name = "URL")]
    pub(crate) otlp_endpoint: Option<String>,

    /// End when standard input closes, as for a program that started this one.
    #[arg(long, hide = true)]
    pub(crate) exit_with_parent: bool,

    /// Configuration file [default: hotseat.toml, where there is one].
    #[arg(long, env = "HOTSEAT_CONFIG", value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// For machines, one object a line.
    Json,
}

/// ADK's own flags are written with underscores; both spellings mean the same.
pub(crate) fn with_dashes(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut only_values = false;
    args.map(|arg| {
        let Some(text) = arg.to_str() else { return arg };
        only_values |= text == "--";
        let Some(flag) = text.strip_prefix("--").filter(|_| !only_values) else { return arg };
        match flag.split_once('=') {
            Some((name, value)) => format!("--{}={value}", name.replace('_', "-")).into(),
            None => format!("--{}", flag.replace('_', "-")).into(),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn underscores_in_flags_are_dashes() {
        let given = ["hotseat", "web", "--no_open", "--log_format=json", "a_b", "--", "--c_d"];
        let read = with_dashes(given.iter().map(OsString::from));
        assert_eq!(
            read,
            ["hotseat", "web", "--no-open", "--log-format=json", "a_b", "--", "--c_d"]
        );
    }

    #[test]
    fn the_command_line_is_consistent() {
        use clap::CommandFactory;
        Args::command().debug_assert();
    }
}
