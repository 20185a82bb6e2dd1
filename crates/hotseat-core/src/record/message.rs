//! Messages: what people read of a session.

use jiff::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::read_time;
use crate::instant::seconds;
use crate::schema::json_type;

/// How the ids of entries that carry a message begin.
pub const ENTRY: &str = "message:";

/// A message of a session, derived from an event or written by a caller.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Unique in its session.
    pub id: String,
    /// `user`, `assistant`, or whatever the writer says.
    pub role: String,
    /// What it says.
    pub content: String,
    /// When, as the writer says.
    pub timestamp: Timestamp,
    /// What else the writer knows of it.
    pub metadata: Option<Map<String, Value>>,
}

impl Message {
    /// What a later message of the same id does to this one: it takes over,
    /// but the role stays, and so does metadata that it does not bring itself.
    pub fn replace(&mut self, newer: Message) {
        self.content = newer.content;
        self.timestamp = newer.timestamp;
        self.metadata = newer.metadata.or_else(|| self.metadata.take());
    }
}

/// Why a message is not taken.
#[derive(Debug, thiserror::Error)]
pub enum InvalidMessage {
    /// It is not JSON, or nested too deep to be read.
    #[error("the message cannot be read")]
    Unreadable(#[from] serde_json::Error),
    /// It is some other JSON.
    #[error("a message must be an object, not {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// It says nothing.
    #[error("the message has no content")]
    NoContent,
    /// A field has the wrong type.
    #[error("{field} of the message must be {expected}, not {found}")]
    WrongType {
        /// Its name.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// The timestamp is no point in time.
    #[error("timestamp of the message must be RFC 3339 or seconds since 1970")]
    Timestamp,
}

/// Reads what a caller wrote: the payload of a `message` entry of the log,
/// `{id?, role?, content, timestamp?, metadata?}`. What is missing comes from
/// the entry; the role is `assistant` unless said otherwise.
pub fn read_message(
    payload: &RawValue,
    event_id: &str,
    at: Timestamp,
) -> Result<Message, InvalidMessage> {
    let mut fields = match serde_json::from_str(payload.get())? {
        Value::Object(fields) => fields,
        other => return Err(InvalidMessage::NotAnObject { found: json_type(&other) }),
    };
    let content = take_text(&mut fields, "content")?.ok_or(InvalidMessage::NoContent)?;
    let filled = |text: Option<String>, default: &str| {
        text.filter(|text| !text.is_empty()).unwrap_or_else(|| default.to_owned())
    };
    Ok(Message {
        // The entry has an id of its own, so that an event made of the message can have the
        // message's.
        id: filled(take_text(&mut fields, "id")?, event_id.trim_start_matches(ENTRY)),
        role: filled(take_text(&mut fields, "role")?, "assistant"),
        content,
        timestamp: match fields.get("timestamp") {
            None | Some(Value::Null) => at,
            Some(time) => read_time(time).ok_or(InvalidMessage::Timestamp)?,
        },
        metadata: match fields.remove("metadata") {
            None | Some(Value::Null) => None,
            Some(Value::Object(metadata)) => (!metadata.is_empty()).then_some(metadata),
            Some(other) => return Err(wrong_type("metadata", "an object", &other)),
        },
    })
}

fn take_text(
    fields: &mut Map<String, Value>,
    field: &'static str,
) -> Result<Option<String>, InvalidMessage> {
    match fields.remove(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong_type(field, "a string", &other)),
    }
}

fn wrong_type(field: &'static str, expected: &'static str, found: &Value) -> InvalidMessage {
    InvalidMessage::WrongType { field, expected, found: json_type(found) }
}

/// A raw event in place of one that was never kept, for a session that has
/// messages and no events. It says that it is none of ADK's own: its invocation
/// is `backfill_<session>`.
pub fn backfill_event(session: &str, message: &Message) -> Value {
    // Models know two roles; who it really was is the author.
    let role = if message.role == "user" { "user" } else { "model" };
    json!({
        "id": message.id,
        "invocationId": format!("backfill_{session}"),
        "author": message.role,
        "timestamp": seconds(message.timestamp),
        "content": {"role": role, "parts": [{"text": message.content}]},
    })
}
