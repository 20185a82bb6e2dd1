//! Queries, the runs they start, and the workers that run them.

use serde_json::{Value, json};
use tonic::Code;

use hotseat_testkit::{Api, ScriptedWorker, SseReader, TestServer, sample};

async fn session_with_math(api: &Api) -> String {
    api.session_with(&json!({"agent": "math"})).await
}

/// The log as it grows.
async fn follow(api: &Api, session: &str) -> SseReader {
    api.stream(&format!("/api/v1/sessions/{session}/stream")).await
}

/// Reads on until a run has this status.
async fn until_run(log: &mut SseReader, status: &str) -> Value {
    loop {
        let event = log.next_of("event").await.data();
        if event["kind"] == "run" && event["event"]["status"] == status {
            return event;
        }
    }
}

#[tokio::test]
async fn a_query_is_run_by_the_worker_and_answered_by_a_person() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    let accepted = server.api.query(&id, "2 + 3?").await.json(202);
    assert_eq!(accepted["seq"], 1);

    let run = worker.run().await;
    assert_eq!(
        (&run.session_id, &run.run_id),
        (&id, &accepted["run_id"].as_str().unwrap().to_owned())
    );
    assert_eq!((run.agent.as_str(), run.user_id.as_str(), run.resume), ("math", "local", false));
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message, json!({"role": "user", "parts": [{"text": "2 + 3?"}]}));
    let session = server.api.show(&id).await;
    assert_eq!((&session["state"], &session["title"]), (&json!("active"), &json!("2 + 3?")));
    assert_eq!(session["run"]["status"], "queued");
    assert_eq!(session["run"]["worker_connected"], true);

    worker.begin(&run).await.unwrap();
    assert_eq!(server.api.show(&id).await["run"]["status"], "started");
    let turn = worker.grpc.ask(&id).await;
    server.api.decide(&id, &turn, &sample::says("5")).await.json(200);
    worker.append(&run, "event", "", &sample::agent_event("a", "math", "5")).await.unwrap();
    let mut log = follow(&server.api, &id).await;
    worker.end(&run, "finished").await;
    until_run(&mut log, "finished").await;

    let session = server.api.show(&id).await;
    assert_eq!((&session["state"], &session["run"]), (&json!("awaiting_query"), &json!(null)));
    server.api.query(&id, "And 3 + 4?").await.json(202);
    assert_ne!(worker.run().await.run_id, run.run_id);
}

#[tokio::test]
async fn a_failure_says_why() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "2 + 3?").await.json(202);
    let run = worker.run().await;
    let mut log = follow(&server.api, &id).await;
    worker.end(&run, "exploded").await; // No such word: it is not taken.
    worker.end(&run, "failed").await;
    let failed = until_run(&mut log, "failed").await;
    assert_eq!(failed["event"]["error"]["type"], "ValueError");
    assert_eq!(failed["event"]["error"]["message"], "no");
    assert_eq!(server.api.show(&id).await["run"], json!(null));
}

#[tokio::test]
async fn queries_that_cannot_be_run_are_refused() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    let path = format!("/api/v1/sessions/{id}/query");
    for body in [
        json!({}),
        json!({"text": ""}),
        json!({"text": " \n"}),
        json!({"text": "a", "structured": {}}),
    ] {
        server.api.post(&path, &body).await.problem(422, "invalid");
    }
    let no_agent = server.api.session().await;
    server.api.query(&no_agent, "hello").await.problem(409, "no_agent");

    server.api.query(&id, "one").await.json(202);
    let run = worker.run().await;
    let problem = server.api.query(&id, "two").await.problem(409, "run_in_progress");
    assert!(problem["detail"].as_str().unwrap().contains(&run.run_id), "{problem}");

    let other = session_with_math(&server.api).await;
    server.api.complete(&other).await;
    server.api.query(&other, "more").await.problem(409, "session_completed");

    let third = session_with_math(&server.api).await;
    drop(worker);
    server.api.until_connected("math", false).await;
    server.api.query(&third, "anyone?").await.problem(409, "no_worker");
    assert!(server.api.events(&third).await.is_empty(), "refused is not queued");
}

