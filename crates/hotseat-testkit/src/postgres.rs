//! A PostgreSQL for tests, from the programs of this machine.
//!
//! All tests that run at a time share one server, whichever process they are in, because
//! starting one takes a second; every test has a database of its own in it. The first to come
//! starts the server and a small script (`keep.sh`) that ends it when nobody holds the lock of
//! its users any more. The kernel gives the lock back for those who are killed, so nothing is
//! left behind. It listens on loopback only, and does not sync: the disk is not what is tested.
//! A test that stops its server has one to itself ([`LoneDatabase`]).

mod alone;

use std::fs::{self, File};
use std::io::Read;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use uuid::Uuid;

pub use self::alone::{Fall, LoneDatabase};

/// Who owns everything in the server.
const OWNER: &str = "hotseat";

/// Whom the server runs as where it may not run as root.
const ACCOUNT: &str = "postgres";

/// How long the server may take to start.
const START: Duration = Duration::from_mins(1);

/// How it runs.
const SETTINGS: [&str; 9] = [
    "listen_addresses=127.0.0.1",
    "fsync=off",
    "full_page_writes=off",
    "max_connections=500",
    "shared_buffers=64MB",
    "max_wal_size=256MB",
    "logging_collector=off",
    "log_min_messages=fatal",
    "log_line_prefix=database %d ",
];

/// A database that ends with this value.
#[derive(Debug)]
pub struct TestDatabase {
    name: String,
    server: &'static Server,
}

impl TestDatabase {
    /// A new one, in the server that tests share.
    pub fn create() -> Self {
        let server = Server::shared();
        let name = format!("test_{}", Uuid::new_v4().simple());
        server.psql("postgres", &format!("CREATE DATABASE {name}"));
        Self { name, server }
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/{}", self.server.port, self.name)
    }

    /// Where the server listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.server.port))
    }

    /// Its address by way of somebody who listens on another port.
    pub fn url_through(&self, port: u16) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{port}/{}?sslmode=disable", self.name)
    }

    /// Runs SQL, and gives what it answers: a line for each row, values between bars.
    pub fn query(&self, sql: &str) -> String {
        self.server.psql(&self.name, sql)
    }

    /// From now on notes how every query of a new connection is carried out.
    pub fn watch_plans(&self) {
        for setting in [
            "session_preload_libraries = auto_explain",
            "auto_explain.log_min_duration = 0",
            "log_min_messages = log",
        ] {
            self.server.psql("postgres", &format!("ALTER DATABASE {} SET {setting}", self.name));
        }
    }

    /// How every query was carried out since, each with its text.
    pub fn plans(&self) -> Vec<String> {
        let log = fs::read_to_string(self.server.folder.join("log")).expect("the server's log");
        let mine = format!("{} ", self.name);
        let entries = log.split("database ").filter_map(|entry| entry.strip_prefix(&mine));
        entries.filter(|entry| entry.contains("Query Text:")).map(str::to_owned).collect()
    }

    /// Ends all connections to it, as a server that restarts does.
    pub fn disconnect_all(&self) {
        self.server.psql(
            "postgres",
            &format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{}'",
                self.name
            ),
        );
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let drop = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // The server goes soon, and every database with it; this only saves space until then.
        let _ = self.server.client("postgres", &drop).output();
    }
}

/// The server that tests share.
#[derive(Debug)]
struct Server {
    port: u16,
    folder: PathBuf,
    programs: PathBuf,
    /// Its lock is what keeps the server.
    _user: File,
}

impl Server {
    fn shared() -> &'static Self {
        static SERVER: OnceLock<Server> = OnceLock::new();
        SERVER.get_or_init(Self::join)
    }

    fn join() -> Self {
        let programs = programs();
        let account = fs::metadata("/proc/self").expect("a process").uid();
        let folder = std::env::temp_dir().join(format!("hotseat-postgres-{account}"));
        fs::create_dir_all(&folder).expect("a folder for the database server");
        let open = |name: &str| File::create(folder.join(name)).expect("a lock file");
        let door = open("door");
        door.lock().expect("the lock of the door");
        let user = open("users");
        user.lock_shared().expect("the lock of the users");
        let port = running(&folder).unwrap_or_else(|| start(&programs, &folder));
        Self { port, folder, programs, _user: user }
    }

    fn client(&self, database: &str, sql: &str) -> Command {
        let mut client = Command::new(self.programs.join("psql"));
        client.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--host=127.0.0.1"]);
        client.arg(format!("--port={}", self.port)).arg(format!("--username={OWNER}"));
        client.arg(format!("--dbname={database}")).arg(format!("--command={sql}"));
        client.stdin(Stdio::null());
        client
    }

    fn psql(&self, database: &str, sql: &str) -> String {
        let answer = self.client(database, sql).output().expect("psql");
        let complaint = String::from_utf8_lossy(&answer.stderr);
        assert!(answer.status.success(), "{sql}: {complaint}");
        String::from_utf8(answer.stdout).expect("text").trim_end().to_owned()
    }
}

