//! The conversation that a model sees, from all kinds of histories.

use hotseat_agent::RunInput;
use serde_json::{Value, json};

use crate::host::{Script, asked, model, open, says, user};

/// The contents of the request that a run with this history makes.
async fn contents(history: Vec<Value>) -> Value {
    let (agent, _folder) = open("name: desk\ninstructions: x\n").await.unwrap();
    let script = Script::new(vec![says("ok")]);
    agent.run(RunInput { history, ..asked("") }, &script).await.unwrap();
    script.last_request()["contents"].clone()
}

fn call(id: &str) -> Value {
    json!({"function_call": {"id": id, "name": "t", "args": {"of": id}}})
}

fn result(id: &str, value: &str) -> Value {
    json!({"function_response": {"id": id, "name": "t", "response": {"result": value}}})
}

fn text(text: &str) -> Value {
    json!({"text": text})
}

/// Contents as `role: part part`, for short comparisons.
async fn outline(history: Vec<Value>) -> Vec<String> {
    let part = |part: &Value| {
        if let Some(call) = part.get("function_call") {
            return format!("{}()", call["id"].as_str().unwrap());
        }
        if let Some(result) = part.get("function_response") {
            let response = &result["response"];
            let value = response["result"].as_str().unwrap_or("error");
            return format!("{}={value}", result["id"].as_str().unwrap());
        }
        part["text"].as_str().unwrap_or("?").to_owned()
    };
    let contents = contents(history).await;
    let line = |content: &Value| {
        let parts: Vec<String> = content["parts"].as_array().unwrap().iter().map(part).collect();
        format!("{}: {}", content["role"].as_str().unwrap(), parts.join(" "))
    };
    contents.as_array().unwrap().iter().map(line).collect()
}

#[tokio::test]
async fn results_of_parallel_calls_stand_together_after_their_calls() {
    let outline = outline(vec![
        user(json!([text("go")])),
        model(json!([text("two"), call("a"), call("b")])),
        model(json!([result("b", "2"), result("a", "1")])),
        model(json!([text("done")])),
        user(json!([text("thanks")])),
    ])
    .await;

    assert_eq!(
        outline,
        ["user: go", "model: two a() b()", "user: a=1 b=2", "model: done", "user: thanks"]
    );
}

#[tokio::test]
async fn late_results_of_the_caller_go_to_their_calls_in_any_order() {
    let outline = outline(vec![
        user(json!([text("go")])),
        model(json!([call("a"), call("b"), call("own")])),
        model(json!([result("own", "0")])),
        user(json!([result("b", "2")])),
        user(json!([result("a", "1")])),
    ])
    .await;

    assert_eq!(outline, ["user: go", "model: a() b() own()", "user: a=1 b=2 own=0"]);
}

#[tokio::test]
async fn a_new_message_may_come_with_results() {
    let outline = outline(vec![
        user(json!([text("go")])),
        model(json!([call("a")])),
        user(json!([result("a", "1"), text("and hurry")])),
    ])
    .await;

    assert_eq!(outline, ["user: go", "model: a()", "user: a=1", "user: and hurry"]);
}

#[tokio::test]
async fn a_call_that_nobody_answered_is_answered_with_an_error() {
    let outline = outline(vec![
        user(json!([text("go")])),
        model(json!([call("a"), call("b")])),
        model(json!([result("a", "1")])),
        user(json!([text("never mind")])),
    ])
    .await;

    assert_eq!(outline, ["user: go", "model: a() b()", "user: a=1 b=error", "user: never mind"]);
}

#[tokio::test]
async fn the_model_goes_on_from_a_result_that_comes_after_other_talk() {
    let outline = outline(vec![
        user(json!([text("go")])),
        model(json!([call("a")])),
        user(json!([text("still there?")])),
        model(json!([text("yes")])),
        user(json!([result("a", "1")])),
    ])
    .await;

    assert_eq!(outline, ["user: go", "model: a()", "user: a=1"]);
}

#[tokio::test]
async fn the_last_result_of_a_call_counts_and_reused_ids_stay_apart() {
    let outline = outline(vec![
        user(json!([text("go")])),
        model(json!([call("a")])),
        model(json!([result("a", "pending")])),
        user(json!([result("a", "1")])),
        model(json!([call("a")])),
        model(json!([result("a", "2")])),
        user(json!([text("ok"), result("gone", "orphan")])),
    ])
    .await;

    assert_eq!(
        outline,
        ["user: go", "model: a()", "user: a=1", "model: a()", "user: a=2", "user: ok"]
    );
}

#[tokio::test]
async fn pieces_thoughts_and_empty_events_are_left_out() {
    let mut piece = model(json!([text("hal")]));
    piece["partial"] = json!(true);
    let outline = outline(vec![
        user(json!([text("go")])),
        piece,
        model(json!([{"text": "hmm", "thought": true}, text("half")])),
        model(json!([{"text": "only thought", "thought": true}])),
        json!({"author": "desk", "actions": {"state_delta": {"a": 1}}}),
        model(json!([])),
        user(json!([text("")])),
        user(json!([text("more")])),
    ])
    .await;

    assert_eq!(outline, ["user: go", "model: half", "user: more"]);
}

#[tokio::test]
async fn both_spellings_are_understood_and_data_stays_as_it_is() {
    let history = vec![
        json!({"author": "user", "content": {"parts": [
            {"inlineData": {"mimeType": "image/png", "data": "AA=="}, "text": null},
        ]}}),
        json!({"author": "desk", "content": {"role": "model", "parts": [
            {"functionCall": {"id": "a", "name": "t", "args": {"camelCase": 1}}, "thoughtSignature": "c2ln"},
            {"text": "why", "thought": true, "thoughtSignature": "c2ln"},
        ]}}),
        json!({"author": "desk", "content": {"role": "user", "parts": [
            {"functionResponse": {"id": "a", "name": "t", "response": {"someKey": 12_345_678_901_234_567_890_u64}}},
        ]}}),
    ];

    let contents = contents(history).await;

    assert_eq!(
        contents,
        json!([
            {"role": "user", "parts": [{"inline_data": {"mime_type": "image/png", "data": "AA=="}}]},
            {"role": "model", "parts": [
                {"function_call": {"id": "a", "name": "t", "args": {"camelCase": 1}}, "thought_signature": "c2ln"},
                {"text": "why", "thought": true, "thought_signature": "c2ln"},
            ]},
            {"role": "user", "parts": [
                {"function_response": {"id": "a", "name": "t", "response": {"someKey": 12_345_678_901_234_567_890_u64}}},
            ]},
        ])
    );
}
