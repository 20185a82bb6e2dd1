//! A person in the seat.

use serde_json::{Value, json};

use hotseat_testkit::Api;
use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, agui, message, texts, until_turn, uuid_of};

pub(super) fn says(text: &str) -> Value {
    json!({"candidates": [{"role": "model", "parts": [{"text": text}]}]})
}

pub(super) fn calls(name: &str, args: &Value) -> Value {
    json!({"candidates": [{"role": "model", "parts": [{"function_call": {"name": name, "args": args}}]}]})
}

/// Waits for a turn, answers it and gives it.
pub(super) async fn decide(api: &Api, decision: &Value) -> Value {
    let turn = until_turn(api).await;
    let id = |key: &str| turn[key].as_str().unwrap().to_owned();
    api.decide(&id("session_id"), &id("turn_id"), decision).await.json(200);
    turn
}

#[tokio::test]
async fn a_person_sees_the_request_calls_a_tool_and_answers() {
    let desk = Desk::with_person(Script::of([Reply::text("HELLO")])).await;
    let chat = desk.chatting("/agent/desk/chat", message("Shout hello"));
    let first = decide(desk.api(), &calls("shout", &json!({"text": "hello"}))).await;
    let request = &first["request"];
    assert_eq!(request["system_instruction"], "You help at the desk.");
    assert_eq!(request["contents"], json!([{"role": "user", "parts": [{"text": "Shout hello"}]}]));
    let tool = &request["tools"][0];
    assert_eq!((&tool["name"], &tool["description"]), (&json!("shout"), &json!("Shouts.")));
    assert_eq!(tool["parameters"]["properties"]["text"]["type"], "string");
    let second = decide(desk.api(), &says("I did.")).await;
    let result = second["request"]["contents"][2]["parts"][0]["function_response"].clone();
    assert_eq!(result["response"], json!({"result": "HELLO"}), "{second}");
    assert_eq!(desk.provider.asked().len(), 1, "only the tool asked the model");

    let answer = chat.await.unwrap().json(200);
    assert_eq!((&answer["content"], &answer["tokens_used"]), (&json!("I did."), &Value::Null));
    assert_eq!(answer["tool_calls"][0]["status"], "success");
    assert_eq!(uuid_of(&answer["session_id"]), first["session_id"]);
}

#[tokio::test]
async fn a_decision_that_does_not_fit_is_refused_and_the_turn_waits_on() {
    let schema =
        "response_format: {type: object, properties: {sum: {type: integer}}, required: [sum]}";
    let desk = Desk::told(Script::of([]), schema, |_| {}).await;
    let chat = desk.chatting("/agent/desk/chat", message("2 + 3?"));
    let turn = until_turn(desk.api()).await;
    let (session, id) = (turn["session_id"].as_str().unwrap(), turn["turn_id"].as_str().unwrap());
    for wrong in [calls("shout", &json!({"text": 5})), calls("nothing", &json!({}))] {
        desk.api().decide(session, id, &wrong).await.problem(422, "invalid_decision");
    }
    desk.api().decide(session, id, &says("{\"sum\": 5}")).await.json(200);
    assert_eq!(chat.await.unwrap().json(200)["content"], "{\"sum\": 5}");
}

#[tokio::test]
async fn a_dismissed_turn_ends_the_chat_with_its_reason() {
    let desk = Desk::with_person(Script::of([])).await;
    let chat = desk.chatting("/agent/desk/chat", message("Hi"));
    let turn = until_turn(desk.api()).await;
    let path = format!(
        "/api/v1/sessions/{}/turns/{}/dismiss",
        turn["session_id"].as_str().unwrap(),
        turn["turn_id"].as_str().unwrap()
    );
    desk.api().post(&path, &json!({"reason": "out for lunch"})).await.json(200);
    let problem = chat.await.unwrap().problem(502, "agent_failed");
    assert!(problem["detail"].as_str().unwrap().contains("out for lunch"), "{problem}");
}

#[tokio::test]
async fn every_protocol_waits_for_the_person() {
    let desk = Desk::with_person(Script::of([])).await;
    let mut stream = desk.stream(&message("over a stream")).await;
    decide(desk.api(), &says("to the stream")).await;
    assert_eq!(stream.next_of("stream_end").await.data()["content"], "to the stream");

    let mut stream = desk.post_stream("/ag-ui/desk", &agui("t", "r", "over AG-UI")).await;
    let turn = decide(desk.api(), &says("to the front end")).await;
    assert_eq!(turn["request"]["contents"][0]["parts"][0]["text"], "over AG-UI");
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.data());
    }
    assert!(texts(&Value::from(events.clone())).contains("to the front end"), "{events:?}");
    assert_eq!(events.last().unwrap()["type"], "RUN_FINISHED");

    let request = desk.adk_request("over ADK").await;
    let run = desk.chatting("/run", request.clone());
    decide(desk.api(), &says("to ADK")).await;
    let told = run.await.unwrap().json(200);
    assert_eq!(told[0]["content"]["parts"][0]["text"], "to ADK");
    let mut stream = desk.post_stream("/run_sse", &request).await;
    decide(desk.api(), &says("to ADK's stream")).await;
    let told = stream.next().await.unwrap().data();
    assert_eq!(told["content"]["parts"][0]["text"], "to ADK's stream");
}

#[tokio::test]
async fn a_conversation_becomes_a_golden_trace() {
    let desk = Desk::with_person(Script::of([Reply::text("HELLO")])).await;
    let chat = desk.chatting("/agent/desk/chat", message("Shout hello"));
    let turn = decide(desk.api(), &calls("shout", &json!({"text": "hello"}))).await;
    decide(desk.api(), &says("I did.")).await;
    let answer = chat.await.unwrap().json(200);
    let again = json!({"message": "Thanks", "session_id": answer["session_id"]});
    let chat = desk.chatting("/agent/desk/chat", again.clone());
    decide(desk.api(), &says("You are welcome.")).await;
    chat.await.unwrap().json(200);

    let session = turn["session_id"].as_str().unwrap();
    desk.api().complete(session).await;
    let export = format!("/api/v1/sessions/{session}/export");
    let exported = desk.api().post(&export, &json!({})).await.json(200);
    assert_eq!(exported["path"], json!(desk.file("desk.evalset.json")));
    let written = std::fs::read_to_string(desk.file("desk.evalset.json")).unwrap();
    let written: Value = serde_json::from_str(&written).unwrap();
    let conversation = &written["eval_cases"][0]["conversation"];
    let text = |turn: usize, key: &str| conversation[turn][key]["parts"][0]["text"].clone();
    assert_eq!(
        (text(0, "user_content"), text(0, "final_response")),
        (json!("Shout hello"), json!("I did."))
    );
    assert_eq!(text(1, "final_response"), "You are welcome.");
    let used = &conversation[0]["intermediate_data"]["tool_uses"][0];
    assert_eq!((&used["name"], &used["args"]), (&json!("shout"), &json!({"text": "hello"})));
    // A session that is over is not talked in.
    desk.chat(&again).await.problem(404, "session_not_found");
}
