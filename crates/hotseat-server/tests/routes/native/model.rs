//! A model in the seat.

use serde_json::{Value, json};

use hotseat_testkit::SseReader;
use hotseat_testkit::providers::{Reply, Script};

use super::desk::{Desk, KEY, agui, message, texts, uuid_of};

fn usage(times: u64) -> Value {
    json!({"prompt_tokens": 11 * times, "completion_tokens": 7 * times, "total_tokens": 18 * times})
}

/// Reads deltas until they make this text.
async fn until_said(stream: &mut SseReader, text: &str) {
    let mut said = String::new();
    while said != text {
        let delta = stream.next_of("message_delta").await.data();
        said.push_str(delta["delta"].as_str().unwrap());
        assert!(text.starts_with(&said), "{said}");
    }
}

#[tokio::test]
async fn an_answer_costs_what_the_provider_says_and_knows_what_was_said_before() {
    let script = Script::of([Reply::text("Hello."), Reply::text("As I said.")]);
    let desk = Desk::with_model(script).await;
    let first = desk.chat(&message("Hi")).await.json(200);
    assert_eq!((&first["content"], &first["tokens_used"]), (&json!("Hello."), &usage(1)));
    let asked = desk.provider.last_asked();
    assert_eq!(asked.headers["authorization"], format!("Bearer {KEY}"));
    let second = json!({"message": "What?", "session_id": first["session_id"]});
    assert_eq!(desk.chat(&second).await.json(200)["content"], "As I said.");
    let asked = texts(&desk.provider.last_asked().body["messages"]);
    let told = ["You help at the desk.", "Hi", "Hello.", "What?"];
    let places: Vec<_> = told.iter().map(|text| asked.find(text).unwrap()).collect();
    assert!(places.is_sorted(), "{asked}");
}

