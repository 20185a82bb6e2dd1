//! Agents run by the ADK API server's routes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE;
use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::Partial;
use hotseat_testkit::{ScriptedWorker, TestServer, sample};

const SESSION: &str = "/apps/math_app/users/ada/sessions/s";

fn request() -> Value {
    json!({"appName": "math_app", "userId": "ada", "sessionId": "s", "stateDelta": {"n": 1},
        "newMessage": {"role": "user", "parts": [{"text": "2 + 3?"}]}})
}

#[tokio::test]
async fn run_answers_the_events_of_the_agent_in_adks_spelling() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    server.api.post("/run", &request()).await.problem(404, "session_not_found");
    server.api.post(SESSION, &json!({})).await.json(200);
    let api = server.api.clone();
    let answering = tokio::spawn(async move { api.post("/run", &request()).await });
    let run = worker.run().await;
    assert_eq!((run.user_id.as_str(), run.agent.as_str(), run.streaming), ("ada", "math", false));
    let delta: Value = serde_json::from_slice(&run.state_delta_json).unwrap();
    assert_eq!(delta, json!({"n": 1}));
    worker.append(&run, "event", "", &sample::user_event("u", "2 + 3?")).await.unwrap();
    let event = json!({"id": "a", "author": "math", "invocation_id": "e", "timestamp": 1.5,
        "content": {"role": "model", "parts": [{"function_call": {"id": "c", "name": "add", "args": {"my_arg": 1}}}]}});
    worker.append(&run, "event", "", &event).await.unwrap();
    worker.end(&run, "finished").await;
    let told = answering.await.unwrap().json(200);
    let expected = json!([{"id": "a", "author": "math", "invocationId": "e", "timestamp": 1.5,
        "content": {"role": "model", "parts": [{"functionCall": {"id": "c", "name": "add", "args": {"my_arg": 1}}}]}}]);
    assert_eq!(told, expected);
}

#[tokio::test]
async fn run_sse_streams_partial_events_where_they_are_wanted() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    server.api.post(SESSION, &json!({})).await.json(200);
    let mut wish = request();
    wish["streaming"] = json!(true);
    let call = server.api.request(Method::POST, "/run_sse").json(&wish);
    let mut stream = server.api.stream_with(call).await;
    let run = worker.run().await;
    assert!(run.streaming);
    let partial = json!({"author": "math", "invocationId": "e", "partial": true, "content": {"parts": [{"text": "It"}]}});
    let (run_id, session_id) = (run.run_id.clone(), run.session_id.clone());
    let raw_json = partial.to_string().into();
    worker.tell(Partial { run_id, session_id, raw_json, ..Default::default() }).await;
    let told = stream.next().await.unwrap().data();
    assert_eq!(
        (&told["partial"], &told["content"]["parts"][0]["text"]),
        (&json!(true), &json!("It"))
    );
    assert_eq!((&told["author"], &told["invocationId"]), (&json!("math"), &json!("e")));
    worker.append(&run, "event", "", &sample::agent_event("a", "math", "It is 5.")).await.unwrap();
    worker.end(&run, "failed").await;
    assert_eq!(stream.next().await.unwrap().data()["content"]["parts"][0]["text"], "It is 5.");
    assert_eq!(stream.next().await.unwrap().data(), json!({"error": "ValueError: no"}));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn what_cannot_be_run_is_refused() {
    let server = TestServer::scratch().await;
    server.api.post(SESSION, &json!({})).await.json(200);
    server.api.post("/run", &request()).await.problem(404, "unknown_agent");
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut silent = request();
    silent["newMessage"] = Value::Null;
    server.api.post("/run", &silent).await.problem(422, "invalid");
    server.api.post("/run", &json!({"appName": "math_app"})).await.problem(422, "invalid");
    let alice = server.user("alice");
    alice.post("/run", &request()).await.problem(404, "session_not_found");
}

#[tokio::test]
async fn documents_in_a_message_are_read_in_adks_own_spelling() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    server.api.post("/apps/math_app/users/u/sessions/s", &json!({})).await.json(200);
    // In base64 for URLs, as ADK's clients write it: with `_` and `-` in it.
    let data = URL_SAFE.encode("# Bern?>ÿ\n\nLies on the Aare?>\n");
    assert!(data.contains(['-', '_']), "{data}");
    let request = json!({"appName": "math_app", "userId": "u", "sessionId": "s", "newMessage": {
        "role": "user", "parts": [{"text": "Where?"},
            {"inlineData": {"mimeType": "text/markdown", "displayName": "bern.md", "data": data}},
            {"inlineData": {"mimeType": "audio/wav", "data": "AAAA"}}]}});
    let running = tokio::spawn({
        let api = server.api.clone();
        let request = request.clone();
        async move { api.post("/run", &request).await }
    });
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    let read = message["parts"][1]["text"].as_str().unwrap();
    assert!(read.starts_with("## File: bern.md") && read.contains("Lies on the Aare"), "{read}");
    assert_eq!(message["parts"][2], request["newMessage"]["parts"][2], "what nobody reads stays");
    worker.end(&run, "finished").await;
    running.await.unwrap().json(200);
    let mut broken = request;
    broken["newMessage"]["parts"][1]["inlineData"]["data"] = json!("!");
    for path in ["/run", "/run_sse"] {
        let refused = server.api.post(path, &broken).await;
        assert!(refused.status.is_client_error(), "{path}: {}", refused.body);
    }
}
