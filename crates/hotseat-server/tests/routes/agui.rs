//! AG-UI, as a front end meets it.

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::{Partial, StartRun};
use hotseat_testkit::{Api, ScriptedWorker, SseReader, TestServer, sample};

/// A request with one message of the user's.
pub(crate) fn input(thread: &str, run: &str, messages: impl Into<Value>) -> Value {
    let messages = messages.into();
    json!({"threadId": thread, "runId": run, "protocolVersion": "1.0", "state": {}, "messages": messages,
        "tools": [], "context": [], "forwardedProps": {}})
}

pub(crate) fn user(id: &str, text: &str) -> Value {
    json!({"id": id, "role": "user", "content": text})
}

pub(crate) async fn post(api: &Api, input: &Value) -> SseReader {
    api.stream_with(api.request(Method::POST, "/ag-ui/math").json(input)).await
}

/// The rest of a stream, event by event.
pub(crate) async fn rest(stream: &mut SseReader) -> Vec<Value> {
    let mut events = Vec::new();
    while let Some(message) = stream.next().await {
        events.push(message.data());
    }
    events
}

pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

pub(crate) async fn say(worker: &mut ScriptedWorker, run: &StartRun, event: &Value) {
    worker.append(run, "event", "", event).await.unwrap();
}

/// Puts the message of a run into the log, as ADK does.
pub(crate) async fn heard(worker: &mut ScriptedWorker, run: &StartRun) {
    let mut event = sample::user_event(&format!("heard-{}", run.run_id), "");
    event["content"] = serde_json::from_slice(&run.message_json).unwrap();
    say(worker, run, &event).await;
}

#[tokio::test]
async fn text_is_streamed_and_the_run_ends_once() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut stream = post(&server.api, &input("t", "r", json!([user("m1", "2 + 3?")]))).await;
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message, json!({"role": "user", "parts": [{"text": "2 + 3?"}]}));
    assert!(run.streaming);
    let partial = json!({"author": "math", "invocationId": "e-1", "partial": true,
        "content": {"parts": [{"text": "It is"}]}});
    let (run_id, session_id) = (run.run_id.clone(), run.session_id.clone());
    let raw_json = partial.to_string().into();
    worker.tell(Partial { run_id, session_id, raw_json, ..Default::default() }).await;
    // A piece is there before the answer is complete.
    let mut events = Vec::new();
    while !events.iter().any(|event: &Value| event["type"] == "TEXT_MESSAGE_CONTENT") {
        events.push(stream.next().await.unwrap().data());
    }
    let mut whole = sample::agent_event("a", "math", "It is 5.");
    whole["invocationId"] = json!("e-1");
    whole["usageMetadata"] = json!({"promptTokenCount": 7, "candidatesTokenCount": 3});
    say(&mut worker, &run, &whole).await;
    worker.end(&run, "finished").await;
    events.extend(rest(&mut stream).await);
    let text: String = events
        .iter()
        .filter(|event| event["type"] == "TEXT_MESSAGE_CONTENT")
        .map(|event| event["delta"].as_str().unwrap())
        .collect();
    assert_eq!(text, "It is 5.");
    let types = types(&events);
    assert_eq!((types[0], types[types.len() - 1]), ("RUN_STARTED", "RUN_FINISHED"));
    for once in ["RUN_STARTED", "TEXT_MESSAGE_START", "TEXT_MESSAGE_END", "RUN_FINISHED"] {
        assert_eq!(types.iter().filter(|word| **word == once).count(), 1, "{types:?}");
    }
    let end = &events[events.len() - 1];
    assert_eq!((&end["threadId"], &end["runId"]), (&json!("t"), &json!("r")));
    assert_eq!(end["outcome"]["type"], "success");
    assert_eq!(end["usage"][0]["inputTokens"], 7);
}

