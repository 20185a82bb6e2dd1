//! EvalCases: what can be said of one without ADK.
//!
//! ADK's own models have the last word, but they are in Python, far from the
//! person who types. [`case_problems`] finds what people get wrong. It follows
//! ADK in reading both spellings of a field and in taking `null` for absent. It
//! is stricter where ADK reads a case and then cannot make sense of it: empty
//! names, an `eval_id` that cannot be selected, a user who says nothing, a
//! response that belongs to no tool use.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::alias;
use crate::schema::json_type;
use crate::violation::{MAX_VIOLATIONS, Violation, escape};

/// The fields of an `Invocation`. ADK refuses a whole file over any other.
const INVOCATION_FIELDS: [&str; 10] = [
    "invocation_id",
    "user_content",
    "final_response",
    "intermediate_data",
    "creation_timestamp",
    "duration",
    "model_duration",
    "tool_duration",
    "rubrics",
    "app_details",
];
/// The fields of both forms of `intermediate_data`, as strict.
const INTERMEDIATE_FIELDS: [&str; 4] =
    ["tool_uses", "tool_responses", "intermediate_responses", "invocation_events"];

/// What is wrong with an EvalCase, at most [`MAX_VIOLATIONS`].
pub fn case_problems(case: &Value) -> Vec<Violation> {
    let mut problems = Problems(Vec::new());
    if let Some(case) = problems.object("", case) {
        problems.case(case);
    }
    problems.0
}

struct Problems(Vec<Violation>);

impl Problems {
    fn case(&mut self, case: &Map<String, Value>) {
        match field(case, "", "eval_id") {
            None => self.report("/eval_id", "is required"),
            Some((path, Value::String(id))) if id.trim().is_empty() => {
                self.report(path, "is empty");
            }
            Some((path, Value::String(id))) if id.contains(':') => {
                self.report(
                    path,
                    "has a colon, at which `adk eval file.json:eval_id` would cut it",
                );
            }
            Some((_, Value::String(_))) => {}
            Some((path, other)) => self.wrong_type(path, "a string", other),
        }
        let conversation = field(case, "", "conversation");
        match (&conversation, field(case, "", "conversation_scenario")) {
            (None, None) => {
                self.report(
                    "/conversation",
                    "is required, unless there is a conversation_scenario",
                );
            }
            (Some(_), Some((path, _))) => {
                self.report(path, "cannot stand beside a conversation: only one of them counts");
            }
            (None, Some((path, scenario))) => drop(self.object(&path, scenario)),
            (Some(_), None) => {}
        }
        if let Some((path, conversation)) = conversation {
            for (path, invocation) in self.items(&path, conversation) {
                if let Some(invocation) = self.object(&path, invocation) {
                    self.invocation(&path, invocation);
                }
            }
        }
        if let Some((path, input)) = field(case, "", "session_input")
            && let Some(input) = self.object(&path, input)
        {
            for name in ["app_name", "user_id"] {
                self.name(&path, input, name);
            }
        }
    }

    fn invocation(&mut self, path: &str, invocation: &Map<String, Value>) {
        self.known_fields(path, invocation, &INVOCATION_FIELDS);
        match field(invocation, path, "user_content") {
            None => self.report(format!("{path}/user_content"), "is required"),
            Some((path, content)) => {
                if let Some(content) = self.object(&path, content) {
                    self.user_parts(&path, content);
                }
            }
        }
        if let Some((path, response)) = field(invocation, path, "final_response")
            && let Some(response) = self.object(&path, response)
            && let Some((path, parts)) = field(response, &path, "parts")
        {
            drop(self.items(&path, parts));
        }
        if let Some((path, data)) = field(invocation, path, "intermediate_data")
            && let Some(data) = self.object(&path, data)
        {
            self.known_fields(&path, data, &INTERMEDIATE_FIELDS);
            self.tools(&path, data);
        }
    }

