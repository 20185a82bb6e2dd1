//! Those at the other end who fall silent without a word: their machine is gone, or the network
//! between swallows everything.

use serde_json::json;

use hotseat_testkit::{Api, Proxy, ScriptedWorker, TestServer, sample, soon};

/// The same server by way of a proxy.
async fn far(server: &TestServer) -> (Proxy, Api) {
    let proxy = Proxy::to(server.address().parse().unwrap()).await;
    let url = format!("http://127.0.0.1:{}", proxy.port);
    (proxy, Api::new(url, Some(TestServer::TOKEN.to_owned())))
}

/// A worker takes a run and asks for an answer; then nothing of it arrives any more.
#[tokio::test]
async fn the_run_of_a_worker_that_fell_silent_is_given_to_the_next() {
    let server = TestServer::sqlite().await;
    let (proxy, line) = far(&server).await;
    let mut silent = ScriptedWorker::attach(&line, "silent", "math").await;
    let session = server.api.session_with(&json!({"agent": "math"})).await;
    server.api.query(&session, "2 + 3?").await.json(202);
    let run = silent.run().await;
    silent.begin(&run).await.unwrap();
    let turn = silent.grpc.ask(&session).await;
    proxy.swallow();
    server.api.until_connected("math", false).await;

    // What it asked waits as before, and the next one goes on with it.
    let mut next = ScriptedWorker::attach(&server.api, "next", "math").await;
    let resumed = next.run().await;
    assert_eq!((&resumed.run_id, resumed.resume), (&run.run_id, true));
    assert_eq!(server.api.pending(&session).await[0]["turn_id"], turn.as_str());
    server.api.decide(&session, &turn, &sample::says("5")).await.json(200);
    next.end(&resumed, "finished").await;
    let mut log = server.api.stream(&format!("/api/v1/sessions/{session}/stream")).await;
    loop {
        let event = log.next_of("event").await.data();
        if event["event"]["status"] == "finished" {
            break;
        }
    }
    drop(silent);
}

/// A program that follows a session falls silent, and is let go of.
#[tokio::test]
async fn a_subscriber_that_fell_silent_is_not_kept() {
    let server = TestServer::sqlite().await;
    let (proxy, line) = far(&server).await;
    let session = server.api.session().await;
    let mut stream = line.grpc().await.subscribe(&session, 0).await;
    stream.message().await.unwrap();
    let followed = async |line: &str| {
        let figures = server.api.get("/metrics").await.body;
        figures.lines().any(|known| known == line)
    };
    assert!(followed("hotseat_streams 1").await);
    proxy.swallow();
    soon("the end of the stream", async { while !followed("hotseat_streams 0").await {} }).await;
    drop(stream);
}
