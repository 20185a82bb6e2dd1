//! A model request, read once for all providers.
//!
//! ADK's contents allow much that providers refuse: calls without answers,
//! answers without calls, ids that are missing or come from another provider,
//! several contents of one role in a row. After [`Conversation::read`]:
//!
//! * turns alternate between the model and others, and the last is not the model's;
//! * all calls of a turn are answered by the [`Turn::Results`] right after it, in
//!   their order, and no other result exists;
//! * ids of calls are unique and of a form that every provider takes.

use hotseat_core::{ModelRequest, ToolDeclaration};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::calls::Pairing;
use super::fields;
use super::settings::Settings;
use super::spoken::{only_gemini, unsupported};
use crate::{ModelError, ModelSpec};

/// What a model that has nothing to react to is told, in ADK's own words.
const CONTINUE: &str = "Continue processing previous requests as instructed. \
    Exit or provide a summary if no more outputs are needed.";
const BEGIN: &str = "Handle the requests as specified in the System Instruction.";

/// Everything that a provider has to say to its model.
#[derive(Debug)]
pub(super) struct Conversation {
    pub(super) system: Option<String>,
    pub(super) turns: Vec<Turn>,
    pub(super) tools: Vec<ToolDeclaration>,
    /// Tools that run at the provider, as ADK declares them; Gemini only.
    pub(super) provider_tools: Vec<Value>,
    pub(super) settings: Settings,
    /// The request's config, for fields that only Gemini knows.
    pub(super) config: Value,
}

/// One side's turn.
#[derive(Debug, PartialEq)]
pub(super) enum Turn {
    User(Vec<Input>),
    Model(Vec<Said>),
    Results(Vec<CallResult>),
}

/// What a user sends.
#[derive(Debug, PartialEq)]
pub(super) enum Input {
    Text(String),
    Blob(Blob),
    File {
        uri: String,
        mime_type: Option<String>,
    },
    /// A part that only Gemini knows, in snake_case.
    Other(Value),
}

/// What a model said. Signatures are base64, as ADK keeps them.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    Text {
        text: String,
        signature: Option<String>,
    },
    /// Without text it is one that the provider keeps to itself.
    Thought {
        text: Option<String>,
        signature: Option<String>,
    },
    Call(Call),
    Blob(Blob),
    /// A part that only Gemini knows, in snake_case.
    Other(Value),
}

/// Bytes with a type. The data is base64, in whichever alphabet ADK wrote.
#[derive(Debug, PartialEq)]
pub(super) struct Blob {
    pub(super) mime_type: String,
    pub(super) data: String,
}

/// A call that a model made.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    /// Unique, and of a form that every provider takes.
    pub(super) id: String,
    /// The id as it was logged.
    pub(super) given: Option<String>,
    pub(super) name: String,
    pub(super) args: Map<String, Value>,
    pub(super) signature: Option<String>,
}

/// What a tool answered.
#[derive(Debug, PartialEq)]
pub(super) struct CallResult {
    pub(super) id: String,
    pub(super) given: Option<String>,
    pub(super) name: String,
    pub(super) response: Value,
}

impl Conversation {
    /// Reads an `LlmRequest`.
    pub(super) fn read(
        request: &Value,
        spec: &ModelSpec,
        provider: &'static str,
    ) -> Result<Self, ModelError> {
        #[derive(Serialize)]
        struct Payload<'a> {
            request: &'a Value,
        }
        let payload = serde_json::value::to_raw_value(&Payload { request })
            .map_err(|error| unsupported(provider, &error.to_string()))?;
        let read = ModelRequest::parse(&payload)
            .map_err(|error| unsupported(provider, &error.to_string()))?;
        let config = fields::get(request, "config").cloned().unwrap_or_else(|| json!({}));

