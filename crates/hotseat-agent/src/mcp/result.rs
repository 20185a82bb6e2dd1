//! What an MCP tool answered, as ADK's own MCP toolset writes it.
//!
//! The result is the server's answer with its content list and structured
//! content, in the same spelling, so a trace looks the same whoever ran the
//! tool. An answer that is marked as an error becomes our error.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Value, json};

/// The response for the model, or what went wrong.
pub(super) fn response(result: &CallToolResult) -> Result<Value, String> {
    if result.is_error == Some(true) {
        return Err(error_text(result));
    }
    let mut response = json!({"content": result.content});
    if let Some(structured) = &result.structured_content {
        response["structuredContent"] = structured.clone();
    }
    response["isError"] = Value::Bool(false);
    Ok(response)
}

fn error_text(result: &CallToolResult) -> String {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    match (texts.is_empty(), &result.structured_content) {
        (false, _) => texts.join("\n"),
        (true, Some(structured)) => structured.to_string(),
        (true, None) => "the tool failed and did not say why".to_owned(),
    }
}
