//! Figures, and what limits did.

use std::collections::HashMap;

use serde_json::{Value, json};

use hotseat_server::LedgerConfig;
use hotseat_store::Limits;
use hotseat_testkit::{Message, ScriptedWorker, TestServer, sample};

async fn stats(server: &TestServer) -> Value {
    server.api.get("/api/v1/stats").await.json(200)
}

fn limited(limits: Limits) -> LedgerConfig {
    LedgerConfig { limits, ..LedgerConfig::default() }
}

async fn ingest(server: &TestServer, session: &str, events: &Value) {
    server.api.post(&format!("/api/v1/sessions/{session}/events"), events).await.json(201);
}

fn numbered(numbers: std::ops::RangeInclusive<u32>) -> Value {
    numbers.map(|n| sample::agent_event(&n.to_string(), "root", "x")).collect()
}

#[tokio::test]
async fn an_empty_store_has_figures_too() {
    let server = TestServer::scratch().await;
    let stats = stats(&server).await;
    for zero in [
        "total_sessions",
        "active_sessions",
        "completed_sessions",
        "total_messages",
        "total_events",
        "total_entries",
        "total_bytes",
        "flagged_sessions",
        "sessions_with_warnings",
        "total_failed_attempts",
        "total_enumeration_attempts",
    ] {
        assert_eq!(stats[zero], 0, "{zero}");
    }
    for zero in ["estimated_events_memory_kb", "avg_messages_per_session", "avg_events_per_session"]
    {
        assert_eq!(stats[zero], 0.0, "{zero}");
    }
    assert_eq!(stats["max_sessions"], json!(null));
    for list in ["events_per_minute", "tools", "largest_sessions"] {
        assert_eq!(stats[list], json!([]), "{list}");
    }
    let features = json!({"user_binding": true, "csrf": true, "enumeration_detection": true});
    assert_eq!(stats["security_features"], features);
    let thresholds = json!({"max_failed_attempts": 5, "enumeration_window_seconds": 60});
    assert_eq!(stats["security_thresholds"], thresholds);
    let removed = json!({"expired": 0, "empty": 0, "evicted": 0, "events": 0});
    assert_eq!(stats["cleanup_status"]["removed"], removed);
    let config = json!({
        "max_sessions": null, "session_ttl_hours": null, "cleanup_interval_minutes": 60.0,
        "empty_session_minutes": null, "max_messages_per_session": 500,
        "max_events_per_session": null, "max_event_bytes": 10 * 1024 * 1024,
        "max_store_bytes": null, "compress_over_bytes": 4096, "ingest": true,
    });
    assert_eq!(stats["config"], config);
}

#[tokio::test]
async fn figures_count_what_is_there() {
    let server = TestServer::sqlite().await;
    let (id, done) = (server.api.session().await, server.api.session().await);
    let mut answer = sample::agent_event("a", "root", "5");
    answer["usageMetadata"] = json!({"promptTokenCount": 7, "candidatesTokenCount": 3});
    let mut result = sample::agent_event("t", "root", "");
    result["content"]["parts"] =
        json!([{"functionResponse": {"id": "c", "name": "add", "response": {"result": 5}}}]);
    let events = json!([sample::user_event("u", "2 + 3?"), result, answer]);
    ingest(&server, &id, &events).await;
    server.api.complete(&done).await;

    let stats = stats(&server).await;
    assert_eq!((&stats["total_sessions"], &stats["active_sessions"]), (&json!(2), &json!(1)));
    assert_eq!((&stats["completed_sessions"], &stats["total_messages"]), (&json!(1), &json!(2)));
    assert_eq!((&stats["total_events"], &stats["total_entries"]), (&json!(3), &json!(4)));
    assert_eq!(stats["estimated_events_memory_kb"], 3.0 * 600.0 / 1024.0);
    assert_eq!(
        (&stats["avg_messages_per_session"], &stats["avg_events_per_session"]),
        (&json!(1.0), &json!(1.5))
    );
    let bytes: usize = events.as_array().unwrap().iter().map(|event| event.to_string().len()).sum();
    let largest = &stats["largest_sessions"][0];
    let expected = json!({"id": id, "title": "2 + 3?", "events": 3, "bytes": bytes});
    assert_eq!(*largest, expected);
    assert!(stats["total_bytes"].as_u64().unwrap() >= bytes as u64);
    assert!(stats["store_bytes"].as_u64().unwrap() > 0);
    assert_eq!(stats["tokens"], json!({"prompt": 7, "output": 3, "total": 10}));
    let tool = &stats["tools"][0];
    assert_eq!(
        (&tool["name"], &tool["calls"], &tool["errors"]),
        (&json!("add"), &json!(1), &json!(0))
    );
    let minutes = stats["events_per_minute"].as_array().unwrap();
    assert_eq!(minutes.iter().map(|minute| minute["events"].as_u64().unwrap()).sum::<u64>(), 4);
    assert!(stats["latency"]["append"]["count"].as_u64().unwrap() >= 2, "{}", stats["latency"]);
    for name in ["p50_ms", "p95_ms", "p99_ms"] {
        assert!(stats["latency"]["append"][name].as_f64().unwrap() > 0.0, "{name}");
    }
}

