use hotseat_core::{RunChange, RunStatus, ToolRun, ToolRunStatus};
use serde_json::json;

use crate::log::{RUN, raw, text};

#[test]
fn tool_runs_are_read_and_written() {
    let json = r#"{"call_id":"adk-1","tool_name":"add","status":"failed","duration_ms":3.2,"error_type":"ValueError","error_message":"no"}"#;
    let run = ToolRun::parse(&text(json)).unwrap();
    assert_eq!(run.status, ToolRunStatus::Failed);
    assert_eq!(run.to_payload().get(), json);

    let later = json!({"callId": "a", "toolName": "b", "status": "started", "new_field": {"x": 1}});
    assert_eq!(
        ToolRun::parse(&raw(&later)).unwrap().to_payload().get(),
        r#"{"call_id":"a","tool_name":"b","status":"started"}"#
    );
    assert!(ToolRun::parse(&text(r#"{"call_id":"a","tool_name":"b","status":"lost"}"#)).is_err());

    let progress =
        r#"{"call_id":"a","tool_name":"b","status":"progress","message":"2 of 4","fraction":0.5}"#;
    assert_eq!(ToolRun::parse(&text(progress)).unwrap().to_payload().get(), progress);
}

#[test]
fn run_changes_keep_their_message() {
    let json = format!(
        r#"{{"run_id":"{RUN}","status":"queued","message":{{"role":"user","parts":[{{"text":"1180591620717411303424"}},{{"n":1180591620717411303424}}]}}}}"#
    );
    let change = RunChange::parse(&text(&json)).unwrap();
    assert_eq!(change.status, RunStatus::Queued);
    assert!(!change.status.is_end());
    assert_eq!(change.to_payload().get(), json);
    assert_eq!(
        RunChange::parse(&text("{}")).unwrap_err().to_string(),
        "the payload is not a valid run"
    );
}
