//! A server that is told to stop.

use std::time::{Duration, Instant};

use hotseat_testkit::proto::SubscribeRequest;
use hotseat_testkit::{ScriptedWorker, TestServer};

/// Shorter than what open requests are given to end: nobody here has one.
const AT_ONCE: Duration = Duration::from_secs(4);

/// Workers, programs and pages keep their streams open as long as they can.
#[tokio::test]
async fn those_who_are_connected_do_not_delay_the_end() {
    let server = TestServer::scratch().await;
    let worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let session = server.api.session().await;
    let mut page = server.api.stream("/api/v1/stream").await;
    page.next().await.unwrap();
    let mut log = server.api.stream(&format!("/api/v1/sessions/{session}/stream")).await;
    log.next().await.unwrap();
    let mut program = server.api.grpc().await;
    let wish = SubscribeRequest { session_id: session, ..Default::default() };
    let mut told = program.seat.subscribe(wish).await.unwrap().into_inner();
    told.message().await.unwrap();
    let thread = serde_json::json!({"threadId": "t", "runId": "r", "messages": []});
    let api = server.api.clone();
    api.post("/ag-ui/math", &thread).await;
    let began = Instant::now();
    server.stopped().await;
    assert!(began.elapsed() < AT_ONCE, "{:?}", began.elapsed());
    // They were there until then, and wanted to stay.
    drop((worker, page, log, told));
}
