//! The model request of a run: its settings made once, its conversation growing.

use serde_json::{Map, Value, json};

use crate::contents::{content, contents};
use crate::file::AgentFile;
use crate::host::{RunError, RunInput};
use crate::instruction;
use crate::tool::{ToolSet, declaration};

/// An `LlmRequest` that grows with every step.
pub(super) struct Request {
    model: Option<String>,
    contents: Vec<Value>,
    config: Map<String, Value>,
}

impl Request {
    pub(super) fn new(
        file: &AgentFile,
        tools: &ToolSet,
        input: &RunInput,
    ) -> Result<Self, RunError> {
        Ok(Self {
            model: file.model.as_ref().map(|model| model.name.clone()),
            contents: contents(&input.history),
            config: config(file, tools, input)?,
        })
    }

    /// The request as it is now.
    pub(super) fn to_value(&self) -> Value {
        let mut request = Map::with_capacity(3);
        if let Some(model) = &self.model {
            request.insert("model".to_owned(), Value::from(model.as_str()));
        }
        request.insert("contents".to_owned(), Value::Array(self.contents.clone()));
        request.insert("config".to_owned(), Value::Object(self.config.clone()));
        Value::Object(request)
    }

    /// Adds what the model said.
    pub(super) fn push(&mut self, content: Value) {
        self.contents.push(content);
    }

    /// Adds what the tools answered.
    pub(super) fn push_results(&mut self, parts: Vec<Value>) {
        self.contents.push(content("user", parts));
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
