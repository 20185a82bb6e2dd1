//! The session's state, as the client has it.

use serde_json::{Map, Value};

use super::{Phase, Translator};
use crate::event::{Body, Event};
use crate::patch::{Op, diff, escape};

/// What ADK keeps only as long as an invocation lasts.
const TEMPORARY: &str = "temp:";

impl Translator {
    /// Tells the client the session's state as it is, in case something changed
    /// it without an event. Sends nothing if the client has it.
    pub fn sync_state(&mut self, state: &Map<String, Value>) -> Vec<Event> {
        if self.phase != Phase::Over {
            self.begin();
            let kept = state.iter().filter(|(key, _)| !key.starts_with(TEMPORARY));
            let new = kept.map(|(key, value)| (key.clone(), value.clone())).collect();
            match &self.state {
                Some(old @ Value::Object(_)) => {
                    let new = Value::Object(new);
                    let ops = diff(old, &new);
                    self.state = Some(new);
                    self.send_delta(ops);
                }
                None if new.is_empty() => {}
                _ => self.send_snapshot(new),
            }
        }
        self.take()
    }

    /// Applies an event's changes and tells the client what is different now.
    pub(super) fn state_changed(&mut self, delta: &Map<String, Value>) {
        let changes = || delta.iter().filter(|(key, _)| !key.starts_with(TEMPORARY));
        if changes().next().is_none() {
            return;
        }
        // A client without a state, or with one that has no keys, cannot apply
        // a change of a key.
        let Some(Value::Object(state)) = &mut self.state else {
            let new = changes().map(|(key, value)| (key.clone(), value.clone())).collect();
            return self.send_snapshot(new);
        };
        let mut ops = Vec::new();
        for (key, value) in changes() {
            let path = format!("/{}", escape(key));
            match state.get(key) {
                None => ops.push(Op::Add { path, value: value.clone() }),
                Some(old) => ops.extend(diff(old, value).into_iter().map(|op| op.below(&path))),
            }
            state.insert(key.clone(), value.clone());
        }
        self.send_delta(ops);
    }

    fn send_delta(&mut self, delta: Vec<Op>) {
        if !delta.is_empty() {
            self.out.push(Event::new(Body::StateDelta { delta }));
        }
    }

    fn send_snapshot(&mut self, state: Map<String, Value>) {
        let snapshot = Value::Object(state);
        self.state = Some(snapshot.clone());
        self.out.push(Event::new(Body::StateSnapshot { snapshot }));
    }
}
