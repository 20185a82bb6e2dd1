//! Those who speak HTTP/2 slowly: frames that no client would send, at a pace that none has.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{interval, timeout};

use hotseat_testkit::{TestServer, soon};

use super::until_closed;

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const CONTINUATION: u8 = 9;

/// On data and heads: nothing follows on this stream. On a ping: it is the answer.
const LAST: u8 = 1;
/// On a head: all of it is there.
const WHOLE: u8 = 4;

/// How often a drop falls.
const DROP: Duration = Duration::from_millis(100);

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![length[1], length[2], length[3], kind, flags, 0, 0, 0, stream];
    bytes.extend_from_slice(payload);
    bytes
}

/// A head as it is written when nothing is compressed.
fn head(server: &TestServer, path: &str) -> Vec<u8> {
    let authorization = format!("Bearer {}", TestServer::TOKEN);
    let mut bytes = Vec::new();
    for (name, value) in [
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", server.address()),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
        ("authorization", &authorization),
    ] {
        bytes.push(0);
        for text in [name, value] {
            bytes.push(u8::try_from(text.len()).unwrap());
            bytes.extend_from_slice(text.as_bytes());
        }
    }
    bytes
}

async fn connected(server: &TestServer) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    socket.write_all(PREFACE).await.unwrap();
    socket.write_all(&frame(SETTINGS, 0, 0, &[])).await.unwrap();
    socket
}

/// A head whose rest does not come, and one whose rest comes and comes.
#[tokio::test]
async fn a_head_that_does_not_end_is_given_up() {
    let server = TestServer::scratch().await;
    let begin = frame(HEADERS, 0, 1, &head(&server, "/hotseat.v1.Sessions/AppendEvents"));
    let mut stalls = connected(&server).await;
    stalls.write_all(&begin).await.unwrap();
    let mut cut = connected(&server).await;
    cut.write_all(&begin[..begin.len() / 2]).await.unwrap();
    let mut slow = connected(&server).await;
    slow.write_all(&begin).await.unwrap();
    let drip = async {
        let mut drops = interval(Duration::from_secs(1));
        let empty = frame(CONTINUATION, 0, 1, &[]);
        while slow.write_all(&empty).await.is_ok() {
            drops.tick().await;
        }
    };
    let all = async { tokio::join!(until_closed(stalls), until_closed(cut), drip) };
    soon("the end of slow connections", all).await;
    server.api.get("/health").await.json(200);
}

/// Reads frames, and answers pings as everybody does, until the server has ended stream 1.
async fn until_ended(socket: &mut TcpStream) {
    loop {
        let mut start = [0; 9];
        socket.read_exact(&mut start).await.unwrap();
        let [a, b, c, kind, flags, .., stream] = start;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        socket.read_exact(&mut payload).await.unwrap();
        if kind == PING && flags & LAST == 0 {
            socket.write_all(&frame(PING, LAST, 0, &payload)).await.unwrap();
        }
        if stream == 1 && kind == HEADERS && flags & LAST != 0 {
            return;
        }
    }
}

/// The first message of a call does not come, stops in the middle, or comes byte by byte, from
/// a caller who is alive all the while.
#[tokio::test]
async fn a_message_that_does_not_end_is_given_up() {
    let server = TestServer::scratch().await;
    let path = "/hotseat.v1.Sessions/AppendEvents";
    let begin = frame(HEADERS, WHOLE, 1, &head(&server, path));
    let prefix = frame(DATA, 0, 1, &[0, 0, 0, 3, 232]);
    for (sent, drips) in [(vec![], false), (prefix.clone(), false), (prefix, true)] {
        let mut socket = connected(&server).await;
        socket.write_all(&begin).await.unwrap();
        socket.write_all(&sent).await.unwrap();
        soon("the end of a call", async {
            while timeout(DROP, until_ended(&mut socket)).await.is_err() {
                if drips {
                    socket.write_all(&frame(DATA, 0, 1, &[10])).await.unwrap();
                }
            }
        })
        .await;
    }
}
