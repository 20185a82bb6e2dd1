//! The REST protocol of the agent server.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::{Partial, StartRun};
use hotseat_testkit::{Answer, Api, ScriptedWorker, SseReader, TestServer, sample};

const CHAT: &str = "/agent/math/chat";

async fn chat(api: &Api, body: Value) -> Answer {
    api.post(CHAT, &body).await
}

/// A message that is on its way while the test plays the worker.
fn chatting(api: &Api, body: Value) -> tokio::task::JoinHandle<Answer> {
    let api = api.clone();
    tokio::spawn(async move { chat(&api, body).await })
}

async fn stream(api: &Api, body: &Value) -> SseReader {
    api.stream_with(api.request(Method::POST, "/agent/math/chat/stream").json(body)).await
}

/// Plays a run that says one thing.
async fn answer(worker: &mut ScriptedWorker, text: &str) -> StartRun {
    let run = worker.run().await;
    let event = sample::agent_event(&format!("a-{}", run.run_id), "math", text);
    worker.append(&run, "event", "", &event).await.unwrap();
    worker.end(&run, "finished").await;
    run
}

#[tokio::test]
async fn a_conversation_goes_on_in_its_session() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let first = chatting(&server.api, json!({"message": "2 + 3?"}));
    let run = answer(&mut worker, "5").await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message, json!({"role": "user", "parts": [{"text": "2 + 3?"}]}));
    let first = first.await.unwrap().json(200);
    assert_eq!(first["content"], "5");
    assert_eq!((&first["tool_calls"], &first["tokens_used"]), (&json!([]), &json!(null)));
    for id in ["message_id", "session_id"] {
        assert_eq!(first[id].as_str().unwrap().len(), 26, "{first}");
    }
    let second =
        chatting(&server.api, json!({"message": "And 1?", "session_id": first["session_id"]}));
    assert_eq!(answer(&mut worker, "6").await.session_id, run.session_id);
    let second = second.await.unwrap().json(200);
    assert_eq!((&second["content"], &second["session_id"]), (&json!("6"), &first["session_id"]));
    assert_ne!(second["message_id"], first["message_id"]);
}

#[tokio::test]
async fn tools_are_told_with_their_true_status_and_tokens_are_counted() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let asked = chatting(&server.api, json!({"message": "2 + 3?"}));
    let run = worker.run().await;
    for event in [
        json!({"id": "1", "author": "math", "invocationId": "e", "content": {"role": "model", "parts": [
            {"text": "Let me see."},
            {"functionCall": {"id": "c1", "name": "add", "args": {"a": 2}}},
            {"functionCall": {"id": "c2", "name": "break", "args": {}}},
        ]}, "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 4}}),
        json!({"id": "2", "author": "math", "content": {"role": "user", "parts": [
            {"functionResponse": {"id": "c1", "name": "add", "response": {"result": 5}}},
            {"functionResponse": {"id": "c2", "name": "break", "response": {"error": "no"}}},
        ]}}),
        json!({"id": "3", "author": "math", "content": {"role": "model", "parts": [{"text": "5"}]},
            "usageMetadata": {"promptTokenCount": 20, "candidatesTokenCount": 1}}),
    ] {
        worker.append(&run, "event", "", &event).await.unwrap();
    }
    worker.end(&run, "finished").await;
    let told = asked.await.unwrap().json(200);
    assert_eq!(told["content"], "5");
    assert_eq!(
        told["tool_calls"],
        json!([
            {"id": "c1", "name": "add", "arguments": {"a": 2}, "status": "success"},
            {"id": "c2", "name": "break", "arguments": {}, "status": "error"},
        ])
    );
    let tokens = json!({"prompt_tokens": 30, "completion_tokens": 5, "total_tokens": 35});
    assert_eq!(told["tokens_used"], tokens);
}

/// What ADK writes of tools that failed or wait: the shapes are those of its own toolset for MCP,
/// of a tool that needs a confirmation, and of one whose result comes later.
#[tokio::test]
async fn a_tool_of_mcp_that_failed_is_an_error_and_one_that_waits_is_pending() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut told = stream(&server.api, &json!({"message": "Do it all"})).await;
    let run = worker.run().await;
    let call = |id: &str| json!({"functionCall": {"id": id, "name": id, "args": {}}});
    let answer = |id: &str, response: Value| json!({"functionResponse": {"id": id, "name": id, "response": response}});
    let asks = json!({"error": "This tool call requires confirmation, please approve or reject."});
    for event in [
        json!({"id": "1", "author": "math", "invocationId": "e", "longRunningToolIds": ["ticket"],
            "content": {"role": "model", "parts": [call("broken"), call("fine"), call("delete"), call("ticket")]}}),
        json!({"id": "2", "author": "math", "longRunningToolIds": ["ask"], "content": {"role": "user", "parts": [
            {"functionCall": {"id": "ask", "name": "adk_request_confirmation", "args": {"originalFunctionCall": {"id": "delete"}}}}]}}),
        json!({"id": "3", "author": "math", "actions": {"requestedToolConfirmations": {"delete": {"hint": "Sure?"}}},
        "content": {"role": "user", "parts": [
            answer("broken", json!({"content": [{"type": "text", "text": "no such file"}], "isError": true})),
            answer("fine", json!({"content": [{"type": "text", "text": "5"}], "isError": false})),
            answer("delete", asks),
            answer("ticket", json!({"status": "open", "number": 7})),
        ]}}),
    ] {
        worker.append(&run, "event", "", &event).await.unwrap();
    }
    worker.end(&run, "finished").await;
    let end = told.next_of("stream_end").await.data();
    let calls = end["tool_calls"].as_array().unwrap();
    let statuses: Vec<_> =
        calls.iter().map(|call| (call["id"].as_str().unwrap(), &call["status"])).collect();
    let [error, success, pending] = ["error", "success", "pending"].map(Value::from);
    assert_eq!(
        statuses,
        [
            ("broken", &error),
            ("fine", &success),
            ("delete", &pending),
            ("ticket", &pending),
            ("ask", &pending)
        ]
    );
    // What is counted of tools agrees.
    let tools = server.api.get("/api/v1/stats").await.json(200)["tools"].clone();
    let errors = |name: &str| {
        let tool = tools.as_array().unwrap().iter().find(|tool| tool["name"] == name);
        tool.map(|tool| tool["errors"].clone())
    };
    assert_eq!((errors("broken"), errors("fine")), (Some(json!(1)), Some(json!(0))));
}

