//! A recording in the seat.

use hotseat_core::Seat;
use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, agui, message, player, recording, texts};

fn one(asked: &str, answered: &str) -> Value {
    recording(&[vec![(asked.to_owned(), answered.to_owned())]])
}

async fn desk(script: Script, recording: &Value) -> Desk {
    let player = player(recording);
    Desk::told(script, "", |config| {
        config.seats.default = Seat::Replay;
        config.seats.recording = Some(player);
    })
    .await
}

#[tokio::test]
async fn a_recording_answers_over_every_protocol() {
    let desk = desk(Script::of([]), &one("2 + 3?", "5")).await;
    assert_eq!(desk.chat(&message("2 + 3?")).await.json(200)["content"], "5");
    let mut stream = desk.stream(&message("2 + 3?")).await;
    assert_eq!(stream.next_of("stream_end").await.data()["content"], "5");
    let mut stream = desk.post_stream("/ag-ui/desk", &agui("t", "r", "2 + 3?")).await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.data());
    }
    assert!(events.iter().any(|event| event["delta"] == "5"), "{events:?}");
    assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED");
    let request = desk.adk_request("2 + 3?").await;
    let told = desk.api().post("/run", &request).await.json(200);
    assert_eq!(told[0]["content"]["parts"][0]["text"], "5");
    // In the same session again: it asks the same, so it is answered the same.
    let mut stream = desk.post_stream("/run_sse", &request).await;
    let told = stream.next().await.unwrap().data();
    assert_eq!(told["content"]["parts"][0]["text"], "5", "{told}");
    assert!(desk.provider.asked().is_empty(), "no model was needed");
}

#[tokio::test]
async fn recorded_calls_run_the_real_tool() {
    let recorded = json!({"eval_set_id": "s", "eval_cases": [{"eval_id": "one", "conversation": [{
        "user_content": {"role": "user", "parts": [{"text": "Shout hello"}]},
        "intermediate_data": {"tool_uses": [{"id": "c", "name": "shout", "args": {"text": "hello"}}]},
        "final_response": {"role": "model", "parts": [{"text": "I did."}]},
    }]}]});
    let desk = desk(Script::of([Reply::text("HELLO")]), &recorded).await;
    let answer = desk.chat(&message("Shout hello")).await.json(200);
    assert_eq!(answer["content"], "I did.");
    assert_eq!(answer["tool_calls"][0]["status"], "success");
    assert!(texts(&desk.provider.last_asked().body).contains("Shout: hello"));
}

#[tokio::test]
async fn what_a_recording_does_not_hold_is_a_failure_that_names_it() {
    let case = |asked: &str, answered: &str| vec![(asked.to_owned(), answered.to_owned())];
    let recording = recording(&[case("2 + 3?", "5"), case("3 + 3?", "6")]);
    let desk = desk(Script::of([]), &recording).await;
    let problem = desk.chat(&message("2 + 4?")).await.problem(502, "agent_failed");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("2 + 4?") && detail.contains("2 + 3?"), "{detail}");
    let mut stream = desk.post_stream("/ag-ui/desk", &agui("t", "r", "2 + 4?")).await;
    let mut last = Value::Null;
    while let Some(event) = stream.next().await {
        last = event.data();
    }
    assert_eq!((&last["type"], &last["code"]), (&json!("RUN_ERROR"), &json!("agent_failed")));
}
