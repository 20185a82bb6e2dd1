//! What a golden trace says, in the order in which it is written.
//!
//! A case may be as large as the log that it comes from. So it is written as it is, and becomes
//! JSON values only for those who have to look into it.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::adk_event::AdkPart;

/// An ADK `EvalCase`.
#[derive(Debug, Serialize)]
pub struct GoldenCase {
    pub(super) eval_id: String,
    pub(super) conversation: Vec<CaseInvocation>,
    pub(super) session_input: SessionInput,
    pub(super) creation_timestamp: Value,
}

impl GoldenCase {
    /// Its name in an EvalSet.
    pub fn eval_id(&self) -> &str {
        &self.eval_id
    }

    /// The case as JSON.
    pub fn to_value(&self) -> Value {
        // Texts, numbers and objects with text keys: they always are JSON.
        serde_json::to_value(self).unwrap_or_default()
    }
}

#[derive(Debug, Serialize)]
pub(super) struct SessionInput {
    pub(super) app_name: String,
    pub(super) user_id: String,
    pub(super) state: Map<String, Value>,
}

#[derive(Debug, Serialize)]
pub(super) struct CaseInvocation {
    pub(super) invocation_id: String,
    pub(super) user_content: Content,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) final_response: Option<Content>,
    pub(super) intermediate_data: IntermediateData,
    pub(super) creation_timestamp: Value,
}

/// A genai Content.
#[derive(Debug, Serialize)]
pub(super) struct Content {
    pub(super) role: &'static str,
    pub(super) parts: Vec<AdkPart>,
}

#[derive(Debug, Default, Serialize)]
pub(super) struct IntermediateData {
    pub(super) tool_uses: Vec<ToolUse>,
    pub(super) tool_responses: Vec<ToolResponse>,
    /// What was said, in order: author and parts.
    pub(super) intermediate_responses: Vec<(String, Vec<AdkPart>)>,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolUse {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Value,
}

#[derive(Debug, Serialize)]
pub(super) struct ToolResponse {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) response: Value,
}
