use hotseat_core::{HistoryEntry, HistoryItem, HistoryProjector, Kind};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::log::{Log, call, pretty, response, turn};

fn entries(log: &Log) -> Vec<HistoryEntry> {
    let mut projector = HistoryProjector::default();
    log.events.iter().flat_map(|event| projector.push(event)).collect()
}

/// Types of the entries, with the text of each.
fn story(log: &Log) -> Vec<String> {
    let line = |entry: HistoryEntry| {
        let entry = serde_json::to_value(&entry).unwrap();
        let keys = ["content", "tool_name", "to_agent", "error_type", "error_message", "call_id"];
        let words: Vec<&str> = keys.iter().filter_map(|key| entry[*key].as_str()).collect();
        format!("{}: {}", entry["type"].as_str().unwrap(), words.join(" "))
    };
    entries(log).into_iter().map(line).collect()
}

fn said(text: &str) -> Value {
    json!([{"text": text}])
}

/// FR-011, FR-018
#[test]
fn a_session_is_told_as_it_happened() {
    let mut log = Log::default();
    let message = json!({"message": {"role": "user", "parts": said("Calculate 5 * 5")}});
    log.run("queued", &message).run("started", &json!({}));
    log.adk("user", said("Calculate 5 * 5"));
    let multiply = call("adk-1", "multiply", &json!({"a": 5, "b": 5}));
    log.turn(1, "root", json!([{"text": "I multiply."}, multiply]));
    log.adk("root", json!([{"text": "hm", "thought": true}, {"text": "I multiply."}, multiply]));
    log.tool_run(&json!({"call_id": "adk-1", "tool_name": "multiply", "status": "started"}));
    log.tool_run(&json!({"call_id": "adk-1", "tool_name": "multiply", "status": "succeeded", "duration_ms": 1.9}));
    log.adk("root", json!([response("adk-1", "multiply", &json!({"result": 25}))]));
    log.turn(2, "root", said("25"));
    log.adk("root", said("25"));
    log.run("finished", &json!({}));
    log.push(Kind::Session, "user", &json!({"status": "completed"}));

    assert_snapshot!(pretty(&entries(&log)), @r#"
    [
      {
        "type": "user_query",
        "content": "Calculate 5 * 5",
        "seq": 3,
        "timestamp": "2025-12-23T14:30:03.000Z",
        "invocation_id": "e-1",
        "branch": null,
        "parent_call_id": null
      },
      {
        "type": "agent_text",
        "agent_name": "root",
        "content": "I multiply.",
        "seq": 6,
        "timestamp": "2025-12-23T14:30:06.000Z",
        "invocation_id": "e-1",
        "branch": null,
        "parent_call_id": null
      },
      {
        "type": "tool_call",
        "agent_name": "root",
        "tool_name": "multiply",
        "arguments": {
          "a": 5,
          "b": 5
        },
        "call_id": "adk-1",
        "turn_id": "00000000-0000-4000-8000-000000000001",
        "answered_by": "human",
        "answered_after_ms": 1000,
        "seq": 6,
        "timestamp": "2025-12-23T14:30:06.000Z",
        "invocation_id": "e-1",
        "branch": null,
        "parent_call_id": null
      },
      {
        "type": "tool_output",
        "call_id": "adk-1",
        "tool_name": "multiply",
        "result": {
          "result": 25
        },
        "duration_ms": 1.9,
        "seq": 9,
        "timestamp": "2025-12-23T14:30:09.000Z",
        "invocation_id": "e-1",
        "branch": null,
        "parent_call_id": null
      },
      {
        "type": "final_response",
        "agent_name": "root",
        "content": "25",
        "turn_id": "00000000-0000-4000-8000-000000000002",
        "answered_by": "human",
        "answered_after_ms": 1000,
        "seq": 12,
        "timestamp": "2025-12-23T14:30:12.000Z",
        "invocation_id": "e-1",
        "branch": null,
        "parent_call_id": null
      }
    ]
    "#);
}

#[test]
fn tool_errors_come_from_the_run_or_the_response() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    let ids = ["c1", "c2", "c3", "c4", "c5"];
    log.adk("root", ids.iter().map(|id| call(id, "f", &json!({}))).collect());
    log.tool_run(
        &json!({"call_id": "c1", "tool_name": "f", "status": "failed", "duration_ms": 3.2,
        "error_type": "ConnectionError", "error_message": "no route", "traceback": "…"}),
    );
    log.tool_run(&json!({"call_id": "c2", "tool_name": "f", "status": "cancelled"}));
    log.adk(
        "root",
        json!([
            response("c1", "f", &json!({"recovered": true})),
            response("c2", "f", &json!({"error": {"type": "Cancelled", "message": "stopped"}})),
            response("c3", "f", &json!({"error": {"type": "ValueError", "message": "bad"}})),
            response("c4", "f", &json!({"error": "mandatory parameters are missing"})),
            response("c5", "f", &json!({"error": null, "data": 1})),
        ]),
    );
    assert_eq!(
        story(&log)[6..],
        [
            "tool_error: f ConnectionError no route c1",
            "tool_error: f Cancelled the tool was cancelled c2",
            "tool_error: f ValueError bad c3",
            "tool_error: f ToolError mandatory parameters are missing c4",
            "tool_output: f c5",
        ]
    );
    let HistoryItem::ToolError { traceback, duration_ms, .. } = &entries(&log)[6].what else {
        panic!("not a tool error")
    };
    assert_eq!((traceback.as_deref(), *duration_ms), (Some("…"), Some(3.2)));
}