#[tokio::test]
async fn an_agent_whose_folder_has_another_name_is_no_sub_agent_of_itself() {
    let server = TestServer::scratch().await;
    let mut register = ScriptedWorker::registering("w", "math");
    register.agents[0].root_name = "calculator".to_owned();
    let mut worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    let mut stream = post(&server.api, &input("t", "r", json!([user("m1", "2 + 3?")]))).await;
    let run = worker.run().await;
    say(&mut worker, &run, &sample::agent_event("a", "calculator", "It is 5.")).await;
    say(&mut worker, &run, &sample::agent_event("b", "math", "Is it?")).await;
    worker.end(&run, "finished").await;
    let events = rest(&mut stream).await;
    let subagents = events.iter().filter(|event| event["type"] == "SUBAGENT_STARTED");
    let names: Vec<_> = subagents.map(|event| &event["name"]).collect();
    assert_eq!(names, ["math"]);
}

#[tokio::test]
async fn the_same_request_sent_again_runs_nothing_twice_and_shows_the_run() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let request = input("t", "r", json!([user("m1", "2 + 3?")]));
    let mut first = post(&server.api, &request).await;
    let run = worker.run().await;
    // Its client is gone and comes back while the run goes on.
    first.next().await.unwrap();
    drop(first);
    let mut second = post(&server.api, &request).await;
    assert_eq!(second.next().await.unwrap().data()["type"], "RUN_STARTED");
    say(&mut worker, &run, &sample::agent_event("a", "math", "5")).await;
    worker.end(&run, "finished").await;
    let seen = rest(&mut second).await;
    assert!(seen.iter().any(|event| event["delta"] == "5"), "{seen:?}");
    assert_eq!(seen.last().unwrap()["type"], "RUN_FINISHED");
    // And again when it is over: the thread as it is, and no run.
    let third = rest(&mut post(&server.api, &request).await).await;
    let shown = third.iter().find(|event| event["type"] == "MESSAGES_SNAPSHOT").unwrap();
    let said: Vec<_> =
        shown["messages"].as_array().unwrap().iter().map(|m| (&m["role"], &m["content"])).collect();
    assert_eq!(said.last().unwrap(), &(&json!("assistant"), &json!("5")), "{shown}");
    // What is new is run, with everything known left out.
    let mut history = shown["messages"].as_array().unwrap().clone();
    history.push(user("m2", "And 1?"));
    let mut next = post(&server.api, &input("t", "r2", Value::Array(history))).await;
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message, json!({"role": "user", "parts": [{"text": "And 1?"}]}));
    worker.end(&run, "finished").await;
    rest(&mut next).await;
}

