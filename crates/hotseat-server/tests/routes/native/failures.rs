//! Providers that fail, and what of it is told.

use hotseat_core::Seat;
use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, KEY, agui, message};

/// A model that is asked once and given half a second.
const HASTY: &str = "model: {provider: openai, name: small, endpoint: 'ENDPOINT', api_key: sk-of-the-tests, retries: 0, idle_timeout: 500ms}";

async fn hasty(script: Script) -> Desk {
    Desk::told(script, HASTY, |config| config.seats.default = Seat::Model).await
}

#[tokio::test]
async fn a_failure_that_passes_is_not_noticed() {
    let script = Script::of([Reply::refuse(500, "overloaded"), Reply::text("Hello.")]);
    let desk = Desk::with_model(script).await;
    let answer = desk.chat(&message("Hi")).await;
    assert_eq!(answer.json(200)["content"], "Hello.");
    assert!(!answer.body.contains("overloaded"));
    assert_eq!(desk.provider.asked().len(), 2);
}

#[tokio::test]
async fn a_refusal_is_told_once_and_without_the_key() {
    let refusal = format!("Incorrect API key provided: {KEY}");
    let desk = hasty(Script::always(Reply::refuse(401, &refusal))).await;
    let answer = desk.chat(&message("Hi")).await;
    let problem = answer.problem(502, "agent_failed");
    assert!(problem["detail"].as_str().unwrap().contains("401"), "{problem}");

    let mut told = vec![answer.body];
    let mut stream = desk.stream(&message("Hi")).await;
    let error = stream.next_of("error").await;
    assert_eq!(
        (&error.data()["status"], &error.data()["code"]),
        (&json!(502), &json!("agent_failed"))
    );
    assert!(stream.next().await.is_none());
    told.push(error.text);

    let mut stream = desk.post_stream("/ag-ui/desk", &agui("t", "r", "Hi")).await;
    let mut types = Vec::new();
    while let Some(event) = stream.next().await {
        types.push(event.data()["type"].clone());
        told.push(event.text);
    }
    assert_eq!(types, ["RUN_STARTED", "RUN_ERROR"]);

    let request = desk.adk_request("Hi").await;
    let whole = desk.api().post("/run", &request).await;
    whole.problem(500, "agent_failed");
    let mut stream = desk.post_stream("/run_sse", &request).await;
    let event = stream.next().await.unwrap();
    assert!(event.data()["error"].as_str().unwrap().contains("401"), "{event:?}");
    assert!(stream.next().await.is_none());
    told.extend([whole.body, event.text]);

    let sessions = desk.api().get("/api/v1/sessions").await.json(200);
    for session in sessions["items"].as_array().unwrap() {
        let log = desk.api().events(session["id"].as_str().unwrap()).await;
        told.push(Value::from(log).to_string());
    }
    told.push(desk.api().get("/api/v1/agents").await.body);
    assert!(told.iter().all(|text| !text.contains(KEY)), "{told:?}");
}

#[tokio::test]
async fn a_provider_that_falls_silent_is_given_up() {
    let desk = hasty(Script::of([Reply::text("Well").then_held()])).await;
    let mut stream = desk.stream(&message("Hi")).await;
    let error = stream.next_of("error").await.data();
    assert_eq!(error["code"], "agent_failed");
    assert!(error["detail"].as_str().unwrap().contains("500ms"), "it says how long: {error}");
    desk.provider.until_hung_up(1).await;
}

#[tokio::test]
async fn a_session_goes_on_after_a_failure() {
    let script = Script::of([Reply::text("We").then_cut(), Reply::text("Hello again.")]);
    let desk = hasty(script).await;
    let mut stream = desk.stream(&message("Hi")).await;
    let session = stream.next_of("stream_start").await.data()["session_id"].clone();
    stream.next_of("error").await;
    let again = json!({"message": "And now?", "session_id": session});
    assert_eq!(desk.chat(&again).await.json(200)["content"], "Hello again.");
}

#[tokio::test]
async fn an_agent_that_cannot_be_opened_is_shown_as_a_problem() {
    let desk = Desk::with_model(Script::of([])).await;
    let text = "name: odd\ninstructions: x\nseat: replay:missing.json\n";
    std::fs::write(desk.file("agent.yaml"), text).unwrap();
    let file = hotseat_agent::AgentFile::read(&desk.file("agent.yaml"), &|_| None).unwrap();
    let mut changes = desk.api().stream("/api/v1/stream").await;
    changes.next_of("ready").await;
    tokio::spawn(desk.server.app.clone().host_native(file));
    changes.next_of("agents").await;
    let agents = desk.api().get("/api/v1/agents").await.json(200);
    let problem = agents["problems"][0]["message"].as_str().unwrap();
    assert!(problem.contains("`missing.json`"), "{agents}");
}
