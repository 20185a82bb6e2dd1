//! Whether the server lives and can work.

use hotseat_testkit::{ScriptedWorker, TestServer};

#[tokio::test]
async fn health_is_told_to_anyone() {
    let server = TestServer::sqlite().await;
    server.api.session().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "root").await;
    for path in ["/health", "/ready"] {
        let health = server.api.without_token().get(path).await.json(200);
        assert_eq!(health["status"], "healthy");
        assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!((&health["agents"], &health["sessions"]), (&1.into(), &1.into()));
        assert!(health["uptime_seconds"].as_f64().unwrap() < 60.0);
    }
}
