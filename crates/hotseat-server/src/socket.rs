//! How connections behave below HTTP.
//!
//! Streams are read at the pace of their reader, so a slow one costs no memory; but
//! one that stopped reading, or whose machine is gone, would stay for ever. The
//! system closes such a connection. Its reader comes back with the place it had.

use std::time::Duration;

use socket2::{SockRef, TcpKeepalive};
use tokio::net::TcpStream;

/// How long a connection may be silent before the other side is asked whether it lives.
pub(crate) const ASK_AFTER: Duration = Duration::from_secs(30);

/// Sets up a connection that was accepted. What the system refuses is done without.
pub(crate) fn prepare(stream: &TcpStream, stalled_after: Duration) {
    // Turns are handed over in small messages that somebody waits for.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "could not set TCP_NODELAY");
    }
    let socket = SockRef::from(stream);
    let keepalive = TcpKeepalive::new().with_time(ASK_AFTER).with_interval(ASK_AFTER / 3);
    if let Err(error) = socket.set_tcp_keepalive(&keepalive) {
        tracing::debug!(%error, "could not set the keep-alive of a connection");
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if let Err(error) = socket.set_tcp_user_timeout(Some(stalled_after)) {
        tracing::debug!(%error, "could not set how long a connection may stall");
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let _ = stalled_after;
}