/// FR-010
#[tokio::test]
async fn structured_queries_must_fit_the_agents_input() {
    let server = TestServer::scratch().await;
    let mut register = ScriptedWorker::registering("w", "math");
    register.agents[0].input_schema_json =
        r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#.into();
    let mut worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    let id = session_with_math(&server.api).await;
    let path = format!("/api/v1/sessions/{id}/query");
    let problem =
        server.api.post(&path, &json!({"structured": {"n": "x"}})).await.problem(422, "invalid");
    assert_eq!(problem["errors"][0]["path"], "/structured/n");
    server.api.post_text(&path, r#"{"structured": {"n": 1180591620717411303424}}"#).await.json(202);
    let message: Value = serde_json::from_slice(&worker.run().await.message_json).unwrap();
    assert_eq!(message["parts"][0]["text"], r#"{"n":1180591620717411303424}"#);
}

#[tokio::test]
async fn text_for_an_agent_with_an_input_schema_must_be_json_that_fits() {
    let server = TestServer::scratch().await;
    let mut register = ScriptedWorker::registering("w", "math");
    register.agents[0].input_schema_json =
        r#"{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}"#.into();
    let mut worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    let id = session_with_math(&server.api).await;
    let problem = server.api.query(&id, "two").await.problem(422, "invalid");
    assert!(problem["detail"].as_str().unwrap().contains("`structured`"), "{problem}");
    for (text, pointer) in [(r#"{"n": "x"}"#, "/text/n"), ("{}", "/text/n"), ("7", "/text")] {
        let problem = server.api.query(&id, text).await.problem(422, "invalid");
        assert_eq!(problem["errors"][0]["path"], pointer, "{problem}");
    }
    assert!(server.api.events(&id).await.is_empty(), "refused is not queued");
    server.api.query(&id, r#"{ "n": 2 }"#).await.json(202);
    let message: Value = serde_json::from_slice(&worker.run().await.message_json).unwrap();
    assert_eq!(message["parts"], json!([{"text": r#"{ "n": 2 }"#}]), "as it was written");
}

#[tokio::test]
async fn answers_to_what_adk_asked_are_sent_as_they_are() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    let path = format!("/api/v1/sessions/{id}/query");
    let confirmed =
        json!({"id": "adk-1", "name": "adk_request_confirmation", "response": {"confirmed": true}});
    let waited = json!({"id": "adk-2", "name": "book", "response": {"price": 1.5, "to": ["Rome"]}});
    for refused in [
        json!({"function_responses": []}),
        json!({"function_responses": [confirmed], "text": "yes"}),
        json!({"function_responses": [confirmed], "structured": {}}),
        json!({"function_responses": [{"id": "adk-1", "name": "book"}]}),
        json!({"function_responses": [{"id": "adk-1", "name": "book", "response": "yes"}]}),
        json!({"function_responses": [{"name": "book", "response": {}}]}),
    ] {
        server.api.post(&path, &refused).await.problem(422, "invalid");
    }
    assert!(server.api.events(&id).await.is_empty(), "refused is not queued");

    let body = json!({"function_responses": [confirmed, waited]});
    server.api.post(&path, &body).await.json(202);
    let message: Value = serde_json::from_slice(&worker.run().await.message_json).unwrap();
    let parts = json!([{"functionResponse": confirmed}, {"functionResponse": waited}]);
    assert_eq!(message, json!({"role": "user", "parts": parts}));
    assert_eq!(server.api.events(&id).await[0]["event"]["message"], message);
}

#[tokio::test]
async fn only_one_of_many_queries_is_taken() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    let queries = (0..8).map(|n| {
        let (api, id) = (server.api.clone(), id.clone());
        tokio::spawn(async move { api.query(&id, &format!("query {n}")).await })
    });
    let mut accepted = Vec::new();
    for answer in queries.collect::<Vec<_>>() {
        let answer = answer.await.unwrap();
        if answer.status == 202 {
            accepted.push(answer.json(202)["run_id"].clone());
        } else {
            answer.problem(409, "run_in_progress");
        }
    }
    assert_eq!(accepted, [json!(worker.run().await.run_id)]);
}

#[tokio::test]
async fn a_run_outlives_its_worker() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let (begun, queued) =
        (session_with_math(&server.api).await, session_with_math(&server.api).await);
    server.api.query(&begun, "one").await.json(202);
    let first = worker.run().await;
    worker.begin(&first).await.unwrap();
    let turn = worker.grpc.ask(&begun).await;
    server.api.query(&queued, "two").await.json(202);
    let second = worker.run().await;
    drop(worker);
    server.api.until_connected("math", false).await;

    let open = server.api.show(&begun).await;
    assert_eq!(
        (&open["run"]["run_id"], &open["run"]["status"]),
        (&json!(first.run_id), &json!("started"))
    );
    assert_eq!(open["run"]["worker_connected"], false);
    server.api.decide(&begun, &turn, &sample::says("5")).await.json(200);

    let mut next = ScriptedWorker::attach(&server.api, "w2", "math").await;
    let mut given = [next.run().await, next.run().await];
    given.sort_by_key(|run| run.run_id != first.run_id);
    assert_eq!((&given[0].run_id, given[0].resume), (&first.run_id, true));
    assert_eq!(given[0].message_json, first.message_json);
    assert_eq!((&given[1].run_id, given[1].resume), (&second.run_id, false), "it had not begun");
    let mut log = follow(&server.api, &begun).await;
    next.end(&given[0], "finished").await;
    until_run(&mut log, "finished").await;
}

#[tokio::test]
async fn a_worker_that_comes_back_is_not_given_what_it_works_on() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let ids = [session_with_math(&server.api).await, session_with_math(&server.api).await];
    server.api.query(&ids[0], "kept").await.json(202);
    let kept = worker.run().await;
    worker.begin(&kept).await.unwrap();
    server.api.query(&ids[1], "lost").await.json(202);
    let lost = worker.run().await;
    drop(worker);
    server.api.until_connected("math", false).await;

    let mut register = ScriptedWorker::registering("w", "math");
    register.active_run_ids = vec![kept.run_id.clone()];
    let mut worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    assert_eq!(worker.run().await.run_id, lost.run_id, "the other one comes, and comes first");
    let third = session_with_math(&server.api).await;
    server.api.query(&third, "new").await.json(202);
    assert_eq!(worker.run().await.session_id, third, "nothing was sent in between");
    // A second worker takes nothing away from the first.
    let mut other = ScriptedWorker::attach(&server.api, "other", "math").await;
    let fourth = session_with_math(&server.api).await;
    server.api.query(&fourth, "newer").await.json(202);
    assert_eq!(other.run().await.session_id, fourth);
}

#[tokio::test]
async fn a_worker_that_comes_back_is_told_what_ended_while_it_was_away() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut runs = Vec::new();
    for text in ["cancelled", "deleted", "kept"] {
        let id = session_with_math(&server.api).await;
        server.api.query(&id, text).await.json(202);
        runs.push(worker.run().await);
        worker.begin(&runs[runs.len() - 1]).await.unwrap();
    }
    drop(worker);
    server.api.until_connected("math", false).await;
    let session = |n: usize| format!("/api/v1/sessions/{}", runs[n].session_id);
    assert_eq!(server.api.post(&format!("{}/cancel", session(0)), &json!({})).await.status, 202);
    assert_eq!(server.api.delete(&session(1)).await.status, 204);

    let mut register = ScriptedWorker::registering("w", "math");
    register.active_run_ids = runs.iter().map(|run| run.run_id.clone()).collect();
    let mut worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    for ended in &runs[..2] {
        assert_eq!(worker.cancellation().await.run_id, ended.run_id);
    }
    let next = session_with_math(&server.api).await;
    server.api.query(&next, "new").await.json(202);
    assert_eq!(worker.run().await.session_id, next, "the kept one goes on undisturbed");
}

/// The person who gave the final response completes at once; the agent needs a moment more.
#[tokio::test]
async fn completion_right_after_the_last_answer_keeps_the_final_response() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "2 + 3?").await.json(202);
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    worker.append(&run, "event", "", &sample::user_event("u", "2 + 3?")).await.unwrap();
    let turn = worker.grpc.ask(&id).await;
    server.api.decide(&id, &turn, &sample::says("5")).await.json(200);

    let (completed, ()) = tokio::join!(server.api.complete(&id), async {
        // The request to complete is on its way before the worker goes on.
        assert_eq!(server.api.show(&id).await["status"], "active");
        worker.append(&run, "event", "", &sample::agent_event("a", "math", "5")).await.unwrap();
        worker.end(&run, "finished").await;
    });
    assert_eq!((&completed["status"], &completed["run"]), (&json!("completed"), &json!(null)));
    let log = server.api.events(&id).await;
    let runs: Vec<_> = log.iter().filter(|event| event["kind"] == "run").collect();
    assert_eq!(runs.last().unwrap()["event"]["status"], "finished", "it was not cancelled");
    let whole = server.api.get(&format!("/api/v1/sessions/{id}?include=history")).await.json(200);
    let last = whole["history"].as_array().unwrap().last().unwrap();
    assert_eq!((&last["type"], &last["content"]), (&json!("final_response"), &json!("5")));
    let trace = server.api.get(&format!("/api/v1/sessions/{id}/export")).await.json(200);
    let response = &trace["case"]["conversation"][0]["final_response"];
    assert_eq!(response["parts"][0]["text"], "5");
}

#[tokio::test]
async fn completion_stops_the_run() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "2 + 3?").await.json(202);
    let run = worker.run().await;
    worker.begin(&run).await.unwrap();
    let turns = [worker.grpc.ask(&id).await, worker.grpc.ask(&id).await];
    let mut subscription = worker.grpc.subscribe(&id, 4).await;

    let completed = server.api.complete(&id).await;
    assert_eq!((&completed["pending_turns"], &completed["run"]), (&json!(0), &json!(null)));
    assert_eq!(worker.cancellation().await.run_id, run.run_id);
    let mut seen = Vec::new();
    for _ in 0..5 {
        let event =
            hotseat_testkit::soon("an event", subscription.message()).await.unwrap().unwrap();
        if event.seq > 0 {
            seen.push((event.kind, event.turn_id));
        }
    }
    let response = |turn: &String| ("response".to_owned(), turn.clone());
    let no_turn = |kind: &str| (kind.to_owned(), String::new());
    assert_eq!(
        seen,
        [response(&turns[0]), response(&turns[1]), no_turn("run"), no_turn("session")]
    );
    let late = worker.append(&run, "event", "", &sample::agent_event("a", "math", "5")).await;
    assert_eq!(late.unwrap_err().code(), Code::FailedPrecondition);
    worker.end(&run, "cancelled").await;
    let other = session_with_math(&server.api).await;
    server.api.query(&other, "still there?").await.json(202);
    assert_eq!(worker.run().await.session_id, other);
    assert_eq!(server.api.events(&id).await.len(), 8);
}

