//! What a front end answers to a call that waits, as whoever made the call reads it.
//!
//! Front ends answer as they like: with a tool message or with `resume`, in JSON or in
//! words. ADK reads a confirmation strictly, so nothing may be in it that it does not
//! know; and what is not clearly a yes is a no, because a tool would run.

use hotseat_agui::{Resume, ResumeStatus, ToolResult};
use serde_json::{Map, Value, json};

/// The call by which ADK asks whether a tool may run.
const CONFIRMATION: &str = "adk_request_confirmation";

/// What front ends call the yes or no in an object.
const VERDICTS: [&str; 3] = ["confirmed", "accepted", "approved"];

/// Words that are a yes.
const YES: [&str; 10] =
    ["yes", "y", "true", "ok", "okay", "confirm", "confirmed", "accepted", "approve", "approved"];

/// The response to a call that a tool message answers.
pub(super) fn told(call: &str, result: &ToolResult) -> Value {
    match &result.error {
        _ if call != CONFIRMATION => result.response(),
        Some(error) => json!({"confirmed": false, "payload": {"error": error}}),
        None => confirmation(&result.content),
    }
}

/// The response to a call that `resume` answers.
pub(super) fn resumed(call: &str, resume: &Resume) -> Value {
    match (resume.status, &resume.payload) {
        (ResumeStatus::Cancelled, _) if call == CONFIRMATION => json!({"confirmed": false}),
        (ResumeStatus::Cancelled, _) => json!({"error": "cancelled by the user"}),
        (ResumeStatus::Resolved, None) => json!({"confirmed": true}),
        (ResumeStatus::Resolved, Some(payload)) if call == CONFIRMATION => confirmation(payload),
        (ResumeStatus::Resolved, Some(payload @ Value::Object(_))) => payload.clone(),
        (ResumeStatus::Resolved, Some(Value::Bool(confirmed))) => json!({"confirmed": confirmed}),
        (ResumeStatus::Resolved, Some(other)) => json!({"result": other}),
    }
}

/// A yes or a no with all that was said beside it.
fn confirmation(answer: &Value) -> Value {
    match answer {
        Value::Bool(confirmed) => json!({"confirmed": confirmed}),
        Value::Null => json!({"confirmed": false}),
        Value::String(words) => {
            let word = words.trim().trim_end_matches(['.', '!']).to_lowercase();
            if YES.contains(&word.as_str()) {
                return json!({"confirmed": true});
            }
            json!({"confirmed": false, "payload": words})
        }
        Value::Object(fields) => verdict(fields.clone()),
        Value::Number(_) | Value::Array(_) => json!({"confirmed": false, "payload": answer}),
    }
}

fn verdict(mut fields: Map<String, Value>) -> Value {
    let said = VERDICTS.iter().find_map(|name| fields.remove(*name)?.as_bool());
    let mut verdict = json!({"confirmed": said.unwrap_or(false)});
    // What the question hinted at is not part of the answer.
    fields.remove("hint");
    let payload = fields.remove("payload").or_else(|| {
        let rest = Value::Object(fields);
        Some(rest).filter(|rest| rest.as_object().is_some_and(|rest| !rest.is_empty()))
    });
    if let Some(payload) = payload {
        verdict["payload"] = payload;
    }
    verdict
}
