//! The real program, in a process of its own.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver};

use tempfile::TempDir;

use crate::{Api, PATIENCE};

/// The program, ready to be started in a folder of its own: as `hotseat web`, as
/// `hotseat serve` ([`Launch::serving`]), or with another command in [`Launch::call`].
#[derive(Debug, Clone)]
pub struct Launch {
    binary: PathBuf,
    folder: Arc<TempDir>,
    /// What comes before the port: the command and what only it takes.
    command: Vec<OsString>,
    arguments: Vec<OsString>,
    variables: Vec<(String, String)>,
}

/// How a process ended and what it wrote.
#[derive(Debug)]
pub struct Ended {
    /// Its exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

/// A running server. It is killed when this is dropped.
#[derive(Debug)]
pub struct HotseatProcess {
    /// A caller with the token of the printed link.
    pub api: Api,
    /// The line that was printed.
    pub link: String,
    launch: Launch,
    running: Running,
}

#[derive(Debug)]
struct Running {
    child: Child,
    first_line: Receiver<String>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
}

impl Launch {
    /// The program at `binary`, on any free port, without a browser.
    pub fn new(binary: &str) -> Self {
        let folder = tempfile::Builder::new().prefix("hotseat-test-").tempdir();
        let folder = Arc::new(folder.expect("a temporary folder"));
        let command = vec!["web".into(), "--no-open".into()];
        let (arguments, variables) = (Vec::new(), Vec::new());
        Self { binary: binary.into(), folder, command, arguments, variables }
    }

    /// Starts it as `hotseat serve AGENT` instead.
    #[must_use]
    pub fn serving(mut self, agent: impl Into<OsString>) -> Self {
        self.command = vec!["serve".into(), agent.into()];
        self
    }

    /// Writes a file into the folder.
    #[must_use]
    pub fn with_file(self, name: &str, text: &str) -> Self {
        std::fs::write(self.folder().join(name), text).expect("the folder can be written to");
        self
    }

    /// Sets a variable of the environment, which is otherwise empty.
    #[must_use]
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds an argument.
    #[must_use]
    pub fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.arguments.push(argument.into());
        self
    }

    /// The folder the program is started in; its data folder is `.hotseat` there.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Runs the program to its end.
    pub fn run(&self) -> Ended {
        self.spawn(0).ended()
    }

    /// Runs another command of the program to its end, in the same folder.
    pub fn call(&self, arguments: &[&str]) -> Ended {
        let mut command = self.command();
        command.args(arguments);
        Running::of(&mut command).ended()
    }

    /// The same, with a stdout that nobody reads.
    pub fn call_unread(&self, arguments: &[&str]) -> Ended {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let output = self.command().args(arguments).stdout(writer).output();
        let output = output.expect("the program starts");
        let stderr = String::from_utf8(output.stderr).expect("output is text");
        Ended { code: output.status.code(), stdout: String::new(), stderr }
    }

    /// Starts the program and waits for its link.
    pub fn start(&self) -> HotseatProcess {
        self.start_on(0)
    }

    fn start_on(&self, port: u16) -> HotseatProcess {
        let running = self.spawn(port);
        let link = running.first_line.recv_timeout(PATIENCE).expect("a first line of output");
        assert!(!link.is_empty(), "the program ended: {:?}", running.ended());
        let (url, token) = match link.split_once("/?token=") {
            Some((url, token)) => (url, Some(token.to_owned())),
            None => (link.as_str(), None),
        };
        HotseatProcess { api: Api::new(url, token), link, launch: self.clone(), running }
    }

    fn spawn(&self, port: u16) -> Running {
        let mut command = self.command();
        command.args(&self.command);
        if !self.arguments.iter().any(|argument| argument == "--port") {
            command.arg("--port").arg(port.to_string());
        }
        Running::of(command.args(&self.arguments))
    }

    /// Nothing of the user's own settings or servers may leak in, or out.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.folder.path())
            .envs(self.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }
}

impl HotseatProcess {
    /// The folder the program was started in.
    pub fn folder(&self) -> &Path {
        self.launch.folder()
    }

    /// The id of the process.
    pub fn id(&self) -> u32 {
        self.running.child.id()
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        let port = self.api.url.rsplit(':').next().expect("a port");
        port.parse().expect("a port is a number")
    }

    /// Kills the process as `kill -9` does.
    pub fn kill(&mut self) {
        self.running.child.kill().expect("it can be killed");
        self.running.child.wait().expect("it can be waited for");
    }

    /// Sends a signal by its name, as in `TERM`, and waits for the end.
    pub fn signal(self, name: &str) -> Ended {
        self.send_signal(name);
        self.ended()
    }

    /// Waits for the end.
    pub fn ended(self) -> Ended {
        self.running.ended()
    }

    /// Sends a signal by its name, and does not wait for what it does.
    pub fn send_signal(&self, name: &str) {
        // The shell has `kill` built in, wherever there is a shell.
        let script = format!("kill -{name} {}", self.running.child.id());
        let sent = Command::new("sh").arg("-c").arg(script).status().expect("a shell");
        assert!(sent.success());
    }

    /// Ends the program with a signal, waits for that, and starts it again where it was.
    #[must_use]
    pub fn renew(self, signal: &str) -> Self {
        let (launch, port) = (self.launch.clone(), self.port());
        let ended = self.signal(signal);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        launch.start_on(port)
    }

    /// Starts the program again where it was: same folder, same port. Kills it
    /// first if it still runs.
    #[must_use]
    pub fn restart(self) -> Self {
        let (launch, port) = (self.launch.clone(), self.port());
        drop(self);
        launch.start_on(port)
    }
}

impl Running {
    fn of(command: &mut Command) -> Self {
        let mut child = command.spawn().expect("the program starts");
        let (first_line, stdout) = collect(child.stdout.take().expect("stdout is piped"));
        let (_, stderr) = collect(child.stderr.take().expect("stderr is piped"));
        Self { child, first_line, stdout, stderr }
    }

    /// Waits for the end, which is when nothing more can be written.
    fn ended(mut self) -> Ended {
        let stdout = self.stdout.recv_timeout(PATIENCE).expect("the program ends");
        let stderr = self.stderr.recv_timeout(PATIENCE).expect("the program ends");
        let status = self.child.wait().expect("it can be waited for");
        Ended { code: status.code(), stdout, stderr }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads a stream of output to its end: the first line as soon as it is there
/// (empty if there is none), and all of it.
fn collect(output: impl Read + Send + 'static) -> (Receiver<String>, Receiver<String>) {
    let (first, first_line) = mpsc::channel();
    let (all, whole) = mpsc::channel();
    std::thread::spawn(move || {
        let mut output = BufReader::new(output);
        let mut text = String::new();
        output.read_line(&mut text).expect("output is text");
        // Nobody listening is fine.
        let _ = first.send(text.trim_end().to_owned());
        output.read_to_string(&mut text).expect("output is text");
        let _ = all.send(text);
    });
    (first_line, whole)
}
