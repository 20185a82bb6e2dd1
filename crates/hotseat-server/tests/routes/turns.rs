//! Turns: asked over gRPC, answered over HTTP.

use serde_json::{Value, json};

use hotseat_testkit::{TestServer, sample};
use sample::{calls, says};

#[tokio::test]
async fn a_turn_waits_and_shows_what_the_model_would_see() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turn = grpc.ask(&id).await;
    let pending = server.api.pending(&id).await;
    let waiting = &pending[0];
    assert_eq!((&waiting["turn_id"], &waiting["session_id"]), (&json!(turn), &json!(id)));
    assert_eq!((&waiting["position"], &waiting["head"]), (&json!(1), &json!(true)));
    assert_eq!(
        (&waiting["agent_name"], &waiting["invocation_id"]),
        (&json!("root"), &json!("e-1"))
    );
    let request = &waiting["request"];
    assert_eq!(request["system_instruction"], "You are good at sums.");
    assert_eq!(request["contents"][0]["parts"][0]["text"], "What is 2 + 3?");
    assert_eq!(request["tools"][0]["name"], "add");
    assert_eq!(request["tools"][0]["parameters"]["properties"]["a"]["type"], "integer");
    assert_eq!(request["raw"], sample::llm_request("What is 2 + 3?"));

    let of_all = server.api.get("/api/v1/turns?state=pending").await.json(200);
    assert_eq!(of_all["items"][0]["turn_id"], turn);
    assert!(of_all["items"][0].get("request").is_none());
    let session = server.api.show(&id).await;
    assert_eq!((&session["pending_turns"], &session["state"]), (&json!(1), &json!("active")));
}

#[tokio::test]
async fn turns_are_answered_from_the_head() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turns = [grpc.ask(&id).await, grpc.ask(&id).await, grpc.ask(&id).await];
    let shown = async || -> Vec<(Value, Value, Value)> {
        let pending = server.api.pending(&id).await;
        let show = |turn: &Value| {
            (turn["turn_id"].clone(), turn["position"].clone(), turn["head"].clone())
        };
        pending.iter().map(show).collect()
    };
    let entry =
        |turn: &String, position: u64, head: bool| (json!(turn), json!(position), json!(head));
    assert_eq!(
        shown().await,
        [entry(&turns[0], 1, true), entry(&turns[1], 2, false), entry(&turns[2], 3, false)]
    );
    let problem =
        server.api.decide(&id, &turns[1], &says("no")).await.problem(409, "turn_not_head");
    assert!(problem["detail"].as_str().unwrap().contains(&turns[0]), "it says which is: {problem}");
    server.api.decide(&id, &turns[0], &says("one")).await.json(200);
    assert_eq!(shown().await, [entry(&turns[1], 1, true), entry(&turns[2], 2, false)]);
    server.api.decide(&id, &turns[1], &says("two")).await.json(200);
    server.api.decide(&id, &turns[2], &says("three")).await.json(200);
    assert!(shown().await.is_empty());

    let path = format!("/api/v1/sessions/{id}/turns");
    let all = server.api.get(&path).await.json(200);
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
    assert_eq!(all["items"][0]["position"], json!(null));
}

#[tokio::test]
async fn a_second_decision_is_refused_with_the_first() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turn = grpc.ask(&id).await;
    let first = server.api.decide(&id, &turn, &says("five")).await.json(200);
    assert_eq!((&first["seq"], &first["call_ids"]), (&json!(2), &json!([])));
    let dismiss = format!("/api/v1/sessions/{id}/turns/{turn}/dismiss");
    for second in [
        server.api.decide(&id, &turn, &says("six")).await,
        server.api.post(&dismiss, &json!({})).await,
    ] {
        let problem = second.problem(409, "turn_answered");
        assert_eq!(problem["decision"]["candidates"][0]["parts"][0]["text"], "five");
    }
    assert_eq!(server.api.events(&id).await.len(), 2);
    // Even in a completed session the answer that is there is what matters.
    server.api.complete(&id).await;
    server.api.decide(&id, &turn, &says("six")).await.problem(409, "turn_answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_tabs_one_decides() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turn = grpc.ask(&id).await;
    let tabs: Vec<_> = (0..12)
        .map(|tab| {
            let (api, id, turn) = (server.api.clone(), id.clone(), turn.clone());
            tokio::spawn(async move { api.decide(&id, &turn, &says(&format!("tab {tab}"))).await })
        })
        .collect();
    let (mut won, mut shown) = (0, Vec::new());
    for tab in tabs {
        let answer = tab.await.unwrap();
        if answer.status == 200 {
            won += 1;
        } else {
            shown.push(answer.problem(409, "turn_answered")["decision"].clone());
        }
    }
    assert_eq!(won, 1);
    let log = server.api.events(&id).await;
    assert_eq!(log.len(), 2);
    assert!(shown.iter().all(|decision| *decision == log[1]["event"]), "all see the winner's");
}