#[tokio::test]
async fn pieces_reach_the_stream_before_the_answer_is_complete() {
    let desk = Desk::with_model(Script::of([Reply::text("It is five.").then_held()])).await;
    let mut stream = desk.stream(&message("2 + 3?")).await;
    until_said(&mut stream, "It is five.").await;
    desk.provider.until_held(1).await;
    desk.provider.release();
    let end = stream.next().await.unwrap();
    assert_eq!(end.event, "stream_end", "nothing is told twice: {end:?}");
    let end = end.data();
    assert_eq!((&end["content"], &end["tokens_used"]), (&json!("It is five."), &usage(1)));
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn pieces_reach_a_front_end_before_the_answer_is_complete() {
    let desk = Desk::with_model(Script::of([Reply::text("It is five.").then_held()])).await;
    let mut stream = desk.post_stream("/ag-ui/desk", &agui("t", "r", "2 + 3?")).await;
    let mut said = String::new();
    while said != "It is five." {
        let event = stream.next().await.unwrap().data();
        if event["type"] == "TEXT_MESSAGE_CONTENT" {
            said.push_str(event["delta"].as_str().unwrap());
        }
    }
    desk.provider.release();
    let mut types = Vec::new();
    while let Some(event) = stream.next().await {
        types.push(event.data()["type"].as_str().unwrap().to_owned());
    }
    assert!(!types.iter().any(|kind| kind == "TEXT_MESSAGE_CONTENT"), "{types:?}");
    assert_eq!(types.last().unwrap(), "RUN_FINISHED");
    let thread = desk.api().get("/ag-ui/desk/threads/t").await.json(200);
    assert_eq!(thread["messages"][1]["content"], "It is five.");
}

#[tokio::test]
async fn pieces_reach_adks_clients_before_the_answer_is_complete() {
    let script = Script::of([Reply::text("It is five.").then_held(), Reply::text("Six.")]);
    let desk = Desk::with_model(script).await;
    let request = desk.adk_request("2 + 3?").await;
    let mut stream = desk.post_stream("/run_sse", &request).await;
    let mut said = String::new();
    while said != "It is five." {
        let event = stream.next().await.unwrap().data();
        assert_eq!(event["partial"], true, "{event}");
        said.push_str(event["content"]["parts"][0]["text"].as_str().unwrap());
    }
    desk.provider.release();
    let whole = stream.next().await.unwrap().data();
    assert_eq!(whole["content"]["parts"][0]["text"], "It is five.");
    assert_eq!(whole["usageMetadata"]["promptTokenCount"], 11);
    assert!(stream.next().await.is_none());
    let events = desk.api().post("/run", &request).await.json(200);
    assert_eq!(events[0]["content"]["parts"][0]["text"], "Six.");
    assert_eq!(events.as_array().unwrap().len(), 1, "{events}");
}

#[tokio::test]
async fn pieces_of_a_call_have_the_id_that_the_log_keeps() {
    let script = Script::of([
        Reply::call("shout", json!({"text": "hello"})).then_held(),
        Reply::text("HELLO"),
        Reply::text("I shouted."),
    ]);
    let desk = Desk::with_model(script).await;
    let mut stream = desk.stream(&message("Shout hello")).await;
    let session = uuid_of(&stream.next_of("stream_start").await.data()["session_id"]);
    let start = stream.next_of("tool_call_start").await.data();
    assert_eq!(start["name"], "shout");
    let mut args = String::new();
    while serde_json::from_str::<Value>(&args).is_err() {
        let piece = stream.next_of("tool_call_args").await.data();
        assert_eq!(piece["tool_call_id"], start["tool_call_id"]);
        args.push_str(piece["args_delta"].as_str().unwrap());
    }
    desk.provider.release();
    let end = stream.next().await.unwrap();
    assert_eq!((end.event.as_str(), &end.data()["status"]), ("tool_call_end", &json!("success")));
    let end = stream.next_of("stream_end").await.data();
    assert_eq!((&end["content"], &end["tokens_used"]), (&json!("I shouted."), &usage(2)));
    let call = json!({"id": start["tool_call_id"], "name": "shout", "arguments": {"text": "hello"}, "status": "success"});
    assert_eq!(end["tool_calls"], json!([call]));

    let events = desk.api().events(&session).await;
    let part = |event: &Value, key: &str| event["event"]["content"]["parts"][0][key].clone();
    let stored = events.iter().map(|event| part(event, "function_call")).find(Value::is_object);
    assert_eq!(stored.unwrap()["id"], start["tool_call_id"]);
    let result =
        events.iter().map(|event| part(event, "function_response")).find(Value::is_object).unwrap();
    assert_eq!(
        (&result["id"], &result["response"]),
        (&start["tool_call_id"], &json!({"result": "HELLO"}))
    );
    assert!(texts(&desk.provider.asked()[1].body).contains("Shout: hello"));
}

#[tokio::test]
async fn a_front_end_runs_its_own_tools_and_answers_in_any_order() {
    let paint = |colour: &str| json!({"colour": colour});
    let script = Script::of([
        Reply::call("paint", paint("red")).and_call("paint", paint("blue")),
        Reply::text("Both are painted."),
    ]);
    let desk = Desk::with_model(script).await;
    let mut request = agui("t", "r1", "Paint it");
    request["tools"] = json!([{"name": "paint", "description": "Paints.", "parameters": {
        "type": "object", "properties": {"colour": {"type": "string"}}}}]);
    let mut stream = desk.post_stream("/ag-ui/desk", &request).await;
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event.data());
    }
    let end = events.last().unwrap();
    let pending = end["outcome"]["pendingToolCallIds"].as_array().unwrap().clone();
    assert_eq!((&end["type"], pending.len()), (&json!("RUN_FINISHED"), 2), "{end}");
    let tools = &desk.provider.last_asked().body["tools"];
    assert_eq!(tools[1]["function"]["name"], "paint", "{tools}");

    let calls: Vec<Value> = pending
        .iter()
        .map(|id| json!({"id": id, "type": "function", "function": {"name": "paint", "arguments": "{}"}}))
        .collect();
    let result = |id: &Value, text: &str| json!({"id": format!("r-{text}"), "role": "tool", "toolCallId": id, "content": text});
    request["runId"] = json!("r2");
    request["messages"].as_array_mut().unwrap().extend([
        json!({"id": "a", "role": "assistant", "toolCalls": calls}),
        result(&pending[1], "blue is done"),
        result(&pending[0], "red is done"),
    ]);
    let mut stream = desk.post_stream("/ag-ui/desk", &request).await;
    let mut said = String::new();
    while let Some(event) = stream.next().await {
        said.push_str(event.data()["delta"].as_str().unwrap_or_default());
    }
    assert_eq!(said, "Both are painted.");
    let asked = desk.provider.last_asked().body["messages"].clone();
    let results: Vec<_> =
        asked.as_array().unwrap().iter().filter(|message| message["role"] == "tool").collect();
    assert_eq!(results.len(), 2, "{asked}");
    for (at, text) in ["red is done", "blue is done"].iter().enumerate() {
        let result = results.iter().find(|result| result["tool_call_id"] == pending[at]).unwrap();
        assert!(result["content"].as_str().unwrap().contains(text), "{asked}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_its_promise_is_a_failure() {
    let schema =
        "response_format: {type: object, properties: {sum: {type: integer}}, required: [sum]}";
    let script = Script::of([Reply::text("{\"sum\": 5}"), Reply::text("{\"sum\": \"five\"}")]);
    let desk =
        Desk::told(script, schema, |config| config.seats.default = hotseat_core::Seat::Model).await;
    let kept = desk.chat(&message("2 + 3?")).await.json(200);
    assert_eq!(kept["content"], "{\"sum\": 5}");
    let format = &desk.provider.last_asked().body["response_format"];
    assert_eq!(format["json_schema"]["schema"]["required"], json!(["sum"]), "{format}");
    let broken = desk.chat(&message("2 + 3?")).await.problem(502, "agent_failed");
    let detail = broken["detail"].as_str().unwrap();
    assert!(detail.contains("invalid_output") && detail.contains("sum"), "{detail}");
}

#[tokio::test]
async fn a_run_goes_on_when_its_client_hangs_up() {
    let desk = Desk::with_model(Script::of([Reply::text("Still here.").then_held()])).await;
    let mut stream = desk.stream(&message("Anyone?")).await;
    let session = uuid_of(&stream.next_of("stream_start").await.data()["session_id"]);
    stream.next_of("message_delta").await;
    drop(stream);
    let mut log = desk.api().stream(&format!("/api/v1/sessions/{session}/stream")).await;
    log.next_of("history_complete").await;
    desk.provider.release();
    while !log.next().await.expect("the answer comes").text.contains("Still here.") {}
}

#[tokio::test]
async fn cancelling_a_run_hangs_up_on_the_provider() {
    let desk = Desk::with_model(Script::of([Reply::text("Well").then_held()])).await;
    let mut stream = desk.stream(&message("Tell me everything")).await;
    let session = uuid_of(&stream.next_of("stream_start").await.data()["session_id"]);
    until_said(&mut stream, "Well").await;
    let cancelled =
        desk.api().post(&format!("/api/v1/sessions/{session}/cancel"), &json!({})).await;
    assert!(cancelled.status.is_success(), "{cancelled:?}");
    desk.provider.until_hung_up(1).await;
    let error = stream.next_of("error").await.data();
    assert_eq!((&error["code"], &error["status"]), (&json!("run_cancelled"), &json!(409)));
    assert!(desk.api().show(&session).await["run"].is_null());
}