    fn user_parts(&mut self, path: &str, content: &Map<String, Value>) {
        match field(content, path, "parts") {
            None => self.report(format!("{path}/parts"), "is required"),
            Some((path, Value::Array(parts))) if parts.is_empty() => self.report(path, "is empty"),
            Some((path, parts)) => {
                for (path, part) in self.items(&path, parts) {
                    self.object(&path, part);
                }
            }
        }
    }

    /// Tool uses have names, and every response belongs to a use.
    fn tools(&mut self, path: &str, data: &Map<String, Value>) {
        let mut use_ids = HashSet::new();
        for (path, tool_use) in self.list(path, data, "tool_uses") {
            let Some(tool_use) = self.object(&path, tool_use) else { continue };
            self.name(&path, tool_use, "name");
            if let Some((path, args)) = field(tool_use, &path, "args") {
                self.object(&path, args);
            }
            use_ids.extend(tool_use.get("id").and_then(Value::as_str));
        }
        for (path, response) in self.list(path, data, "tool_responses") {
            let Some(response) = self.object(&path, response) else { continue };
            self.name(&path, response, "name");
            if let Some((path, id)) = field(response, &path, "id")
                && !id.as_str().is_some_and(|id| use_ids.contains(id))
            {
                self.report(path, "is the id of no tool use");
            }
        }
        drop(self.list(path, data, "intermediate_responses"));
        for (path, event) in self.list(path, data, "invocation_events") {
            if let Some(event) = self.object(&path, event) {
                self.name(&path, event, "author");
            }
        }
    }

    /// The items of the list under `name`, none if it is absent.
    fn list<'a>(
        &mut self,
        path: &str,
        object: &'a Map<String, Value>,
        name: &str,
    ) -> Vec<(String, &'a Value)> {
        match field(object, path, name) {
            Some((path, list)) => self.items(&path, list),
            None => Vec::new(),
        }
    }

    fn items<'a>(&mut self, path: &str, list: &'a Value) -> Vec<(String, &'a Value)> {
        let Value::Array(items) = list else {
            self.wrong_type(path.to_owned(), "an array", list);
            return Vec::new();
        };
        let numbered = items.iter().enumerate();
        numbered.map(|(index, item)| (format!("{path}/{index}"), item)).collect()
    }

    fn object<'a>(&mut self, path: &str, value: &'a Value) -> Option<&'a Map<String, Value>> {
        if !value.is_object() {
            self.wrong_type(path.to_owned(), "an object", value);
        }
        value.as_object()
    }

    /// A text that cannot be missing or empty.
    fn name(&mut self, path: &str, object: &Map<String, Value>, name: &str) {
        match field(object, path, name) {
            None => self.report(format!("{path}/{name}"), "is required"),
            Some((path, Value::String(text))) if text.is_empty() => self.report(path, "is empty"),
            Some((_, Value::String(_))) => {}
            Some((path, other)) => self.wrong_type(path, "a string", other),
        }
    }

    fn known_fields(&mut self, path: &str, object: &Map<String, Value>, known: &[&str]) {
        for key in object.keys() {
            if !known.contains(&alias::snake_key(key).as_str()) {
                self.report(format!("{path}/{}", escape(key)), "is not a known field");
            }
        }
    }

    fn wrong_type(&mut self, path: String, expected: &str, found: &Value) {
        self.report(path, format!("must be {expected}, not {}", json_type(found)));
    }

    fn report(&mut self, path: impl Into<String>, message: impl Into<String>) {
        if self.0.len() < MAX_VIOLATIONS {
            self.0.push(Violation::new(path, message));
        }
    }
}

/// The field `name` in the spelling that is there, with the pointer to it.
fn field<'a>(
    object: &'a Map<String, Value>,
    path: &str,
    name: &str,
) -> Option<(String, &'a Value)> {
    let (key, value) = alias::get_entry(object, name)?;
    Some((format!("{path}/{key}"), value))
}
