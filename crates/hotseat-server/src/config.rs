//! What a server is told when it starts.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Everything that can be set from outside. Names and defaults are those of the
/// command line.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the server listens.
    pub address: SocketAddr,
    /// Who may come in.
    pub access: Access,
    /// Further host names by which the server may be addressed.
    pub allowed_hosts: Vec<String>,
    /// Origins of pages that may call the API besides the server's own.
    pub cors_origins: Vec<String>,
    /// The data folder, for what is kept beside the store.
    pub data: PathBuf,
    /// The folder below which golden traces may be written when a caller names
    /// the file: the one Hotseat was started in.
    pub eval_set_root: PathBuf,
}

/// Who may come in.
#[derive(Debug, Clone)]
pub enum Access {
    /// Whoever knows the token.
    Token(String),
    /// Anyone who reaches the port.
    Open,
}

/// The largest body of an HTTP request or a gRPC message. One event may be 10 MiB,
/// and a batch or a base64 wrapping is larger than its event.
pub(crate) const MAX_BODY_BYTES: usize = 32 * 1024 * 1024;

/// The largest payload of one event.
pub(crate) const MAX_EVENT_BYTES: usize = 10 * 1024 * 1024;

/// The most events in one call that appends.
pub(crate) const MAX_EVENTS_PER_APPEND: usize = 1000;

impl Config {
    /// The address a person would open.
    pub fn url(&self) -> String {
        let port = self.address.port();
        match self.address {
            // A server that listens everywhere is reached by this name from its own machine.
            SocketAddr::V4(address) if address.ip().is_unspecified() => {
                format!("http://127.0.0.1:{port}")
            }
            SocketAddr::V6(address) if address.ip().is_unspecified() => {
                format!("http://[::1]:{port}")
            }
            SocketAddr::V4(_) | SocketAddr::V6(_) => format!("http://{}", self.address),
        }
    }
}