#[tokio::test]
async fn tools_of_the_front_end_end_the_run_and_their_results_go_on_with_it() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut request = input("t", "r", json!([user("m1", "Paint it")]));
    request["tools"] = json!([{"name": "paint", "description": "Paints.",
        "parameters": {"type": "object", "properties": {"colour": {"type": "string"}}, "additionalProperties": false}}]);
    let mut stream = post(&server.api, &request).await;
    let run = worker.run().await;
    let tools: Value = serde_json::from_slice(&run.client_tools_json).unwrap();
    assert_eq!(tools[0]["name"], "paint");
    assert_eq!(tools[0]["parameters"]["additionalProperties"], false);
    let calls = json!({"id": "1", "author": "math", "invocationId": "e", "longRunningToolIds": ["c1", "c2"],
        "content": {"role": "model", "parts": [
            {"functionCall": {"id": "c1", "name": "paint", "args": {"colour": "red"}}},
            {"functionCall": {"id": "c2", "name": "paint", "args": {"colour": "blue"}}}]}});
    say(&mut worker, &run, &calls).await;
    worker.end(&run, "finished").await;
    let events = rest(&mut stream).await;
    let end = events.last().unwrap();
    assert_eq!(end["outcome"]["pendingToolCallIds"], json!(["c1", "c2"]), "{end}");
    let args: Vec<_> =
        events.iter().filter(|e| e["type"] == "TOOL_CALL_ARGS").map(|e| &e["delta"]).collect();
    assert_eq!(args, [&json!(r#"{"colour":"red"}"#), &json!(r#"{"colour":"blue"}"#)]);

    // One result is not enough; nothing is run, and the other is still waited for.
    let assistant = json!({"id": "a", "role": "assistant", "toolCalls": [
        {"id": "c1", "type": "function", "function": {"name": "paint", "arguments": "{}"}},
        {"id": "c2", "type": "function", "function": {"name": "paint", "arguments": "{}"}}]});
    let two = json!({"id": "m3", "role": "tool", "toolCallId": "c2", "content": "done blue"});
    let some = input("t", "r2", json!([user("m1", "Paint it"), assistant, two]));
    let waiting = rest(&mut post(&server.api, &some).await).await;
    assert_eq!(
        waiting.last().unwrap()["outcome"]["pendingToolCallIds"],
        json!(["c1"]),
        "{waiting:?}"
    );

    // All of them, in any order, with something new beside them.
    let one = json!({"id": "m4", "role": "tool", "toolCallId": "c1", "content": "{\"ok\": true}"});
    let all = json!([user("m1", "Paint it"), assistant, two, one, user("m5", "And now?")]);
    let mut stream = post(&server.api, &input("t", "r3", all)).await;
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(
        message["parts"],
        json!([
            {"function_response": {"id": "c1", "name": "paint", "response": {"ok": true}}},
            {"function_response": {"id": "c2", "name": "paint", "response": {"result": "done blue"}}},
        ])
    );
    heard(&mut worker, &run).await;
    say(&mut worker, &run, &sample::agent_event("painted", "math", "Painted.")).await;
    worker.end(&run, "finished").await;
    // ADK takes no message with both: what is said comes next, in the same stream.
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message["parts"], json!([{"text": "And now?"}]));
    say(&mut worker, &run, &sample::agent_event("done", "math", "Done.")).await;
    worker.end(&run, "finished").await;
    let events = rest(&mut stream).await;
    let said: Vec<_> = events.iter().filter_map(|event| event["delta"].as_str()).collect();
    assert_eq!(said, ["Painted.", "Done."]);
    let ends = events.iter().filter(|event| event["type"] == "RUN_FINISHED").count();
    assert_eq!((ends, &events.last().unwrap()["type"]), (1, &json!("RUN_FINISHED")));
}

#[tokio::test]
async fn interrupts_are_answered_by_resume_where_they_are_wished_for() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut request = input("t", "r", json!([user("m1", "Delete it")]));
    request["forwardedProps"] = json!({"interrupts": true});
    let mut stream = post(&server.api, &request).await;
    let run = worker.run().await;
    let ask = json!({"id": "1", "author": "math", "invocationId": "e", "longRunningToolIds": ["q1"],
        "content": {"role": "model", "parts": [{"functionCall": {"id": "q1", "name": "adk_request_confirmation",
            "args": {"originalFunctionCall": {"id": "c1", "name": "delete", "args": {}}, "toolConfirmation": {"hint": "Really?"}}}}]}});
    say(&mut worker, &run, &ask).await;
    worker.end(&run, "finished").await;
    let end = rest(&mut stream).await.pop().unwrap();
    assert_eq!(
        (&end["outcome"]["type"], &end["outcome"]["interrupts"][0]["id"]),
        (&json!("interrupt"), &json!("q1"))
    );
    let mut resume = input("t", "r2", json!([user("m1", "Delete it")]));
    resume["resume"] = json!([{"interruptId": "other", "status": "resolved"}]);
    let refused = server.api.post("/ag-ui/math", &resume).await;
    refused.problem(422, "invalid");
    resume["resume"] =
        json!([{"interruptId": "q1", "status": "resolved", "payload": {"confirmed": true}}]);
    let mut stream = post(&server.api, &resume).await;
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    let response =
        json!({"id": "q1", "name": "adk_request_confirmation", "response": {"confirmed": true}});
    assert_eq!(message["parts"], json!([{"function_response": response}]));
    worker.end(&run, "finished").await;
    rest(&mut stream).await;
}

