//! Those who keep a connection open without getting on.
//!
//! A server of the tests waits two seconds for the other side, and `soon` ends a test
//! whose connection is not closed.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use hotseat_testkit::{ScriptedWorker, TestServer, soon};

use super::{exchange, until_closed};

fn head(server: &TestServer, path: &str, kind: &str) -> String {
    format!(
        "POST {path} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: {kind}\r\ncontent-length: 1000\r\n\r\n",
        server.address(),
        TestServer::TOKEN,
    )
}

/// Every way of reading a body: as JSON, as JSON that may be left out, as text, as a form.
#[tokio::test]
async fn a_body_that_stalls_is_given_up_and_its_caller_told() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let session = server.api.session().await;
    let (json, form) = ("application/json", "multipart/form-data; boundary=b");
    let part = "--b\r\ncontent-disposition: form-data; name=\"message\"\r\n\r\nhalf";
    for (path, kind, begin) in [
        ("/api/v1/sessions".to_owned(), json, "{\"agent\": "),
        (format!("/api/v1/sessions/{session}/events"), json, "{\"events\": ["),
        (format!("/api/v1/sessions/{session}/export"), json, "{"),
        ("/ag-ui/math".to_owned(), json, "{\"threadId\": "),
        ("/agent/math/chat".to_owned(), form, part),
    ] {
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        let sent = head(&server, &path, kind) + begin;
        socket.write_all(sent.as_bytes()).await.unwrap();
        let answer = until_closed(socket).await;
        assert!(answer.starts_with("HTTP/1.1 408 "), "{path}: {answer}");
        assert!(answer.contains("\"stalled\""), "{path}: {answer}");
    }
    let sessions = server.api.get("/api/v1/sessions").await.json(200);
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "nothing came of it");
}

/// It never stops for long, and never gets on.
#[tokio::test]
async fn a_body_that_drips_is_given_up_and_its_caller_told() {
    let server = TestServer::scratch().await;
    let socket = TcpStream::connect(server.address()).await.unwrap();
    let (from, mut to) = socket.into_split();
    let begin = head(&server, "/api/v1/sessions", "application/json") + "\"";
    let drip = tokio::spawn(async move {
        to.write_all(begin.as_bytes()).await.unwrap();
        let mut drops = tokio::time::interval(Duration::from_millis(100));
        // As long as somebody listens.
        while to.write_all(b" ").await.is_ok() {
            drops.tick().await;
        }
    });
    let mut answer = String::new();
    let mut from = BufReader::new(from);
    soon("an answer", from.read_line(&mut answer)).await.unwrap();
    drip.abort();
    assert_eq!(answer, "HTTP/1.1 408 Request Timeout\r\n");
}

/// Nothing at all, the beginning of every protocol, a head without an end, and another
/// one behind a request that was answered.
#[tokio::test]
async fn a_head_that_does_not_end_is_given_up() {
    let server = TestServer::scratch().await;
    let whole = format!("GET /ready HTTP/1.1\r\nhost: {}\r\n\r\n", server.address());
    let second = format!("{whole}GET /ready HTTP/1.1\r\nx-a: ");
    for (sent, answered) in [
        ("", false),
        ("P", false),
        ("PRI * HTTP/2.0\r\n\r\n", false),
        ("GET / HT", false),
        ("GET /ready HTTP/1.1\r\nhost: localhost\r\nx-a: ", false),
        (second.as_str(), true),
    ] {
        let mut socket = TcpStream::connect(server.address()).await.unwrap();
        socket.write_all(sent.as_bytes()).await.unwrap();
        let answer = until_closed(socket).await;
        assert_eq!(answer.matches("HTTP/1.1 200 ").count(), usize::from(answered), "{sent:?}");
    }
}

/// One that goes on and on is refused by its size, however much time there is.
#[tokio::test]
async fn a_head_that_is_too_large_is_refused() {
    let server = TestServer::told(|config| config.stalled_after = Duration::from_hours(1)).await;
    let begin = format!("GET /health HTTP/1.1\r\nhost: {}\r\n", server.address());
    let many = format!("{begin}{}\r\n", "x-a: a\r\n".repeat(200));
    let answer = exchange(&server, many.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let endless = format!("{begin}x-a: {}", "a".repeat(1024 * 1024));
    // The server hangs up before it has all of it, and its words may be lost with that.
    let _ = socket.write_all(endless.as_bytes()).await;
    let answer = until_closed(socket).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 431 "), "{answer}");
    server.api.get("/health").await.json(200);
}
