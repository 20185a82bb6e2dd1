//! The Python process that hosts the agents, started and kept running.
//!
//! The worker attaches to the server like any other; this only starts it, shows
//! what it writes, and starts it again when it ends. It cannot outlive the
//! server: it ends when its standard input closes, which the system does for us
//! even if we are killed.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hotseat_server::{App, LoadProblem};
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use tokio::process::{Child, Command};
use tokio::time::Instant;

/// Lines of output kept to explain why a worker ended.
const LINES_KEPT: usize = 40;

/// Pause before a worker is started again; doubles up to the longest.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A worker that ran this long was all right: the pause starts over.
const ALL_RIGHT: Duration = Duration::from_secs(30);

/// What to start.
#[derive(Debug, Clone)]
pub(crate) struct WorkerProcess {
    pub(crate) python: PathBuf,
    pub(crate) agents: Vec<String>,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    /// Where tools' artifacts are kept.
    pub(crate) artifacts: PathBuf,
}

/// Keeps the worker running until the app closes.
pub(crate) async fn supervise(app: App, process: WorkerProcess) {
    let mut pause = SHORTEST_PAUSE;
    loop {
        let started = Instant::now();
        tokio::select! {
            problem = run_once(&process) => app.report_worker_problem(Some(problem)),
            () = app.closed() => return,
        }
        if started.elapsed() >= ALL_RIGHT {
            pause = SHORTEST_PAUSE;
        }
        tracing::info!(seconds = pause.as_secs(), "the worker is started again after a pause");
        tokio::select! {
            () = tokio::time::sleep(pause) => pause = (pause * 2).min(LONGEST_PAUSE),
            () = app.closed() => return,
        }
    }
}

/// Runs the worker to its end, and says what it was.
async fn run_once(process: &WorkerProcess) -> LoadProblem {
    let source = format!("worker ({})", process.python.display());
    let mut child = match spawn(process) {
        Ok(child) => child,
        Err(error) => {
            let message = format!("could not start {}: {error}", process.python.display());
            tracing::error!("{message}; choose a Python with --python");
            return LoadProblem { source, message, traceback: None };
        }
    };
    let lines = Arc::new(Mutex::new(VecDeque::new()));
    let output = show(child.stdout.take(), Arc::clone(&lines));
    let errors = show(child.stderr.take(), Arc::clone(&lines));
    tokio::join!(output, errors);
    let message = match child.wait().await {
        Ok(status) => format!("the worker ended ({status})"),
        Err(error) => format!("the worker ended: {error}"),
    };
    tracing::error!("{message}");
    let lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    let traceback = (!lines.is_empty())
        .then(|| lines.iter().map(String::as_str).collect::<Vec<_>>().join("\n"));
    LoadProblem { source, message, traceback }
}

fn spawn(process: &WorkerProcess) -> std::io::Result<Child> {
    let mut command = Command::new(&process.python);
    command
        .args(["-m", "hotseat.worker", "--exit-with-parent"])
        .args(["--url", &process.url])
        .arg("--artifacts")
        .arg(&process.artifacts)
        .arg("--")
        .args(&process.agents)
        .env("PYTHONUNBUFFERED", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(token) = &process.token {
        command.env("HOTSEAT_TOKEN", token);
    }
    command.spawn()
}

/// Shows what the worker writes, and keeps the end of it.
#[expect(clippy::print_stderr, reason = "what the user's agents print belongs on the terminal")]
async fn show(stream: Option<impl AsyncRead + Unpin>, kept: Arc<Mutex<VecDeque<String>>>) {
    let Some(stream) = stream else { return };
    let mut lines = BufReader::new(stream).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        eprintln!("worker | {line}");
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() == LINES_KEPT {
            kept.pop_front();
        }
        kept.push_back(line);
    }
}

/// The Python of the user's agents: what they named, else the environment that is
/// active, else the one in this folder, else whatever `python3` is.
pub(crate) fn find_python(named: Option<PathBuf>) -> PathBuf {
    let in_environment = |folder: &Path| folder.join("bin/python");
    let active = std::env::var_os("VIRTUAL_ENV").map(|folder| in_environment(Path::new(&folder)));
    let here = Some(in_environment(Path::new(".venv"))).filter(|python| python.exists());
    let here = here.and_then(|python| std::path::absolute(python).ok());
    named.or(active).or(here).unwrap_or_else(|| PathBuf::from("python3"))
}
