//! Server-sent events.

use std::time::Duration;

use hotseat_server::LedgerConfig;
use hotseat_store::Limits;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use hotseat_testkit::{Message, ScriptedWorker, TestServer, sample, soon};

fn path(session: &str) -> String {
    format!("/api/v1/sessions/{session}/stream")
}

fn seqs(messages: &[Message]) -> Vec<u64> {
    messages.iter().map(Message::seq).collect()
}

#[tokio::test]
async fn history_comes_first_then_a_marker_then_what_happens() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    grpc.append(&id, &[sample::user_event("1", "hi"), sample::agent_event("2", "root", "x")])
        .await
        .unwrap();

    let mut stream = server.api.stream(&path(&id)).await;
    let first = stream.next().await.unwrap();
    assert_eq!((first.event.as_str(), first.id.as_deref()), ("event", Some("1")));
    assert_eq!(first.data(), server.api.events(&id).await[0]);
    assert_eq!(stream.next().await.unwrap().seq(), 2);
    let marker = stream.next().await.unwrap();
    assert_eq!((marker.event.as_str(), marker.id), ("history_complete", None));
    assert_eq!(marker.text, r#"{"last_seq":2}"#);

    for (n, seq) in (3..).zip([3_u64, 4]) {
        grpc.append(&id, &[sample::agent_event(&n.to_string(), "root", "y")]).await.unwrap();
        let live = stream.next().await.unwrap();
        assert_eq!((live.event.as_str(), live.seq()), ("event", seq));
    }
}

#[tokio::test]
async fn an_empty_log_has_a_marker_too() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut stream = server.api.stream(&path(&id)).await;
    assert_eq!(stream.next().await.unwrap().text, r#"{"last_seq":0}"#);
}

#[tokio::test]
async fn a_stream_is_resumed_where_it_broke() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let events: Vec<_> =
        (1..=9).map(|n| sample::agent_event(&n.to_string(), "root", "x")).collect();
    grpc.append(&id, &events).await.unwrap();

    let resumed =
        |last: &str| server.api.request(Method::GET, &path(&id)).header("last-event-id", last);
    let mut stream = server.api.stream_with(resumed("6")).await;
    assert_eq!(seqs(&stream.until("history_complete").await), [7, 8, 9]);
    let mut stream = server.api.stream(&format!("{}?after_seq=8", path(&id))).await;
    assert_eq!(seqs(&stream.until("history_complete").await), [9]);
    // A browser repeats the address it began with, and adds how far it got.
    let request = server.api.request(Method::GET, &format!("{}?after_seq=2", path(&id)));
    let mut stream = server.api.stream_with(request.header("last-event-id", "7")).await;
    assert_eq!(seqs(&stream.until("history_complete").await), [8, 9]);
    let mut stream = server.api.stream_with(resumed("9")).await;
    assert!(stream.until("history_complete").await.is_empty());
    let answer = server.api.send(resumed("seven")).await;
    answer.problem(400, "bad_request");
}

#[tokio::test]
async fn a_log_longer_than_a_page_comes_whole() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let events: Vec<_> =
        (1..=700).map(|n| sample::agent_event(&n.to_string(), "root", "x")).collect();
    grpc.append(&id, &events).await.unwrap();
    let mut stream = server.api.stream(&path(&id)).await;
    let expected: Vec<u64> = (1..=700).collect();
    assert_eq!(seqs(&stream.until("history_complete").await), expected);
}

#[tokio::test]
async fn the_view_for_pages_has_entries_instead_of_raw_objects() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    grpc.append(&id, &[sample::user_event("1", "2 + 3?")]).await.unwrap();
    let turn = grpc.ask(&id).await;
    server.api.decide(&id, &turn, &sample::says("5")).await.json(200);
    grpc.append(&id, &[sample::agent_event("4", "root", "5")]).await.unwrap();

    let view = format!("{}?view=history", path(&id));
    let mut stream = server.api.stream(&view).await;
    let messages = stream.until("history_complete").await;
    assert_eq!(seqs(&messages), [1, 2, 3, 4]);
    let data: Vec<_> = messages.iter().map(Message::data).collect();
    for heavy in [0, 1, 3] {
        assert_eq!(data[heavy]["event"], json!(null));
    }
    assert_eq!(data[2]["event"]["candidates"][0]["parts"][0]["text"], "5");
    assert_eq!(data[0]["entries"][0]["type"], "user_query");
    assert_eq!((&data[1]["entries"], &data[2]["entries"]), (&json!([]), &json!([])));
    let last = &data[3]["entries"][0];
    assert_eq!((&last["type"], &last["content"]), (&json!("final_response"), &json!("5")));
    assert_eq!((&last["turn_id"], &last["answered_by"]), (&json!(turn), &json!("human")));

    // Entries do not depend on where a reader comes in.
    let request = server.api.request(Method::GET, &view).header("last-event-id", "3");
    let mut resumed = server.api.stream_with(request).await;
    let messages = resumed.until("history_complete").await;
    assert_eq!((seqs(&messages), messages[0].data()), (vec![4], data[3].clone()));
}

