//! Reading recordings.

use serde_json::{Map, Value, json};

use super::position::user_text;
use super::{Case, Invocation, MAX_RECORDING_BYTES, RecordingError, Replayed};
use crate::content::snake_content;
use crate::input_request::InputKind;
use crate::schema::json_type;
use crate::{AdkEvent, alias};

type Object = Map<String, Value>;

/// The name of a session that has none.
const SESSION: &str = "session";

/// The conversations in a file.
pub(super) fn cases(bytes: &[u8]) -> Result<Vec<Case>, RecordingError> {
    if bytes.len() > MAX_RECORDING_BYTES {
        return Err(RecordingError::TooLarge { bytes: bytes.len(), limit: MAX_RECORDING_BYTES });
    }
    match serde_json::from_slice(bytes) {
        Ok(Value::Object(object)) => object_cases(object),
        Ok(Value::Array(events)) if is_legacy_eval_set(&events) => {
            Err(RecordingError::Unknown { found: "an EvalSet of ADK's legacy format" })
        }
        Ok(Value::Array(events)) => Ok(vec![session_case(SESSION.to_owned(), events)]),
        Ok(other) => Err(RecordingError::Unknown { found: json_type(&other) }),
        Err(error) => line_cases(bytes, error),
    }
}

fn object_cases(mut object: Object) -> Result<Vec<Case>, RecordingError> {
    if let Some(Value::Array(cases)) = alias::take(&mut object, "eval_cases") {
        return Ok(cases.into_iter().filter_map(eval_case).collect());
    }
    let id = alias::take_text(&mut object, "id");
    match alias::take(&mut object, "events") {
        Some(Value::Array(events)) => {
            Ok(vec![session_case(id.unwrap_or_else(|| SESSION.to_owned()), events)])
        }
        // A session of one event, as JSON Lines.
        _ if object.contains_key("author") => {
            Ok(vec![session_case(SESSION.to_owned(), vec![Value::Object(object)])])
        }
        _ => Err(RecordingError::Unknown { found: "an object without eval_cases and events" }),
    }
}

/// What is no JSON as a whole may be JSON line by line.
fn line_cases(bytes: &[u8], error: serde_json::Error) -> Result<Vec<Case>, RecordingError> {
    let mut lines = bytes.split(|byte| *byte == b'\n').enumerate();
    let is_blank = |line: &[u8]| line.iter().all(u8::is_ascii_whitespace);
    let first = lines.clone().find(|(_, line)| !is_blank(line));
    // If not even the first line is, the file is probably something else.
    if first.is_none_or(|(_, line)| serde_json::from_slice::<Value>(line).is_err()) {
        return Err(RecordingError::NotJson(error));
    }
    let events = lines.try_fold(Vec::new(), |mut events, (index, line)| {
        if !is_blank(line) {
            let event = serde_json::from_slice(line)
                .map_err(|source| RecordingError::Line { line: index + 1, source })?;
            events.push(event);
        }
        Ok(events)
    })?;
    Ok(vec![session_case(SESSION.to_owned(), events)])
}

fn is_legacy_eval_set(cases: &[Value]) -> bool {
    cases.first().is_some_and(|case| case.get("data").is_some() && case.get("author").is_none())
}

fn eval_case(case: Value) -> Option<Case> {
    let Value::Object(mut case) = case else { return None };
    let id = alias::take_text(&mut case, "eval_id").unwrap_or_default();
    let Some(Value::Array(conversation)) = alias::take(&mut case, "conversation") else {
        return None;
    };
    Some(Case { id, invocations: conversation.into_iter().filter_map(eval_invocation).collect() })
}

fn eval_invocation(invocation: Value) -> Option<Invocation> {
    let Value::Object(mut invocation) = invocation else { return None };
    let text = user_text(&snake_content(alias::take(&mut invocation, "user_content")?))?;
    let mut steps = Vec::new();
    if let Some(mut data) = alias::take_object(&mut invocation, "intermediate_data") {
        let mut list = |name| match alias::take(&mut data, name) {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        let (uses, events) = (list("tool_uses"), list("invocation_events"));
        let said = list("intermediate_responses");
        if uses.is_empty() && events.is_empty() {
            let contents = said.into_iter().filter_map(|said| said.get(1).cloned());
            steps.extend(contents.filter_map(|parts| answer(json!({"parts": parts}))));
        }
        steps.extend(
            uses.into_iter().filter_map(|call| answer(json!({"parts": [{"function_call": call}]}))),
        );
        steps.extend(events.into_iter().filter_map(|event| {
            let Value::Object(event) = event else { return None };
            event_answer(event)
        }));
    }
    if let Some(response) = alias::take(&mut invocation, "final_response").and_then(answer) {
        // The events of an invocation may hold its end as well.
        if steps.last() != Some(&response) {
            steps.push(response);
        }
    }
    Some(Invocation {
        text,
        steps: steps.into_iter().map(|content| Replayed { content, usage: None }).collect(),
    })
}

fn session_case(id: String, events: Vec<Value>) -> Case {
    let mut invocations: Vec<Invocation> = Vec::new();
    for event in events {
        let Value::Object(mut event) = event else { continue };
        let adk = AdkEvent::read(event.clone());
        if adk.partial {
            continue;
        }
        if adk.is_from_user() {
            let content = alias::take(&mut event, "content").map(snake_content);
            if let Some(text) = content.as_ref().and_then(user_text) {
                invocations.push(Invocation { text, steps: Vec::new() });
            }
            continue;
        }
        let usage = alias::get(&event, "usage_metadata").cloned();
        if let (Some(content), Some(invocation)) = (event_answer(event), invocations.last_mut()) {
            invocation.steps.push(Replayed { content, usage });
        }
    }
    Case { id, invocations }
}

/// The answer of the model in an event of an agent, if it is one.
fn event_answer(mut event: Object) -> Option<Value> {
    let from_user = alias::get(&event, "author").and_then(Value::as_str) == Some("user");
    alias::take(&mut event, "content").filter(|_| !from_user).and_then(answer)
}

/// A content as the model said it: no results of tools, no ids, and nothing that
/// ADK asked the user on its own. None if nothing is left.
fn answer(content: Value) -> Option<Value> {
    let Value::Object(mut content) = snake_content(content) else { return None };
    let Some(Value::Array(parts)) = alias::take(&mut content, "parts") else { return None };
    let parts: Vec<Value> = parts.into_iter().filter_map(said_by_model).collect();
    (!parts.is_empty()).then(|| json!({"role": "model", "parts": parts}))
}

fn said_by_model(mut part: Value) -> Option<Value> {
    if part.get("function_response").is_some() {
        return None;
    }
    if let Some(Value::Object(call)) = part.get_mut("function_call") {
        call.shift_remove("id");
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
        let args = call.get("args").unwrap_or(&Value::Null);
        if InputKind::of_call(name).is_some_and(|input| !input.is_from_model(args)) {
            return None;
        }
    }
    Some(part)
}
