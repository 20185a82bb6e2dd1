//! Two EvalCases side by side: where they say different things.
//!
//! What is another one in every recording is not compared:
//!
//! * of a case: `eval_id`, `creation_timestamp`;
//! * of its `session_input`: `session_id`;
//! * of an invocation: `invocation_id`, `creation_timestamp`, `duration`,
//!   `model_duration`, `tool_duration`;
//! * of a function call or function response: `id`.
//!
//! Fields with these names inside arguments, results and state are data and are
//! compared. Both spellings of a field of ADK's are the same here, and so are
//! `null` and absence.
//!
//! Invocations are aligned by what the user says and tool uses by name and
//! arguments, so that one that was added does not make all the later ones differ.
//! Between those that are the same, they are taken as edits of one another in
//! their order, tool uses only if the tool is the same. The response of a tool is
//! compared with that of the tool use it belongs to, and goes along silently with
//! one that the other case does not have.

mod align;
mod steps;

use serde::Serialize;
use serde_json::{Map, Value};

use crate::alias;
use crate::content::snake_content;
use crate::violation::escape;
use align::{Pair, align};

const IGNORED_OF_CASE: [&str; 2] = ["eval_id", "creation_timestamp"];
const IGNORED_OF_SESSION_INPUT: [&str; 1] = ["session_id"];
const IGNORED_OF_INVOCATION: [&str; 5] =
    ["invocation_id", "creation_timestamp", "duration", "model_duration", "tool_duration"];

/// One place where two cases differ.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// JSON pointer to the place, with field names in snake_case: in the left
    /// case, or in the right one where the left has nothing.
    pub path: String,
    /// What is there in the left case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left: Option<Value>,
    /// What is there in the right case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub right: Option<Value>,
}

/// Where two EvalCases differ, in the order of the left one.
pub fn diff_cases(left: &Value, right: &Value) -> Vec<Difference> {
    let mut differences = Differences(Vec::new());
    let (Some(left_fields), Some(right_fields)) = (fields(left), fields(right)) else {
        differences.values("", Some(left), Some(right));
        return differences.0;
    };
    for (key, left, right) in both(&left_fields, &right_fields, &IGNORED_OF_CASE) {
        let path = format!("/{}", escape(key));
        match key {
            "conversation" => differences.conversations(&path, left, right),
            "session_input" => {
                let (left, right) = (left.and_then(fields), right.and_then(fields));
                let (left, right) = (left.unwrap_or_default(), right.unwrap_or_default());
                for (key, left, right) in both(&left, &right, &IGNORED_OF_SESSION_INPUT) {
                    differences.values(&format!("{path}/{}", escape(key)), left, right);
                }
            }
            _ => differences.values(&path, left, right),
        }
    }
    differences.0
}

struct Differences(Vec<Difference>);

impl Differences {
    fn conversations(&mut self, path: &str, left: Option<&Value>, right: Option<&Value>) {
        let (Some(Value::Array(left)), Some(Value::Array(right))) = (left, right) else {
            return self.values(path, left, right);
        };
        let said =
            |invocation: &Value| fields(invocation)?.remove("user_content").map(without_call_ids);
        let (left_said, right_said): (Vec<_>, Vec<_>) =
            (left.iter().map(said).collect(), right.iter().map(said).collect());
        for pair in align(&left_said, &right_said, |_, _| true) {
            match pair {
                Pair::Both(l, r) => self.invocation(&format!("{path}/{l}"), &left[l], &right[r]),
                Pair::Left(l) => self.values(&format!("{path}/{l}"), Some(&left[l]), None),
                Pair::Right(r) => self.values(&format!("{path}/{r}"), None, Some(&right[r])),
            }
        }
    }

    fn invocation(&mut self, path: &str, left: &Value, right: &Value) {
        let (Some(left_fields), Some(right_fields)) = (fields(left), fields(right)) else {
            return self.values(path, Some(left), Some(right));
        };
        for (key, left, right) in both(&left_fields, &right_fields, &IGNORED_OF_INVOCATION) {
            let path = format!("{path}/{}", escape(key));
            match key {
                "intermediate_data" => self.steps(&path, left, right),
                "user_content" | "final_response" => {
                    let left = left.cloned().map(without_call_ids);
                    let right = right.cloned().map(without_call_ids);
                    self.values(&path, left.as_ref(), right.as_ref());
                }
                _ => self.values(&path, left, right),
            }
        }
    }

    fn values(&mut self, path: &str, left: Option<&Value>, right: Option<&Value>) {
        match (left, right) {
            (left, right) if left == right => {}
            (Some(Value::Object(left)), Some(Value::Object(right))) => {
                for (key, left, right) in both(left, right, &[]) {
                    self.values(&format!("{path}/{}", escape(key)), left, right);
                }
            }
            (Some(Value::Array(left)), Some(Value::Array(right))) => {
                for index in 0..left.len().max(right.len()) {
                    self.values(&format!("{path}/{index}"), left.get(index), right.get(index));
                }
            }
            (left, right) => self.0.push(Difference {
                path: path.to_owned(),
                left: left.cloned(),
                right: right.cloned(),
            }),
        }
    }
}

/// The fields of an object of ADK's, in snake_case.
fn fields(value: &Value) -> Option<Map<String, Value>> {
    value.as_object().cloned().map(alias::snake_keys)
}

/// The fields of two objects, each field once.
fn both<'a>(
    left: &'a Map<String, Value>,
    right: &'a Map<String, Value>,
    ignored: &[&str],
) -> Vec<(&'a str, Option<&'a Value>, Option<&'a Value>)> {
    let only_right = right.keys().filter(|key| !left.contains_key(*key));
    let keys = left.keys().chain(only_right).filter(|key| !ignored.contains(&key.as_str()));
    keys.map(|key| (key.as_str(), left.get(key), right.get(key))).collect()
}

/// A content, the ids of its calls and responses taken out.
fn without_call_ids(content: Value) -> Value {
    let mut content = snake_content(content);
    if let Some(Value::Array(parts)) = content.get_mut("parts") {
        for part in parts {
            for key in ["function_call", "function_response"] {
                if let Some(Value::Object(call)) = part.get_mut(key) {
                    call.shift_remove("id");
                }
            }
        }
    }
    content
}
