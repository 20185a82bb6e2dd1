//! The conversation that a model sees, made from the events of a session.
//!
//! It follows ADK: only events with content count, pieces of a stream and bare
//! thoughts are left out, and the results of calls stand right after the calls,
//! whenever they came. Providers refuse a call without a result, so a call that
//! never got one (the run was interrupted, or the caller went on without it)
//! is answered with an error that says so.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value, json};

/// What a call without result is answered with.
const NO_RESULT: &str = "there is no result: the call was interrupted or never answered";

/// The contents of a request, oldest first.
pub(crate) fn contents(history: &[Value]) -> Vec<Value> {
    let entries: Vec<Entry> = history.iter().filter_map(Entry::read).collect();
    if entries.iter().all(|entry| entry.calls.is_empty() && entry.results.is_empty()) {
        return entries.into_iter().map(|entry| content(entry.role, entry.parts)).collect();
    }
    arrange(entries)
}

/// An event, as far as the conversation goes.
struct Entry {
    role: &'static str,
    /// Everything but results.
    parts: Vec<Value>,
    /// The id and the name of each call.
    calls: Vec<(String, String)>,
    /// The id of the call and the part.
    results: Vec<(String, Value)>,
}

impl Entry {
    fn read(event: &Value) -> Option<Self> {
        if event.get("partial").and_then(Value::as_bool) == Some(true) {
            return None;
        }
        let content = event.get("content")?;
        let from_user = match content.get("role").and_then(Value::as_str) {
            Some(role) => role == "user",
            None => event.get("author").and_then(Value::as_str) == Some("user"),
        };
        let parts = content.get("parts")?.as_array()?;
        let mut entry = Self {
            role: if from_user { "user" } else { "model" },
            parts: Vec::with_capacity(parts.len()),
            calls: Vec::new(),
            results: Vec::new(),
        };
        for part in parts.iter().filter(|part| is_visible(part)) {
            let part = snake_part(part);
            if let Some(result) = part.get("function_response") {
                entry.results.push((id_of(result), part));
                continue;
            }
            if let Some(call) = part.get("function_call") {
                let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
                entry.calls.push((id_of(call), name.to_owned()));
            }
            entry.parts.push(part);
        }
        (!entry.parts.is_empty() || !entry.results.is_empty()).then_some(entry)
    }
}

/// Puts results behind their calls.
fn arrange(entries: Vec<Entry>) -> Vec<Value> {
    let mut results = owned_results(&entries);
    let newest_only_results =
        entries.last().is_some_and(|entry| entry.parts.is_empty() && !entry.results.is_empty());
    let newest: HashSet<String> = match entries.last() {
        Some(entry) if newest_only_results => {
            entry.results.iter().map(|(id, _)| id.clone()).collect()
        }
        _ => HashSet::new(),
    };
    let mut contents = Vec::with_capacity(entries.len() + 1);
    let mut end_of_newest = None;
    for (index, entry) in entries.into_iter().enumerate() {
        if entry.parts.is_empty() {
            continue;
        }
        contents.push(content(entry.role, entry.parts));
        if entry.calls.is_empty() {
            continue;
        }
        let brings_newest = entry.calls.iter().any(|(id, _)| newest.contains(id));
        let answers = entry.calls.into_iter().map(|(id, name)| {
            results.remove(&(index, id.clone())).unwrap_or_else(|| unanswered(&id, &name))
        });
        contents.push(content("user", answers.collect()));
        if brings_newest {
            end_of_newest = Some(contents.len());
        }
    }
    // If the newest event only brings results, the model goes on from them. What
    // was said between the call and its result is left out, as ADK does:
    // otherwise the conversation would end with the model's own words.
    if let Some(end) = end_of_newest {
        contents.truncate(end);
    }
    contents
}

/// Results by the call they belong to: the newest call with that id before
/// them, because some models use an id again. The last result of a call counts.
fn owned_results(entries: &[Entry]) -> HashMap<(usize, String), Value> {
    let mut last_call: HashMap<&str, usize> = HashMap::new();
    let mut results = HashMap::new();
    for (index, entry) in entries.iter().enumerate() {
        for (id, part) in &entry.results {
            if let Some(call) = last_call.get(id.as_str()) {
                results.insert((*call, id.clone()), part.clone());
            }
        }
        for (id, _) in &entry.calls {
            last_call.insert(id, index);
        }
    }
    results
}

fn unanswered(id: &str, name: &str) -> Value {
    json!({"function_response": {"id": id, "name": name, "response": {"error": NO_RESULT}}})
}

/// A genai Content.
pub(crate) fn content(role: &str, parts: Vec<Value>) -> Value {
    let mut content = Map::with_capacity(2);
    content.insert("role".to_owned(), Value::from(role));
    content.insert("parts".to_owned(), Value::Array(parts));
    Value::Object(content)
}

/// The id of a call or a result; its name where it has none, as in ADK's older events.
fn id_of(object: &Value) -> String {
    let id = object.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let name = || object.get("name").and_then(Value::as_str);
    id.or_else(name).unwrap_or_default().to_owned()
}

/// Whether a model is shown the part, by ADK's rule: bare thoughts and empty
/// parts are not, what carries a signature is.
fn is_visible(part: &Value) -> bool {
    let has = |snake, camel| either(part, snake, camel).is_some();
    if has("function_call", "functionCall")
        || has("function_response", "functionResponse")
        || has("thought_signature", "thoughtSignature")
    {
        return true;
    }
    if part.get("thought").and_then(Value::as_bool) == Some(true) {
        return false;
    }
    part.get("text").and_then(Value::as_str).is_some_and(|text| !text.is_empty())
        || has("inline_data", "inlineData")
        || has("file_data", "fileData")
        || has("executable_code", "executableCode")
        || has("code_execution_result", "codeExecutionResult")
}

/// The part with snake_case keys. Arguments and results are data and stay.
fn snake_part(part: &Value) -> Value {
    let Value::Object(part) = part else { return part.clone() };
    let keys = part.iter().filter(|(_, value)| !value.is_null()).map(|(key, value)| {
        let key = snake(key);
        let value = match (key.as_str(), value) {
            (
                "function_call"
                | "function_response"
                | "inline_data"
                | "file_data"
                | "executable_code"
                | "code_execution_result",
                Value::Object(inner),
            ) => Value::Object(snake_keys(inner)),
            _ => value.clone(),
        };
        (key, value)
    });
    Value::Object(keys.collect())
}

fn snake_keys(object: &Map<String, Value>) -> Map<String, Value> {
    let given = object.iter().filter(|(_, value)| !value.is_null());
    given.map(|(key, value)| (snake(key), value.clone())).collect()
}

fn snake(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// A field in either spelling.
fn either<'a>(object: &'a Value, snake: &str, camel: &str) -> Option<&'a Value> {
    object.get(snake).or_else(|| object.get(camel)).filter(|value| !value.is_null())
}
