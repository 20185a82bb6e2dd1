//! A PostgreSQL that nobody else uses, so that a test may stop it.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use super::{ACCOUNT, OWNER, free_port, program, programs, root, run, server, set_up, until_ready};

/// How a server goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fall {
    /// It is told to stop, and ends connections and transactions first.
    Stopped,
    /// Every process of it is gone at once, and it recovers from its log when it starts again.
    Crashed,
}

/// Who may come to a server that speaks TLS: anybody, but only with it.
const TLS_ONLY: &str = "hostssl all all 127.0.0.1/32 trust\n";

/// What a server is told that speaks TLS. The files are in the folder of its data.
const TLS_SETTINGS: [&str; 3] = ["ssl=on", "ssl_cert_file=cert.pem", "ssl_key_file=key.pem"];

/// A server with one database, which ends with this value.
#[derive(Debug)]
pub struct LoneDatabase {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    settings: &'static [&'static str],
    child: Child,
}

impl LoneDatabase {
    /// Starts one.
    pub fn start() -> Self {
        Self::start_over(&[], |_| {})
    }

    /// Starts one that takes nobody without TLS, with this certificate and its key.
    pub fn start_with_tls(certificate: &str, key: &str) -> Self {
        Self::start_over(&TLS_SETTINGS, |data| {
            let write = |name: &str, text: &str| {
                let file = data.join(name);
                std::fs::write(&file, text).expect("a file of the database");
                // A key that others could read is refused.
                let mode = std::fs::Permissions::from_mode(0o600);
                std::fs::set_permissions(&file, mode).expect("a file of the database");
                if root() {
                    run(Command::new("chown").arg(ACCOUNT).arg(file));
                }
            };
            write("cert.pem", certificate);
            write("key.pem", key);
            write("pg_hba.conf", TLS_ONLY);
        })
    }

    fn start_over(settings: &'static [&'static str], prepare: impl FnOnce(&Path)) -> Self {
        let programs = programs();
        let name = format!("hotseat-postgres-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder for the database server");
        let data = folder.join("data");
        set_up(&programs, &data);
        prepare(&data);
        let port = free_port();
        let child = server(&programs, &folder, port, settings).spawn().expect("a database server");
        until_ready(&programs, &folder, port);
        Self { programs, folder, port, settings, child }
    }

    /// The address of its database.
    pub fn url(&self) -> String {
        format!("postgres://{OWNER}@127.0.0.1:{}/postgres", self.port)
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        SocketAddr::from((Ipv4Addr::LOCALHOST, self.port))
    }

    /// Brings it down, and returns when it is.
    pub fn fall(&mut self, how: Fall) {
        let mode = match how {
            Fall::Stopped => "fast",
            Fall::Crashed => "immediate",
        };
        let mut stop = program(&self.programs, "pg_ctl");
        stop.arg("stop").args(["--silent", "--wait", "--mode", mode, "-D"]);
        run(stop.arg(self.folder.join("data")).current_dir("/"));
        self.child.wait().expect("it can be waited for");
    }

    /// Starts it again where it was, and returns when it takes connections.
    pub fn rise(&mut self) {
        let mut again: Command = server(&self.programs, &self.folder, self.port, self.settings);
        self.child = again.spawn().expect("a database server");
        until_ready(&self.programs, &self.folder, self.port);
    }
}

impl Drop for LoneDatabase {
    fn drop(&mut self) {
        // It may have fallen already, and nothing in it is wanted any more.
        let mut stop = program(&self.programs, "pg_ctl");
        stop.arg("stop").args(["--silent", "--wait", "--mode", "immediate", "-D"]);
        let _ = stop.arg(self.folder.join("data")).current_dir("/").output();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}
