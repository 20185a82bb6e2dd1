//! The answer to a turn.
//!
//! A decision has the form of a model's response: candidates, each a genai
//! Content. [`Decision::parse`] settles what can be judged from the answer
//! alone, [`Decision::check`] what depends on the request. A decision that
//! passed both can be handed to ADK as if a model had made it.

mod answer;
mod check;

use std::collections::HashSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

pub use answer::{Answer, Dismissal};

use crate::alias;
use crate::content::visible_text;
use crate::payload::raw;
use crate::schema::json_type;
use crate::violation::Violation;

type Object = Map<String, Value>;

/// What the seat answered: at least one candidate, each with at least one part
/// and the role `model`. Keys are snake_case; the ids of calls differ.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    candidates: Vec<Object>,
}

/// A function call in a decision.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecidedCall<'a> {
    /// Its id, if it has one yet.
    pub id: Option<&'a str>,
    /// The tool to call.
    pub name: &'a str,
    /// The arguments.
    pub args: &'a Value,
}

impl Decision {
    /// Reads `{"candidates": [Content]}` in either spelling and says everything
    /// that is wrong with it. Text may be blank only beside something that is
    /// not: an answer that shows and does nothing is refused, because ADK would
    /// end the invocation on it.
    pub fn parse(value: Value) -> Result<Self, Vec<Violation>> {
        let mut found = Vec::new();
        let candidates = candidates(value, &mut found);
        let mut ids = HashSet::new();
        for (path, call) in calls_in(&candidates) {
            if let Some(id) = call.id
                && !ids.insert(id)
            {
                let message = format!("the call id `{id}` is used twice");
                found.push(Violation::new(format!("{path}/id"), message));
            }
        }
        if found.is_empty() { Ok(Self { candidates }) } else { Err(found) }
    }

    /// The candidates: Contents with snake_case keys.
    pub fn candidates(&self) -> &[Map<String, Value>] {
        &self.candidates
    }

    /// The function calls of all candidates, in order.
    pub fn calls(&self) -> impl Iterator<Item = DecidedCall<'_>> {
        calls_in(&self.candidates).map(|(_, call)| call)
    }

    /// The text of the first candidate that the user is meant to see.
    pub fn text(&self) -> String {
        self.candidates.first().map(candidate_text).unwrap_or_default()
    }

    /// Gives an id to every call that has none and returns the ids of all calls.
    pub fn assign_call_ids(&mut self, mut new_id: impl FnMut() -> String) -> Vec<String> {
        let mut ids = Vec::new();
        for candidate in &mut self.candidates {
            let Some(Value::Array(parts)) = candidate.get_mut("parts") else { continue };
            for part in parts {
                let Some(Value::Object(call)) = part.get_mut("function_call") else { continue };
                let id = call.entry("id").or_insert_with(|| Value::String(new_id()));
                ids.extend(id.as_str().map(str::to_owned));
            }
        }
        ids
    }

    /// The payload of the `response` event.
    pub fn to_payload(&self) -> Box<RawValue> {
        raw(&json!({"candidates": self.candidates}))
    }
}

/// The calls of some candidates, each with the pointer to its function_call.
fn calls_in(candidates: &[Object]) -> impl Iterator<Item = (String, DecidedCall<'_>)> {
    candidates.iter().enumerate().flat_map(|(c, candidate)| {
        parts(candidate).iter().enumerate().filter_map(move |(p, part)| {
            let call = part.get("function_call")?;
            let call = DecidedCall {
                id: call.get("id").and_then(Value::as_str),
                name: call.get("name")?.as_str()?,
                args: call.get("args")?,
            };
            Some((format!("/candidates/{c}/parts/{p}/function_call"), call))
        })
    })
}

