//! What a model said, for providers whose messages have one text and a list of calls.

use serde_json::Value;

use super::conversation::{Call, Said};
use super::refusal::cut;
use crate::ModelError;

/// A model's turn, flat.
#[derive(Debug, Default)]
pub(super) struct Spoken<'a> {
    pub(super) text: String,
    pub(super) thought: String,
    pub(super) calls: Vec<&'a Call>,
}

impl<'a> Spoken<'a> {
    pub(super) fn of(said: &'a [Said], provider: &'static str) -> Result<Self, ModelError> {
        let mut spoken = Self::default();
        for said in said {
            match said {
                Said::Text { text, .. } => spoken.text += text,
                Said::Thought { text, .. } => spoken.thought += text.as_deref().unwrap_or_default(),
                Said::Call(call) => spoken.calls.push(call),
                // There is no place for it, and the text says that it was there.
                Said::Blob(blob) => spoken.text.extend(["[", &blob.mime_type, "]"]),
                Said::Other(part) => return Err(only_gemini(provider, part)),
            }
        }
        Ok(spoken)
    }
}

/// That a part means something to Gemini only.
pub(super) fn only_gemini(provider: &'static str, part: &Value) -> ModelError {
    let names: Vec<&str> =
        part.as_object().into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let reason = format!("it holds `{}`, which only Gemini knows", names.join("`, `"));
    unsupported(provider, &reason)
}

/// That a request cannot be put into a provider's words.
pub(super) fn unsupported(provider: &'static str, reason: &str) -> ModelError {
    ModelError::Unsupported { provider, reason: cut(reason) }
}
