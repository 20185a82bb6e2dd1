use hotseat_core::{AdkEvent, AdkHead, AdkPart};
use serde_json::{Value, json};

use crate::log::{raw, text};

fn parse(event: &Value) -> AdkEvent {
    AdkEvent::parse(&raw(event)).unwrap()
}

#[test]
fn both_spellings_say_the_same() {
    let camel = parse(&json!({
        "id": "x", "author": "root", "invocationId": "e-1", "branch": "par.a", "errorCode": "E", "errorMessage": "m",
        "content": {"role": "model", "parts": [
            {"text": "hm", "thought": true}, {"text": "hi"},
            {"functionCall": {"id": "c", "name": "f", "args": {"a": 1}}},
            {"functionResponse": {"id": "c", "name": "f", "response": {"result": 1}}},
        ]},
        "longRunningToolIds": ["c"],
        "actions": {"transferToAgent": "sub", "skipSummarization": true, "stateDelta": {"k": null}},
        "timestamp": 1_766_500_200.5,
    }));
    let snake = parse(&json!({
        "id": "x", "author": "root", "invocation_id": "e-1", "branch": "par.a", "error_code": "E", "error_message": "m",
        "content": {"role": "model", "parts": [
            {"text": "hm", "thought": true}, {"text": "hi", "function_call": null},
            {"function_call": {"id": "c", "name": "f", "args": {"a": 1}}},
            {"function_response": {"id": "c", "name": "f", "response": {"result": 1}}},
        ]},
        "long_running_tool_ids": ["c"],
        "actions": {"transfer_to_agent": "sub", "skip_summarization": true, "state_delta": {"k": null}},
        "timestamp": 1_766_500_200.5,
    }));
    assert_eq!(camel, snake);
    assert_eq!(camel.visible_text().as_deref(), Some("hi"));
    assert_eq!(camel.transfer_to_agent.as_deref(), Some("sub"));
    assert!(camel.state_delta["k"].is_null());
}

#[test]
fn final_responses_are_those_of_adk() {
    let event = |parts: Value, more: Value| {
        let mut event = json!({"author": "a", "content": {"parts": parts}});
        event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        parse(&event).is_final_response()
    };
    let call = json!([{"functionCall": {"name": "f"}}]);
    let response = json!([{"functionResponse": {"name": "f"}}]);

    assert!(event(json!([{"text": "x"}]), json!({})));
    assert!(event(json!([]), json!({})));
    assert!(event(call.clone(), json!({"longRunningToolIds": ["c"]})));
    assert!(event(response.clone(), json!({"actions": {"skipSummarization": true}})));
    assert!(event(response.clone(), json!({"errorCode": "E"})));
    assert!(!event(call.clone(), json!({"longRunningToolIds": []})));
    assert!(!event(call, json!({"errorCode": "E"})));
    assert!(!event(response, json!({})));
    assert!(!event(json!([{"text": "x"}]), json!({"partial": true})));
    assert!(!event(json!([{"text": "x"}, {"codeExecutionResult": {"outcome": "OK"}}]), json!({})));
}

#[test]
fn malformed_fields_are_skipped() {
    let event = parse(&json!({
        "id": 7, "author": "a", "actions": [], "longRunningToolIds": "c", "timestamp": "now",
        "content": {"parts": [1, {"functionCall": "f"}, {"text": 5}, {"text": "ok"}]},
    }));
    assert_eq!((event.id.as_ref(), event.timestamp.as_ref()), (None, None));
    assert_eq!(event.visible_text().as_deref(), Some("ok"));
    assert_eq!(event.parts.iter().filter(|part| matches!(part, AdkPart::Other(_))).count(), 3);
    assert_eq!(parse(&json!({"content": "hi"})).parts, []);
}

#[test]
fn events_are_checked_at_the_door() {
    assert_eq!(
        AdkHead::checked(&raw(&json!({"author": "a", "unknown": [1]}))).unwrap().author,
        "a"
    );
    for (event, message) in [
        (json!([]), "an event must be an object, not an array"),
        (json!({}), "the event has no author"),
        (json!({"author": " "}), "the event has no author"),
        (json!({"author": 1}), "author of the event must be a string, not a number"),
        (
            json!({"author": "a", "invocationId": 1}),
            "invocation_id of the event must be a string, not a number",
        ),
        (
            json!({"author": "a", "content": "hi"}),
            "content of the event must be an object, not a string",
        ),
        (
            json!({"author": "a", "content": {"parts": {}}}),
            "parts of the event must be an array, not an object",
        ),
        (
            json!({"author": "a", "timestamp": "now"}),
            "timestamp of the event must be a number, not a string",
        ),
    ] {
        assert_eq!(AdkHead::checked(&raw(&event)).unwrap_err().to_string(), message);
    }
    let deep = format!(r#"{{"author": "a", "x": {}{}}}"#, "[".repeat(9000), "]".repeat(9000));
    assert_eq!(AdkHead::checked(&text(&deep)).unwrap_err().to_string(), "the event cannot be read");
}

#[test]
fn the_door_sees_the_same_in_a_text_and_in_a_tree() {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    for text in [
        r#"{"author": "a", "id": "1", "invocationId": "i", "branch": "", "content": null}"#,
        r#"{"author": "a", "id": "", "invocation_id": null, "branch": "b.c", "more": [1e400, {}]}"#,
        r#"{"author": "a\u0041", "id": "\n"}"#,
        r#"{"author": "a", "author": "b"}"#,
        r#"{"author": "a", "invocationId": "camel", "invocation_id": "snake"}"#,
        r#"{"author": "a", "invocation_id": "snake", "invocationId": 7}"#,
        r#"{"author": " ", "type": "note"}"#,
        r#"{"author": "a", "type": "note", "timestamp": "now", "content": "text"}"#,
        r#"{"author": "a", "type": null, "timestamp": 1767607200.5}"#,
        r#"{"author": "a", "timestamp": 123456789012345678901234567890}"#,
        r#"{"author": "a", "content": {"parts": [{"text": "x"}], "role": "model"}}"#,
        r#"{"author": "a", "content": {"parts": null, "parts": []}}"#,
        r#"{"author": "a", "content": {"parts": {}}}"#,
        r#"{"author": "a", "content": 7}"#,
        r#"{"author": "a", "actions": 7}"#,
        r#"{"author": "a", "actions": []}"#,
        r#"{"author": "a", "partial": "yes"}"#,
        r#"{"author": "a", "longRunningToolIds": "c"}"#,
        r#"{"author": "a", "x": "\ud800"}"#,
        r#"{"author": "a", "x": 1} 2"#,
        r#"{"author": "", "x": 1}"#,
        r#"["author"]"#,
        &format!(r#"{{"author": "a", "x": {deep}}}"#),
        &format!(r#"{{"author": "a", "content": {{"parts": [{deep}]}}}}"#),
    ] {
        let tree = serde_json::from_str::<Value>(text).ok();
        let of_tree = tree.and_then(|tree| AdkHead::of(&tree).ok());
        let raw = serde_json::value::RawValue::from_string(text.to_owned());
        let of_text = raw.ok().and_then(|raw| AdkHead::checked(&raw).ok());
        assert_eq!(of_text, of_tree, "{text}");
    }
}