#[tokio::test]
async fn deletion_ends_the_streams_of_a_session() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let mut sse = server.api.stream(&path(&id)).await;
    let mut rpc = grpc.subscribe(&id, 0).await;
    sse.next_of("history_complete").await;
    assert!(rpc.message().await.unwrap().is_some());
    server.api.delete(&format!("/api/v1/sessions/{id}")).await;
    assert_eq!(sse.next().await, None);
    assert!(hotseat_testkit::soon("the end", rpc.message()).await.unwrap().is_none());
}

#[tokio::test]
async fn one_stream_tells_of_all_sessions_and_agents() {
    let server = TestServer::sqlite().await;
    let mut stream = server.api.stream("/api/v1/stream").await;
    assert_eq!(stream.next().await.unwrap().event, "ready");

    let id = server.api.session().await;
    let new = stream.next().await.unwrap();
    assert_eq!((new.event.as_str(), new.data()), ("session", server.api.show(&id).await));
    let mut grpc = server.api.grpc().await;
    grpc.ask(&id).await;
    let grown = stream.next_of("session").await.data();
    assert_eq!((&grown["id"], &grown["pending_turns"]), (&json!(id), &json!(1)));

    let worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    assert_eq!(stream.next_of("agents").await.text, "{}");
    drop(worker);
    stream.next_of("agents").await;

    server.api.delete(&format!("/api/v1/sessions/{id}")).await;
    assert_eq!(stream.next_of("session_deleted").await.data(), json!({"id": id}));
}

#[tokio::test]
async fn a_server_that_stops_ends_its_streams() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut one = server.api.stream(&path(&id)).await;
    let mut all = server.api.stream("/api/v1/stream").await;
    one.next_of("history_complete").await;
    all.next_of("ready").await;
    drop(server);
    assert_eq!((one.next().await, all.next().await), (None, None));
}

/// A server that keeps the last three events of a session.
async fn forgetful() -> TestServer {
    let limits = Limits { max_events_per_session: Some(3), ..Limits::default() };
    TestServer::with(LedgerConfig { limits, ..LedgerConfig::default() }).await
}

#[tokio::test]
async fn what_was_removed_is_told_as_a_gap() {
    let server = forgetful().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let events: Vec<_> =
        (1..=5).map(|n| sample::agent_event(&n.to_string(), "root", "x")).collect();
    grpc.append(&id, &events).await.unwrap();

    let mut stream = server.api.stream(&path(&id)).await;
    let gap = stream.next().await.unwrap();
    assert_eq!((gap.event.as_str(), gap.id.as_deref()), ("gap", Some("2")));
    assert_eq!(gap.data(), json!({"after": 0, "through": 2}));
    assert_eq!(seqs(&stream.until("history_complete").await), [3, 4, 5]);

    let mut behind = server.api.stream(&format!("{}?after_seq=1", path(&id))).await;
    assert_eq!(behind.next().await.unwrap().data(), json!({"after": 1, "through": 2}));
    for seen in [2, 4] {
        let mut stream = server.api.stream(&format!("{}?after_seq={seen}", path(&id))).await;
        let rest: Vec<u64> = (seen + 1..=5).collect();
        assert_eq!(seqs(&stream.until("history_complete").await), rest, "nothing is missing here");
    }
    let address = format!("{}?view=history&after_seq=3", path(&id));
    let mut history = server.api.stream(&address).await;
    assert_eq!(seqs(&history.until("history_complete").await), [4, 5]);
}

#[tokio::test]
async fn a_log_that_was_cleared_is_one_gap() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    grpc.append(&id, &[sample::user_event("1", "hi")]).await.unwrap();
    server.api.delete(&format!("/api/v1/sessions/{id}/events")).await.json(200);
    let mut stream = server.api.stream(&path(&id)).await;
    assert_eq!(stream.next().await.unwrap().data(), json!({"after": 0, "through": 1}));
    assert_eq!(stream.next().await.unwrap().text, r#"{"last_seq":1}"#);
    grpc.append(&id, &[sample::user_event("2", "hi again")]).await.unwrap();
    assert_eq!(stream.next().await.unwrap().seq(), 2);
}

async fn streams(server: &TestServer) -> String {
    let answer = server.api.get("/metrics").await;
    let line = answer.body.lines().find(|line| line.starts_with("hotseat_streams ")).unwrap();
    line.to_owned()
}

/// More than a socket's buffers hold, for a reader that takes none of it.
#[tokio::test]
async fn a_reader_that_stops_reading_is_cut_and_can_resume() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let large = "x".repeat(1_000_000);
    for n in 1..=24 {
        grpc.append(&id, &[sample::agent_event(&n.to_string(), "root", &large)]).await.unwrap();
    }
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let request = format!(
        "GET {} HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\r\n",
        path(&id),
        server.address(),
        TestServer::TOKEN
    );
    socket.write_all(request.as_bytes()).await.unwrap();
    let mut head = [0; 12];
    socket.read_exact(&mut head).await.unwrap();
    assert_eq!(&head, b"HTTP/1.1 200");

    soon("the end of the stream", async {
        while streams(&server).await != "hotseat_streams 0" {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    })
    .await;
    let mut resumed = server.api.stream(&format!("{}?after_seq=23", path(&id))).await;
    assert_eq!(resumed.next().await.unwrap().seq(), 24);
}
