//! A raw ADK event, as far as Hotseat looks into it.
//!
//! The raw text stays the truth and is kept elsewhere; this is a view made for
//! one reading. [`AdkEvent::parse`] takes whatever is in the log and skips what
//! it does not understand. [`AdkHead`] is for the door: it says what is wrong with an
//! event before it gets into the log.

mod glance;
mod head;
mod part;
mod plain;
mod read;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub use head::AdkHead;
pub use part::{AdkPart, is_failure};
pub(crate) use part::{is_user_message, read_parts, user_text};

use crate::alias;
use crate::schema::json_type;

type Object = Map<String, Value>;

/// The author of user messages.
const USER: &str = "user";

/// The author of events that name none.
const UNKNOWN: &str = "unknown";

/// What Hotseat reads in an ADK event.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AdkEvent {
    /// ADK's id of the event.
    pub id: Option<String>,
    /// `user` or the name of an agent; empty if it is missing.
    pub author: String,
    /// The invocation it belongs to.
    pub invocation_id: Option<String>,
    /// The branch, where agents run side by side.
    pub branch: Option<String>,
    /// ADK's time, in seconds since 1970, as it is written.
    pub timestamp: Option<serde_json::Number>,
    /// A piece of a stream, which a complete event follows.
    pub partial: bool,
    /// Set if something failed.
    pub error_code: Option<String>,
    /// What failed.
    pub error_message: Option<String>,
    /// The parts of its content.
    pub parts: Vec<AdkPart>,
    /// Calls whose result comes later.
    pub long_running_tool_ids: Vec<String>,
    /// The agent that takes over.
    pub transfer_to_agent: Option<String>,
    /// The result of the tool is the answer.
    pub skip_summarization: bool,
    /// Changes of the session's state.
    pub state_delta: Map<String, Value>,
    /// Calls whose response here is no result: they wait until the user has
    /// confirmed them or given a credential.
    pub waiting_call_ids: Vec<String>,
    /// Its `type`, if it has one: then it is no plain ADK event.
    pub event_type: Option<String>,
    /// Tokens that the model read.
    pub prompt_tokens: u64,
    /// Tokens that the model wrote, thoughts included.
    pub output_tokens: u64,
}

/// Why an event is not taken into the log.
#[derive(Debug, thiserror::Error)]
pub enum InvalidEvent {
    /// It is not JSON, or nested too deep to be read.
    #[error("the event cannot be read")]
    Unreadable(#[from] serde_json::Error),
    /// It is some other JSON.
    #[error("an event must be an object, not {found}")]
    NotAnObject {
        /// What it is.
        found: &'static str,
    },
    /// A field that cannot be missing is.
    #[error("the event has no {field}")]
    Missing {
        /// Its snake_case name.
        field: &'static str,
    },
    /// A field has the wrong type.
    #[error("{field} of the event must be {expected}, not {found}")]
    WrongType {
        /// Its snake_case name.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
        /// What it is.
        found: &'static str,
    },
}

impl AdkEvent {
    /// Reads an event of the log; fails only if it is no object at all.
    pub fn parse(raw: &RawValue) -> Result<Self, InvalidEvent> {
        let mut json = serde_json::Deserializer::from_str(raw.get());
        // Parts of other forms, and why it failed, are found out by a second look; that is seldom.
        read::plain_event(&mut json).or_else(|_| object(raw).map(Self::read))
    }

    /// Reads an event that was taken apart before.
    pub(crate) fn read(event: Object) -> Self {
        // Every object can be read: what does not fit is skipped.
        read::event(Value::Object(event)).unwrap_or_default()
    }

    /// Its time in seconds since 1970; 0, as the oldest of all, if it has none.
    pub fn seconds(&self) -> f64 {
        let seconds = self.timestamp.as_ref().and_then(serde_json::Number::as_f64);
        seconds.filter(|seconds| seconds.is_finite()).unwrap_or_default()
    }

    /// Whether the user said it.
    pub fn is_from_user(&self) -> bool {
        self.author.eq_ignore_ascii_case(USER)
    }

    /// Whether it calls a tool.
    pub fn has_function_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, AdkPart::FunctionCall { .. }))
    }

    /// Whether it carries the result of a tool.
    pub fn has_function_responses(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, AdkPart::FunctionResponse { .. }))
    }

    /// What it says to the user: its texts without thoughts, joined as ADK
    /// joins them; none if there are none or they are empty.
    pub fn visible_text(&self) -> Option<String> {
        let text: String = self.visible_texts().collect();
        (!text.is_empty()).then_some(text)
    }

    /// Whether it says anything to the user.
    pub fn says_something(&self) -> bool {
        self.visible_texts().any(|text| !text.is_empty())
    }

    fn visible_texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            AdkPart::Text { text, thought: false } => Some(text.as_str()),
            _ => None,
        })
    }

    /// Whether it is the final response of an agent, by ADK's own definition
    /// (`Event.is_final_response`).
    pub fn is_final_response(&self) -> bool {
        if self.skip_summarization || !self.long_running_tool_ids.is_empty() {
            return true;
        }
        let calls = self.has_function_calls();
        if self.error_code.is_some() && !self.partial && !calls {
            return true;
        }
        let ends_with_code_result = matches!(
            self.parts.last(),
            Some(AdkPart::Other(Value::Object(part)))
                if alias::get(part, "code_execution_result").is_some()
        );
        !calls && !self.has_function_responses() && !self.partial && !ends_with_code_result
    }

    /// Whether it is the text that ends an agent's work.
    pub fn is_final_text(&self) -> bool {
        self.is_final_response()
            && self.error_code.is_none()
            && !self.has_function_calls()
            && !self.has_function_responses()
            && self.says_something()
    }
}

fn object(raw: &RawValue) -> Result<Object, InvalidEvent> {
    match serde_json::from_str(raw.get())? {
        Value::Object(object) => Ok(object),
        other => Err(InvalidEvent::NotAnObject { found: json_type(&other) }),
    }
}