/// Where PostgreSQL's programs are. Debian keeps those of a server off the path.
fn programs() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<_> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    let complete = |folder: &PathBuf| {
        ["initdb", "postgres", "psql"].iter().all(|program| folder.join(program).exists())
    };
    folders.into_iter().find(complete).expect("PostgreSQL 15 or newer: apt-get install postgresql")
}

/// The port of the server, if it runs.
fn running(folder: &Path) -> Option<u16> {
    let port = fs::read_to_string(folder.join("port")).ok()?.trim().parse().ok()?;
    answers(port).then_some(port)
}

/// Whether somebody on the port answers as PostgreSQL does who is ready.
fn answers(port: u16) -> bool {
    // A request for TLS, to which a server says yes or no with a single letter.
    const TLS_PLEASE: [u8; 8] = [0, 0, 0, 8, 4, 210, 22, 47];
    let ask = || -> std::io::Result<bool> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut stream = TcpStream::connect_timeout(&address, Duration::from_secs(1))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        std::io::Write::write_all(&mut stream, &TLS_PLEASE)?;
        let mut answer = [0];
        stream.read_exact(&mut answer)?;
        Ok(matches!(&answer, b"S" | b"N"))
    };
    ask().unwrap_or(false)
}

/// Starts a server, and the script that ends it.
#[expect(clippy::zombie_processes, reason = "both outlive this process")]
fn start(programs: &Path, folder: &Path) -> u16 {
    let data = folder.join("data");
    let _ = fs::remove_dir_all(&data);
    set_up(programs, &data);
    let port = free_port();
    let mut server = server(programs, folder, port, &[]);
    let server = server.process_group(0).spawn().expect("a database server");
    let mut keeper = Command::new("sh");
    keeper.arg("-c").arg(include_str!("postgres/keep.sh")).arg("keep.sh").arg(folder);
    keeper.arg(server.id().to_string()).process_group(0);
    keeper.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    keeper.spawn().expect("a shell");
    until_ready(programs, folder, port);
    fs::write(folder.join("port"), port.to_string()).expect("a note of the port");
    port
}

/// A folder for a server's data.
fn set_up(programs: &Path, data: &Path) {
    fs::create_dir(data).expect("a folder for the databases");
    if root() {
        run(Command::new("chown").arg(ACCOUNT).arg(data));
    }
    let mut init = program(programs, "initdb");
    init.args(["--auth=trust", "--no-sync", "--locale=C.UTF-8", "--encoding=UTF8"]);
    init.arg(format!("--username={OWNER}")).arg("-D").arg(data).current_dir("/");
    run(&mut init);
}

/// A server over the data that was set up, ready to be started.
fn server(programs: &Path, folder: &Path, port: u16, more: &[&str]) -> Command {
    let log = File::options().create(true).append(true).open(folder.join("log"));
    let log = log.expect("a log file");
    let data = folder.join("data");
    let mut server = program(programs, "postgres");
    server.arg("-D").arg(&data).arg("-p").arg(port.to_string()).arg("-k").arg(&data);
    for setting in SETTINGS.iter().chain(more) {
        server.args(["-c", setting]);
    }
    let (out, err) = (log.try_clone().expect("a log file"), log);
    server.stdin(Stdio::null()).stdout(out).stderr(err).current_dir("/");
    server
}

fn root() -> bool {
    fs::metadata("/proc/self").expect("a process").uid() == 0
}

/// A program of PostgreSQL, which refuses to run as root.
fn program(programs: &Path, name: &str) -> Command {
    let program = programs.join(name);
    if !root() {
        return Command::new(program);
    }
    let mut other = Command::new("setpriv");
    other.args([&format!("--reuid={ACCOUNT}"), &format!("--regid={ACCOUNT}"), "--clear-groups"]);
    other.arg(program);
    other
}

fn free_port() -> u16 {
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|free| free.local_addr());
    free.expect("a free port").port()
}

fn until_ready(programs: &Path, folder: &Path, port: u16) {
    let began = Instant::now();
    while !ready(programs, port) {
        let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(began.elapsed() < START, "the database server did not start: {}", log());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Whether the server takes connections. It answers on its port before it does.
fn ready(programs: &Path, port: u16) -> bool {
    let mut asked = Command::new(programs.join("pg_isready"));
    asked.args(["--quiet", "--host=127.0.0.1"]).arg(format!("--port={port}"));
    asked.status().is_ok_and(|status| status.success())
}

fn run(command: &mut Command) {
    let output = command.output().expect("a program of PostgreSQL");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {complaint}");
}