        let mut pairing = Pairing::default();
        for content in &read.contents {
            let parts = content.get("parts").and_then(Value::as_array).into_iter().flatten();
            let parts: Vec<&Value> = parts.filter(|part| is_something(part)).collect();
            if content.get("role").and_then(Value::as_str) == Some("model") {
                pairing.model(parts.into_iter().map(said).collect());
            } else {
                let (results, inputs): (Vec<_>, Vec<_>) =
                    parts.into_iter().partition(|part| part.get("function_response").is_some());
                for part in results {
                    pairing.result(&part["function_response"]);
                }
                let inputs = inputs.into_iter().map(|part| match image_name(part) {
                    Some(name) if !spec.images => Input::Text(left_out(name)),
                    _ => input(part),
                });
                pairing.user(inputs.filter(|input| *input != Input::Text(String::new())).collect());
            }
        }
        let mut turns = pairing.finish();
        match turns.last() {
            None => turns.push(Turn::User(vec![Input::Text(BEGIN.to_owned())])),
            Some(Turn::Model(_)) => turns.push(Turn::User(vec![Input::Text(CONTINUE.to_owned())])),
            Some(Turn::User(_) | Turn::Results(_)) => {}
        }
        Ok(Self {
            system: read.system_instruction,
            turns,
            tools: read.tools,
            provider_tools: provider_tools(&config),
            settings: Settings::read(&config, read.output_schema, spec),
            config,
        })
    }

    /// Refuses tools that only Gemini can run.
    pub(super) fn require_own_tools(&self, provider: &'static str) -> Result<(), ModelError> {
        match self.provider_tools.first() {
            Some(tool) => Err(only_gemini(provider, tool)),
            None => Ok(()),
        }
    }
}

/// Whether a part holds more than `null`.
fn is_something(part: &Value) -> bool {
    part.as_object().is_some_and(|part| part.keys().any(|key| key != "thought"))
}

fn said(part: &Value) -> Said {
    let signature = fields::text(part, "thought_signature").map(str::to_owned);
    if let Some(call) = part.get("function_call") {
        return Said::Call(Call {
            id: String::new(),
            given: fields::text(call, "id").map(str::to_owned),
            name: fields::text(call, "name").unwrap_or_default().to_owned(),
            args: call.get("args").and_then(Value::as_object).cloned().unwrap_or_default(),
            signature,
        });
    }
    let text = part.get("text").and_then(Value::as_str).map(str::to_owned);
    if fields::flag(part, "thought") {
        return Said::Thought { text, signature };
    }
    match (text, blob(part), signature) {
        (Some(text), _, signature) => Said::Text { text, signature },
        (None, Some(blob), _) => Said::Blob(blob),
        (None, None, Some(signature)) if part.as_object().is_some_and(|part| part.len() == 1) => {
            Said::Text { text: String::new(), signature: Some(signature) }
        }
        (None, None, _) => Said::Other(part.clone()),
    }
}

fn input(part: &Value) -> Input {
    if let Some(text) = part.get("text").and_then(Value::as_str) {
        return Input::Text(text.to_owned());
    }
    if let Some(blob) = blob(part) {
        return Input::Blob(blob);
    }
    if let Some(file) = part.get("file_data")
        && let Some(uri) = fields::text(file, "file_uri")
    {
        let mime_type = fields::text(file, "mime_type").map(str::to_owned);
        return Input::File { uri: uri.to_owned(), mime_type };
    }
    Input::Other(part.clone())
}

/// What the image in a part is called, if there is one.
fn image_name(part: &Value) -> Option<&str> {
    let image = part.get("inline_data").or_else(|| part.get("file_data"))?;
    fields::text(image, "mime_type").filter(|mime| mime.starts_with("image/"))?;
    Some(fields::text(image, "display_name").unwrap_or_default())
}

/// What stands where a model that cannot see has no image.
fn left_out(name: &str) -> String {
    let name = if name.is_empty() { String::new() } else { format!("`{name}` ") };
    format!(
        "> An image {name}was sent here. You cannot see images; only the text in it could be read."
    )
}

fn blob(part: &Value) -> Option<Blob> {
    let data = part.get("inline_data")?;
    Some(Blob {
        mime_type: fields::text(data, "mime_type")?.to_owned(),
        data: fields::get(data, "data")?.as_str()?.to_owned(),
    })
}

fn provider_tools(config: &Value) -> Vec<Value> {
    let groups = fields::get(config, "tools").and_then(Value::as_array);
    let own = groups.into_iter().flatten().filter_map(|group| {
        let own: Map<String, Value> = group
            .as_object()?
            .iter()
            .map(|(name, tool)| (fields::snake(name), tool.clone()))
            .filter(|(name, tool)| name != "function_declarations" && !tool.is_null())
            .collect();
        (!own.is_empty()).then_some(Value::Object(own))
    });
    own.collect()
}