#[test]
fn a_tool_whose_failure_ended_the_run_is_told_too() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([call("c1", "f", &json!({}))]));
    log.tool_run(&json!({"call_id": "c1", "tool_name": "f", "status": "failed", "error_type": "ValueError", "error_message": "no"}));
    log.run("failed", &json!({"error": {"type": "ValueError", "message": "no"}}));
    assert_eq!(
        story(&log),
        [
            "user_query: go",
            "tool_call: f c1",
            "tool_error: f ValueError no c1",
            "run_error: ValueError no"
        ]
    );
}

#[test]
fn a_transfer_is_one_entry() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([call("c1", "transfer_to_agent", &json!({"agent_name": "sub"}))]));
    let done = json!([response("c1", "transfer_to_agent", &json!({"result": null}))]);
    log.adk_with("root", done, json!({"actions": {"transferToAgent": "sub"}}));
    log.turn(1, "sub", said("done"));
    log.adk("sub", said("done"));
    log.adk_with("coded", json!([]), json!({"actions": {"transfer_to_agent": "other"}}));
    assert_eq!(
        story(&log),
        ["user_query: go", "transfer: sub c1", "final_response: done", "transfer: other"]
    );
}

#[test]
fn agents_inside_tools_keep_to_themselves() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.turn(1, "root", json!([call("c1", "inner", &json!({}))]));
    log.adk("root", json!([call("c1", "inner", &json!({}))]));
    log.inside(Some("c1")).adk("user", said("hi"));
    log.turn(2, "inner", said("inner answer"));
    log.adk("inner", said("inner answer"));
    log.inside(None)
        .adk("root", json!([response("c1", "inner", &json!({"result": "inner answer"}))]));

    let entries = entries(&log);
    let parents: Vec<Option<&str>> = entries.iter().map(|e| e.parent_call_id.as_deref()).collect();
    assert_eq!(parents, [None, None, Some("c1"), Some("c1"), None]);
    assert_eq!(entries[3].invocation_id.as_deref(), Some("e-inner"));
    assert_eq!(entries[4].invocation_id.as_deref(), Some("e-1"));
    let HistoryItem::FinalResponse { answered, .. } = &entries[3].what else { panic!() };
    assert_eq!(answered.turn_id, Some(turn(2)));
}

#[test]
fn branches_do_not_mix_up_who_answered() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    for (n, branch) in [(1, "par.a"), (2, "par.b")] {
        log.turn(n, "worker", said(branch));
        for event in log.events.iter_mut().rev().take(2) {
            event.entry.branch = Some(branch.to_owned());
        }
    }
    for branch in ["par.b", "par.a"] {
        log.adk_with("worker", said(branch), json!({"branch": branch})).entry.branch =
            Some(branch.to_owned());
    }
    // A text that no turn led to.
    log.adk("worker", said("by code"));

    let turns: Vec<_> = entries(&log)
        .into_iter()
        .filter_map(|entry| match entry.what {
            HistoryItem::FinalResponse { answered, .. } => Some(answered.turn_id),
            _ => None,
        })
        .collect();
    assert_eq!(turns, [Some(turn(2)), Some(turn(1)), None]);
}

#[test]
fn one_failure_is_told_once() {
    let failure =
        json!({"error": {"type": "RuntimeError", "message": "plugin x failed", "traceback": "…"}});
    let mut log = Log::default();
    log.run("queued", &json!({}));
    log.adk("user", said("go"));
    log.adk_with(
        "root",
        json!([]),
        json!({"errorCode": "RuntimeError", "errorMessage": "plugin x failed"}),
    );
    log.run("failed", &failure);
    assert_eq!(story(&log), ["user_query: go", "run_error: RuntimeError plugin x failed"]);

    log.run("queued", &json!({}));
    log.adk("user", said("again"));
    log.run("failed", &failure);
    assert_eq!(story(&log).len(), 4);
}

