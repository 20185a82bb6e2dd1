//! Ids and counters, each a type of its own.
//!
//! Their text form is the plain UUID or number that users see. Parsing happens
//! at the edge, once; inside, a `SessionId` is known to be well formed.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// Text that should have been an id and was not.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a valid {what} id: a UUID is expected")]
pub struct InvalidId {
    what: &'static str,
    text: String,
}

macro_rules! uuid_id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Wraps a UUID that was made for this purpose.
            pub const fn new(uuid: Uuid) -> Self {
                Self(uuid)
            }

            /// The UUID itself.
            pub const fn uuid(self) -> Uuid {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                // Only the hyphenated form: a second spelling of one id would be a second key.
                if text.len() == 36
                    && let Ok(uuid) = Uuid::try_parse(text)
                {
                    return Ok(Self(uuid));
                }
                let text = text.chars().take(64).collect();
                Err(InvalidId { what: $what, text })
            }
        }
    };
}

uuid_id!(
    /// One conversation.
    SessionId,
    "session"
);
uuid_id!(
    /// One model request and its at most one answer.
    TurnId,
    "turn"
);
uuid_id!(
    /// One execution of an agent for one user message.
    RunId,
    "run"
);

/// Position of an event in its session's log: 1, 2, 3 … without gaps.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Seq(u64);

impl Seq {
    /// Before the first event.
    pub const START: Seq = Seq(0);

    /// The position `n`.
    pub const fn new(n: u64) -> Self {
        Self(n)
    }

    /// The number itself.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The position after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_hyphenated_form_is_an_id() {
        let text = "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11";
        assert_eq!(text.parse::<SessionId>().unwrap().to_string(), text);
        for wrong in ["", "7d0f6a5232f14b3e9e0d1f4f9f6b2a11", "not-a-uuid", "{7d0f6a52}"] {
            let error = wrong.parse::<TurnId>().unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("`{wrong}` is not a valid turn id: a UUID is expected")
            );
        }
    }
}
