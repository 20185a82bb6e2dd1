//! Going back to a turn, in a session of its own.

use serde_json::{Value, json};

use hotseat_testkit::{Answer, Api, ScriptedWorker, TestServer, proto, sample};

async fn fork(api: &Api, session: &str, turn: &str) -> Answer {
    api.post(&format!("/api/v1/sessions/{session}/fork"), &json!({"turn_id": turn})).await
}

/// A run in which two turns were answered, and its worker.
async fn answered_twice(api: &Api) -> (ScriptedWorker, proto::StartRun, [String; 2]) {
    let mut worker = ScriptedWorker::attach(api, "w", "math").await;
    let id = api.session_with(&json!({"agent": "math", "user_id": "ada"})).await;
    api.query(&id, "2 + 3?").await.json(202);
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    let first = worker.grpc.ask(&id).await;
    api.decide(&id, &first, &sample::calls("add", &json!({"a": 2, "b": 3}))).await.json(200);
    let second = worker.grpc.ask(&id).await;
    api.decide(&id, &second, &sample::says("6")).await.json(200);
    (worker, run, [first, second])
}

/// What an event says, without what differs in a copy.
fn said(event: &Value) -> (Value, Value, Value) {
    let mut what = event["event"].clone();
    if event["kind"] == "run" {
        what["run_id"] = json!("(run)");
    }
    (event["kind"].clone(), event["turn_id"].clone(), what)
}

#[tokio::test]
async fn a_fork_stands_where_the_session_stood_before_the_answer() {
    let server = TestServer::sqlite().await;
    let (mut worker, run, [_, second]) = answered_twice(&server.api).await;
    let original = &run.session_id;
    let before = server.api.events(original).await;

    let forked = fork(&server.api, original, &second).await.json(201);
    let id = forked["id"].as_str().unwrap();
    assert_ne!(id, original);
    assert_eq!(forked["description"], "Fork of 2 + 3?");
    assert_eq!(
        [&forked["agent"], &forked["app_name"], &forked["user_id"], &forked["source"]],
        ["math", "math_app", "ada", "web"]
    );
    assert_eq!((&forked["state"], &forked["pending_turns"]), (&json!("active"), &json!(1)));

    let copied: Vec<_> = server.api.events(id).await.iter().map(said).collect();
    let prefix: Vec<_> = before.iter().take(5).map(said).collect();
    assert_eq!(copied, prefix, "all but the last answer");
    let pending = server.api.pending(id).await;
    assert_eq!(pending.len(), 1);
    assert_eq!((&pending[0]["turn_id"], &pending[0]["head"]), (&json!(second), &json!(true)));

    let resumed = worker.run().await;
    assert_eq!((resumed.session_id.as_str(), resumed.resume), (id, true));
    assert_ne!(resumed.run_id, run.run_id);
    assert_eq!(forked["run"]["run_id"], resumed.run_id);
    assert_eq!((&resumed.agent, &resumed.user_id), (&run.agent, &run.user_id));
    assert_eq!(resumed.message_json, run.message_json);

    server.api.decide(id, &second, &sample::says("5")).await.json(200);
    assert_eq!(server.api.events(original).await, before, "the original is as it was");
    assert_eq!(server.api.show(original).await["run"]["run_id"], run.run_id);
}

#[tokio::test]
async fn a_completed_session_can_be_forked() {
    let server = TestServer::scratch().await;
    let (mut worker, run, [first, _]) = answered_twice(&server.api).await;
    let open = worker.grpc.ask(&run.session_id).await;
    server.api.complete(&run.session_id).await;
    worker.cancellation().await;
    for (turn, events) in [(&first, 3), (&open, 7)] {
        let forked = fork(&server.api, &run.session_id, turn).await.json(201);
        let id = forked["id"].as_str().unwrap();
        assert_eq!((&forked["status"], &forked["last_seq"]), (&json!("active"), &json!(events)));
        assert_eq!(server.api.pending(id).await[0]["turn_id"], json!(turn));
        assert_eq!(worker.run().await.session_id, id);
    }
    assert_eq!(server.api.show(&run.session_id).await["status"], "completed");
}

#[tokio::test]
async fn a_fork_waits_for_a_worker() {
    let server = TestServer::scratch().await;
    let (worker, run, [first, _]) = answered_twice(&server.api).await;
    drop(worker);
    server.api.until_connected("math", false).await;
    let forked = fork(&server.api, &run.session_id, &first).await.json(201);
    assert_eq!(forked["run"]["worker_connected"], false);

    let mut next = ScriptedWorker::attach(&server.api, "w2", "math").await;
    let given = [next.run().await, next.run().await];
    let of_fork = given.iter().find(|given| forked["id"] == given.session_id).unwrap();
    assert_eq!((&json!(of_fork.run_id), of_fork.resume), (&forked["run"]["run_id"], true));
}

#[tokio::test]
async fn what_cannot_be_forked_is_refused() {
    let server = TestServer::scratch().await;
    let (_worker, run, [first, _]) = answered_twice(&server.api).await;
    let id = &run.session_id;
    let nobody = "00000000-0000-4000-8000-000000000000";
    fork(&server.api, id, nobody).await.problem(404, "turn_not_found");
    fork(&server.api, id, "first").await.problem(404, "turn_not_found");
    fork(&server.api, nobody, &first).await.problem(404, "session_not_found");
    let path = format!("/api/v1/sessions/{id}/fork");
    server.api.post(&path, &json!({})).await.problem(422, "invalid");

    let mut grpc = server.api.grpc().await;
    let request = proto::CreateSessionRequest {
        agent: "math".to_owned(),
        source: "plugin".to_owned(),
        ..Default::default()
    };
    let plugin = grpc.seat.create_session(request).await.unwrap().into_inner().id;
    let turn = grpc.ask(&plugin).await;
    fork(&server.api, &plugin, &turn).await.problem(409, "driven_by_program");
    let sessions = server.api.get("/api/v1/sessions").await.json(200);
    assert_eq!(sessions["items"].as_array().unwrap().len(), 2, "refused is not made");
}
