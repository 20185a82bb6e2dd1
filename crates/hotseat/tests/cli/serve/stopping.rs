//! How it stops, and what is there when it is back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinHandle;

use hotseat_testkit::providers::{Provider, Reply, Script};
use hotseat_testkit::{Answer, Api, HotseatProcess, soon};

use super::{desk, started};

fn chatting(api: &Api, body: Value) -> JoinHandle<Answer> {
    let api = api.clone();
    tokio::spawn(async move { api.post("/agent/desk/chat", &body).await })
}

/// Waits for the end of a process without keeping the runtime.
async fn ended(hotseat: HotseatProcess) -> hotseat_testkit::Ended {
    tokio::task::spawn_blocking(move || hotseat.ended()).await.unwrap()
}

async fn until_not_ready(api: &Api) {
    soon("the server to stop taking messages", async {
        while api.get("/ready").await.status == 200 {}
    })
    .await;
}

#[tokio::test]
async fn who_waits_gets_the_answer_before_it_ends() {
    let provider = Provider::start(Script::of([Reply::text("Hello.").then_held()])).await;
    let hotseat = started(&desk(&provider).argument("--drain-seconds=20")).await;
    let chat = chatting(&hotseat.api, json!({"message": "Hi"}));
    provider.until_held(1).await;
    let began = Instant::now();
    hotseat.send_signal("TERM");
    until_not_ready(&hotseat.api).await;
    hotseat.api.get("/ready").await.problem(503, "closing");
    let late = hotseat.api.post("/agent/desk/chat", &json!({"message": "Me too"})).await;
    late.problem(503, "closing");
    provider.release();
    assert_eq!(chat.await.unwrap().json(200)["content"], "Hello.");
    let ended = ended(hotseat).await;
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!(began.elapsed() < Duration::from_secs(20), "it does not wait for longer than needed");
}

#[tokio::test]
async fn a_run_that_does_not_end_keeps_it_no_longer_than_allowed() {
    let provider = Provider::start(Script::of([])).await;
    let launch = desk(&provider).argument("--drain-seconds=1").argument("--seat=human");
    let hotseat = started(&launch).await;
    let chat = chatting(&hotseat.api, json!({"message": "Hi"}));
    hotseat.api.until_turn().await;
    let began = Instant::now();
    hotseat.send_signal("TERM");
    chat.await.unwrap().problem(503, "closing");
    let ended = ended(hotseat).await;
    let took = began.elapsed();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert!((Duration::from_secs(1)..Duration::from_secs(10)).contains(&took), "{took:?}");
}

#[tokio::test]
async fn a_conversation_goes_on_after_a_restart() {
    let script = Script::of([Reply::text("Hello."), Reply::text("As I said.")]);
    let provider = Provider::start(script).await;
    let hotseat = started(&desk(&provider)).await;
    let first = chatting(&hotseat.api, json!({"message": "Hi"})).await.unwrap().json(200);
    let hotseat = hotseat.restart();
    hotseat.api.until_connected("desk", true).await;
    let next = json!({"message": "What?", "session_id": first["session_id"]});
    let second = chatting(&hotseat.api, next).await.unwrap().json(200);
    assert_eq!(
        (&second["content"], &second["session_id"]),
        (&json!("As I said."), &first["session_id"])
    );
    let asked = provider.last_asked().body["messages"].to_string();
    assert!(asked.contains("Hi") && asked.contains("Hello."), "{asked}");
}

#[tokio::test]
async fn a_turn_that_a_crash_left_open_is_answered_afterwards() {
    let provider = Provider::start(Script::of([])).await;
    let mut hotseat = started(&desk(&provider).argument("--seat=human")).await;
    let api = hotseat.api.clone();
    let chat = tokio::spawn(async move {
        let request = api.request("POST".parse().unwrap(), "/agent/desk/chat");
        api.try_send(request.json(&json!({"message": "Hi"}))).await
    });
    let (session, turn) = hotseat.api.until_turn().await;
    hotseat.kill();
    assert!(chat.await.unwrap().is_err(), "the connection is gone");
    let hotseat = hotseat.restart();
    hotseat.api.until_connected("desk", true).await;
    assert_eq!(hotseat.api.until_turn().await, (session.clone(), turn.clone()));
    let answer = json!({"candidates": [{"role": "model", "parts": [{"text": "Hello."}]}]});
    hotseat.api.decide(&session, &turn, &answer).await.json(200);
    let mut log = hotseat.api.stream(&format!("/api/v1/sessions/{session}/stream")).await;
    while hotseat.api.show(&session).await["run"].is_object() {
        log.next().await.expect("the run ends");
    }
    let log = hotseat.api.events(&session).await;
    let asked = log.iter().filter(|event| event["kind"] == "request").count();
    assert_eq!(asked, 1, "nobody is asked twice: {log:?}");
    let said = log.iter().filter(|event| event["event"]["author"] == "desk");
    let said: Vec<_> = said.map(|event| &event["event"]["content"]["parts"][0]["text"]).collect();
    assert_eq!(said, ["Hello."]);
}
