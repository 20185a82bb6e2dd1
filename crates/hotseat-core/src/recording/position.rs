//! How far the conversation in a request has come.

use serde_json::Value;

use crate::content::visible_text;

/// How ADK begins what it tells an agent of the work of another, as if the user
/// had said it.
const CONTEXT: &str = "For context:";
/// How ADK begins an instruction that it puts into the conversation.
const INSTRUCTION: &str = "<<<BEGIN_SYSTEM_INSTRUCTION>>>";
/// What ADK calls the result of another agent's tool.
const RESULT: &str = "tool returned result:";

/// A place in a conversation.
pub(super) struct Position {
    /// What the user said so far; never empty.
    pub(super) texts: Vec<String>,
    /// How many answers came after the last of it.
    pub(super) step: usize,
}

impl Position {
    /// Where a conversation stands; none if the user has said nothing.
    pub(super) fn of(contents: &[Value]) -> Option<Self> {
        let mut position = Self { texts: Vec::new(), step: 0 };
        for content in contents {
            let from_model = content.get("role").and_then(Value::as_str) == Some("model");
            match user_text(content) {
                _ if from_model => position.step += 1,
                Some(text) if text.starts_with(INSTRUCTION) => {}
                // The answers of other agents count: they are in the recording too.
                Some(text) if text.starts_with(CONTEXT) => {
                    let answered = text.contains("] said:") || text.contains("] called tool");
                    if answered || !text.contains(RESULT) {
                        position.step += 1;
                    }
                }
                Some(text) => {
                    position.texts.push(text);
                    position.step = 0;
                }
                None => {}
            }
        }
        (!position.texts.is_empty()).then_some(position)
    }

    /// What the user said last.
    pub(super) fn text(&self) -> &str {
        self.texts.last().map_or("", String::as_str)
    }

    /// What the user said first.
    pub(super) fn first_text(&self) -> Option<&str> {
        self.texts.first().map(String::as_str)
    }
}

/// What a user's content says; an attachment alone says nothing, but is said.
/// None if it only answers for a tool.
pub(super) fn user_text(content: &Value) -> Option<String> {
    let parts = content.get("parts").and_then(Value::as_array)?;
    let mut said = false;
    let mut text = String::new();
    for part in parts.iter().filter_map(Value::as_object) {
        said |= !part.contains_key("function_response");
        if let Some(words) = visible_text(part) {
            if !text.is_empty() {
                text.push('\n');
            }
            text.push_str(words.trim());
        }
    }
    said.then_some(text)
}