#[tokio::test]
async fn a_stream_tells_pieces_as_they_come_and_nothing_twice() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut told = stream(&server.api, &json!({"message": "2 + 3?"})).await;
    let start = told.next_of("stream_start").await.data();
    assert_eq!(start["session_id"].as_str().unwrap().len(), 26);
    let run = worker.run().await;
    assert!(run.streaming);
    for text in ["The sum ", "is"] {
        let partial =
            json!({"author": "math", "partial": true, "content": {"parts": [{"text": text}]}});
        worker
            .tell(Partial {
                run_id: run.run_id.clone(),
                session_id: run.session_id.clone(),
                raw_json: partial.to_string().into(),
                ..Default::default()
            })
            .await;
        // It is told before anything more happens.
        assert_eq!(told.next_of("message_delta").await.data()["delta"], text);
    }
    let whole = sample::agent_event("a", "math", "The sum is 5.");
    worker.append(&run, "event", "", &whole).await.unwrap();
    assert_eq!(told.next_of("message_delta").await.data()["delta"], " 5.");
    worker.end(&run, "finished").await;
    let end = told.next_of("stream_end").await.data();
    assert_eq!(
        (&end["content"], &end["message_id"]),
        (&json!("The sum is 5."), &start["message_id"])
    );
    assert!(told.next().await.is_none());
}

#[tokio::test]
async fn a_stream_tells_tools_in_order_and_ends_with_an_error_if_the_run_fails() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut told = stream(&server.api, &json!({"message": "2 + 3?"})).await;
    let run = worker.run().await;
    let call = json!({"id": "1", "author": "math", "content": {"role": "model", "parts": [
        {"functionCall": {"id": "c1", "name": "add", "args": {"a": 2}}}]}});
    worker.append(&run, "event", "", &call).await.unwrap();
    let result = json!({"id": "2", "author": "math", "content": {"role": "user", "parts": [
        {"functionResponse": {"id": "c1", "name": "add", "response": {"error": "no"}}}]}});
    worker.append(&run, "event", "", &result).await.unwrap();
    worker.end(&run, "failed").await;
    let mut messages = Vec::new();
    while let Some(message) = told.next().await {
        messages.push(message);
    }
    let names: Vec<_> = messages.iter().map(|message| message.event.as_str()).collect();
    assert_eq!(
        names,
        ["stream_start", "tool_call_start", "tool_call_args", "tool_call_end", "error"]
    );
    assert_eq!(messages[2].data()["args_delta"], r#"{"a":2}"#);
    assert_eq!(messages[3].data()["status"], "error");
    let error = messages[4].data();
    assert_eq!((&error["status"], &error["code"]), (&json!(502), &json!("agent_failed")));
    assert!(error["detail"].as_str().unwrap().contains("ValueError: no"), "{error}");
}

