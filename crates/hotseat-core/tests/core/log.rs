//! A log written in a few words.

#![expect(clippy::needless_pass_by_value, reason = "json! reads best without a borrow")]

use hotseat_core::{Event, Kind, NewEvent, Seq, SessionId, TurnId};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

pub(crate) const SESSION: &str = "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11";
pub(crate) const RUN: &str = "0b0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a22";

pub(crate) fn raw(value: &Value) -> Box<RawValue> {
    to_raw_value(value).unwrap()
}

pub(crate) fn text(json: &str) -> Box<RawValue> {
    RawValue::from_string(json.to_owned()).unwrap()
}

/// JSON for a snapshot. Not insta's own, which does not know serde_json's numbers.
pub(crate) fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

/// The turn number `n`.
pub(crate) fn turn(n: u128) -> TurnId {
    format!("00000000-0000-4000-8000-{n:012}").parse().unwrap()
}

/// Events of one session, a second apart, on the agent `root` unless told otherwise.
#[derive(Debug, Default)]
pub(crate) struct Log {
    pub(crate) events: Vec<Event>,
    inside: Option<String>,
}

impl Log {
    /// What follows happens inside this function call, or outside of any.
    pub(crate) fn inside(&mut self, parent_call_id: Option<&str>) -> &mut Self {
        self.inside = parent_call_id.map(str::to_owned);
        self
    }

    pub(crate) fn push(&mut self, kind: Kind, author: &str, payload: &Value) -> &mut Event {
        let n = i64::try_from(self.events.len()).unwrap() + 1;
        let start: Timestamp = "2025-12-23T14:30:00Z".parse().unwrap();
        self.events.push(Event {
            session_id: SESSION.parse::<SessionId>().unwrap(),
            seq: Seq::new(n.unsigned_abs()),
            entry: NewEvent {
                event_id: format!("event-{n}"),
                timestamp: start + SignedDuration::from_secs(n),
                kind,
                turn_id: None,
                invocation_id: None,
                author: author.to_owned(),
                agent_name: author.to_owned(),
                branch: None,
                parent_call_id: self.inside.clone(),
                payload: raw(payload),
            },
        });
        self.events.last_mut().unwrap()
    }

    /// A raw ADK event with these parts, as ADK writes it.
    pub(crate) fn adk(&mut self, author: &str, parts: Value) -> &mut Event {
        self.adk_with(author, parts, json!({}))
    }

    /// The same with more fields.
    pub(crate) fn adk_with(&mut self, author: &str, parts: Value, more: Value) -> &mut Event {
        let mut event = json!({
            "content": {"parts": parts, "role": if author == "user" { "user" } else { "model" }},
            "invocationId": if self.inside.is_some() { "e-inner" } else { "e-1" },
            "author": author,
            "actions": {"stateDelta": {}, "artifactDelta": {}},
            "timestamp": 1_766_500_200.5,
        });
        let fields = event.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        self.push(Kind::Event, author, &event)
    }

    /// A turn of `agent`, answered with these parts by a person.
    pub(crate) fn turn(&mut self, n: u128, agent: &str, parts: Value) -> &mut Self {
        let request = json!({"request": {"contents": []}, "state": {"city": "Bern", "temp:x": 1}});
        self.push(Kind::Request, agent, &request).entry.turn_id = Some(turn(n));
        let response = json!({"candidates": [{"role": "model", "parts": parts}]});
        let event = self.push(Kind::Response, "human", &response);
        event.entry.turn_id = Some(turn(n));
        agent.clone_into(&mut event.entry.agent_name);
        self
    }

    pub(crate) fn tool_run(&mut self, run: &Value) -> &mut Self {
        self.push(Kind::ToolRun, "root", run);
        self
    }

    pub(crate) fn run(&mut self, status: &str, more: &Value) -> &mut Self {
        let mut change = json!({"run_id": RUN, "status": status});
        change.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.push(Kind::Run, "root", &change);
        self
    }
}

pub(crate) fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({"functionCall": {"id": id, "name": name, "args": args}})
}

pub(crate) fn response(id: &str, name: &str, response: &Value) -> Value {
    json!({"functionResponse": {"id": id, "name": name, "response": response}})
}
