//! Whatever goes wrong, the answer is a problem.

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::{ScriptedWorker, TestServer, sample};

use crate::openapi::operations;

/// A body that every route can read, so that only the address is wrong. A new route that
/// needs a field adds it here.
fn body() -> Value {
    let mut body = sample::user_event("e", "hello");
    // Messages have text as their content, and so may events that have a type.
    body["type"] = json!("note");
    body["content"] = json!("hello");
    body["text"] = json!("hello");
    body["to"] = json!("bob");
    body["turn_id"] = json!("7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11");
    body["candidates"] = sample::says("hello")["candidates"].clone();
    body
}

#[tokio::test]
async fn unknown_and_malformed_sessions_are_not_found_everywhere() {
    let server = TestServer::scratch().await;
    let unknown = "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11";
    let malformed = ["x", "7d0f6a5232f14b3e9e0d1f4f9f6b2a11", "%27%20OR%201", "..%2F..%2Fetc"];
    let mut checked = 0;
    for (method, path) in
        operations().into_iter().filter(|(_, path)| path.contains("/sessions/{id}"))
    {
        for id in [unknown].into_iter().chain(malformed) {
            let path = path.replace("{id}", id).replace("{turn_id}", unknown);
            let request = server.api.request(method.clone(), &path).json(&body());
            server.api.send(request).await.problem(404, "session_not_found");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}

#[tokio::test]
async fn what_is_not_json_is_a_bad_request() {
    let server = TestServer::scratch().await;
    let session = server.api.session().await;
    let paths = [
        "/api/v1/sessions".to_owned(),
        format!("/api/v1/sessions/{session}/events"),
        format!("/api/v1/sessions/{session}/query"),
        format!("/api/v1/sessions/{session}/export"),
        format!("/api/v1/sessions/{session}/turns/{session}/decision"),
        format!("/api/v1/sessions/{session}/turns/{session}/dismiss"),
    ];
    for path in paths {
        for body in ["{", "{\"a\":}", "\u{feff}{}", "{} {}", "nul"] {
            server.api.post_text(&path, body).await.problem(400, "bad_request");
        }
        let request = server.api.request(Method::POST, &path).body(vec![b'"', 0xff, b'"']);
        let request = request.header("content-type", "application/json");
        assert_eq!(server.api.send(request).await.status.as_u16() / 100, 4);
    }
}

#[tokio::test]
async fn json_of_another_type_is_unsupported_or_invalid() {
    let server = TestServer::scratch().await;
    let request = server.api.request(Method::POST, "/api/v1/sessions").body("a=b");
    let request = request.header("content-type", "application/x-www-form-urlencoded");
    server.api.send(request).await.problem(415, "unsupported_media_type");
    let answer = server.api.post("/api/v1/sessions", &json!({"description": 7})).await;
    answer.problem(422, "invalid");
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_refused() {
    let server = TestServer::scratch().await;
    let session = server.api.session().await;
    let huge = format!("{{\"text\":\"{}\"}}", "x".repeat(33 * 1024 * 1024));
    let path = format!("/api/v1/sessions/{session}/events");
    server.api.post_text(&path, &huge).await.problem(413, "too_large");

    let mut event = sample::user_event("e", "");
    event["content"]["parts"][0]["text"] = json!("x".repeat(10 * 1024 * 1024));
    server.api.post(&path, &event).await.problem(413, "too_large");
    let query = format!("/api/v1/sessions/{session}/query");
    let answer = server.api.post(&query, &json!({"text": "x".repeat(2 * 1024 * 1024)})).await;
    assert!(answer.status.is_client_error());
    assert!(server.api.events(&session).await.is_empty());
}

#[tokio::test]
async fn what_is_not_there_is_a_problem_too() {
    let server = TestServer::scratch().await;
    server.api.get("/api/v1/nothing").await.problem(404, "not_found");
    server.api.get("/api/").await.problem(404, "not_found");
    server.api.get("/nothing.js").await.problem(404, "not_found");
    for (method, path) in [
        (Method::PUT, "/api/v1/sessions"),
        (Method::POST, "/api/v1/agents"),
        (Method::DELETE, "/health"),
        (Method::PATCH, "/api/v1/turns"),
    ] {
        let answer = server.api.send(server.api.request(method, path)).await;
        answer.problem(405, "method_not_allowed");
    }
}

#[tokio::test]
async fn parameters_that_mean_nothing_are_bad_requests() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    for query in [
        "sessions?limit=many",
        "sessions?limit=-1",
        "sessions?status=done",
        "sessions?cursor=elsewhere",
        "sessions?state=asleep",
        "turns?state=answered",
        &format!("sessions/{id}?include=everything"),
        &format!("sessions/{id}/turns?state=no"),
        &format!("sessions/{id}/events?order=random"),
        &format!("sessions/{id}/events?kind=event,thing"),
        &format!("sessions/{id}/events?after_seq=-1"),
        &format!("sessions/{id}/events?after_timestamp=yesterday"),
        &format!("sessions/{id}/stream?view=all"),
        &format!("sessions/{id}/stream?after_seq=x"),
    ] {
        server.api.get(&format!("/api/v1/{query}")).await.problem(400, "bad_request");
    }
}

#[tokio::test]
async fn the_instance_of_a_problem_is_the_id_of_its_request() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    for (path, status) in
        [("/api/v1/nothing", 404), ("/agent/math/chat", 405), ("/api/v1/turns?state=no", 400)]
    {
        let answer = server.api.get(path).await;
        let instance = format!("urn:uuid:{}", answer.header("x-request-id"));
        let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
        assert_eq!((answer.status.as_u16(), &problem["instance"]), (status, &json!(instance)));
    }
    // Where a caller brings an id of their own, it is that.
    let named = |path: &str, body: serde_json::Value| {
        let request = server.api.request(Method::POST, path).header("x-request-id", "mine.7");
        request.json(&body)
    };
    let answer = server.api.send(named("/agent/math/chat", json!({"message": " "}))).await;
    let problem: serde_json::Value = serde_json::from_str(&answer.body).unwrap();
    assert_eq!((answer.status.as_u16(), &problem["instance"]), (422, &json!("urn:request:mine.7")));
}

#[tokio::test]
async fn what_fails_in_a_stream_names_the_request_that_began_it() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let request = server.api.request(Method::POST, "/agent/math/chat/stream");
    let request = request.header("x-request-id", "mine.8").json(&json!({"message": "hello"}));
    let mut told = server.api.stream_with(request).await;
    let run = worker.run().await;
    worker.end(&run, "failed").await;
    assert_eq!(told.next_of("error").await.data()["instance"], "urn:request:mine.8");
}

#[tokio::test]
async fn every_problem_has_an_instance_of_its_own() {
    let server = TestServer::scratch().await;
    let one = server.api.get("/api/v1/nothing").await.problem(404, "not_found");
    let two = server.api.get("/api/v1/nothing").await.problem(404, "not_found");
    assert_ne!(one["instance"], two["instance"]);
}