#[tokio::test]
async fn what_cannot_be_said_is_refused_with_a_problem() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    for body in [
        json!({"message": ""}),
        json!({"message": " \n\t"}),
        json!({"message": "ü".repeat(10_001)}),
        json!({"message": "😀".repeat(10_001)}),
        json!({"message": "x", "session_id": "not-a-ulid"}),
        json!({"message": "x", "files": vec![json!({"content": "eA==", "mime_type": "text/plain"}); 11]}),
        json!({"message": "x", "files": [{"content": "%", "mime_type": "text/plain"}]}),
        json!({}),
    ] {
        chat(&server.api, body).await.problem(422, "invalid");
    }
    let unsupported =
        json!({"message": "x", "files": [{"content": "eA==", "mime_type": "video/mp4"}]});
    chat(&server.api, unsupported).await.problem(415, "unsupported_file");
    let unknown = json!({"message": "x", "session_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV"});
    chat(&server.api, unknown).await.problem(404, "session_not_found");
    server
        .api
        .post("/agent/nobody/chat", &json!({"message": "x"}))
        .await
        .problem(404, "unknown_agent");
    server.api.post_text(CHAT, "{").await.problem(400, "bad_request");
    server.api.get(CHAT).await.problem(405, "method_not_allowed");
    let bad_seat = format!("{CHAT}?seat=throne");
    server.api.post(&bad_seat, &json!({"message": "x"})).await.problem(422, "invalid");
}

#[tokio::test]
async fn a_message_of_exactly_10_000_characters_is_taken_and_its_time_is_told() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let long = "😀".repeat(10_000);
    let began = std::time::Instant::now();
    let asked = chatting(&server.api, json!({"message": long}));
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message["parts"][0]["text"], long);
    let taken = std::time::Instant::now();
    let event = sample::agent_event("a", "math", "Long.");
    worker.append(&run, "event", "", &event).await.unwrap();
    let least = taken.elapsed().as_millis();
    worker.end(&run, "finished").await;
    let told = asked.await.unwrap().json(200);
    let time = u128::from(told["execution_time_ms"].as_u64().unwrap());
    let most = began.elapsed().as_millis();
    assert!((least..=most).contains(&time), "{least} <= {time} <= {most}");
}

#[tokio::test]
async fn a_second_message_is_refused_while_a_run_goes_on_or_waits_if_asked_to() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut told = stream(&server.api, &json!({"message": "first"})).await;
    let start = told.next_of("stream_start").await.data();
    let run = worker.run().await;
    let second = json!({"message": "second", "session_id": start["session_id"]});
    let refused = chat(&server.api, second.clone()).await.problem(409, "run_in_progress");
    assert_eq!(refused["run_id"], run.run_id.as_str());
    let api = server.api.clone();
    let queued =
        tokio::spawn(async move { api.post(&format!("{CHAT}?queue=true"), &second).await });
    let event = sample::agent_event("a", "math", "one");
    worker.append(&run, "event", "", &event).await.unwrap();
    worker.end(&run, "finished").await;
    assert_eq!(told.next_of("stream_end").await.data()["content"], "one");
    answer(&mut worker, "two").await;
    assert_eq!(queued.await.unwrap().json(200)["content"], "two");
}

#[tokio::test]
async fn a_session_ends_by_silence_or_by_word_and_is_then_not_found() {
    let mut server =
        TestServer::told(|config| config.serve.session_ttl = Duration::from_millis(1)).await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let first = chatting(&server.api, json!({"message": "hello"}));
    answer(&mut worker, "hi").await;
    let session = first.await.unwrap().json(200)["session_id"].clone();
    // The clock that counts is the log's, in milliseconds: this one waits until it has moved on.
    let later = jiff_now() + Duration::from_millis(5);
    while jiff_now() < later {
        tokio::task::yield_now().await;
    }
    let late = json!({"message": "still there?", "session_id": session});
    chat(&server.api, late.clone()).await.problem(404, "session_not_found");
    drop(worker);
    // With more patience, the same session is there after a restart.
    server = server.again(|_| {}).await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let again = chatting(&server.api, late.clone());
    answer(&mut worker, "yes").await;
    assert_eq!(again.await.unwrap().json(200)["content"], "yes");
    let path = format!("/sessions/{}", session.as_str().unwrap());
    for _ in 0..2 {
        assert_eq!(server.api.delete(&path).await.status, 204);
    }
    chat(&server.api, late).await.problem(404, "session_not_found");
    server.api.delete("/sessions/nonsense").await.problem(422, "invalid");
}

