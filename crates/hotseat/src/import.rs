//! `hotseat sessions import`: sessions from ADK's databases and files.
//!
//! The sources are ADK's own formats, some of them Python's, so Python reads them; it
//! sends what it finds to a running server. This starts it and passes on how it ended.

use std::path::PathBuf;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::worker::find_python;

#[derive(Debug, clap::Args)]
pub(crate) struct Import {
    /// ADK's SQLite file, a database URL, session files, or a folder that holds them.
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    /// Only this app, and the app of sessions that name none.
    #[arg(long)]
    app: Option<String>,
    /// Only this user, and the user of sessions that name none.
    #[arg(long)]
    user: Option<String>,
    /// The server [default: the one that runs on this machine].
    #[arg(long, env = "HOTSEAT_URL")]
    url: Option<String>,
    /// Its token [default: that of the server on this machine].
    #[arg(long, env = "HOTSEAT_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// What was done, as JSON.
    #[arg(long)]
    json: bool,
    /// Python that has the `hotseat` package [default: that of the active or local virtual environment].
    #[arg(long, env = "HOTSEAT_PYTHON", value_name = "PROGRAM")]
    python: Option<PathBuf>,
}

impl Import {
    pub(crate) fn run(self) -> Result<ExitCode> {
        let python = find_python(self.python);
        let mut command = Command::new(&python);
        command.args(["-m", "hotseat.importing"]);
        for (flag, value) in [("--app", &self.app), ("--user", &self.user), ("--url", &self.url)] {
            if let Some(value) = value {
                command.args([flag, value]);
            }
        }
        // Not on the command line, where other users of the machine could read it.
        if let Some(token) = &self.token {
            command.env("HOTSEAT_TOKEN", token);
        }
        if self.json {
            command.arg("--json");
        }
        let status = command.arg("--").args(&self.sources).status().with_context(|| {
            format!("could not start {}; choose a Python with --python", python.display())
        })?;
        let code = status.code().and_then(|code| u8::try_from(code).ok());
        Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
    }
}
