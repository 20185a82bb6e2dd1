//! Whether the server lives and can work.

use std::time::{Duration, Instant};

use hotseat_store::Store;
use serde_json::json;

use hotseat_testkit::providers::{Reply, Script};
use hotseat_testkit::{Fall, LoneDatabase, ScriptedWorker, TestServer, soon};

use crate::files::File;
use crate::native::Desk;

#[tokio::test]
async fn health_is_told_to_anyone() {
    let server = TestServer::sqlite().await;
    server.api.session().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "root").await;
    for path in ["/health", "/ready", "/health/agent"] {
        let health = server.api.without_token().get(path).await.json(200);
        assert_eq!(health["status"], "healthy");
        assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!((&health["agents"], &health["sessions"]), (&1.into(), &1.into()));
        assert!(health["uptime_seconds"].as_f64().unwrap() < 60.0);
    }
}

#[tokio::test]
async fn the_agent_is_well_as_long_as_somebody_hosts_it() {
    let server = TestServer::told(|config| config.serve.single = true).await;
    let missing = server.api.get("/health/agent").await.json(503);
    assert_eq!((&missing["agent_ready"], &missing["agents"]), (&json!(false), &json!(0)));
    assert_eq!(missing["state"], "initializing");
    let worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let there = server.api.get("/health/agent").await.json(200);
    assert_eq!((&there["agent_ready"], &there["agent_name"]), (&json!(true), &json!("math")));
    drop(worker);
    server.api.until_connected("math", false).await;
    assert_eq!(server.api.get("/health/agent").await.json(503)["agent_ready"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_store_that_is_away_is_told_and_one_that_is_back_too() {
    let mut database = LoneDatabase::start();
    let store = Store::postgres(&database.url(), hotseat_store::Limits::default()).await.unwrap();
    let server = TestServer::over(store).await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    server.api.get("/ready").await.json(200);
    tokio::task::block_in_place(|| database.fall(Fall::Stopped));
    let asked = Instant::now();
    assert_eq!(server.api.get("/health").await.json(503)["status"], "unhealthy");
    let ready = server.api.get("/ready").await;
    ready.problem(503, "store_unavailable");
    assert_eq!(ready.header("retry-after"), "1");
    assert!(asked.elapsed() < Duration::from_secs(20), "nobody waits for the store to return");
    tokio::task::block_in_place(|| database.rise());
    soon("the store", async {
        while server.api.get("/ready").await.status != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
}

#[tokio::test]
async fn health_is_told_while_a_file_is_read() {
    let script = Script::always(Reply::text("I read it."));
    let seat =
        |config: &mut hotseat_server::Config| config.seats.default = hotseat_core::Seat::Model;
    let desk = Desk::told(script, "", seat).await;
    // Its pages are pictures, which take their time.
    let scan = File::fixture("only-scan.pdf", "application/pdf");
    let began = Instant::now();
    let body = json!({"message": "Read", "files": [scan.json(), scan.json(), scan.json()]});
    let chat = desk.chatting("/agent/desk/chat", body);
    let mut longest = Duration::ZERO;
    while !chat.is_finished() {
        let asked = Instant::now();
        desk.api().get("/health").await.json(200);
        longest = longest.max(asked.elapsed());
    }
    chat.await.unwrap().json(200);
    let took = began.elapsed();
    assert!(longest < took / 2, "once it took {longest:?} of {took:?}");
}
