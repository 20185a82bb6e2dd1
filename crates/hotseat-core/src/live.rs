//! Pieces of an answer on its way.
//!
//! A model that streams says its answer in pieces before it is complete. Pieces
//! are shown at once and never stored: the complete event that follows holds
//! everything they said, with the same ids of calls. Whoever misses a piece
//! loses nothing but the show.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One piece, and where it belongs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Piece {
    /// The invocation that the answer is part of.
    pub invocation_id: String,
    /// The agent whose answer it is.
    pub author: String,
    /// The branch, where agents run side by side.
    pub branch: Option<String>,
    /// The last event that was complete when it was said, as far as its sayer knows.
    pub after_event_id: Option<String>,
    /// What was said.
    pub delta: Delta,
}

/// What a piece says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// More of what the model thinks.
    Thought(String),
    /// A function call begins. Its id is the one that the complete event will have.
    Call {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
    },
    /// More of the arguments of a call, as JSON text. All pieces of a call
    /// together are the whole object.
    Args {
        /// The id of the call.
        id: String,
        /// The next characters.
        json: String,
    },
}

impl Piece {
    /// The pieces that a partial event of ADK says. Text and thoughts come as
    /// they are. A call comes once, with its arguments if they are all there.
    pub fn from_partial(event: &Value) -> Vec<Self> {
        let text = |key: &str, other: &str| {
            event.get(key).or_else(|| event.get(other)).and_then(Value::as_str).map(str::to_owned)
        };
        let invocation_id = text("invocation_id", "invocationId").unwrap_or_default();
        let author = text("author", "author").unwrap_or_default();
        let branch = text("branch", "branch");
        let parts = event.pointer("/content/parts").and_then(Value::as_array);
        let deltas = parts.into_iter().flatten().filter_map(|part| {
            let text = part.get("text")?.as_str()?.to_owned();
            let thought = part.get("thought").and_then(Value::as_bool) == Some(true);
            Some(if thought { Delta::Thought(text) } else { Delta::Text(text) })
        });
        deltas
            .map(|delta| Self {
                invocation_id: invocation_id.clone(),
                author: author.clone(),
                branch: branch.clone(),
                after_event_id: None,
                delta,
            })
            .collect()
    }

    /// The partial event that ADK's own clients expect, in ADK's camelCase; none
    /// for calls, which ADK sends whole.
    pub fn to_partial(&self, event_id: &str, timestamp: f64) -> Option<Value> {
        let part = match &self.delta {
            Delta::Text(text) => json!({"text": text}),
            Delta::Thought(text) => json!({"text": text, "thought": true}),
            Delta::Call { .. } | Delta::Args { .. } => return None,
        };
        let mut event = json!({
            "content": {"role": "model", "parts": [part]},
            "partial": true,
            "invocationId": self.invocation_id,
            "author": self.author,
            "id": event_id,
            "timestamp": timestamp,
        });
        if let Some(branch) = &self.branch {
            event["branch"] = Value::from(branch.as_str());
        }
        Some(event)
    }
}
