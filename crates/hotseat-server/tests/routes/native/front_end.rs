//! The state that a front end shares with a native agent.

use hotseat_core::Seat;
use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, agui, texts};

/// Sends a request and gives the types of its events and the state that its client has then.
async fn run(desk: &Desk, request: &Value) -> (Vec<String>, Value) {
    let mut stream = desk.post_stream("/ag-ui/desk", request).await;
    let (mut types, mut state) = (Vec::new(), json!({}));
    while let Some(message) = stream.next().await {
        let event = message.data();
        types.push(event["type"].as_str().unwrap().to_owned());
        if event["type"] == "STATE_SNAPSHOT" {
            state = event["snapshot"].clone();
        }
        for change in event["delta"].as_array().into_iter().flatten() {
            state[change["path"].as_str().unwrap().trim_start_matches('/')] =
                change["value"].clone();
        }
    }
    (types, state)
}

#[tokio::test]
async fn it_is_in_the_instruction_and_comes_back_with_what_the_agent_adds() {
    let more = "instructions: {inline: 'Answer in {language}.'}\noutput_key: last";
    let script = Script::of([Reply::text("Hallo."), Reply::text("Bonjour.")]);
    let desk = Desk::told(script, more, |config| config.seats.default = Seat::Model).await;
    let told = |desk: &Desk| texts(&desk.provider.last_asked().body["messages"]);
    let mut request = agui("t", "r1", "Hi");
    request["state"] = json!({"language": "German"});
    let (_, state) = run(&desk, &request).await;
    assert!(told(&desk).contains("Answer in German."), "{}", told(&desk));
    assert_eq!(state, json!({"language": "German", "last": "Hallo."}));

    // The front end changes it without saying anything.
    let thread = desk.api().get("/ag-ui/desk/threads/t").await.json(200);
    request["runId"] = json!("r2");
    request["messages"] = thread["messages"].clone();
    request["state"] = json!({"language": "French", "last": "Hallo."});
    let (types, state) = run(&desk, &request).await;
    assert_eq!(types, ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    assert_eq!((state, desk.provider.asked().len()), (request["state"].clone(), 1));

    let (_, state) = run(&desk, &agui("t", "r3", "Hi again")).await;
    assert!(told(&desk).contains("Answer in French."), "{}", told(&desk));
    assert_eq!(state, json!({"language": "French", "last": "Bonjour."}));
}