#[tokio::test]
async fn a_cancelled_run_makes_room_for_the_next() {
    let server = TestServer::sqlite().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "one").await.json(202);
    let run = worker.run().await;
    let cancel = format!("/api/v1/sessions/{id}/cancel");
    assert_eq!(server.api.post(&cancel, &json!({})).await.status, 202);
    assert_eq!(worker.cancellation().await.run_id, run.run_id);
    // The worker had begun before it heard of it, and tells both afterwards.
    worker.begin(&run).await.unwrap();
    worker.end(&run, "cancelled").await;
    let session = server.api.show(&id).await;
    assert_eq!((&session["status"], &session["run"]), (&json!("active"), &json!(null)));
    server.api.query(&id, "two").await.json(202);
    assert_ne!(worker.run().await.run_id, run.run_id);
}

/// Of two workers with the same agent, the one that runs is the one that is told to stop.
#[tokio::test]
async fn a_cancellation_reaches_the_worker_that_runs() {
    let server = TestServer::scratch().await;
    let mut first = ScriptedWorker::attach(&server.api, "first", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "one").await.json(202);
    let run = first.run().await;
    let mut second = ScriptedWorker::attach(&server.api, "second", "math").await;
    server.api.post(&format!("/api/v1/sessions/{id}/cancel"), &json!({})).await;
    assert_eq!(first.cancellation().await.run_id, run.run_id);
    let other = session_with_math(&server.api).await;
    server.api.query(&other, "two").await.json(202);
    assert_eq!(second.run().await.session_id, other, "the other worker was not bothered");
}

