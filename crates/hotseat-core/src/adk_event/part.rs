//! The parts of a content, lenient.

use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::{Map, Value};

use crate::alias;
use crate::content::snake_part;

/// A part of an event's content.
#[derive(Debug, Clone, PartialEq)]
pub enum AdkPart {
    /// Something said, or only thought.
    Text {
        /// The words.
        text: String,
        /// Whether the user is not meant to see them.
        thought: bool,
    },
    /// A tool is called.
    FunctionCall {
        /// Its id; ADK always sets one, other writers may not.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The arguments, an object.
        args: Value,
    },
    /// A tool answered.
    FunctionResponse {
        /// The id of the call.
        id: Option<String>,
        /// The tool.
        name: String,
        /// The result.
        response: Value,
    },
    /// Anything else, as it is.
    Other(Value),
}

#[derive(Serialize)]
struct Called<'a> {
    id: &'a Option<String>,
    name: &'a str,
    args: &'a Value,
}

#[derive(Serialize)]
struct Returned<'a> {
    id: &'a Option<String>,
    name: &'a str,
    response: &'a Value,
}

impl AdkPart {
    pub(super) fn read(part: Value) -> Self {
        let Value::Object(mut part) = part else { return AdkPart::Other(part) };
        if let Some(mut call) = alias::take_object(&mut part, "function_call") {
            return AdkPart::FunctionCall {
                id: alias::take_text(&mut call, "id"),
                name: alias::take_text(&mut call, "name").unwrap_or_default(),
                args: alias::take_object(&mut call, "args").unwrap_or_default().into(),
            };
        }
        if let Some(mut response) = alias::take_object(&mut part, "function_response") {
            return AdkPart::FunctionResponse {
                id: alias::take_text(&mut response, "id"),
                name: alias::take_text(&mut response, "name").unwrap_or_default(),
                response: alias::take(&mut response, "response").unwrap_or_default(),
            };
        }
        let thought = alias::flag(&part, "thought");
        match part.get_mut("text") {
            Some(Value::String(text)) => AdkPart::Text { text: std::mem::take(text), thought },
            _ => AdkPart::Other(Value::Object(part)),
        }
    }
}

/// The part as genai writes it, with snake_case keys.
impl Serialize for AdkPart {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if let AdkPart::Other(other) = self {
            return snake_part(other.clone()).serialize(serializer);
        }
        let mut part = serializer.serialize_map(None)?;
        match self {
            AdkPart::Text { text, thought } => {
                part.serialize_entry("text", text)?;
                if *thought {
                    part.serialize_entry("thought", thought)?;
                }
            }
            AdkPart::FunctionCall { id, name, args } => {
                part.serialize_entry("function_call", &Called { id, name, args })?;
            }
            AdkPart::FunctionResponse { id, name, response } => {
                part.serialize_entry("function_response", &Returned { id, name, response })?;
            }
            AdkPart::Other(_) => {}
        }
        part.end()
    }
}

/// Whether what a tool answered says that it failed: by an `error`, as ADK and functions
/// say it, or by MCP's mark, which ADK's toolset leaves in the result it passes on.
pub fn is_failure(response: &Value) -> bool {
    let is_set = |key: &str| response.get(key) == Some(&Value::Bool(true));
    response.get("error").is_some_and(|error| !error.is_null())
        || is_set("isError")
        || is_set("is_error")
}

/// The parts of a genai Content, moved out of it.
pub(crate) fn read_parts(content: &mut Map<String, Value>) -> Vec<AdkPart> {
    match alias::take(content, "parts") {
        Some(Value::Array(parts)) => parts.into_iter().map(AdkPart::read).collect(),
        _ => Vec::new(),
    }
}

/// What a user message says: its texts, and the kind of each attachment in
/// brackets, one below the other. Nothing, if it only answers for a tool.
pub(crate) fn user_text(parts: &[AdkPart]) -> Option<String> {
    let lines: Vec<Cow<'_, str>> = parts.iter().filter_map(user_line).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Whether a user message says anything, or only answers for a tool.
pub(crate) fn is_user_message(parts: &[AdkPart]) -> bool {
    parts.iter().any(|part| user_line(part).is_some())
}

fn user_line(part: &AdkPart) -> Option<Cow<'_, str>> {
    match part {
        AdkPart::Text { text, thought: false } => Some(Cow::Borrowed(text)),
        AdkPart::Other(Value::Object(part)) => {
            let data = alias::get(part, "inline_data").or_else(|| alias::get(part, "file_data"))?;
            let mime_type = data.as_object().and_then(|data| alias::get(data, "mime_type"));
            Some(format!("[{}]", mime_type.and_then(Value::as_str).unwrap_or("attachment")).into())
        }
        _ => None,
    }
}