fn parts(candidate: &Object) -> &[Value] {
    candidate.get("parts").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The visible text of a candidate, joined as ADK joins it.
fn candidate_text(candidate: &Object) -> String {
    parts(candidate).iter().filter_map(|part| visible_text(part.as_object()?)).collect()
}

fn candidates(value: Value, found: &mut Vec<Violation>) -> Vec<Object> {
    let Value::Object(mut body) = value else {
        found.push(Violation::new("", format!("must be an object, not {}", json_type(&value))));
        return Vec::new();
    };
    match alias::take(&mut body, "candidates") {
        Some(Value::Array(candidates)) if !candidates.is_empty() => candidates
            .into_iter()
            .enumerate()
            .filter_map(|(i, value)| candidate(value, &format!("/candidates/{i}"), found))
            .collect(),
        _ => {
            found.push(Violation::new("/candidates", "must be an array with at least one answer"));
            Vec::new()
        }
    }
}

fn candidate(value: Value, path: &str, found: &mut Vec<Violation>) -> Option<Object> {
    let given = object(value, path, found)?;
    let role = given.get("role").cloned().unwrap_or_else(|| Value::from("model"));
    if role != "model" {
        found.push(Violation::new(format!("{path}/role"), "must be `model`"));
    }
    let mut content = Object::from_iter([("role".to_owned(), Value::from("model"))]);
    content.extend(given.into_iter().filter(|(key, _)| key != "role"));

    let parts_path = format!("{path}/parts");
    let given_parts = match content.get_mut("parts") {
        Some(Value::Array(parts)) if !parts.is_empty() => std::mem::take(parts),
        _ => {
            found.push(Violation::new(parts_path, "must be an array with at least one part"));
            return None;
        }
    };
    let before = found.len();
    let parts: Vec<Value> = given_parts
        .into_iter()
        .enumerate()
        .filter_map(|(i, value)| part(value, &format!("{parts_path}/{i}"), found))
        .collect();
    if found.len() == before && parts.iter().all(says_nothing) {
        let message = "is empty: write a text or call a tool";
        found.push(Violation::new(format!("{parts_path}/0/text"), message));
    }
    content.insert("parts".to_owned(), Value::Array(parts));
    Some(content)
}

fn part(value: Value, path: &str, found: &mut Vec<Violation>) -> Option<Value> {
    let mut part = object(value, path, found)?;
    let mut refuse = |field: &str, message: &str| {
        found.push(Violation::new(format!("{path}{field}"), message));
    };
    if part.is_empty() {
        refuse("", "must hold a text, a function_call or other data");
    }
    if part.get("text").is_some_and(|text| !text.is_string()) {
        refuse("/text", "must be a string");
    }
    if part.contains_key("text") && part.contains_key("function_call") {
        refuse("", "must hold either a text or a function_call, not both");
    }
    if part.contains_key("function_response") {
        refuse("/function_response", "cannot be part of an answer: tools give their own results");
    }
    if let Some(call) = part.get_mut("function_call") {
        *call = function_call(call.take(), &format!("{path}/function_call"), found)?;
    }
    Some(Value::Object(part))
}

fn function_call(value: Value, path: &str, found: &mut Vec<Violation>) -> Option<Value> {
    let mut call = object(value, path, found)?;
    if call.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
        found.push(Violation::new(format!("{path}/name"), "must be the name of a tool"));
    }
    let args = call.entry("args").or_insert_with(|| Value::Object(Object::new()));
    if !args.is_object() {
        let message = format!("must be an object, not {}", json_type(args));
        found.push(Violation::new(format!("{path}/args"), message));
    }
    match call.get("id") {
        Some(Value::String(id)) if id.is_empty() => drop(call.shift_remove("id")),
        None | Some(Value::String(_)) => {}
        Some(_) => found.push(Violation::new(format!("{path}/id"), "must be a string")),
    }
    Some(Value::Object(call))
}

/// The object with snake_case keys; a key given in both spellings is refused,
/// because one of the two would be lost.
fn object(value: Value, path: &str, found: &mut Vec<Violation>) -> Option<Object> {
    let Value::Object(object) = value else {
        found.push(Violation::new(path, format!("must be an object, not {}", json_type(&value))));
        return None;
    };
    let given = object.values().filter(|value| !value.is_null()).count();
    let object = alias::snake_keys(object);
    if object.len() < given {
        found.push(Violation::new(path, "has a field in both spellings, camelCase and snake_case"));
    }
    Some(object)
}

/// Whether a part neither shows nor does anything.
fn says_nothing(part: &Value) -> bool {
    let Some(part) = part.as_object() else { return true };
    let only_text = part.keys().all(|key| {
        matches!(key.as_str(), "text" | "thought" | "thought_signature" | "part_metadata")
    });
    only_text && visible_text(part).is_none_or(|text| text.trim().is_empty())
}