#[tokio::test]
async fn decisions_that_do_not_fit_are_refused_with_pointers() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turn = grpc.ask(&id).await;
    let call = "/candidates/0/parts/0/function_call";
    for (decision, pointers) in [
        (json!({}), vec!["/candidates".to_owned()]),
        (json!({"candidates": []}), vec!["/candidates".to_owned()]),
        (json!([]), vec![String::new()]),
        (json!({"candidates": [{"parts": []}]}), vec!["/candidates/0/parts".to_owned()]),
        (json!({"candidates": [{"role": "model"}]}), vec!["/candidates/0/parts".to_owned()]),
        (says(" "), vec!["/candidates/0/parts/0/text".to_owned()]),
        (calls("ad", &json!({})), vec![format!("{call}/name")]),
        (calls("add", &json!({"a": "1", "b": 2})), vec![format!("{call}/args/a")]),
        (calls("add", &json!({"a": 1.5, "b": 2})), vec![format!("{call}/args/a")]),
        (
            calls("add", &json!({"c": 1})),
            vec![format!("{call}/args/a"), format!("{call}/args/b"), format!("{call}/args/c")],
        ),
        (calls("add", &json!([1, 2])), vec![format!("{call}/args")]),
    ] {
        let problem =
            server.api.decide(&id, &turn, &decision).await.problem(422, "invalid_decision");
        let errors = problem["errors"].as_array().unwrap();
        let mut found: Vec<_> =
            errors.iter().map(|error| error["path"].as_str().unwrap()).collect();
        found.sort_unstable();
        assert_eq!(found, pointers, "{decision}: {problem}");
        assert!(errors.iter().all(|error| !error["message"].as_str().unwrap().is_empty()));
    }
    assert_eq!(server.api.pending(&id).await.len(), 1, "it still waits");
    assert_eq!(server.api.events(&id).await.len(), 1);
}

#[tokio::test]
async fn a_call_gets_an_id_and_keeps_big_integers() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turn = grpc.ask(&id).await;
    let path = format!("/api/v1/sessions/{id}/turns/{turn}/decision");
    let body = r#"{"candidates":[{"parts":[
        {"functionCall":{"name":"add","args":{"a":1180591620717411303424,"b":-9007199254740993}}},
        {"function_call":{"id":"mine","name":"add","args":{"a":1,"b":2}}}]}]}"#;
    let decided = server.api.post_text(&path, body).await.json(200);
    let ids = decided["call_ids"].as_array().unwrap();
    assert!(ids[0].as_str().unwrap().starts_with("adk-"), "{decided}");
    assert_eq!(ids[1], "mine");

    let listed = server.api.get(&format!("/api/v1/sessions/{id}/events?kind=response")).await;
    assert!(
        listed.body.contains(r#""a":1180591620717411303424,"b":-9007199254740993"#),
        "{}",
        listed.body
    );
    let log = listed.json(200);
    let event = &log["items"][0];
    assert_eq!((&event["author"], &event["turn_id"]), (&json!("human"), &json!(turn)));
    assert_eq!(
        (&event["event_id"], &event["invocation_id"]),
        (&decided["event_id"], &json!("e-1"))
    );
    let call = &event["event"]["candidates"][0]["parts"][0]["function_call"];
    assert_eq!(call["id"], ids[0]);
}

#[tokio::test]
async fn a_request_without_contents_can_be_answered() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    for (n, request) in
        [json!({}), json!({"contents": []}), json!({"contents": null, "config": {}})]
            .into_iter()
            .enumerate()
    {
        let turn = format!("00000000-0000-4000-8000-00000000000{n}");
        grpc.submit(&id, &turn, &request).await.unwrap();
        assert_eq!(server.api.pending(&id).await[0]["request"]["contents"], json!([]));
        server.api.decide(&id, &turn, &says("hello")).await.json(200);
    }
}

/// FR-016
#[tokio::test]
async fn an_answer_must_be_the_output_that_was_asked_for() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let mut request = sample::llm_request("2 + 3");
    request["config"]["responseJsonSchema"] =
        json!({"type": "object", "properties": {"sum": {"type": "integer"}}, "required": ["sum"]});
    let turn = "00000000-0000-4000-8000-000000000001";
    grpc.submit(&id, turn, &request).await.unwrap();
    for (text, pointer) in [("five", ""), (r#"{"sum":"5"}"#, "/sum"), ("{}", "/sum")] {
        let problem =
            server.api.decide(&id, turn, &says(text)).await.problem(422, "invalid_decision");
        assert_eq!(problem["errors"][0]["path"], format!("/candidates/0/parts/0/text{pointer}"));
    }
    server.api.decide(&id, turn, &says(r#"{"sum":5}"#)).await.json(200);
}

#[tokio::test]
async fn any_turn_can_be_dismissed() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turns = [grpc.ask(&id).await, grpc.ask(&id).await, grpc.ask(&id).await];
    let dismiss = |turn: &str| format!("/api/v1/sessions/{id}/turns/{turn}/dismiss");
    server.api.post(&dismiss(&turns[1]), &json!({"reason": "not today"})).await.json(200);
    server.api.send(server.api.request(reqwest::Method::POST, &dismiss(&turns[2]))).await.json(200);
    let log = server.api.events(&id).await;
    assert_eq!(log[3]["event"]["error"], json!({"code": "dismissed", "message": "not today"}));
    assert!(!log[4]["event"]["error"]["message"].as_str().unwrap().is_empty());
    assert_eq!(server.api.pending(&id).await.len(), 1);
    server.api.decide(&id, &turns[0], &says("ok")).await.json(200);
}

#[tokio::test]
async fn a_turn_of_nobody_is_not_found() {
    let server = TestServer::scratch().await;
    let (id, other) = (server.api.session().await, server.api.session().await);
    let mut grpc = server.api.grpc().await;
    let turn = grpc.ask(&other).await;
    for unknown in [turn.as_str(), "00000000-0000-4000-8000-00000000000f", "x"] {
        server.api.decide(&id, unknown, &says("?")).await.problem(404, "turn_not_found");
        let path = format!("/api/v1/sessions/{id}/turns/{unknown}/dismiss");
        server.api.post(&path, &json!({})).await.problem(404, "turn_not_found");
    }
}