#[tokio::test]
async fn old_events_make_room_and_leave_a_mark() {
    let limits = Limits { max_events_per_session: Some(3), ..Limits::default() };
    let server = TestServer::with(limited(limits)).await;
    let id = server.api.session().await;
    for n in 1..=5 {
        ingest(&server, &id, &numbered(n..=n)).await;
        assert!(server.api.events(&id).await.len() <= 3, "never above the limit");
    }
    let left: Vec<_> =
        server.api.events(&id).await.iter().map(|event| event["seq"].clone()).collect();
    assert_eq!(left, [3, 4, 5]);
    let shown = server.api.show(&id).await;
    assert_eq!((&shown["removed_through"], &shown["last_seq"]), (&json!(2), &json!(5)));
    assert_eq!((&shown["event_count"], &shown["message_count"]), (&json!(3), &json!(5)));
    let page = server.api.get(&format!("/api/v1/sessions/{id}/events?after_seq=1")).await.json(200);
    assert_eq!(page["items"][0]["seq"], 3, "the gap is seen in the numbers");
    let mut stream = server.api.stream(&format!("/api/v1/sessions/{id}/stream")).await;
    let seen: Vec<_> = stream.until("history_complete").await;
    let seqs: Vec<_> =
        seen.iter().filter(|message| message.event == "event").map(Message::seq).collect();
    assert_eq!(seqs, [3, 4, 5]);

    ingest(&server, &id, &numbered(6..=20)).await;
    assert_eq!(server.api.events(&id).await.len(), 3, "many at once are no way around");
    let stats = stats(&server).await;
    assert_eq!(stats["cleanup_status"]["removed"]["events"], 17);
    assert_eq!((&stats["total_events"], &stats["total_entries"]), (&json!(3), &json!(3)));
    assert_eq!(stats["config"]["max_events_per_session"], 3);
}

#[tokio::test]
async fn the_session_nobody_touched_for_longest_makes_room() {
    let limits = Limits { max_sessions: Some(2), ..Limits::default() };
    let server = TestServer::with(limited(limits)).await;
    let adk = async |id: &str, seconds: f64| {
        let mut event = sample::agent_event("e", "root", "x");
        event["timestamp"] = json!(seconds);
        let body = json!({"sessionId": id, "events": [event]});
        server.api.post("/apps/notes/users/ada/sessions", &body).await.json(200);
    };
    for id in ["1", "2", "3"] {
        adk(id, 10.0).await;
        assert!(stats(&server).await["total_sessions"].as_u64().unwrap() <= 2);
    }
    let figures = stats(&server).await;
    assert_eq!((&figures["total_sessions"], &figures["max_sessions"]), (&json!(2), &json!(2)));
    assert_eq!(figures["cleanup_status"]["removed"]["evicted"], 1);
    let metrics = server.api.get("/metrics").await.body;
    assert!(
        metrics.contains("hotseat_removed_sessions_total{reason=\"too_many_sessions\"} 1\n"),
        "{metrics}"
    );
}

/// A sample of the text form: its name, its labels and its number.
fn parse(line: &str) -> (&str, &str, &str) {
    let (name, value) = line.rsplit_once(' ').unwrap_or_else(|| panic!("no value: {line}"));
    assert!(value.parse::<f64>().is_ok(), "no number: {line}");
    let (name, labels) = match name.split_once('{') {
        Some((name, rest)) => (name, rest.strip_suffix('}').expect("labels end")),
        None => (name, ""),
    };
    assert!(
        name.starts_with("hotseat_")
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'),
        "{name}"
    );
    (name, labels, value)
}