#[tokio::test]
async fn state_goes_both_ways() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut request = input("t", "r", json!([user("m1", "hello")]));
    request["state"] = json!({"colour": "red", "n": 1});
    let mut stream = post(&server.api, &request).await;
    let run = worker.run().await;
    let delta: Value = serde_json::from_slice(&run.state_delta_json).unwrap();
    assert_eq!(delta, json!({"colour": "red", "n": 1}));
    // ADK writes what came with the message, then a change of its own.
    let mut said = sample::user_event("u", "hello");
    said["actions"] = json!({"stateDelta": delta});
    say(&mut worker, &run, &said).await;
    let mut event = sample::agent_event("a", "math", "hi");
    event["actions"] = json!({"stateDelta": {"n": 2, "temp:x": 1}});
    say(&mut worker, &run, &event).await;
    worker.end(&run, "finished").await;
    let events = rest(&mut stream).await;
    let ops: Vec<_> = events
        .iter()
        .filter(|e| e["type"] == "STATE_DELTA")
        .flat_map(|e| e["delta"].as_array().unwrap())
        .collect();
    assert!(ops.iter().any(|op| op["path"] == "/n" && op["value"] == 2), "{events:?}");
    assert!(!events.iter().any(|event| event.to_string().contains("temp:x")), "{events:?}");
    let thread = server.api.get("/ag-ui/math/threads/t").await.json(200);
    assert_eq!(thread["state"], json!({"colour": "red", "n": 2}));
    // What the client did not change is not sent on.
    let history = json!([user("m1", "hello"), user("m2", "again")]);
    let mut request = input("t", "r2", history);
    request["state"] = json!({"colour": "green", "n": 2});
    let mut stream = post(&server.api, &request).await;
    let run = worker.run().await;
    let delta: Value = serde_json::from_slice(&run.state_delta_json).unwrap();
    assert_eq!(delta, json!({"colour": "green"}));
    worker.end(&run, "finished").await;
    rest(&mut stream).await;
}

#[tokio::test]
async fn a_run_that_fails_or_is_cancelled_says_so_once() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut stream = post(&server.api, &input("t", "r", json!([user("m1", "hello")]))).await;
    let run = worker.run().await;
    worker.end(&run, "failed").await;
    let events = rest(&mut stream).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_ERROR"]);
    assert_eq!(events[1]["code"], "agent_failed");

    // Whoever sat in the seat gave no answer, and the run came to its end.
    let mut stream = post(&server.api, &input("t1", "r", json!([user("m1", "hello")]))).await;
    let run = worker.run().await;
    let event =
        json!({"id": "x", "author": "math", "errorCode": "DISMISSED", "errorMessage": "not today"});
    say(&mut worker, &run, &event).await;
    worker.end(&run, "finished").await;
    let end = rest(&mut stream).await.pop().unwrap();
    assert_eq!(
        (&end["type"], &end["message"]),
        (&json!("RUN_ERROR"), &json!("DISMISSED: not today"))
    );

    let mut stream = post(&server.api, &input("t2", "r", json!([user("m1", "hello")]))).await;
    worker.run().await;
    assert_eq!(server.api.post("/ag-ui/math/threads/t2/cancel", &json!({})).await.status, 202);
    worker.cancellation().await;
    let events = rest(&mut stream).await;
    let end = events.last().unwrap();
    assert_eq!(
        (&end["type"], &end["outcome"]["type"]),
        (&json!("RUN_FINISHED"), &json!("cancelled"))
    );
    server.api.post("/ag-ui/math/threads/none/cancel", &json!({})).await.problem(404, "not_found");
}

