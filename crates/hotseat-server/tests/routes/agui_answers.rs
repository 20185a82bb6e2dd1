//! Calls that wait for a front end, and what it answers.

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::StartRun;
use hotseat_testkit::{Api, ScriptedWorker, TestServer};

use crate::agui::{heard, input, post, rest, say, types, user};

fn tool(id: &str, call: &str, content: &str) -> Value {
    json!({"id": id, "role": "tool", "toolCallId": call, "content": content})
}

fn message(run: &StartRun) -> Value {
    serde_json::from_slice(&run.message_json).unwrap()
}

/// A thread whose run ended with calls of a tool that nobody has answered.
async fn waiting(api: &Api, worker: &mut ScriptedWorker, thread: &str, calls: &[&str], name: &str) {
    let path = "/ag-ui/math?interrupts=true";
    let request = input(thread, "r", json!([user("m1", "Do it")]));
    let mut stream = api.stream_with(api.request(Method::POST, path).json(&request)).await;
    let run = worker.run().await;
    let parts: Vec<_> = calls
        .iter()
        .map(|id| json!({"functionCall": {"id": id, "name": name, "args": {"toolConfirmation": {"hint": "Really?"}}}}))
        .collect();
    let asked = json!({"id": format!("{thread}-1"), "author": "math", "invocationId": "e", "longRunningToolIds": calls,
        "content": {"role": "model", "parts": parts}});
    say(worker, &run, &asked).await;
    worker.end(&run, "finished").await;
    let end = rest(&mut stream).await.pop().unwrap();
    assert_eq!(end["outcome"]["type"], "interrupt", "as the address says: {end}");
    let ids: Vec<_> =
        end["outcome"]["interrupts"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, calls);
}

#[tokio::test]
async fn a_confirmation_is_answered_by_a_plain_tool_message_in_a_form_that_adk_reads() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let answers = [
        ("true", None, json!({"confirmed": true})),
        ("false", None, json!({"confirmed": false})),
        ("yes", None, json!({"confirmed": true})),
        ("Approved.", None, json!({"confirmed": true})),
        ("no", None, json!({"confirmed": false, "payload": "no"})),
        ("perhaps", None, json!({"confirmed": false, "payload": "perhaps"})),
        ("", None, json!({"confirmed": false})),
        ("[1]", None, json!({"confirmed": false, "payload": [1]})),
        (r#"{"confirmed": true}"#, None, json!({"confirmed": true})),
        (
            r#"{"confirmed": true, "payload": {"seats": 2}, "hint": "Really?"}"#,
            None,
            json!({"confirmed": true, "payload": {"seats": 2}}),
        ),
        (
            r#"{"accepted": true, "steps": [1]}"#,
            None,
            json!({"confirmed": true, "payload": {"steps": [1]}}),
        ),
        (r#"{"seats": 2}"#, None, json!({"confirmed": false, "payload": {"seats": 2}})),
        (
            "yes",
            Some("the card broke"),
            json!({"confirmed": false, "payload": {"error": "the card broke"}}),
        ),
    ];
    for (number, (content, error, response)) in answers.into_iter().enumerate() {
        let thread = format!("t{number}");
        waiting(&server.api, &mut worker, &thread, &["q1"], "adk_request_confirmation").await;
        let mut answer = tool("m2", "q1", content);
        if let Some(error) = error {
            answer["error"] = json!(error);
        }
        let request = input(&thread, "r2", json!([user("m1", "Do it"), answer]));
        let mut stream = post(&server.api, &request).await;
        let run = worker.run().await;
        let given = &message(&run)["parts"][0]["function_response"]["response"];
        assert_eq!(given, &response, "{content}");
        worker.end(&run, "finished").await;
        rest(&mut stream).await;
    }
}

#[tokio::test]
async fn while_a_result_is_missing_nothing_runs_and_nothing_that_was_said_is_lost() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    waiting(&server.api, &mut worker, "t", &["c1", "c2"], "paint").await;
    let mut messages = vec![user("m1", "Do it"), user("m2", "Hurry!")];
    // What the user says alone waits as well, and so does one result without the other.
    for (run, more, missing) in
        [("r2", None, json!(["c1", "c2"])), ("r3", Some(tool("m3", "c2", "blue")), json!(["c1"]))]
    {
        messages.extend(more);
        let events = rest(&mut post(&server.api, &input("t", run, messages.clone())).await).await;
        assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
        assert_eq!(events[1]["outcome"], json!({"type": "success", "pendingToolCallIds": missing}));
    }
    // Whoever wishes for interrupts is told the same in their way.
    let path = "/ag-ui/math?interrupts=true";
    let request = server.api.request(Method::POST, path).json(&input("t", "r4", messages.clone()));
    let end = rest(&mut server.api.stream_with(request).await).await.pop().unwrap();
    assert_eq!(end["outcome"]["interrupts"][0]["id"], "c1", "{end}");
    // Nothing new at all, and the calls are still waited for.
    let known = input("t", "r5", json!([user("m1", "Do it")]));
    let end = rest(&mut post(&server.api, &known).await).await.pop().unwrap();
    assert_eq!(end["outcome"]["pendingToolCallIds"], json!(["c1", "c2"]));
    // With the last result everything goes on at once.
    messages.extend([user("m4", "And now?"), tool("m5", "c1", "red")]);
    let mut stream = post(&server.api, &input("t", "r6", messages)).await;
    let run = worker.run().await;
    let result = |id: &str, colour: &str| json!({"function_response": {"id": id, "name": "paint", "response": {"result": colour}}});
    assert_eq!(message(&run)["parts"], json!([result("c1", "red"), result("c2", "blue")]));
    heard(&mut worker, &run).await;
    worker.end(&run, "finished").await;
    let run = worker.run().await;
    assert_eq!(message(&run)["parts"], json!([{"text": "Hurry!"}, {"text": "And now?"}]));
    worker.end(&run, "finished").await;
    assert_eq!(rest(&mut stream).await.last().unwrap()["type"], "RUN_FINISHED");
}

#[tokio::test]
async fn a_conversation_that_went_on_elsewhere_waits_for_no_result_but_takes_it() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    waiting(&server.api, &mut worker, "t", &["c1"], "paint").await;
    let session = server.api.get("/ag-ui/math/threads/t").await.json(200)["sessionId"].clone();
    server.api.query(session.as_str().unwrap(), "Never mind").await.json(202);
    let run = worker.run().await;
    say(&mut worker, &run, &hotseat_testkit::sample::user_event("u", "Never mind")).await;
    worker.end(&run, "finished").await;
    let mut messages = vec![user("m1", "Do it"), user("m2", "Something else")];
    for (run_id, more, parts) in [
        ("r2", None, json!([{"text": "Something else"}])),
        (
            "r3",
            Some(tool("m3", "c1", "red")),
            json!([{"function_response": {"id": "c1", "name": "paint", "response": {"result": "red"}}}]),
        ),
    ] {
        messages.extend(more);
        let path = "/ag-ui/math?queue=true";
        let request =
            server.api.request(Method::POST, path).json(&input("t", run_id, messages.clone()));
        let mut stream = server.api.stream_with(request).await;
        let run = worker.run().await;
        assert_eq!(message(&run)["parts"], parts);
        worker.end(&run, "finished").await;
        rest(&mut stream).await;
    }
}
