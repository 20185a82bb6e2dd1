//! What a `response` event holds: a decision, or the refusal to make one.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Decision;
use crate::payload::raw;
use crate::violation::Violation;

/// How a turn ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// The seat answered.
    Decision(Decision),
    /// The turn was ended with an error, which the agent sees.
    Dismissal(Dismissal),
}

/// A turn that was ended without a decision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dismissal {
    /// A stable word for the reason: `dismissed`.
    pub code: String,
    /// The reason as the agent sees it.
    #[serde(default)]
    pub message: String,
}

impl Dismissal {
    /// The code of a turn that a person dismissed.
    pub const DISMISSED: &'static str = "dismissed";

    /// A dismissal by a person, with the reason if there is one.
    pub fn new(reason: Option<&str>) -> Self {
        let message = reason.map(str::trim).filter(|reason| !reason.is_empty());
        Self {
            code: Self::DISMISSED.to_owned(),
            message: message.unwrap_or("the turn was dismissed").to_owned(),
        }
    }

    /// The payload of the `response` event.
    pub fn to_payload(&self) -> Box<RawValue> {
        raw(&serde_json::json!({"error": self}))
    }
}

impl Answer {
    /// Reads the payload of a `response` event.
    pub fn parse(payload: &RawValue) -> Result<Self, Vec<Violation>> {
        let unreadable = |path: &str, error: serde_json::Error| {
            vec![Violation::new(path, format!("cannot be read: {error}"))]
        };
        let mut value: Value =
            serde_json::from_str(payload.get()).map_err(|error| unreadable("", error))?;
        match value.get_mut("error") {
            Some(error) if !error.is_null() => Dismissal::deserialize(error.take())
                .map(Answer::Dismissal)
                .map_err(|error| unreadable("/error", error)),
            _ => Decision::parse(value).map(Answer::Decision),
        }
    }

    /// The payload of the `response` event.
    pub fn to_payload(&self) -> Box<RawValue> {
        match self {
            Answer::Decision(decision) => decision.to_payload(),
            Answer::Dismissal(dismissal) => dismissal.to_payload(),
        }
    }
}
