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
use std::time::Duration;

use process_wrap::tokio::{CommandWrap, KillOnDrop};
use rmcp::transport::TokioChildProcess;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{ChildStderr, Command};
use tokio::task::JoinHandle;

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

/// How long the last words of a child that ended are waited for.
const LAST_WORDS_TIMEOUT: Duration = Duration::from_millis(500);

/// The last lines of a child's standard error.
type Lines = Arc<Mutex<VecDeque<String>>>;

/// What a child writes to its standard error, while it is read.
pub(super) struct LastWords {
    lines: Lines,
    reading: Option<JoinHandle<()>>,
}

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
    let lines = Lines::default();
    let read = |stderr| tokio::spawn(listen(Arc::clone(&lines), name.to_owned(), stderr));
    let reading = stderr.map(read);
    Ok((process, LastWords { lines, reading }))
}

impl LastWords {
    /// What it said last, if anything. Its end is waited for a moment, because
    /// a process that fails writes and ends at the same time.
    pub(super) async fn text(self) -> String {
        if let Some(reading) = self.reading {
            let _ = tokio::time::timeout(LAST_WORDS_TIMEOUT, reading).await;
        }
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().map(String::as_str).collect::<Vec<_>>().join(" | ")
    }
}

/// Reads until the process ends.
async fn listen(lines: Lines, server: String, stderr: ChildStderr) {
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
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == MAX_LINES {
            lines.pop_front();
        }
        lines.push_back(text);
    }
}
