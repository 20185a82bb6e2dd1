//! What earlier events say about the ids of later ones.
//!
//! A message that is streamed has an id before its event exists, and the same
//! message in a snapshot must have the same id, or a client shows it twice. So
//! the id is made of what both know: the invocation, the branch, and how many
//! answers came before in them. That needs the earlier events of the session,
//! or rather this summary of them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Value;

use crate::adk::{Adk, Part, PartKind};

/// How many calls and places of answers are remembered. A session with more is
/// shown all the same, but a result may not find its call.
const MAX_REMEMBERED: usize = 250_000;

/// A summary of a session's events up to a point.
#[derive(Debug, Clone, Default)]
pub struct History {
    answers: HashMap<Place, u64>,
    calls: HashMap<String, KnownCall>,
}

/// Where answers are counted.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Place {
    invocation_id: String,
    branch: String,
}

/// A function call.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownCall {
    pub(crate) name: String,
    /// How many results it got.
    pub(crate) results: u32,
    /// The last of them, hashed.
    last: Option<u64>,
}

impl History {
    /// The summary of these events, the oldest first.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Value>) -> Self {
        let mut history = Self::default();
        for event in events {
            history.note(event);
        }
        history
    }

    /// Takes in one more event, as the translator and a snapshot do.
    pub fn note(&mut self, event: &Value) {
        let Some(adk) = Adk::new(event).filter(|adk| !adk.flag("partial")) else { return };
        let parts = adk.parts();
        let place = Place::of(adk);
        if !adk.is_from_user() {
            let base = self.message_id(&place);
            for (index, part) in parts.iter().enumerate() {
                if let PartKind::Call { id, name, .. } = part.kind {
                    self.call(&call_id(id, &base, index), name);
                }
            }
            self.answered(&place, &parts);
        }
        for part in &parts {
            if let PartKind::Result { id, name, response, .. } = part.kind
                && let Some(id) = self.call_of(id, name)
            {
                self.result_number(&id, response);
            }
        }
    }

    /// The ids of the calls so far.
    pub fn call_ids(&self) -> impl Iterator<Item = &str> {
        self.calls.keys().map(String::as_str)
    }

    /// The id of the next answer there.
    pub(crate) fn message_id(&self, place: &Place) -> String {
        let number = self.answers.get(place).copied().unwrap_or_default();
        let invocation_id = escape(&place.invocation_id);
        if place.branch.is_empty() {
            return format!("{invocation_id}:{number}");
        }
        format!("{invocation_id}:{}:{number}", escape(&place.branch))
    }

    /// Counts the answer if the parts are one; results alone are none.
    pub(crate) fn answered(&mut self, place: &Place, parts: &[Part<'_>]) {
        if is_answer(parts)
            && (self.answers.len() < MAX_REMEMBERED || self.answers.contains_key(place))
        {
            *self.answers.entry(place.clone()).or_default() += 1;
        }
    }

    /// Remembers a call; says whether it is new and could be.
    pub(crate) fn call(&mut self, id: &str, name: &str) -> bool {
        if self.calls.contains_key(id) || self.calls.len() >= MAX_REMEMBERED {
            return false;
        }
        self.calls
            .insert(id.to_owned(), KnownCall { name: name.to_owned(), results: 0, last: None });
        true
    }

    pub(crate) fn knows_call(&self, id: &str) -> bool {
        self.calls.contains_key(id)
    }

    /// The call that a result belongs to. Without an id it is a call of that
    /// name that has no result, if there is only one.
    pub(crate) fn call_of(&self, id: Option<&str>, name: &str) -> Option<String> {
        if let Some(id) = id {
            return self.calls.contains_key(id).then(|| id.to_owned());
        }
        let mut open = self.calls.iter().filter(|(_, call)| call.name == name && call.results == 0);
        match (open.next(), open.next()) {
            (Some((id, _)), None) => Some(id.clone()),
            _ => None,
        }
    }

    /// The number of a result of a known call, from 1; none if it only repeats
    /// the one before.
    pub(crate) fn result_number(&mut self, id: &str, response: &Value) -> Option<u32> {
        let call = self.calls.get_mut(id)?;
        let mut hasher = DefaultHasher::new();
        response.to_string().hash(&mut hasher);
        if call.last.replace(hasher.finish()) == Some(hasher.finish()) {
            return None;
        }
        call.results += 1;
        Some(call.results)
    }
}

impl Place {
    pub(crate) fn new(invocation_id: &str, branch: Option<&str>) -> Self {
        let branch = branch.unwrap_or_default();
        Self { invocation_id: invocation_id.to_owned(), branch: branch.to_owned() }
    }

    pub(crate) fn of(adk: Adk<'_>) -> Self {
        Self::new(adk.text("invocation_id").unwrap_or_default(), adk.text("branch"))
    }
}

/// Whether somebody answers with these parts; a tool's result is no answer.
pub(crate) fn is_answer(parts: &[Part<'_>]) -> bool {
    parts.iter().any(|part| !matches!(part.kind, PartKind::Result { .. }))
}

/// The id of a call; one without gets the place it stands at.
pub(crate) fn call_id(id: Option<&str>, message_id: &str, index: usize) -> String {
    id.map_or_else(|| format!("{message_id}:call{index}"), str::to_owned)
}

/// The id of the message with a call's nth result.
pub(crate) fn result_id(call_id: &str, number: u32) -> String {
    if number <= 1 { format!("{call_id}:result") } else { format!("{call_id}:result:{number}") }
}

/// The id of the thoughts that come with a message.
pub(crate) fn reasoning_id(message_id: &str) -> String {
    format!("{message_id}:reasoning")
}

/// The id of the nth part of a message that is a file.
pub(crate) fn media_id(message_id: &str, index: usize) -> String {
    format!("{message_id}:media{index}")
}

/// Without the colon, so that no two places make the same id.
fn escape(text: &str) -> String {
    text.replace('%', "%25").replace(':', "%3A").replace('~', "%7E")
}