#[tokio::test]
async fn a_run_is_taken_up_by_its_id() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut first = post(&server.api, &input("t", "r", json!([user("m1", "hello")]))).await;
    let run = worker.run().await;
    say(&mut worker, &run, &sample::user_event("u", "hello")).await;
    let call = json!({"id": "1", "author": "math", "invocationId": "e", "content": {"role": "model", "parts": [
        {"functionCall": {"id": "c1", "name": "add", "args": {"a": 2}}}]}});
    say(&mut worker, &run, &call).await;
    first.next().await.unwrap();
    let path = "/ag-ui/math/threads/t/runs/r";
    let mut second = server.api.stream(path).await;
    let result = json!({"id": "2", "author": "math", "invocationId": "e", "content": {"role": "user", "parts": [
        {"functionResponse": {"id": "c1", "name": "add", "response": {"result": 5}}}]}});
    say(&mut worker, &run, &result).await;
    say(&mut worker, &run, &sample::agent_event("3", "math", "5")).await;
    worker.end(&run, "finished").await;
    let events = rest(&mut second).await;
    let types = types(&events);
    assert_eq!((types[0], *types.last().unwrap()), ("RUN_STARTED", "RUN_FINISHED"), "{types:?}");
    assert!(
        types.contains(&"MESSAGES_SNAPSHOT") && types.contains(&"TOOL_CALL_RESULT"),
        "{types:?}"
    );
    let over = rest(&mut server.api.stream(path).await).await;
    assert_eq!(over.last().unwrap()["type"], "RUN_FINISHED");
    assert!(over.iter().any(|event| event.to_string().contains("\"5\"")), "{over:?}");
    server.api.get("/ag-ui/math/threads/t/runs/other").await.problem(404, "not_found");
}

#[tokio::test]
async fn what_cannot_be_read_or_sent_is_refused_before_the_stream() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let api = &server.api;
    api.post_text("/ag-ui/math", "{").await.problem(400, "bad_request");
    api.post("/ag-ui/math", &json!({})).await.problem(422, "invalid");
    let odd = input("t", "r", json!([{"id": "m", "role": "wizard", "content": "x"}]));
    let refused = api.post("/ag-ui/math", &odd).await.problem(422, "invalid");
    assert!(refused["detail"].as_str().unwrap().contains("wizard"), "{refused}");
    api.post("/ag-ui/nobody", &input("t", "r", json!([]))).await.problem(404, "unknown_agent");
    let request = api.request(Method::POST, "/ag-ui/math").json(&input("t", "r", json!([])));
    api.send(request.header("accept", "image/png")).await.problem(406, "not_acceptable");
    // One run at a time in a thread.
    let _stream = post(api, &input("t", "r", json!([user("m1", "hello")]))).await;
    let run = worker.run().await;
    let second = input("t", "r2", json!([user("m1", "hello"), user("m2", "hello?")]));
    let refused = api.post("/ag-ui/math", &second).await.problem(409, "run_in_progress");
    assert_eq!(refused["run_id"], run.run_id.as_str());
}

#[tokio::test]
async fn a_front_end_that_comes_too_early_is_told_when_to_come_back() {
    let server = TestServer::told(|config| config.serve.single = true).await;
    let early = server.api.post("/ag-ui/math", &input("t", "r", json!([user("m1", "hi")]))).await;
    early.problem(503, "not_ready");
    assert_eq!(early.header("retry-after"), "5");
}

#[tokio::test]
async fn protobuf_is_spoken_to_those_who_ask_for_it() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let api = server.api.clone();
    let request = api.request(Method::POST, "/ag-ui/math").json(&input(
        "t",
        "r",
        json!([user("m1", "hello")]),
    ));
    let request = request.header("accept", "application/vnd.ag-ui.event+proto");
    let answering = tokio::spawn(async move { request.send().await.unwrap() });
    let run = worker.run().await;
    say(&mut worker, &run, &sample::agent_event("a", "math", "hi")).await;
    worker.end(&run, "finished").await;
    let answer = answering.await.unwrap();
    assert_eq!(answer.headers()["content-type"], "application/vnd.ag-ui.event+proto");
    let body = answer.bytes().await.unwrap();
    let mut frames = 0;
    let mut at = 0;
    while at < body.len() {
        let length = u32::from_be_bytes(body[at..at + 4].try_into().unwrap()) as usize;
        at += 4 + length;
        frames += 1;
    }
    assert_eq!(at, body.len());
    assert!(frames >= 5, "{frames}");
}

#[tokio::test]
async fn capabilities_are_told() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let told = server.api.get("/ag-ui/math/capabilities").await.json(200);
    assert_eq!(told["identity"]["name"], "math");
    assert_eq!(
        told["transport"],
        json!({"streaming": true, "httpBinary": true, "resumable": true})
    );
    assert!(!told.to_string().contains("null"), "{told}");
}
