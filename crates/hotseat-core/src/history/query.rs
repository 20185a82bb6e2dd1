//! The message of the run that goes on.

use jiff::Timestamp;
use serde_json::Value;

use crate::adk_event::{read_parts, user_text};
use crate::{Event, Seq};

/// ADK records the message as an event of its own, which is what the history
/// shows; the run's copy is for runs that fail before they get there.
#[derive(Debug, Default)]
pub(super) enum Query {
    #[default]
    None,
    Held(HeldQuery),
    Shown {
        content: String,
    },
}

/// A message that is not in the history yet.
#[derive(Debug)]
pub(super) struct HeldQuery {
    pub(super) content: String,
    pub(super) seq: Seq,
    pub(super) timestamp: Timestamp,
}

impl Query {
    /// The message with which a run was queued. One that only answers for tools
    /// asks nothing.
    pub(super) fn hold(event: &Event, message: Option<Value>) -> Self {
        let Some(Value::Object(mut message)) = message else { return Self::None };
        match user_text(&read_parts(&mut message)) {
            Some(content) => {
                Self::Held(HeldQuery { content, seq: event.seq, timestamp: event.timestamp })
            }
            None => Self::None,
        }
    }

    /// The message, if it was not given out before.
    pub(super) fn show(&mut self) -> Option<HeldQuery> {
        let Self::Held(held) = self else { return None };
        let shown = Self::Shown { content: held.content.clone() };
        match std::mem::replace(self, shown) {
            Self::Held(held) => Some(held),
            Self::None | Self::Shown { .. } => None,
        }
    }

    /// Whether this is the message that was given out.
    pub(super) fn is_shown(&self, content: &str) -> bool {
        matches!(self, Self::Shown { content: shown } if shown == content)
    }
}
