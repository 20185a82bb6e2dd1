//! What goes on beside the conversation: tools that report progress, and people
//! in the model's seat.

use serde_json::{Map, Value, json};

use super::{Phase, Translator};
use crate::event::{Body, Event};
use crate::patch::diff;

/// The type of activities that are tools at work.
const TOOL_RUN_ACTIVITY: &str = "hotseat.tool_run";
/// How many tools are shown at work. More work unseen.
const MAX_ACTIVITIES: usize = 1_000;
/// How many people a late client is told to wait for.
const MAX_WAITING: usize = 100;

impl Translator {
    /// The payload of a `tool_run` event. A tool is shown at work once it says
    /// how far it is; that it began and ended, its call says already.
    pub fn progress(&mut self, payload: &Value) -> Vec<Event> {
        if self.phase != Phase::Over {
            self.begin();
            self.tool_run(payload);
        }
        self.take()
    }

    /// A person is asked to answer for the model.
    pub fn turn_waits(&mut self, turn_id: &str, agent_name: &str) -> Vec<Event> {
        if self.phase != Phase::Over {
            self.begin();
            if self.waiting.len() < MAX_WAITING {
                self.waiting.push((turn_id.to_owned(), agent_name.to_owned()));
            }
            self.out.push(turn_event(turn_id, agent_name, "waiting"));
        }
        self.take()
    }

    /// The person answered.
    pub fn turn_answered(&mut self, turn_id: &str, agent_name: &str) -> Vec<Event> {
        if self.phase != Phase::Over {
            self.begin();
            self.waiting.retain(|(waiting, _)| waiting != turn_id);
            self.out.push(turn_event(turn_id, agent_name, "answered"));
        }
        self.take()
    }

    fn tool_run(&mut self, payload: &Value) {
        let field = |name: &str, camel: &str| payload.get(name).or_else(|| payload.get(camel));
        let Some(call_id) = field("call_id", "callId").and_then(Value::as_str) else { return };
        let Some(status) = payload.get("status").and_then(Value::as_str) else { return };
        let id = format!("{call_id}:progress");
        let known = self.activities.get(&id);
        if known.is_none()
            && (!matches!(status, "progress" | "cancel_requested")
                || self.activities.len() >= MAX_ACTIVITIES)
        {
            return;
        }
        let mut content = known.cloned().unwrap_or_default();
        for (key, value) in [
            ("toolCallId", Some(&Value::from(call_id))),
            ("toolName", field("tool_name", "toolName")),
            ("status", Some(&Value::from(status))),
            ("message", field("message", "message")),
            ("fraction", field("fraction", "fraction")),
            ("error", field("error_message", "errorMessage")),
        ] {
            if let Some(value) = value.filter(|value| !value.is_null()) {
                content.insert(key.to_owned(), value.clone());
            }
        }
        let event = match known {
            None => Some(activity_event(&id, &content)),
            Some(known) => change_event(&id, known, &content),
        };
        self.activities.insert(id, content);
        self.out.extend(event);
    }

    /// All of it again, for a client that comes late.
    pub(super) fn beside(&self) -> Vec<Event> {
        let mut ids: Vec<_> = self.activities.iter().collect();
        ids.sort_unstable_by_key(|(id, _)| *id);
        let activities = ids.into_iter().map(|(id, content)| activity_event(id, content));
        let turns = self.waiting.iter().map(|(turn, agent)| turn_event(turn, agent, "waiting"));
        activities.chain(turns).collect()
    }
}

fn activity_event(id: &str, content: &Map<String, Value>) -> Event {
    Event::new(Body::ActivitySnapshot {
        message_id: id.to_owned(),
        activity_type: TOOL_RUN_ACTIVITY.to_owned(),
        content: content.clone(),
        replace: None,
    })
}

fn change_event(id: &str, old: &Map<String, Value>, new: &Map<String, Value>) -> Option<Event> {
    let patch = diff(&Value::Object(old.clone()), &Value::Object(new.clone()));
    (!patch.is_empty()).then(|| {
        Event::new(Body::ActivityDelta {
            message_id: id.to_owned(),
            activity_type: TOOL_RUN_ACTIVITY.to_owned(),
            patch,
        })
    })
}

fn turn_event(turn_id: &str, agent_name: &str, state: &str) -> Event {
    let value = json!({"turnId": turn_id, "agent": agent_name, "state": state});
    Event::new(Body::Custom { name: "hotseat.turn".to_owned(), value })
}
