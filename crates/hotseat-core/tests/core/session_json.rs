use hotseat_core::{Kind, Subject, adk_session_json};
use serde_json::{Value, json};

use crate::log::{Log, SESSION, call, response, text};

const FIRST: &str = "adk-1d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a01";
const SECOND: &str = "adk-2d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a02";

fn session(log: &Log) -> String {
    let subject = Subject {
        session_id: SESSION.parse().unwrap(),
        agent_name: "Math Agent".to_owned(),
        app_name: "math_agent".to_owned(),
        user_id: "local".to_owned(),
        created_at: "2025-12-23T14:30:00.25Z".parse().unwrap(),
    };
    adk_session_json(&subject, &log.events)
}

#[test]
fn an_empty_session_is_one_too() {
    assert_eq!(
        session(&Log::default()),
        format!(
            r#"{{"id":"{SESSION}","appName":"math_agent","userId":"local","state":{{}},"events":[],"lastUpdateTime":1766500200.25}}"#
        )
    );
}

#[test]
fn only_the_ids_of_calls_change_in_an_event() {
    let json = format!(
        r#"{{ "content" : {{"parts":[{{"functionCall":{{"args":{{"id":"{SECOND}","n":1.50}},"name":"f","id":"{FIRST}"}}}}],"role":"model"}},"author":"root", "longRunningToolIds":["{FIRST}"], "branch":"task:{FIRST}", "nodeInfo":{{"path":"root@1/f@{FIRST}"}}, "n":1180591620717411303424, "note":"{FIRST}", "id":"{SECOND}" }}"#
    );
    let mut log = Log::default();
    log.push(Kind::Event, "root", &json!({})).entry.payload = text(&json);
    let expected = format!(
        r#"{{ "content" : {{"parts":[{{"functionCall":{{"args":{{"id":"{SECOND}","n":1.50}},"name":"f","id":"fc-1"}}}}],"role":"model"}},"author":"root", "longRunningToolIds":["fc-1"], "branch":"task:fc-1", "nodeInfo":{{"path":"root@1/f@fc-1"}}, "n":1180591620717411303424, "note":"{FIRST}", "id":"{SECOND}" }}"#
    );
    assert!(session(&log).contains(&expected), "{}", session(&log));
}

#[test]
fn calls_are_numbered_wherever_adk_refers_to_them() {
    let question =
        json!({"originalFunctionCall": {"id": FIRST, "name": "pay", "args": {"id": FIRST}}});
    let mut log = Log::default();
    log.adk("user", json!([{"text": "pay"}]));
    log.adk("root", json!([call(FIRST, "pay", &json!({"id": FIRST}))]));
    log.adk_with(
        "root",
        json!([response(FIRST, "pay", &json!({"error": FIRST}))]),
        json!({"actions": {"requestedToolConfirmations": {FIRST: {}}, "requestedAuthConfigs": {FIRST: {}}}}),
    );
    log.adk("root", json!([call(SECOND, "adk_request_confirmation", &question)]));
    log.adk("user", json!([response(SECOND, "adk_request_confirmation", &json!({}))]));

    let session: Value = serde_json::from_str(&session(&log)).unwrap();
    let part = |n: usize| &session["events"][n]["content"]["parts"][0];
    assert_eq!(*part(1), call("fc-1", "pay", &json!({"id": FIRST})));
    assert_eq!(*part(2), response("fc-1", "pay", &json!({"error": FIRST})));
    assert_eq!(
        session["events"][2]["actions"],
        json!({"requestedToolConfirmations": {"fc-1": {}}, "requestedAuthConfigs": {"fc-1": {}}})
    );
    let question =
        json!({"originalFunctionCall": {"id": "fc-1", "name": "pay", "args": {"id": FIRST}}});
    assert_eq!(*part(3), call("fc-2", "adk_request_confirmation", &question));
    assert_eq!(*part(4), response("fc-2", "adk_request_confirmation", &json!({})));
}

#[test]
fn the_state_is_merged_as_adk_does() {
    let delta = |delta: Value, timestamp: f64| json!({"actions": {"stateDelta": delta}, "timestamp": timestamp});
    let mut log = Log::default();
    log.turn(1, "root", json!([{"text": "x"}]));
    log.adk_with("root", json!([]), delta(json!({"a": {"x": 1}, "app:b": 1, "temp:c": 1}), 5.5));
    log.adk_with("root", json!([]), delta(json!({"a": {"y": 2}, "user:d": null}), 7.25));
    log.adk_with("root", json!([]), json!({"partial": true, "timestamp": 8.0}));
    log.inside(Some(FIRST)).adk_with("inner", json!([]), delta(json!({"inner": 1}), 9.0));

    let session: Value = serde_json::from_str(&session(&log)).unwrap();
    assert_eq!(
        session["state"],
        json!({"city": "Bern", "a": {"y": 2}, "app:b": 1, "user:d": null})
    );
    assert_eq!(session["lastUpdateTime"], json!(7.25));
    assert_eq!(session["events"].as_array().unwrap().len(), 2);
}
