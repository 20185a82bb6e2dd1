//! What happened between a user message and the final response.
//!
//! ADK has two forms of it, lists of tool uses and responses, or a list of
//! events. [`Steps`] reads both, so that a case in one can be compared with a
//! case in the other.

use serde_json::{Map, Value, json};

use super::align::{Pair, align};
use super::{Differences, fields, without_call_ids};

/// The steps of an invocation, each with the place where it stands.
#[derive(Default)]
struct Steps {
    uses: Vec<ToolUse>,
    /// Responses that belong to no tool use.
    stray: Vec<Step>,
    said: Vec<Step>,
}

struct Step {
    path: String,
    value: Value,
}

struct ToolUse {
    step: Step,
    id: Option<String>,
    response: Option<Step>,
}

/// What decides whether two tool uses are the same.
#[derive(PartialEq)]
struct Call<'a> {
    name: Option<&'a Value>,
    args: Option<&'a Value>,
}

impl Differences {
    /// Compares two `intermediate_data`.
    pub(super) fn steps(&mut self, path: &str, left: Option<&Value>, right: Option<&Value>) {
        let (left, right) = (Steps::read(path, left), Steps::read(path, right));
        let (left_calls, right_calls) = (left.calls(), right.calls());
        for pair in align(&left_calls, &right_calls, |l, r| l.name == r.name) {
            match pair {
                Pair::Both(l, r) => {
                    let (left, right) = (&left.uses[l], &right.uses[r]);
                    self.step(Some(&left.step), Some(&right.step));
                    self.step(left.response.as_ref(), right.response.as_ref());
                }
                Pair::Left(l) => self.step(Some(&left.uses[l].step), None),
                Pair::Right(r) => self.step(None, Some(&right.uses[r].step)),
            }
        }
        for index in 0..left.stray.len().max(right.stray.len()) {
            self.step(left.stray.get(index), right.stray.get(index));
        }
        let values = |steps: &[Step]| -> Vec<Value> {
            steps.iter().map(|step| step.value.clone()).collect()
        };
        for pair in align(&values(&left.said), &values(&right.said), |_, _| true) {
            match pair {
                Pair::Both(l, r) => self.step(Some(&left.said[l]), Some(&right.said[r])),
                Pair::Left(l) => self.step(Some(&left.said[l]), None),
                Pair::Right(r) => self.step(None, Some(&right.said[r])),
            }
        }
    }

    fn step(&mut self, left: Option<&Step>, right: Option<&Step>) {
        let Some(path) = left.or(right).map(|step| &step.path) else { return };
        self.values(path, left.map(|step| &step.value), right.map(|step| &step.value));
    }
}

impl Steps {
    fn read(path: &str, data: Option<&Value>) -> Self {
        let data = data.and_then(fields).unwrap_or_default();
        let mut steps = Self::default();
        let mut responses = Vec::new();
        for (path, tool_use) in items(path, &data, "tool_uses") {
            steps.call(path, tool_use);
        }
        for (path, response) in items(path, &data, "tool_responses") {
            responses.push((path, response));
        }
        for (path, said) in items(path, &data, "intermediate_responses") {
            steps.say(path, &said[0], &said[1]);
        }
        for (path, event) in items(path, &data, "invocation_events") {
            steps.event(&path, event, &mut responses);
        }
        for (path, response) in responses {
            steps.respond(path, response);
        }
        steps
    }

    fn event<'a>(
        &mut self,
        path: &str,
        event: &'a Value,
        responses: &mut Vec<(String, &'a Value)>,
    ) {
        let Some(parts) = event["content"]["parts"].as_array() else { return };
        let mut said = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            let path = format!("{path}/content/parts/{index}");
            let either = |snake: &str, camel: &str| {
                part.get(snake).or_else(|| part.get(camel)).filter(|value| value.is_object())
            };
            if let Some(call) = either("function_call", "functionCall") {
                self.call(format!("{path}/function_call"), call);
            } else if let Some(response) = either("function_response", "functionResponse") {
                responses.push((format!("{path}/function_response"), response));
            } else {
                said.push(part.clone());
            }
        }
        if !said.is_empty() {
            self.say(format!("{path}/content"), &event["author"], &Value::Array(said));
        }
    }

    fn say(&mut self, path: String, author: &Value, parts: &Value) {
        let said = without_call_ids(json!({"parts": parts}));
        self.said.push(Step { path, value: json!([author, said["parts"]]) });
    }

    fn call(&mut self, path: String, call: &Value) {
        let (id, mut value) = split_id(call);
        if let Value::Object(call) = &mut value {
            call.entry("args").or_insert_with(|| Value::Object(Map::new()));
        }
        self.uses.push(ToolUse { step: Step { path, value }, id, response: None });
    }

    /// A response belongs to the use with its id; without one, to the first of
    /// its tool that has none yet.
    fn respond(&mut self, path: String, response: &Value) {
        let (id, value) = split_id(response);
        let tool_use = self.uses.iter_mut().find(|tool_use| {
            let open = tool_use.response.is_none();
            let same = match (&id, &tool_use.id) {
                (Some(id), Some(use_id)) => id == use_id,
                _ => tool_use.step.value["name"] == value["name"],
            };
            open && same
        });
        let step = Step { path, value };
        match tool_use {
            Some(tool_use) => tool_use.response = Some(step),
            None => self.stray.push(step),
        }
    }

    fn calls(&self) -> Vec<Call<'_>> {
        let values = self.uses.iter().map(|tool_use| &tool_use.step.value);
        values.map(|call| Call { name: call.get("name"), args: call.get("args") }).collect()
    }
}

fn items<'a>(path: &str, data: &'a Map<String, Value>, key: &str) -> Vec<(String, &'a Value)> {
    let items = data.get(key).and_then(Value::as_array).into_iter().flatten();
    items.enumerate().map(|(index, item)| (format!("{path}/{key}/{index}"), item)).collect()
}

/// The id of a call or response, and the rest of it.
fn split_id(value: &Value) -> (Option<String>, Value) {
    let Some(mut object) = fields(value) else { return (None, value.clone()) };
    let id = object.shift_remove("id");
    (id.and_then(|id| id.as_str().map(str::to_owned)), Value::Object(object))
}
