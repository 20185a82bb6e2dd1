//! A PostgreSQL that nobody else uses, so that a test may stop it.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Child, Command};

use super::{OWNER, free_port, program, programs, run, server, set_up, until_ready};

/// How a server goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fall {
    /// It is told to stop, and ends connections and transactions first.
    Stopped,
    /// Every process of it is gone at once, and it recovers from its log when it starts again.
    Crashed,
}

/// A server with one database, which ends with this value.
#[derive(Debug)]
pub struct LoneDatabase {
    programs: PathBuf,
    folder: PathBuf,
    port: u16,
    child: Child,
}

impl LoneDatabase {
    /// Starts one.
    pub fn start() -> Self {
        let programs = programs();
        let name = format!("hotseat-postgres-{}", uuid::Uuid::new_v4().simple());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir(&folder).expect("a folder for the database server");
        set_up(&programs, &folder.join("data"));
        let port = free_port();
        let child = server(&programs, &folder, port).spawn().expect("a database server");
        until_ready(&programs, &folder, port);
        Self { programs, folder, port, child }
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
        let mut again: Command = server(&self.programs, &self.folder, self.port);
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
