//! Other ids for function calls, cut into the text of events.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::Value;

use crate::json_text::{items, members, raw_members, span, text_of};
use crate::{AdkEvent, AdkPart, InputKind};

/// The characters around a call's id in a branch or a path: `task:{id}`,
/// `{agent}@{id}/{node}`, `{agent}@{id}.{agent}`.
const PATH_MARKS: [char; 4] = ['@', ':', '/', '.'];

/// The function calls of a session, numbered in their order.
#[derive(Debug, Default)]
pub(super) struct CallNumbers {
    count: usize,
    names: HashMap<String, String>,
}

impl CallNumbers {
    /// Numbers the calls that an event makes. One without id counts too, since
    /// it has a number in a replay.
    pub(super) fn number(&mut self, event: &AdkEvent) {
        for part in &event.parts {
            if let AdkPart::FunctionCall { id, .. } = part {
                self.count += 1;
                if let Some(id) = id {
                    let name = format!("fc-{}", self.count);
                    self.names.entry(id.clone()).or_insert(name);
                }
            }
        }
    }

    /// The event with the new ids in the place of the old.
    pub(super) fn rename(&self, event: &str) -> String {
        let mut edits = Edits { numbers: self, event, places: Vec::new() };
        edits.event(event);
        let mut places = edits.places;
        places.sort_unstable_by_key(|(place, _)| place.start);
        let mut renamed = String::with_capacity(event.len());
        let mut end = 0;
        for (place, text) in places {
            renamed.push_str(&event[end..place.start]);
            renamed.push_str(&text);
            end = place.end;
        }
        renamed.push_str(&event[end..]);
        renamed
    }

    /// The path with the ids in it replaced, if there are any.
    fn path(&self, path: &str) -> Option<String> {
        let pieces = path.split_inclusive(PATH_MARKS);
        let renamed: String = pieces
            .map(|piece| {
                let id = piece.trim_end_matches(PATH_MARKS);
                match self.names.get(id) {
                    Some(name) => format!("{name}{}", &piece[id.len()..]),
                    None => piece.to_owned(),
                }
            })
            .collect();
        (renamed != path).then_some(renamed)
    }
}

/// What to replace in one event, found by following its structure.
struct Edits<'a> {
    numbers: &'a CallNumbers,
    event: &'a str,
    places: Vec<(Range<usize>, String)>,
}

impl<'a> Edits<'a> {
    fn event(&mut self, event: &'a str) {
        for (key, value) in members(event) {
            match key.as_str() {
                "content" => self.content(value),
                "longRunningToolIds" | "long_running_tool_ids" => {
                    for id in items(value) {
                        self.id(id);
                    }
                }
                "actions" => self.actions(value),
                "branch" | "isolationScope" | "isolation_scope" => self.path(value),
                "nodeInfo" | "node_info" => self.node_info(value),
                _ => {}
            }
        }
    }

    fn content(&mut self, content: &'a str) {
        let parts = members(content).into_iter().filter(|(key, _)| key == "parts");
        for part in parts.flat_map(|(_, parts)| items(parts)) {
            for (key, value) in members(part) {
                match key.as_str() {
                    "functionCall" | "function_call" => self.call(value),
                    "functionResponse" | "function_response" => {
                        for (_, id) in members(value).into_iter().filter(|(key, _)| key == "id") {
                            self.id(id);
                        }
                    }
                    _ => {}
                }
            }
        }
    }

    fn call(&mut self, call: &'a str) {
        let fields = members(call);
        let asks_user = fields.iter().any(|(key, value)| {
            key == "name" && text_of(value).is_some_and(|name| InputKind::of_call(&name).is_some())
        });
        for (key, value) in fields {
            match key.as_str() {
                "id" => self.id(value),
                "args" if asks_user => self.request(value),
                _ => {}
            }
        }
    }

    /// The arguments of a request to the user: the id of the call that waits,
    /// there or in the call itself, but not the arguments of that call.
    fn request(&mut self, args: &'a str) {
        for (key, value) in members(args) {
            match key.as_str() {
                "originalFunctionCall" | "original_function_call" => self.call(value),
                "functionCallId" | "function_call_id" | "interruptId" | "interrupt_id" => {
                    self.id(value);
                }
                _ => {}
            }
        }
    }

    fn actions(&mut self, actions: &'a str) {
        for (key, value) in members(actions) {
            if let "requestedToolConfirmations"
            | "requested_tool_confirmations"
            | "requestedAuthConfigs"
            | "requested_auth_configs" = key.as_str()
            {
                for (call_id, _) in raw_members(value) {
                    self.id(call_id);
                }
            }
        }
    }

    fn node_info(&mut self, node_info: &'a str) {
        for (key, value) in members(node_info) {
            match key.as_str() {
                "path" => self.path(value),
                "outputFor" | "output_for" => {
                    for path in items(value) {
                        self.path(path);
                    }
                }
                _ => {}
            }
        }
    }

    fn id(&mut self, json: &'a str) {
        let name = text_of(json).and_then(|id| self.numbers.names.get(&id).cloned());
        self.replace(json, name);
    }

    fn path(&mut self, json: &'a str) {
        let renamed = text_of(json).and_then(|path| self.numbers.path(&path));
        self.replace(json, renamed);
    }

    fn replace(&mut self, json: &'a str, text: Option<String>) {
        if let Some(text) = text {
            self.places.push((span(self.event, json), Value::String(text).to_string()));
        }
    }
}
