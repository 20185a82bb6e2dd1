//! What ADK asks the user, and changes of state, in the history.

use hotseat_core::{HistoryEntry, HistoryProjector};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::log::{Log, call, response};

fn entries(log: &Log) -> Vec<Value> {
    let mut projector = HistoryProjector::default();
    let entries = log.events.iter().flat_map(|event| projector.push(event));
    entries.map(|entry: HistoryEntry| serde_json::to_value(entry).unwrap()).collect()
}

/// The entries without what all of them have, one on a line.
fn story(log: &Log) -> String {
    let line = |mut entry: Value| {
        for key in ["timestamp", "invocation_id", "branch", "parent_call_id", "agent_name"] {
            entry.as_object_mut().unwrap().shift_remove(key);
        }
        entry.to_string()
    };
    entries(log).into_iter().map(line).collect::<Vec<_>>().join("\n")
}

fn said(text: &str) -> Value {
    json!([{"text": text}])
}

#[test]
fn a_confirmation_is_asked_and_answered_and_then_the_tool_runs() {
    let pay = json!({"sum": 5});
    let question = json!({
        "originalFunctionCall": {"id": "adk-1", "name": "pay", "args": pay},
        "toolConfirmation": {"hint": "Pay 5?", "confirmed": false},
    });
    let mut log = Log::default();
    log.adk("user", said("pay"));
    log.turn(1, "root", json!([call("adk-1", "pay", &pay)]));
    log.adk("root", json!([call("adk-1", "pay", &pay)]));
    let waits = json!({"error": "This tool call requires confirmation, please approve or reject."});
    log.adk_with(
        "root",
        json!([response("adk-1", "pay", &waits)]),
        json!({"actions": {"skipSummarization": true, "requestedToolConfirmations": {"adk-1": {"confirmed": false}}}}),
    );
    log.adk_with(
        "root",
        json!([call("adk-2", "adk_request_confirmation", &question)]),
        json!({"longRunningToolIds": ["adk-2"]}),
    );
    let yes = json!([response("adk-2", "adk_request_confirmation", &json!({"confirmed": true}))]);
    log.run("queued", &json!({"message": {"role": "user", "parts": yes}}));
    log.adk("user", yes);
    log.adk("root", json!([response("adk-1", "pay", &json!({"paid": 5}))]));

    assert_snapshot!(story(&log), @r#"
    {"type":"user_query","content":"pay","seq":1}
    {"type":"tool_call","tool_name":"pay","arguments":{"sum":5},"call_id":"adk-1","turn_id":"00000000-0000-4000-8000-000000000001","answered_by":"human","answered_after_ms":1000,"seq":4}
    {"type":"input_request","request":"confirmation","call_id":"adk-2","name":"adk_request_confirmation","arguments":{"originalFunctionCall":{"id":"adk-1","name":"pay","args":{"sum":5}},"toolConfirmation":{"hint":"Pay 5?","confirmed":false}},"for_call_id":"adk-1","seq":6}
    {"type":"input_response","call_id":"adk-2","name":"adk_request_confirmation","response":{"confirmed":true},"seq":8}
    {"type":"tool_output","call_id":"adk-1","tool_name":"pay","result":{"paid":5},"duration_ms":null,"seq":9}
    "#);
}

#[test]
fn credentials_and_inputs_are_told_apart() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([call("c1", "mail", &json!({}))]));
    let credential = |for_call: &str| json!({"functionCallId": for_call, "authConfig": {}});
    log.adk(
        "root",
        json!([
            call("c2", "adk_request_credential", &credential("c1")),
            call("c3", "adk_request_credential", &credential("_adk_toolset_auth_Mail")),
            call("c4", "adk_request_input", &json!({"interruptId": "c4", "message": "Which?"})),
        ]),
    );
    // What the user says stands as it is, even if it looks like a failure.
    let answer = |error: &str| response("c4", "adk_request_input", &json!({"error": error}));
    log.adk("user", json!([answer("none")]));
    log.adk("root", json!([call("c4", "adk_request_input", &json!({"interruptId": "c4"}))]));
    log.adk("user", json!([answer("again")]));

    let entries = entries(&log);
    let of = |key: &str| -> Vec<&Value> { entries[2..5].iter().map(|entry| &entry[key]).collect() };
    assert_eq!(of("request"), ["credential", "credential", "input"]);
    assert_eq!(of("for_call_id"), [&json!("c1"), &Value::Null, &Value::Null]);
    let types: Vec<&Value> = entries[5..].iter().map(|entry| &entry["type"]).collect();
    assert_eq!(types, ["input_response", "input_request", "input_response"]);
    assert_eq!(entries[7]["response"], json!({"error": "again"}));
}

#[test]
fn a_long_running_tool_has_a_second_output_from_the_user() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk_with(
        "root",
        json!([call("c1", "ask", &json!({})), call("c2", "add", &json!({}))]),
        json!({"longRunningToolIds": ["c1"]}),
    );
    log.tool_run(&json!({"call_id": "c1", "tool_name": "ask", "status": "started"}));
    log.tool_run(&json!({"call_id": "c1", "tool_name": "ask", "status": "progress", "message": "asking", "fraction": 0.5}));
    log.tool_run(
        &json!({"call_id": "c1", "tool_name": "ask", "status": "succeeded", "duration_ms": 2.5}),
    );
    log.adk("root", json!([response("c1", "ask", &json!({"status": "pending"}))]));
    log.adk("root", said("I asked."));
    log.adk("user", json!([response("c1", "ask", &json!({"status": "approved"}))]));

    let entries = entries(&log);
    assert_eq!(entries[1]["long_running"], json!(true));
    assert_eq!(entries[2].get("long_running"), None);
    let outputs: Vec<_> = entries.iter().filter(|entry| entry["type"] == "tool_output").collect();
    assert_eq!(outputs.len(), 2);
    assert_eq!(outputs[0]["duration_ms"], json!(2.5));
    assert_eq!(
        (&outputs[1]["call_id"], &outputs[1]["result"], &outputs[1]["duration_ms"]),
        (&json!("c1"), &json!({"status": "approved"}), &Value::Null)
    );
}

#[test]
fn a_change_of_state_is_told_by_the_entry_of_its_event_or_the_next_one() {
    let delta = |delta: Value| json!({"actions": {"stateDelta": delta}});
    let mut log = Log::default();
    log.adk_with("user", said("go"), delta(json!({"temp:x": 1})));
    log.adk_with("root", json!([]), delta(json!({"city": "Bern", "n": 1})));
    log.inside(Some("c1")).adk_with("inner", said("hi"), delta(json!({"inner": true})));
    log.inside(None);
    log.adk_with(
        "root",
        json!([{"text": "I call."}, call("c1", "f", &json!({}))]),
        delta(json!({"n": null, "app:k": 2})),
    );
    log.adk_with("root", json!([]), delta(json!({"lost": 1})));

    let deltas: Vec<_> =
        entries(&log).iter().map(|entry| entry.get("state_delta").cloned()).collect();
    assert_eq!(
        deltas,
        [
            None,
            Some(json!({"inner": true})),
            Some(json!({"city": "Bern", "n": null, "app:k": 2})),
            None
        ]
    );
}
