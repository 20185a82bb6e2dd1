//! Who sits in the seat of a native agent: chosen for the run, else for the agent, else
//! for the server.

use hotseat_core::Seat;
use serde_json::json;

use hotseat_testkit::providers::{Reply, Script};

use crate::native::{Desk, agui, message, until_turn};

fn model() -> Script {
    Script::always(Reply::text("The model."))
}

#[tokio::test]
async fn the_run_goes_before_the_agent_and_the_agent_before_the_server() {
    // By the server.
    let desk = Desk::told(model(), "", |config| config.seats.default = Seat::Model).await;
    assert_eq!(desk.chat(&message("Hi")).await.json(200)["content"], "The model.");
    // By the agent's file.
    let desk = Desk::told(model(), "seat: model\n", |_| {}).await;
    assert_eq!(desk.chat(&message("Hi")).await.json(200)["content"], "The model.");
    // By the server's list of agents.
    let human = |config: &mut hotseat_server::Config| {
        config.seats.agents.insert("desk".to_owned(), Seat::Human);
    };
    let desk = Desk::told(model(), "seat: model\n", human).await;
    let chat = desk.chatting("/agent/desk/chat", message("Hi"));
    until_turn(desk.api()).await;
    chat.abort();
    // By the run.
    let answer = desk.api().post("/agent/desk/chat?seat=model", &message("Hi")).await;
    assert_eq!(answer.json(200)["content"], "The model.");
    let mut request = agui("t", "r", "Hi");
    request["forwardedProps"] = json!({"seat": "model"});
    let mut stream = desk.post_stream("/ag-ui/desk", &request).await;
    while let Some(event) = stream.next().await {
        assert_ne!(event.data()["type"], "RUN_ERROR", "{event:?}");
    }
    let mut request = desk.adk_request("Hi").await;
    request["seat"] = json!("model");
    let told = desk.api().post("/run", &request).await.json(200);
    assert_eq!(told[0]["content"]["parts"][0]["text"], "The model.");
}

#[tokio::test]
async fn what_the_server_was_told_for_all_goes_before_the_agents_file() {
    let chosen = |config: &mut hotseat_server::Config| config.seats.chosen = Some(Seat::Model);
    let desk = Desk::told(model(), "seat: human\n", chosen).await;
    assert_eq!(desk.chat(&message("Hi")).await.json(200)["content"], "The model.");
    // What it was told for this agent goes before that.
    let desk = Desk::told(model(), "seat: model\n", |config| {
        config.seats.chosen = Some(Seat::Model);
        config.seats.agents.insert("desk".to_owned(), Seat::Human);
    })
    .await;
    let chat = desk.chatting("/agent/desk/chat", message("Hi"));
    until_turn(desk.api()).await;
    chat.abort();
}

#[tokio::test]
async fn the_choice_is_in_the_log_with_the_run() {
    let desk = Desk::told(model(), "seat: model\n", |_| {}).await;
    let answer = desk.chat(&message("Hi")).await.json(200);
    let session = crate::native::uuid_of(&answer["session_id"]);
    let log = desk.api().events(&session).await;
    let queued = log.iter().find(|event| event["kind"] == "run").unwrap();
    assert_eq!(queued["event"]["seat"], "model", "{queued}");
}

#[tokio::test]
async fn a_recording_that_the_agents_file_names_sits_there() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("set.json");
    let set = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "one", "conversation": [{
        "user_content": {"role": "user", "parts": [{"text": "2 + 3?"}]},
        "final_response": {"role": "model", "parts": [{"text": "5"}]},
    }]}]});
    std::fs::write(&file, set.to_string()).unwrap();
    let line = format!("seat: 'replay:{}'\n", file.display());
    let desk = Desk::told(model(), &line, |_| {}).await;
    assert_eq!(desk.chat(&message("2 + 3?")).await.json(200)["content"], "5");
    assert!(desk.provider.asked().is_empty());
}

#[tokio::test]
async fn a_seat_that_nobody_can_take_is_refused_before_anything_is_kept() {
    let desk = Desk::told(model(), "", |_| {}).await;
    let refused = desk.api().post("/agent/desk/chat?seat=replay", &message("Hi")).await;
    let problem = refused.problem(422, "invalid");
    assert!(problem["detail"].as_str().unwrap().contains("--seat replay:FILE"), "{problem}");
    desk.api().post("/agent/desk/chat?seat=throne", &message("Hi")).await.problem(422, "invalid");
    let sessions = desk.api().get("/api/v1/sessions").await.json(200);
    assert_eq!(sessions["items"], json!([]));
}