#[test]
fn a_run_stopped_after_its_final_response_is_no_error() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", said("done"));
    log.run("cancelled", &json!({}));
    assert_eq!(story(&log), ["user_query: go", "final_response: done"]);

    log.run("queued", &json!({"message": {"parts": said("more")}})).run("cancelled", &json!({}));
    assert_eq!(
        story(&log)[2..],
        ["user_query: more", "run_error: Cancelled the run was cancelled"]
    );
}

#[test]
fn the_query_comes_first_even_if_adk_never_saw_it() {
    let mut log = Log::default();
    log.run("queued", &json!({"message": {"role": "user", "parts": said("go")}}));
    assert_eq!(story(&log), [""; 0]);
    log.run("failed", &json!({"error": {"type": "ImportError", "message": "no agent"}}));
    assert_eq!(story(&log), ["user_query: go", "run_error: ImportError no agent"]);
    assert_eq!(entries(&log)[0].seq.get(), 1);
}

#[test]
fn a_query_that_adk_records_late_is_told_once() {
    let mut log = Log::default();
    log.run("queued", &json!({"message": {"role": "user", "parts": said("go")}}));
    log.adk("root", said("working"));
    log.adk("user", said("go"));
    assert_eq!(story(&log), ["user_query: go", "final_response: working"]);
    assert_eq!(entries(&log)[0].invocation_id.as_deref(), Some("e-1"));
}

#[test]
fn attachments_are_named_and_partial_events_skipped() {
    let mut log = Log::default();
    log.adk(
        "user",
        json!([{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AA=="}}]),
    );
    log.adk_with("root", said("Th"), json!({"partial": true}));
    log.adk("root", json!([{"text": "only", "thought": true}]));
    assert_eq!(story(&log), ["user_query: look\n[image/png]"]);
}

#[test]
fn calls_without_ids_get_one_and_outputs_without_a_call_are_left_out() {
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([{"functionCall": {"name": "f"}}, {"functionCall": {"name": "f"}}, call("c", "g", &json!({})), call("c", "g", &json!({}))]));
    log.adk("root", json!([{"functionResponse": {"name": "f", "response": {"n": 1}}}, response("zzz", "h", &json!({}))]));
    assert_eq!(
        story(&log),
        [
            "user_query: go",
            "tool_call: f event-2:0",
            "tool_call: f event-2:1",
            "tool_call: g c",
            "tool_output: f event-2:0"
        ]
    );
}

#[test]
fn big_integers_survive() {
    let big: Value = serde_json::from_str("1180591620717411303424").unwrap();
    let mut log = Log::default();
    log.adk("user", said("go"));
    log.adk("root", json!([call("c", "f", &json!({"n": big}))]));
    log.adk("root", json!([response("c", "f", &json!({"result": big}))]));
    let json = serde_json::to_string(&entries(&log)).unwrap();
    assert_eq!(json.matches("1180591620717411303424").count(), 2);
}

/// A log of anything, in any order.
fn any_log() -> impl Strategy<Value = Log> {
    let step = (0..10_u8, 0..4_u8, prop::bool::ANY);
    prop::collection::vec(step, 0..40).prop_map(|steps| {
        let mut log = Log::default();
        for (what, id, inside) in steps {
            let id = format!("c{id}");
            log.inside(inside.then_some("c0"));
            match what {
                0 => drop(log.adk("user", said("q")).seq),
                1 => drop(log.adk("root", json!([call(&id, "f", &json!({}))])).seq),
                2 => drop(log.adk("root", json!([response(&id, "f", &json!({}))])).seq),
                3 => drop(log.adk("root", said("text")).seq),
                4 => drop(log.turn(1, "root", said("text"))),
                5 => drop(
                    log.tool_run(&json!({"call_id": id, "tool_name": "f", "status": "failed"})),
                ),
                6 => _ = log.adk("root", json!([call(&id, "adk_request_input", &json!({}))])),
                7 => _ = log.adk("user", json!([response(&id, "adk_request_input", &json!({}))])),
                8 => drop(log.run("queued", &json!({"message": {"parts": said("q")}}))),
                _ => drop(log.run("failed", &json!({}))),
            }
        }
        log
    })
}

proptest! {
    #[test]
    fn the_rules_of_a_history_hold_for_any_log(log in any_log()) {
        let mut calls = std::collections::HashSet::new();
        let mut asked = std::collections::HashSet::new();
        for entry in entries(&log) {
            match entry.what {
                HistoryItem::ToolCall { call_id, .. } => prop_assert!(calls.insert(call_id)),
                HistoryItem::ToolOutput { call_id, .. } | HistoryItem::ToolError { call_id, .. } => {
                    prop_assert!(calls.contains(&call_id));
                }
                HistoryItem::InputRequest { call_id, .. } => drop(asked.insert(call_id)),
                HistoryItem::InputResponse { call_id, .. } => prop_assert!(asked.contains(&call_id)),
                _ => {}
            }
        }
    }
}
