//! What the log says of an ADK event beside it, checked at the door.

use serde_json::Value;
use serde_json::value::RawValue;

use super::{InvalidEvent, Object, UNKNOWN, glance, object};
use crate::alias;
use crate::record::event_type;
use crate::schema::json_type;

/// What an entry of the log takes from an event that is about to be kept in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AdkHead {
    /// ADK's id of the event.
    pub id: Option<String>,
    /// `user` or the name of an agent; never empty.
    pub author: String,
    /// The invocation it belongs to.
    pub invocation_id: Option<String>,
    /// The branch, where agents run side by side.
    pub branch: Option<String>,
}

impl AdkHead {
    /// Reads the head of an event as it arrived: the event must have an author, and the fields
    /// that Hotseat relies on must have their types.
    pub fn checked(raw: &RawValue) -> Result<Self, InvalidEvent> {
        match glance::head(raw.get()) {
            Some(head) => Ok(head),
            None => Self::of_object(&object(raw)?),
        }
    }

    /// The same of an event that is no text yet.
    pub fn of(event: &Value) -> Result<Self, InvalidEvent> {
        match event {
            Value::Object(event) => Self::of_object(event),
            other => Err(InvalidEvent::NotAnObject { found: json_type(other) }),
        }
    }

    fn of_object(event: &Object) -> Result<Self, InvalidEvent> {
        for field in ["id", "author", "invocation_id", "branch", "error_code", "error_message"] {
            expect(event, field, "a string", Value::is_string)?;
        }
        // Events of other makers, known by their `type`, may tell the time as text and
        // need no author.
        let typed = event_type(event).is_some();
        expect(event, "timestamp", "a number", |time| {
            time.is_number() || (typed && time.is_string())
        })?;
        expect(event, "partial", "a boolean", Value::is_boolean)?;
        expect(event, "long_running_tool_ids", "an array", Value::is_array)?;
        expect(event, "actions", "an object", Value::is_object)?;
        expect(event, "content", "an object", |content| typed || content.is_object())?;
        if let Some(content) = alias::get(event, "content").and_then(Value::as_object) {
            expect(content, "parts", "an array", Value::is_array)?;
        }
        let author = match text(event, "author") {
            Some(author) if !author.trim().is_empty() => author,
            _ if typed => UNKNOWN.to_owned(),
            _ => return Err(InvalidEvent::Missing { field: "author" }),
        };
        Ok(Self {
            id: text(event, "id"),
            author,
            invocation_id: text(event, "invocation_id"),
            branch: text(event, "branch"),
        })
    }
}

/// The text in a field; absent if it is empty.
fn text(event: &Object, field: &str) -> Option<String> {
    let text = alias::get(event, field)?.as_str()?;
    (!text.is_empty()).then(|| text.to_owned())
}

fn expect(
    object: &Object,
    field: &'static str,
    expected: &'static str,
    holds: impl Fn(&Value) -> bool,
) -> Result<(), InvalidEvent> {
    match alias::get(object, field) {
        Some(value) if !holds(value) => {
            Err(InvalidEvent::WrongType { field, expected, found: json_type(value) })
        }
        _ => Ok(()),
    }
}
