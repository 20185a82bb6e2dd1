//! A raw ADK event, as far as AG-UI has something to say about it.
//!
//! ADK writes camelCase or snake_case, depending on its version and on who
//! dumped the event; both are read, and `null` counts as absent. Whatever is
//! malformed is taken for absent too: the log has it, and a stream to a browser
//! is no place to complain.

use hotseat_core::is_camel_of;
use serde_json::{Map, Value};

use crate::message::{ContentPart, Source};

/// A view of an event.
#[derive(Clone, Copy)]
pub(crate) struct Adk<'a>(&'a Map<String, Value>);

/// A part of its content.
pub(crate) struct Part<'a> {
    pub(crate) kind: PartKind<'a>,
    /// The thought signature, which only the provider can read.
    pub(crate) signature: Option<&'a str>,
}

/// What a part is.
pub(crate) enum PartKind<'a> {
    Text(&'a str),
    Thought(&'a str),
    Call {
        id: Option<&'a str>,
        name: &'a str,
        args: Option<&'a Value>,
    },
    Result {
        id: Option<&'a str>,
        name: &'a str,
        response: &'a Value,
        media: Vec<ContentPart>,
    },
    Media(ContentPart),
    /// Code, its output, and what is yet to come.
    Other(&'a Value),
}

impl<'a> Adk<'a> {
    pub(crate) fn new(event: &'a Value) -> Option<Self> {
        event.as_object().map(Self)
    }

    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        text(self.0, name)
    }

    pub(crate) fn flag(self, name: &str) -> bool {
        get(self.0, name) == Some(&Value::Bool(true))
    }

    pub(crate) fn object(self, name: &str) -> Option<&'a Map<String, Value>> {
        get(self.0, name)?.as_object()
    }

    pub(crate) fn is_from_user(self) -> bool {
        self.text("author").is_some_and(|author| author.eq_ignore_ascii_case("user"))
    }

    /// Its time in milliseconds since 1970.
    pub(crate) fn millis(self) -> Option<i64> {
        /// The year 5138; what is later is no time.
        const MAX_SECONDS: f64 = 1e11;
        let seconds = get(self.0, "timestamp")?.as_f64()?;
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        (0.0..MAX_SECONDS).contains(&seconds).then_some((seconds * 1000.0) as i64)
    }

    pub(crate) fn actions(self) -> Option<&'a Map<String, Value>> {
        self.object("actions")
    }

    pub(crate) fn state_delta(self) -> Option<&'a Map<String, Value>> {
        get(self.actions()?, "state_delta")?.as_object()
    }

    pub(crate) fn transfer_to(self) -> Option<&'a str> {
        text(self.actions()?, "transfer_to_agent")
    }

    pub(crate) fn is_long_running(self, call_id: &str) -> bool {
        let ids = get(self.0, "long_running_tool_ids").and_then(Value::as_array);
        ids.into_iter().flatten().any(|id| id.as_str() == Some(call_id))
    }

    pub(crate) fn parts(self) -> Vec<Part<'a>> {
        let parts = self.object("content").and_then(|content| get(content, "parts"));
        parts.and_then(Value::as_array).into_iter().flatten().filter_map(read_part).collect()
    }
}

/// The value under `name` or its camelCase spelling.
pub(crate) fn get<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    let value = |name: &str| object.get(name).filter(|value| !value.is_null());
    // Most are asked for in vain, so nothing is written down to find out.
    value(name).or_else(|| {
        let (_, value) = object.iter().find(|(key, _)| is_camel_of(key, name))?;
        Some(value).filter(|value| !value.is_null())
    })
}

/// The text under `name`; absent if it is empty.
pub(crate) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    get(object, name)?.as_str().filter(|text| !text.is_empty())
}

fn read_part(value: &Value) -> Option<Part<'_>> {
    let part = value.as_object()?;
    let object = |name| get(part, name).and_then(Value::as_object);
    let kind = if let Some(call) = object("function_call") {
        PartKind::Call {
            id: text(call, "id"),
            name: text(call, "name").unwrap_or_default(),
            args: get(call, "args").filter(|args| args.is_object()),
        }
    } else if let Some(result) = object("function_response") {
        let media = get(result, "parts").and_then(Value::as_array);
        PartKind::Result {
            id: text(result, "id"),
            name: text(result, "name").unwrap_or_default(),
            response: get(result, "response").unwrap_or(&Value::Null),
            media: media
                .into_iter()
                .flatten()
                .filter_map(|part| read_media(part.as_object()?))
                .collect(),
        }
    } else if let Some(media) = read_media(part) {
        PartKind::Media(media)
    } else if let Some(words) = part.get("text").and_then(Value::as_str) {
        if get(part, "thought") == Some(&Value::Bool(true)) {
            PartKind::Thought(words)
        } else {
            PartKind::Text(words)
        }
    } else {
        PartKind::Other(value)
    };
    Some(Part { kind, signature: text(part, "thought_signature") })
}

/// A file in a part, if it is one.
fn read_media(part: &Map<String, Value>) -> Option<ContentPart> {
    let field = |object, name| text(object, name).map(str::to_owned);
    let object = |name| get(part, name).and_then(Value::as_object);
    let (source, name) = if let Some(data) = object("inline_data") {
        let mime_type = field(data, "mime_type").unwrap_or("application/octet-stream".to_owned());
        (Source::Data { value: field(data, "data")?, mime_type }, field(data, "display_name"))
    } else {
        let file = object("file_data")?;
        let value = field(file, "file_uri")?;
        (Source::Url { value, mime_type: field(file, "mime_type") }, field(file, "display_name"))
    };
    Some(ContentPart::media(source, name.map(|name| serde_json::json!({"filename": name}))))
}
