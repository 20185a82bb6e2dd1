//! What callers send stands in the log as what it is: one line for one thing that
//! happened, without anybody's token.

use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use hotseat_testkit::proto::ListSessionsRequest;
use hotseat_testkit::providers::{Provider, Reply, Script};
use hotseat_testkit::{Api, HotseatProcess, soon};

use super::{desk, started};

/// A line that nobody but the server may write, and a colour that nobody may set.
const FORGED: &str =
    "x\r\nFORGED 2026-01-01T00:00:00Z  INFO hotseat: all is well\n\u{1b}[31mFORGED";

async fn everything_logged() -> (HotseatProcess, Provider) {
    let provider = Provider::start(Script::always(Reply::text(FORGED))).await;
    let launch = desk(&provider).argument("--debug").argument("--log-level=debug");
    (started(&launch).await, provider)
}

/// What is written there for the person at the terminal, who needs the token, is no log.
fn log(stderr: &str) -> String {
    let (_, rest) = stderr.split_once("curl ").expect("a hint how to begin");
    rest.split_once('\n').expect("a line").1.to_owned()
}

#[tokio::test]
async fn nothing_that_is_said_writes_a_line_of_its_own() {
    let (hotseat, _provider) = everything_logged().await;
    let api = &hotseat.api;
    api.post("/agent/desk/chat", &json!({"message": FORGED})).await.json(200);
    api.post("/agent/FORGED%0aFORGED/chat", &json!({"message": "x"})).await;
    let session = json!({"description": FORGED, "agent": "desk", "user_id": "a\nFORGED"});
    api.post("/api/v1/sessions", &session).await;
    api.get("/api/v1/sessions/x%0d%0aFORGED%1b[31mFORGED").await;
    api.get("/api/v1/sessions?q=%0aFORGED").await;
    for header in ["x-request-id", "user-agent", "traceparent"] {
        let request = api.request(Method::GET, "/api/v1/sessions");
        let answer = api.send(request.header(header, "a\tFORGED b")).await;
        assert!(!answer.header("x-request-id").contains("FORGED"));
        // A line break in a header is the end of it, so what follows is refused or dropped.
        let mut socket = TcpStream::connect(format!("127.0.0.1:{}", hotseat.port())).await.unwrap();
        let raw = format!(
            "GET /health HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{header}: a\nFORGED b\r\n\r\n"
        );
        socket.write_all(raw.as_bytes()).await.unwrap();
        let mut answer = String::new();
        soon("an answer", socket.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 400 ") && !answer.contains("FORGED"), "{answer}");
    }
    let stderr = hotseat.signal("TERM").stderr;
    let log = log(&stderr);
    assert!(log.contains("FORGED"), "what was said is in this log: {log}");
    for line in log.lines() {
        assert!(
            !line.trim_start().starts_with("FORGED"),
            "{line:?} is a line of its own in\n{log}"
        );
        assert!(!line.contains("\u{1b}[31m"), "{line:?}");
        // As long as it is one line of ours, it begins with a time.
        let dated = line.get(..4).is_some_and(|year| year.parse::<u16>().is_ok());
        assert!(dated || !line.contains("FORGED"), "{line:?}");
    }
}

#[tokio::test]
async fn no_token_is_in_the_log_however_it_was_shown() {
    let (hotseat, _provider) = everything_logged().await;
    let api = hotseat.api.clone();
    let owner = api.token.clone().expect("a token");
    api.post("/api/v1/users", &json!({"name": "ada", "role": "admin"})).await.json(201);
    let made = api.post("/api/v1/users/ada/tokens", &json!({"label": "x"})).await.json(201);
    let member = made["token"].as_str().unwrap().to_owned();
    let session = api.session().await;
    let bound = api.post(&format!("/api/v1/sessions/{session}/binding"), &json!({})).await;
    let bound = bound.json(200);
    let mut tokens = vec![owner, member];
    for field in ["binding_token", "csrf_token"] {
        tokens.push(bound[field].as_str().unwrap().to_owned());
    }
    // Also one that is wrong in its last letter, which is as good as the whole.
    tokens.extend(tokens.clone().iter().map(|token| format!("{}~", &token[..token.len() - 1])));
    for token in &tokens {
        let stranger = api.without_token();
        stranger.get(&format!("/?token={token}")).await;
        stranger.get(&format!("/api/v1/sessions?token={token}")).await;
        let cookie = format!("hotseat_{}={token}", hotseat.port());
        let request = stranger.request(Method::POST, "/api/v1/sessions").header("cookie", cookie);
        stranger.send(request.header("x-csrf-token", token).json(&json!({}))).await;
        let shown = Api::new(api.url.clone(), Some(token.clone()));
        shown.get(&format!("/api/v1/sessions/{session}")).await;
        let grpc = shown.grpc().await.seat.list_sessions(ListSessionsRequest::default()).await;
        if let Err(refused) = grpc {
            assert!(!refused.message().contains(token.as_str()), "{refused}");
        }
        let answer = shown.get("/api/v1/sessions?status=nonsense").await;
        assert!(!answer.body.contains(token.as_str()), "{}", answer.body);
    }
    let stderr = hotseat.signal("TERM").stderr;
    let log = log(&stderr);
    assert!(log.contains("answered"), "there is a log: {log}");
    for token in &tokens {
        let most = &token[..token.len() - 1];
        let line = log.lines().find(|line| line.contains(most));
        assert_eq!(line, None, "a token is in the log");
    }
}
