//! What a session may be called and which states it can be in.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::word::words;

/// Longest description that is kept, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 500;
/// Longest name of an agent, in characters.
pub const MAX_AGENT_NAME_CHARS: usize = 100;
/// Longest title, in characters.
pub const MAX_TITLE_CHARS: usize = 120;

words!(
    /// Whether a session goes on. It never goes back to `active`.
    SessionStatus, "session status", {
        /// More can happen.
        Active = "active",
        /// Nothing more will happen.
        Completed = "completed",
    }
);

words!(
    /// What a session waits for.
    SessionState, "session state", {
        /// The next user message.
        AwaitingQuery = "awaiting_query",
        /// A run or an answer to a turn.
        Active = "active",
        /// Nothing: it is over.
        Completed = "completed",
    }
);

/// The name of an agent: not blank, at most [`MAX_AGENT_NAME_CHARS`] characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct AgentName(String);

/// Text that cannot name an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InvalidAgentName {
    /// It is empty or blank.
    #[error("the agent name is empty")]
    Empty,
    /// It is too long.
    #[error("the agent name has {chars} characters, more than {MAX_AGENT_NAME_CHARS}")]
    TooLong {
        /// How many it has.
        chars: usize,
    },
}

impl AgentName {
    /// Checks `text`, without the white space around it.
    pub fn parse(text: &str) -> Result<Self, InvalidAgentName> {
        let name = text.trim();
        match name.chars().count() {
            0 => Err(InvalidAgentName::Empty),
            1..=MAX_AGENT_NAME_CHARS => Ok(Self(name.to_owned())),
            chars => Err(InvalidAgentName::TooLong { chars }),
        }
    }

    /// The name itself.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for AgentName {
    type Error = InvalidAgentName;

    fn try_from(text: String) -> Result<Self, InvalidAgentName> {
        Self::parse(&text)
    }
}

impl fmt::Display for AgentName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The description as it is kept: the first [`MAX_DESCRIPTION_CHARS`] characters.
pub fn truncate_description(text: &str) -> &str {
    match text.char_indices().nth(MAX_DESCRIPTION_CHARS) {
        Some((end, _)) => &text[..end],
        None => text,
    }
}

/// A title from a user message: its first line that says something, cut at
/// [`MAX_TITLE_CHARS`] characters. A blank message has none.
pub fn title_from(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    if line.chars().count() <= MAX_TITLE_CHARS {
        return Some(line.to_owned());
    }
    let cut: String = line.chars().take(MAX_TITLE_CHARS - 1).collect();
    Some(format!("{}…", cut.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_names_are_trimmed_and_bounded_in_characters() {
        assert_eq!(AgentName::parse("  Math ").unwrap().as_str(), "Math");
        assert!(AgentName::parse(&"ä".repeat(100)).is_ok());
        assert_eq!(AgentName::parse(" \n"), Err(InvalidAgentName::Empty));
        assert_eq!(
            AgentName::parse(&"ä".repeat(101)).unwrap_err().to_string(),
            "the agent name has 101 characters, more than 100"
        );
        assert!(serde_json::from_str::<AgentName>("\"\"").is_err());
    }

    #[test]
    fn descriptions_are_cut_between_characters() {
        assert_eq!(truncate_description("short"), "short");
        let long = "ü".repeat(501);
        assert_eq!(truncate_description(&long), "ü".repeat(500));
    }

    #[test]
    fn a_title_is_the_first_line_that_says_something() {
        assert_eq!(title_from("\n  Calculate 5 * 5 \nplease").unwrap(), "Calculate 5 * 5");
        assert_eq!(title_from(" \n "), None);
        let title = title_from(&"x".repeat(500)).unwrap();
        assert_eq!(title.chars().count(), MAX_TITLE_CHARS);
        assert!(title.ends_with('…'));
    }

    #[test]
    fn states_are_words() {
        assert_eq!("awaiting_query".parse(), Ok(SessionState::AwaitingQuery));
        assert_eq!(SessionStatus::Completed.to_string(), "completed");
        assert_eq!(
            "done".parse::<SessionStatus>().unwrap_err().to_string(),
            "`done` is not a session status: use active, completed"
        );
    }
}
