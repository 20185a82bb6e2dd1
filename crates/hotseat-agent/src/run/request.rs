//! The model request of a run: its settings made once, its conversation growing.

use serde_json::{Map, Value, json};

use crate::contents::contents;
use crate::file::AgentFile;
use crate::host::{RunError, RunInput};
use crate::instruction;
use crate::tool::{ToolSet, declaration};

/// An `LlmRequest` with the conversation so far.
pub(super) fn new(file: &AgentFile, tools: &ToolSet, input: &RunInput) -> Result<Value, RunError> {
    let mut request = Map::with_capacity(3);
    if let Some(model) = &file.model {
        request.insert("model".to_owned(), Value::from(model.name.as_str()));
    }
    request.insert("contents".to_owned(), Value::Array(contents(&input.history)));
    request.insert("config".to_owned(), Value::Object(config(file, tools, input)?));
    Ok(Value::Object(request))
}

/// Adds what the model said, or what the tools answered.
pub(super) fn push(request: &mut Value, content: Value) {
    if let Some(Value::Array(contents)) = request.get_mut("contents") {
        contents.push(content);
    }
}

fn config(
    file: &AgentFile,
    tools: &ToolSet,
    input: &RunInput,
) -> Result<Map<String, Value>, RunError> {
    let mut config = Map::new();
    let mut set = |key: &str, value: Value| config.insert(key.to_owned(), value);
    if !file.instruction.trim().is_empty() {
        set("system_instruction", instruction::fill(&file.instruction, &input.state)?.into());
    }
    let mut declarations = tools.declarations().to_vec();
    // Two declarations of one name would be refused.
    let of_client = input.client_tools.iter().filter(|tool| tools.get(&tool.name).is_none());
    declarations
        .extend(of_client.map(|tool| declaration(&tool.name, &tool.description, &tool.parameters)));
    if !declarations.is_empty() {
        set("tools", json!([{"function_declarations": declarations}]));
    }
    if let Some(model) = &file.model {
        if let Some(temperature) = model.temperature {
            set("temperature", temperature.into());
        }
        if let Some(top_p) = model.top_p {
            set("top_p", top_p.into());
        }
        if let Some(max_tokens) = model.max_tokens {
            set("max_output_tokens", max_tokens.into());
        }
    }
    if let Some(schema) = &file.output_schema {
        set("response_json_schema", schema.clone());
        set("response_mime_type", "application/json".into());
    }
    Ok(config)
}
