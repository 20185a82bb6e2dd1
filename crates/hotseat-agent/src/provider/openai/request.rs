//! A conversation as a chat completion request.

use serde_json::{Value, json};

use super::{House, OpenAi};
use crate::ModelError;
use crate::provider::conversation::{Conversation, Input, Said, Turn};
use crate::provider::fields::set;
use crate::provider::media::Media;
use crate::provider::settings::{Output, Settings, Thinking, ToolChoice};
use crate::provider::spoken::{Spoken, only_gemini, unsupported};

/// The name of a schema, which must have one.
const SCHEMA_NAME: &str = "answer";

pub(super) fn body(openai: &OpenAi, conversation: &Conversation) -> Result<Value, ModelError> {
    conversation.require_own_tools(openai.provider)?;
    let mut messages = Vec::new();
    if let Some(system) = &conversation.system {
        messages.push(json!({"role": "system", "content": system}));
    }
    for turn in &conversation.turns {
        match turn {
            Turn::User(inputs) => messages.push(user(openai, inputs)?),
            Turn::Model(said) => messages.extend(assistant(openai, said)?),
            Turn::Results(results) => messages.extend(results.iter().map(|result| {
                let content = result.response.to_string();
                json!({"role": "tool", "tool_call_id": result.id, "content": content})
            })),
        }
    }
    let mut body = json!({
        "model": openai.model,
        "messages": messages,
        "stream": true,
        "stream_options": {"include_usage": true},
    });
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            let mut parameters = tool.parameters.clone();
            parameters["type"] = Value::from("object");
            let mut function = json!({"name": tool.name, "parameters": parameters});
            let description = Some(tool.description.clone()).filter(|text| !text.is_empty());
            set(&mut function, "description", description.map(Value::from));
            json!({"type": "function", "function": function})
        });
        body["tools"] = tools.collect();
        set(&mut body, "tool_choice", tool_choice(&conversation.settings.tool_choice));
    }
    settings(&mut body, &conversation.settings, openai.house);
    Ok(body)
}

fn settings(body: &mut Value, settings: &Settings, house: House) {
    let most = match house {
        House::OpenAi => "max_completion_tokens",
        House::Other => "max_tokens",
    };
    set(body, most, settings.max_tokens.map(Value::from));
    set(body, "temperature", settings.temperature.clone());
    set(body, "top_p", settings.top_p.clone());
    set(body, "seed", settings.seed.clone());
    set(body, "stop", settings.stop.clone());
    if let Some(Thinking::Level(level)) = &settings.thinking {
        body["reasoning_effort"] = Value::from(level.as_str());
    }
    match &settings.output {
        Output::Text => {}
        Output::Json => body["response_format"] = json!({"type": "json_object"}),
        Output::Schema(schema) => {
            let format =
                json!({"name": SCHEMA_NAME, "schema": schema, "strict": is_strict(schema)});
            body["response_format"] = json!({"type": "json_schema", "json_schema": format});
        }
    }
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Never => Some(json!("none")),
        ToolChoice::Only(names) if names.len() == 1 => {
            Some(json!({"type": "function", "function": {"name": names[0]}}))
        }
        ToolChoice::Any | ToolChoice::Only(_) => Some(json!("required")),
    }
}

/// Whether OpenAI can hold the model to the schema: no object may be open, and
/// every property must be required.
fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(object) => {
            let closed = match object.get("properties").and_then(Value::as_object) {
                Some(properties) => {
                    let required = object.get("required").and_then(Value::as_array);
                    let is_required = |name: &String| {
                        required.is_some_and(|required| required.iter().any(|other| other == name))
                    };
                    object.get("additionalProperties") == Some(&Value::Bool(false))
                        && properties.keys().all(is_required)
                }
                None => object.get("type").is_none_or(|kind| kind != "object"),
            };
            closed && object.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

fn user(openai: &OpenAi, inputs: &[Input]) -> Result<Value, ModelError> {
    let content = match inputs {
        // Some servers of others read nothing but a text here.
        [Input::Text(text)] => Value::from(text.as_str()),
        inputs => {
            let parts: Result<Vec<Value>, ModelError> =
                inputs.iter().map(|input| user_part(openai, input)).collect();
            Value::Array(parts?)
        }
    };
    Ok(json!({"role": "user", "content": content}))
}

fn user_part(openai: &OpenAi, input: &Input) -> Result<Value, ModelError> {
    let provider = openai.provider;
    match input {
        Input::Text(text) => Ok(json!({"type": "text", "text": text})),
        Input::Blob(blob) => match blob.media() {
            Media::Image(data) => {
                let url = format!("data:{};base64,{data}", blob.mime_type);
                Ok(json!({"type": "image_url", "image_url": {"url": url}}))
            }
            Media::Pdf(data) => {
                let data = format!("data:application/pdf;base64,{data}");
                Ok(json!({"type": "file", "file": {"filename": "document.pdf", "file_data": data}}))
            }
            Media::Text(text) => Ok(json!({"type": "text", "text": text})),
            Media::Unknown => Err(unsupported(provider, &format!("it holds a {}", blob.mime_type))),
        },
        Input::File { uri, mime_type } => {
            let image =
                mime_type.as_deref().is_none_or(|mime_type| mime_type.starts_with("image/"));
            if image && uri.starts_with("http") {
                return Ok(json!({"type": "image_url", "image_url": {"url": uri}}));
            }
            Err(unsupported(provider, "it refers to a file that is not an image on the web"))
        }
        Input::Other(part) => Err(only_gemini(provider, part)),
    }
}

fn assistant(openai: &OpenAi, said: &[Said]) -> Result<Option<Value>, ModelError> {
    let spoken = Spoken::of(said, openai.provider)?;
    if spoken.text.is_empty() && spoken.calls.is_empty() {
        return Ok(None);
    }
    let content = if spoken.text.is_empty() { Value::Null } else { Value::from(spoken.text) };
    let mut message = json!({"role": "assistant", "content": content});
    if !spoken.calls.is_empty() {
        let calls = spoken.calls.iter().map(|call| {
            let arguments = Value::Object(call.args.clone()).to_string();
            let function = json!({"name": call.name, "arguments": arguments});
            json!({"id": call.id, "type": "function", "function": function})
        });
        message["tool_calls"] = calls.collect();
        if openai.house == House::Other && !spoken.thought.is_empty() {
            message["reasoning_content"] = Value::from(spoken.thought);
        }
    }
    Ok(Some(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_closed_schemas_are_strict() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "string"}},
            "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&closed));
        for (field, value) in [("required", json!([])), ("additionalProperties", json!(true))] {
            let mut open = closed.clone();
            open[field] = value;
            assert!(!is_strict(&json!({"anyOf": [closed, open]})), "{field}");
        }
        assert!(!is_strict(&json!({"type": "object"})));
    }
}