#[tokio::test]
async fn metrics_are_text_that_prometheus_reads() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut result = sample::agent_event("t", "root", "");
    let name = "odd \"name\" \\ of\na tool";
    result["content"]["parts"] = json!([{"functionResponse": {"name": name, "response": {}}}]);
    ingest(&server, &id, &result).await;
    server.api.grpc().await.ask(&id).await;

    let answer = server.api.get("/metrics").await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), "text/plain; version=0.0.4; charset=utf-8");
    assert!(answer.body.ends_with('\n'));
    let (mut kinds, mut samples) = (HashMap::new(), HashMap::new());
    for line in answer.body.lines() {
        if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert!(["gauge", "counter", "summary"].contains(&kind), "{line}");
            assert!(kinds.insert(name, kind).is_none(), "{name} is there twice");
        } else if !line.starts_with("# HELP ") {
            let (name, labels, value) = parse(line);
            let family = name.trim_end_matches("_sum").trim_end_matches("_count");
            assert!(kinds.contains_key(family), "{name} has no type before it");
            assert_eq!(kinds[family] == "counter", name.ends_with("_total"), "{name}");
            assert!(samples.insert((name, labels), value).is_none(), "{line} is there twice");
        }
    }
    let sample = |name, labels| samples[&(name, labels)];
    assert_eq!(sample("hotseat_sessions", ""), "1");
    assert_eq!(sample("hotseat_events", ""), "1");
    assert_eq!(sample("hotseat_pending_turns", ""), "1");
    let label = r#"tool="odd \"name\" \\ of\na tool""#;
    assert_eq!(sample("hotseat_tool_calls_total", label), "1");
    let appends: u64 = sample("hotseat_append_milliseconds_count", "").parse().unwrap();
    assert!(appends >= 2, "{appends}");
}

#[tokio::test]
async fn runs_requests_and_conversations_are_counted() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let say = |seat: &str| {
        let (api, path) = (server.api.clone(), format!("/agent/math/chat?seat={seat}"));
        tokio::spawn(async move { api.post(&path, &json!({"message": "hello"})).await })
    };
    for (seat, end) in [("model", "finished"), ("model", "failed"), ("human", "finished")] {
        let asked = say(seat);
        let run = worker.run().await;
        worker.end(&run, end).await;
        asked.await.unwrap();
    }
    let asked = say("model");
    let run = worker.run().await;
    let _open = say("human");
    worker.run().await;
    server.api.post(&format!("/api/v1/sessions/{}/cancel", run.session_id), &json!({})).await;
    asked.await.unwrap().problem(409, "run_cancelled");
    server.api.get("/api/v1/nothing").await.problem(404, "not_found");
    let metrics = server.api.get("/metrics").await.body;
    for line in [
        "hotseat_runs_begun_total{seat=\"human\"} 2",
        "hotseat_runs_begun_total{seat=\"model\"} 3",
        "hotseat_runs_begun_total{seat=\"replay\"} 0",
        "hotseat_runs_ended_total{seat=\"human\",status=\"finished\"} 1",
        "hotseat_runs_ended_total{seat=\"model\",status=\"finished\"} 1",
        "hotseat_runs_ended_total{seat=\"model\",status=\"failed\"} 1",
        "hotseat_runs_ended_total{seat=\"model\",status=\"cancelled\"} 1",
        "hotseat_http_requests_total{status=\"4xx\"} 2",
        "hotseat_http_requests_total{status=\"5xx\"} 1",
        "hotseat_rest_conversations 5",
    ] {
        assert!(metrics.lines().any(|told| told == line), "`{line}` is not in: {metrics}");
    }
    assert!(!metrics.contains("hotseat_http_requests_total{status=\"2xx\"} 0\n"), "{metrics}");
}

#[tokio::test]
async fn figures_need_the_token() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    stranger.get("/metrics").await.problem(401, "unauthenticated");
    stranger.get("/api/v1/stats").await.problem(401, "unauthenticated");
}
