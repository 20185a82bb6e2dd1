//! A session as ADK's own JSON, as `adk test` replays it.
//!
//! `adk test` runs the agent again with the recorded model contents, compares
//! every event, and numbers the function calls of what it gets: `fc-1`, `fc-2` …
//! So the ids of function calls are numbered here as well, wherever ADK itself
//! refers to a call: in calls, responses and `longRunningToolIds`, as keys of
//! requested confirmations and credentials, inside ADK's own requests to the
//! user, and in the branches and paths of delegated tasks. Every id is, not only
//! those that ADK made up, because `adk test` does the same. Arguments and
//! results of tools are data and stay as they are, and so does the rest of every
//! event, byte for byte.
//!
//! Only the session's own level is here: an agent that is a tool has a session
//! of its own in ADK.

mod rename;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::golden::initial_state;
use crate::instant::seconds;
use crate::{AdkEvent, Event, Kind, Subject};
use rename::CallNumbers;

/// The session that the events lead to, as `Session.model_dump_json` with
/// `by_alias` and `exclude_none` writes it.
///
/// The state is the one that the first request saw, with every later change as
/// ADK merges it: a key at a time, `null` kept, `temp:` dropped.
pub fn adk_session_json(subject: &Subject, events: &[Event]) -> String {
    let mut numbers = CallNumbers::default();
    let mut state: Option<Map<String, Value>> = None;
    let mut changes = Map::new();
    let mut last_update = seconds(subject.created_at);
    let mut raw: Vec<&RawValue> = Vec::new();
    for event in events.iter().filter(|event| event.parent_call_id.is_none()) {
        match event.kind {
            Kind::Request => drop(state.get_or_insert_with(|| initial_state(event))),
            Kind::Event => {
                let Ok(adk) = AdkEvent::parse(&event.payload) else { continue };
                if adk.partial {
                    continue;
                }
                last_update = adk.timestamp.as_ref().map_or_else(
                    || seconds(event.timestamp),
                    |timestamp| Value::Number(timestamp.clone()),
                );
                numbers.number(&adk);
                let kept = adk.state_delta.into_iter().filter(|(key, _)| !key.starts_with("temp:"));
                changes.extend(kept);
                raw.push(&event.payload);
            }
            Kind::Response | Kind::ToolRun | Kind::Run | Kind::Session | Kind::Message => {}
        }
    }
    let mut state = state.unwrap_or_default();
    state.extend(changes);
    let events: Vec<String> = raw.into_iter().map(|event| numbers.rename(event.get())).collect();
    format!(
        r#"{{"id":{},"appName":{},"userId":{},"state":{},"events":[{}],"lastUpdateTime":{last_update}}}"#,
        json!(subject.session_id.to_string()),
        json!(subject.app_name),
        json!(subject.user_id),
        Value::Object(state),
        events.join(","),
    )
}
