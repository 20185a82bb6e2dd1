//! The state that a front end and an agent share.

use serde_json::{Value, json};

use hotseat_testkit::{Api, ScriptedWorker, TestServer, sample};

use crate::agui::{input, post, rest, say, types, user};

const STATE: &str = "/ag-ui/math/threads/t";

/// A run in which the state becomes `{"colour": "red", "n": 2}`, and the ids of its messages.
async fn begun(api: &Api, worker: &mut ScriptedWorker) -> Vec<Value> {
    let mut request = input("t", "r", json!([user("m1", "hello")]));
    request["state"] = json!({"colour": "red", "n": 1});
    let mut stream = post(api, &request).await;
    let run = worker.run().await;
    let mut said = sample::user_event("u", "hello");
    said["actions"] = json!({"stateDelta": {"colour": "red", "n": 1}});
    say(worker, &run, &said).await;
    let mut event = sample::agent_event("a", "math", "hi");
    event["actions"] = json!({"stateDelta": {"n": 2}});
    say(worker, &run, &event).await;
    worker.end(&run, "finished").await;
    rest(&mut stream).await;
    api.get(STATE).await.json(200)["messages"].as_array().unwrap().clone()
}

async fn bring(api: &Api, run: &str, messages: Vec<Value>, state: Value) -> Vec<Value> {
    let mut request = input("t", run, messages);
    request["state"] = state;
    rest(&mut post(api, &request).await).await
}

#[tokio::test]
async fn a_state_that_comes_without_a_message_is_kept_and_nothing_runs() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let messages = begun(&server.api, &mut worker).await;
    let new = json!({"colour": "green", "n": 2, "list": [1]});
    let events = bring(&server.api, "r2", messages.clone(), new.clone()).await;
    assert_eq!(
        types(&events),
        ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    );
    assert_eq!(events[1]["snapshot"], new);
    let thread = server.api.get(STATE).await.json(200);
    assert_eq!((&thread["state"], thread.get("runId")), (&new, None));
    // The next run has it, and what was said is as it was.
    assert_eq!(thread["messages"], Value::Array(messages.clone()));
    let log = server.api.events(thread["sessionId"].as_str().unwrap()).await;
    let runs = log.iter().filter(|entry| entry["event"]["status"] == "queued").count();
    assert_eq!(runs, 1);
    // The same again changes nothing, and writes nothing.
    bring(&server.api, "r3", messages, new).await;
    assert_eq!(server.api.events(thread["sessionId"].as_str().unwrap()).await.len(), log.len());
}

#[tokio::test]
async fn keys_that_a_front_end_does_not_have_stay_and_null_empties_one() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let messages = begun(&server.api, &mut worker).await;
    for (run, state) in [("r2", json!({})), ("r3", Value::Null), ("r4", json!({"n": 2}))] {
        bring(&server.api, run, messages.clone(), state).await;
        let thread = server.api.get(STATE).await.json(200);
        assert_eq!(thread["state"], json!({"colour": "red", "n": 2}), "{run}");
    }
    let events = bring(&server.api, "r5", messages, json!({"colour": null})).await;
    assert_eq!(events[1]["snapshot"], json!({"colour": null, "n": 2}));
}

#[tokio::test]
async fn a_state_from_before_what_was_said_last_is_not_kept() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let messages = begun(&server.api, &mut worker).await;
    let old = json!({"colour": "red", "n": 1});
    // The request that began the run, sent again; a client that left before its answer; the same in a thread that is not there.
    bring(&server.api, "r", messages.clone(), old.clone()).await;
    bring(&server.api, "r2", vec![user("m1", "hello")], old.clone()).await;
    assert_eq!(server.api.get(STATE).await.json(200)["state"], json!({"colour": "red", "n": 2}));
    let mut elsewhere = input("nowhere", "r", json!([]));
    elsewhere["state"] = old;
    let events = rest(&mut post(&server.api, &elsewhere).await).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
    server.api.get("/ag-ui/math/threads/nowhere").await.problem(404, "not_found");
}
