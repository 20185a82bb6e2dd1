//! What those try who should not get in or get on, over real sockets, and what they get.
//!
//! Only what no other module shows: who a caller is, is in `access`, `binding` and
//! `people`; sessions of others in `owner`; files that are named in `eval_sets` and
//! `export`; files that are sent in `files`; what a tool saved in `artifacts`.

mod addressing;
mod bodies;
mod fetching;
mod frames;
mod pages;
mod paths;
mod slow;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use hotseat_testkit::{TestServer, soon};

/// Sends bytes as they are, which no HTTP client would, and reads until the server closes.
async fn exchange(server: &TestServer, bytes: &[u8]) -> String {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    until_closed(socket).await
}

/// Everything that is said on a connection until the other side ends it.
async fn until_closed(mut socket: TcpStream) -> String {
    let mut answer = Vec::new();
    // A connection that is cut off is as closed as one that is ended.
    let _ = soon("the end of a connection", socket.read_to_end(&mut answer)).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// A request for `target`, to be answered and closed.
fn get(target: &str, headers: &str) -> Vec<u8> {
    format!("GET {target} HTTP/1.1\r\nconnection: close\r\n{headers}\r\n").into_bytes()
}
