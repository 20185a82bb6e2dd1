//! An MCP server as a child process.
//!
//! The process gets the few variables that programs need to start and those
//! that the file gives it. Keys and tokens of this process are not its
//! business. What it writes to its standard error goes to the log, and its last
//! lines into the message if it fails to start.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};

use process_wrap::tokio::{CommandWrap, KillOnDrop};
use rmcp::transport::TokioChildProcess;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{ChildStderr, Command};

use crate::spec::Secret;

/// Lines of its standard error that are remembered.
const MAX_LINES: usize = 8;
/// Longest line of its standard error, in bytes.
const MAX_LINE_BYTES: u64 = 4_096;

/// Variables of this process that the child gets.
const PASSED_ON: [&str; 27] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LC_ALL",
    "TZ",
    "TMPDIR",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PATHEXT",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
];

/// The last lines of a child's standard error.
#[derive(Clone, Default)]
pub(super) struct LastWords(Arc<Mutex<VecDeque<String>>>);

/// Starts the process.
pub(super) fn start(
    name: &str,
    command: &str,
    args: &[String],
    env: &BTreeMap<String, Secret>,
    cwd: &Path,
) -> Result<(TokioChildProcess, LastWords), String> {
    let mut program = Command::new(command);
    program.args(args).env_clear();
    program.envs(PASSED_ON.iter().filter_map(|name| Some((name, std::env::var_os(name)?))));
    program.envs(env.iter().map(|(name, value)| (name, value.reveal())));
    if !cwd.as_os_str().is_empty() {
        program.current_dir(cwd);
    }
    let mut program = CommandWrap::from(program);
    program.wrap(KillOnDrop);
    // Starters such as npx have children of their own, which end with them.
    #[cfg(unix)]
    program.wrap(process_wrap::tokio::ProcessGroup::leader());
    let (process, stderr) = TokioChildProcess::builder(program)
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
    let words = LastWords::default();
    if let Some(stderr) = stderr {
        tokio::spawn(words.clone().listen(name.to_owned(), stderr));
    }
    Ok((process, words))
}

impl LastWords {
    /// What it said last, if anything.
    pub(super) fn text(&self) -> String {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }

    /// Reads until the process ends.
    async fn listen(self, server: String, stderr: ChildStderr) {
        let mut reader = BufReader::new(stderr);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line).await {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if text.is_empty() {
                continue;
            }
            tracing::debug!(mcp.server = server, "the MCP server wrote: {text}");
            let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if lines.len() == MAX_LINES {
                lines.pop_front();
            }
            lines.push_back(text);
        }
    }
}
