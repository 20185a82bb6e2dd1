//! The state of ADK's sessions: whose a key is, and what is kept.
//!
//! Values replace each other whole, and `null` is a value like any other.

use serde_json::{Map, Value};

const APP: &str = "app:";
const USER: &str = "user:";
const TEMP: &str = "temp:";

/// Whom a state key belongs to, with the key as it is kept there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateOwner<'k> {
    /// All sessions of the app.
    App(&'k str),
    /// All sessions of the user in the app.
    User(&'k str),
    /// The session.
    Session(&'k str),
}

impl<'k> StateOwner<'k> {
    /// Whose `key` is.
    pub fn of(key: &'k str) -> Self {
        if let Some(key) = key.strip_prefix(APP) {
            return Self::App(key);
        }
        match key.strip_prefix(USER) {
            Some(key) => Self::User(key),
            None => Self::Session(key),
        }
    }
}

/// What is kept of a change of state: all but the keys that end with their invocation.
pub(crate) fn kept(mut delta: Map<String, Value>) -> Map<String, Value> {
    delta.retain(|key, _| !key.starts_with(TEMP));
    delta
}

/// The state that a session shows: its own, and the shared keys with their prefixes.
pub fn merge_state(
    mut session: Map<String, Value>,
    app: Map<String, Value>,
    user: Map<String, Value>,
) -> Map<String, Value> {
    session.extend(app.into_iter().map(|(key, value)| (format!("{APP}{key}"), value)));
    session.extend(user.into_iter().map(|(key, value)| (format!("{USER}{key}"), value)));
    session
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(object) => object,
            _ => Map::new(),
        }
    }

    #[test]
    fn a_prefix_says_whose_a_key_is() {
        assert_eq!(StateOwner::of("app:theme"), StateOwner::App("theme"));
        assert_eq!(StateOwner::of("user:name"), StateOwner::User("name"));
        assert_eq!(StateOwner::of("step"), StateOwner::Session("step"));
        assert_eq!(StateOwner::of("application"), StateOwner::Session("application"));
    }

    #[test]
    fn temporary_keys_are_dropped_and_null_is_kept() {
        let delta = object(json!({"temp:x": 1, "step": null, "app:n": 2}));
        assert_eq!(Value::Object(kept(delta)), json!({"step": null, "app:n": 2}));
    }

    #[test]
    fn shared_state_shows_with_its_prefix() {
        let merged = merge_state(
            object(json!({"step": 1})),
            object(json!({"theme": "dark"})),
            object(json!({"name": null})),
        );
        let expected = json!({"step": 1, "app:theme": "dark", "user:name": null});
        assert_eq!(Value::Object(merged), expected);
    }
}
