//! Readers that come in while writers write.

use futures_util::future::join_all;
use hotseat_testkit::{Api, ScriptedWorker, TestServer, sample, seeded};
use reqwest::Method;
use serde_json::json;

/// A worker that attaches finds the run in the log at the moment it is being handed out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_handed_out_once_however_workers_come_and_go() {
    let server = TestServer::sqlite().await;
    let _old = ScriptedWorker::attach(&server.api, "old", "math").await;
    for round in 0..30 {
        let session = server.api.session_with(&json!({"agent": "math"})).await;
        let other = server.api.session_with(&json!({"agent": "math"})).await;
        let query = |session: &str| format!("/api/v1/sessions/{session}/query");
        let path = query(&session);
        let hello = json!({"text": "hello"});
        let id = format!("new-{round}");
        let (mut new, accepted) = tokio::join!(
            ScriptedWorker::attach(&server.api, &id, "math"),
            server.api.post(&path, &hello),
        );
        accepted.json(202);
        server.api.post(&query(&other), &hello).await.json(202);
        let first = new.run().await.session_id;
        if first == session {
            assert_eq!(new.run().await.session_id, other, "round {round}: handed out twice");
        } else {
            assert_eq!(first, other, "round {round}");
        }
        for id in [&session, &other] {
            server.api.delete(&format!("/api/v1/sessions/{id}")).await;
        }
    }
}

const WRITERS: u64 = 4;
const APPENDS: u64 = 40;
/// Appends of one event and of two take turns.
const TOTAL: u64 = WRITERS * APPENDS / 2 * 3;
const READERS: usize = 24;

async fn write(api: Api, session: String, writer: u64) {
    let mut grpc = api.grpc().await;
    for n in 0..APPENDS {
        let event = |part| sample::agent_event(&format!("{writer}-{n}-{part}"), "root", "…");
        if n % 2 == 0 {
            grpc.append(&session, &[event(0), event(1)]).await.unwrap();
        } else {
            let path = format!("/api/v1/sessions/{session}/events");
            api.post(&path, &event(0)).await.json(201);
        }
    }
}

/// Reads from `after` to the end, and gives the places it saw, with 0 for the marker.
async fn read_sse(api: Api, session: String, after: u64, view: &str) -> Vec<u64> {
    let path = format!("/api/v1/sessions/{session}/stream{view}");
    let request = api.request(Method::GET, &path).header("last-event-id", after.to_string());
    let mut stream = api.stream_with(request).await;
    let mut seen = Vec::new();
    while seen.iter().max().is_none_or(|last| *last < TOTAL) || !seen.contains(&0) {
        let message = stream.next().await.expect("the stream goes on");
        seen.push(if message.event == "event" { message.seq() } else { 0 });
    }
    seen
}

async fn read_grpc(api: Api, session: String, after: u64) -> Vec<u64> {
    let mut stream = api.grpc().await.subscribe(&session, after).await;
    let mut seen = Vec::new();
    while seen.iter().max().is_none_or(|last| *last < TOTAL) || !seen.contains(&0) {
        let next = hotseat_testkit::soon("the next event", stream.message()).await;
        // The marker has no place of its own.
        seen.push(next.unwrap().expect("the stream goes on").seq);
    }
    seen
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_reader_sees_every_event_once_and_in_order() {
    let mut random = seeded();
    let server = TestServer::sqlite().await;
    let session = server.api.session().await;
    let readers: Vec<_> = (0..READERS)
        .map(|reader| {
            let (joins, api, session) = (random.u64(0..TOTAL), server.api.clone(), session.clone());
            let after = random.u64(0..=joins);
            let mut grown = server.store.watch(session.parse().unwrap());
            tokio::spawn(async move {
                grown.wait_for(|seq| seq.get() >= joins).await.unwrap();
                let seen = match reader % 3 {
                    0 => read_sse(api, session, after, "").await,
                    1 => read_sse(api, session, after, "?view=history").await,
                    _ => read_grpc(api, session, after).await,
                };
                (joins, after, seen)
            })
        })
        .collect();
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| tokio::spawn(write(server.api.clone(), session.clone(), writer)))
        .collect();
    for writer in join_all(writers).await {
        writer.unwrap();
    }
    for reader in join_all(readers).await {
        let (joined, after, mut seen) = reader.unwrap();
        let marker = seen.iter().position(|seq| *seq == 0).unwrap();
        seen.remove(marker);
        assert!(!seen.contains(&0), "one marker");
        let expected: Vec<u64> = (after + 1..=TOTAL).collect();
        assert_eq!(seen, expected, "joined at {joined}, after {after}");
        let before = after + marker as u64;
        assert!(before >= joined, "the marker came before the history that was there");
    }
}