#[tokio::test]
async fn a_conversation_tells_when_it_began_and_how_much_was_said() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut session = json!(null);
    for said in ["hello", "again"] {
        let asked = chatting(&server.api, json!({"message": said, "session_id": session}));
        let run = worker.run().await;
        // What the user said is an event of ADK's own runner.
        let user = sample::user_event(&format!("u-{}", run.run_id), said);
        worker.append(&run, "event", "", &user).await.unwrap();
        let event = sample::agent_event(&format!("a-{}", run.run_id), "math", "hi");
        worker.append(&run, "event", "", &event).await.unwrap();
        worker.end(&run, "finished").await;
        session = asked.await.unwrap().json(200)["session_id"].clone();
    }
    let path = format!("/agent/math/sessions/{}", session.as_str().unwrap());
    let told = server.api.get(&path).await.json(200);
    assert_eq!((&told["session_id"], &told["message_count"]), (&session, &json!(4)), "{told}");
    let [began, last] =
        ["created_at", "last_activity"].map(|key| told[key].as_str().unwrap().to_owned());
    assert!(began <= last && began.ends_with('Z') && last.len() == 24, "{told}");
    let bob = server.user("bob");
    bob.get(&path).await.problem(404, "session_not_found");
    server.api.without_token().get(&path).await.problem(401, "unauthenticated");
    server.api.get("/agent/math/sessions/nonsense").await.problem(422, "invalid");
    server.api.delete(&format!("/sessions/{}", session.as_str().unwrap())).await;
    server.api.get(&path).await.problem(404, "session_not_found");
}

fn jiff_now() -> std::time::Instant {
    std::time::Instant::now()
}

#[tokio::test]
async fn a_full_server_says_when_to_come_back_and_counts_on_after_a_restart() {
    let mut server = TestServer::told(|config| config.serve.max_sessions = 1).await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let first = chatting(&server.api, json!({"message": "hello"}));
    answer(&mut worker, "hi").await;
    let session = first.await.unwrap().json(200)["session_id"].clone();
    let refused = chat(&server.api, json!({"message": "me too"})).await;
    refused.problem(429, "full");
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(server.api.get("/health").await.json(200)["active_sessions"], 1);
    drop(worker);
    server = server.again(|config| config.serve.max_sessions = 1).await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    chat(&server.api, json!({"message": "me too"})).await.problem(429, "full");
    server.api.delete(&format!("/sessions/{}", session.as_str().unwrap())).await;
    let second = chatting(&server.api, json!({"message": "me too"}));
    answer(&mut worker, "welcome").await;
    second.await.unwrap().json(200);
}

#[tokio::test]
async fn a_single_agent_is_ready_when_it_is_there() {
    let server = TestServer::told(|config| config.serve.single = true).await;
    let waiting = server.api.get("/ready").await;
    waiting.problem(503, "not_ready");
    assert_eq!(server.api.get("/health").await.json(200)["state"], "initializing");
    let early = chat(&server.api, json!({"message": "hello"})).await;
    early.problem(503, "not_ready");
    assert!(!early.header("retry-after").is_empty());
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let health = server.api.get("/ready").await.json(200);
    assert_eq!((&health["agent_name"], &health["state"]), (&json!("math"), &json!("ready")));
}

#[tokio::test]
async fn a_server_that_stops_lets_those_have_their_answer_who_wait() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let asked = chatting(&server.api, json!({"message": "hello"}));
    let run = worker.run().await;
    assert_eq!(server.api.get("/health").await.json(200)["state"], "running");
    let app = server.app.clone();
    let draining = tokio::spawn(async move { app.drain().await });
    while server.api.get("/health").await.json(200)["state"] == "running" {
        tokio::task::yield_now().await;
    }
    server.api.get("/ready").await.problem(503, "closing");
    chat(&server.api, json!({"message": "me too"})).await.problem(503, "closing");
    let event = sample::agent_event("a", "math", "hi");
    worker.append(&run, "event", "", &event).await.unwrap();
    worker.end(&run, "finished").await;
    assert_eq!(asked.await.unwrap().json(200)["content"], "hi");
    draining.await.unwrap();
}

#[tokio::test]
async fn users_talk_in_sessions_of_their_own() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let alice = server.user("alice");
    let first = chatting(&alice, json!({"message": "hello"}));
    let run = answer(&mut worker, "hi").await;
    assert_eq!(run.user_id, "alice");
    let session = first.await.unwrap().json(200)["session_id"].clone();
    let bob = server.user("bob");
    let prying = json!({"message": "and?", "session_id": session});
    chat(&bob, prying).await.problem(404, "session_not_found");
    assert_eq!(bob.delete(&format!("/sessions/{}", session.as_str().unwrap())).await.status, 204);
    let still = chatting(&alice, json!({"message": "hello?", "session_id": session}));
    answer(&mut worker, "hi").await;
    still.await.unwrap().json(200);
}
