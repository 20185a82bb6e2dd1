//! A model request as the person in the seat sees it.
//!
//! The payload of a `request` event holds ADK's `LlmRequest` verbatim and what
//! the plugin knows besides. [`ModelRequest`] is the readable side of it: who
//! says what, which tools there are, what form the answer must have. It is made
//! for reading and checking; [`ModelRequest::raw`] remains the truth.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use crate::content::snake_content;
use crate::schema::{normalise, normalise_schema};
use crate::{SchemaError, alias};

/// A model request, read.
#[derive(Debug, Clone, Serialize)]
pub struct ModelRequest {
    /// The conversation: genai Contents with snake_case keys. May be empty.
    pub contents: Vec<Value>,
    /// The instruction, as one text.
    pub system_instruction: Option<String>,
    /// The tools that the answer may call.
    pub tools: Vec<ToolDeclaration>,
    /// What an answer in text must satisfy, as JSON Schema.
    pub output_schema: Option<Value>,
    /// ADK's session state at the time.
    pub state: Map<String, Value>,
    /// ADK's `LlmRequest`, verbatim.
    pub raw: Box<RawValue>,
}

/// A tool that a request offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDeclaration {
    /// The name to call it by.
    pub name: String,
    /// What it does, as the model is told.
    pub description: String,
    /// Its parameters as JSON Schema. Any object, if `error` is set.
    pub parameters: Value,
    /// `function`, `agent`, `transfer`, `mcp` or `long_running`, where known.
    pub kind: Option<String>,
    /// Why the tool could not be declared properly. It can still be called.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// A payload that is no model request.
#[derive(Debug, thiserror::Error)]
pub enum InvalidRequest {
    /// It is not a JSON object of the expected form, or nested too deep.
    #[error("the payload of the model request cannot be read")]
    Unreadable(#[from] serde_json::Error),
    /// The `LlmRequest` itself is something else.
    #[error("`request` is not an object")]
    NotAnObject,
    /// The conversation is something else than a list.
    #[error("`contents` of the model request is not an array")]
    Contents,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    request: &'a RawValue,
    #[serde(default, alias = "outputSchema")]
    output_schema: Option<Value>,
    #[serde(default)]
    tools: Option<Value>,
    #[serde(default)]
    state: Option<Value>,
}

impl ModelRequest {
    /// Reads the payload of a `request` event. Only what makes the request
    /// useless is an error; a malformed tool is listed with what is wrong.
    pub fn parse(payload: &RawValue) -> Result<Self, InvalidRequest> {
        let payload: Payload<'_> = serde_json::from_str(payload.get())?;
        let Value::Object(mut request) = serde_json::from_str(payload.request.get())? else {
            return Err(InvalidRequest::NotAnObject);
        };
        let contents = match alias::take(&mut request, "contents") {
            None => Vec::new(),
            Some(Value::Array(contents)) => contents.into_iter().map(snake_content).collect(),
            Some(_) => return Err(InvalidRequest::Contents),
        };
        let config = alias::take_object(&mut request, "config").unwrap_or_default();
        let known = match payload.tools {
            Some(Value::Object(known)) => known,
            _ => Map::new(),
        };
        Ok(Self {
            contents,
            system_instruction: alias::get(&config, "system_instruction")
                .or_else(|| alias::get(&request, "system_instruction"))
                .and_then(instruction_text),
            tools: tools(&config, &known),
            output_schema: payload
                .output_schema
                .filter(|schema| !schema.is_null())
                .or_else(|| alias::get(&config, "response_json_schema").cloned())
                .or_else(|| alias::get(&config, "response_schema").cloned())
                .map(|schema| normalise_schema(&schema).unwrap_or(schema)),
            state: match payload.state {
                Some(Value::Object(state)) => state,
                _ => Map::new(),
            },
            raw: payload.request.to_owned(),
        })
    }

    /// The tool of that name.
    pub fn tool(&self, name: &str) -> Option<&ToolDeclaration> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

impl ToolDeclaration {
    /// Reads a genai FunctionDeclaration, an MCP tool or our own form. What
    /// cannot be used ends up in `error`.
    pub fn parse(declaration: &Value) -> Self {
        let text = |name| {
            let text = declaration.as_object().and_then(|object| alias::get(object, name));
            text.and_then(Value::as_str).map(str::to_owned)
        };
        let mut tool = Self {
            name: text("name").unwrap_or_default(),
            description: text("description").unwrap_or_default(),
            parameters: any_object(),
            kind: text("kind"),
            error: text("error"),
        };
        match normalise(declaration) {
            Ok(parameters) => tool.parameters = parameters,
            Err(error) => tool.fail(&schema_problem(&error)),
        }
        if tool.name.is_empty() {
            tool.fail("the declaration has no name");
        }
        tool
    }

    fn fail(&mut self, problem: &str) {
        self.error.get_or_insert_with(|| problem.to_owned());
    }
}

/// The declared tools, and those of `known` that failed to declare themselves.
fn tools(config: &Map<String, Value>, known: &Map<String, Value>) -> Vec<ToolDeclaration> {
    let groups = alias::get(config, "tools").and_then(Value::as_array);
    let mut tools: Vec<ToolDeclaration> = Vec::new();
    for declaration in groups
        .into_iter()
        .flatten()
        .filter_map(|group| alias::get(group.as_object()?, "function_declarations")?.as_array())
        .flatten()
    {
        let mut tool = ToolDeclaration::parse(declaration);
        if tools.iter().any(|other| other.name == tool.name) {
            tool.fail("another tool has the same name");
        }
        tools.push(tool);
    }
    for (name, facts) in known {
        let fact = |key| facts.get(key).and_then(Value::as_str).map(str::to_owned);
        let mut declared = false;
        for tool in tools.iter_mut().filter(|tool| tool.name == *name) {
            declared = true;
            tool.kind = fact("kind").or(tool.kind.take());
            tool.error = fact("error").or(tool.error.take());
            // What the sender knows of the parameters is more than ADK declares.
            if let Some(exact) = facts.get("parameters").filter(|schema| schema.is_object()) {
                tool.parameters = normalise_schema(exact).unwrap_or_else(|_| exact.clone());
            }
        }
        // A tool without declaration and without error is one of the model's own.
        if !declared && let Some(error) = fact("error") {
            tools.push(ToolDeclaration {
                name: name.clone(),
                description: String::new(),
                parameters: any_object(),
                kind: fact("kind"),
                error: Some(error),
            });
        }
    }
    tools
}

fn any_object() -> Value {
    json!({"type": "object"})
}

fn schema_problem(error: &SchemaError) -> String {
    format!("its parameters cannot be shown: {error}")
}

/// An instruction is a text, a Content, a Part, or a list of these.
fn instruction_text(instruction: &Value) -> Option<String> {
    let text = match instruction {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().filter_map(instruction_text).collect();
            texts.join("\n\n")
        }
        Value::Object(object) => match object.get("parts") {
            Some(parts) => return instruction_text(parts),
            None => object.get("text")?.as_str()?.to_owned(),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) => return None,
    };
    (!text.is_empty()).then_some(text)
}