#[tokio::test]
async fn deletion_stops_the_run() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "2 + 3?").await.json(202);
    let run = worker.run().await;
    server.api.delete(&format!("/api/v1/sessions/{id}")).await;
    assert_eq!(worker.cancellation().await.run_id, run.run_id);
    let mut next = ScriptedWorker::attach(&server.api, "w2", "math").await;
    let other = session_with_math(&server.api).await;
    server.api.query(&other, "hello").await.json(202);
    assert_eq!(next.run().await.session_id, other, "a deleted run is not resumed");
}

#[tokio::test]
async fn a_running_tool_can_be_cancelled() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = session_with_math(&server.api).await;
    server.api.query(&id, "2 + 3?").await.json(202);
    let run = worker.run().await;
    let tool =
        |call: &str, status: &str| json!({"call_id": call, "tool_name": "add", "status": status});
    worker.append(&run, "tool_run", "t1", &tool("adk-1", "started")).await.unwrap();
    worker.append(&run, "tool_run", "t2", &tool("adk-2", "started")).await.unwrap();
    worker.append(&run, "tool_run", "t3", &tool("adk-2", "succeeded")).await.unwrap();
    let cancel = |call: &str| format!("/api/v1/sessions/{id}/tools/{call}/cancel");
    for _ in 0..2 {
        assert_eq!(server.api.post(&cancel("adk-1"), &json!({})).await.status, 202);
    }
    server.api.post(&cancel("adk-2"), &json!({})).await.problem(404, "tool_not_running");
    let log = server.api.events(&id).await;
    let wishes: Vec<_> = log
        .iter()
        .filter(|event| event["event"]["status"] == "cancel_requested")
        .map(|event| (&event["event"]["call_id"], &event["agent_name"]))
        .collect();
    assert_eq!(wishes, [(&json!("adk-1"), &json!("math"))], "asked once");
}

#[tokio::test]
async fn runs_of_the_users_own_program_are_not_given_to_workers() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let request = hotseat_testkit::proto::CreateSessionRequest {
        agent: "math".to_owned(),
        source: "plugin".to_owned(),
        ..Default::default()
    };
    let id = grpc.seat.create_session(request).await.unwrap().into_inner().id;
    let started = hotseat_testkit::proto::NewEvent {
        kind: "run".to_owned(),
        raw_json: json!({"run_id": "e-1", "status": "started"}).to_string().into(),
        ..Default::default()
    };
    let append = hotseat_testkit::proto::AppendEventsRequest {
        session_id: id.clone(),
        events: vec![started],
        ..Default::default()
    };
    grpc.sessions.append_events(append).await.unwrap();
    let session = server.api.show(&id).await;
    assert_eq!((&session["source"], &session["state"]), (&json!("plugin"), &json!("active")));

    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    server.api.query(&id, "hello").await.problem(409, "driven_by_program");
    let other = session_with_math(&server.api).await;
    server.api.query(&other, "hello").await.json(202);
    assert_eq!(worker.run().await.session_id, other);
}
