//! A conversation as Anthropic's messages.
//!
//! Results of tools are blocks of the user's next message and come first in it.
//! A thought goes back only with the signature that Anthropic gave it.

use serde_json::{Value, json};

use super::PROVIDER;
use crate::ModelError;
use crate::provider::conversation::{CallResult, Conversation, Input, Said, Turn};
use crate::provider::fields::set;
use crate::provider::media::{Media, decode_signature};
use crate::provider::settings::{Output, Thinking, ToolChoice};
use crate::provider::spoken::{only_gemini, unsupported};

/// Most tokens of an answer, which must be said, if nobody says so.
const DEFAULT_MAX_TOKENS: u64 = 8_192;
/// Fewest tokens that a model may be given to think.
const MIN_BUDGET: u64 = 1_024;
/// What a conversation that the model began is preceded by.
const BEGUN: &str = "(The conversation begins with you.)";

pub(super) fn body(model: &str, conversation: &Conversation) -> Result<Value, ModelError> {
    conversation.require_own_tools(PROVIDER)?;
    let settings = &conversation.settings;
    let mut body = json!({
        "model": model,
        "max_tokens": settings.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS),
        "messages": messages(&conversation.turns)?,
        "stream": true,
    });
    set(&mut body, "system", conversation.system.as_deref().map(Value::from));
    if !conversation.tools.is_empty() {
        let tools = conversation.tools.iter().map(|tool| {
            let mut schema = tool.parameters.clone();
            schema["type"] = Value::from("object");
            let mut tool_json = json!({"name": tool.name, "input_schema": schema});
            let description = Some(tool.description.as_str()).filter(|text| !text.is_empty());
            set(&mut tool_json, "description", description.map(Value::from));
            tool_json
        });
        body["tools"] = tools.collect();
        set(&mut body, "tool_choice", tool_choice(&settings.tool_choice));
    }
    match &settings.output {
        // There is no way to ask for JSON of any form.
        Output::Text | Output::Json => {}
        Output::Schema(schema) => {
            let format = json!({"type": "json_schema", "schema": closed(schema)});
            body["output_config"] = json!({"format": format});
        }
    }
    set(&mut body, "stop_sequences", settings.stop.clone());
    if !thinking(&mut body, conversation) {
        // A model that thinks takes none of these.
        set(&mut body, "temperature", settings.temperature.clone());
        set(&mut body, "top_p", settings.top_p.clone());
        set(&mut body, "top_k", settings.top_k.clone());
    }
    Ok(body)
}

/// Turns thinking on or off, and says whether it is on.
fn thinking(body: &mut Value, conversation: &Conversation) -> bool {
    match &conversation.settings.thinking {
        None => false,
        Some(Thinking::Off) => {
            body["thinking"] = json!({"type": "disabled"});
            false
        }
        Some(Thinking::Auto) => {
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            true
        }
        Some(Thinking::Level(level)) => {
            body["thinking"] = json!({"type": "adaptive", "display": "summarized"});
            if !body["output_config"].is_object() {
                body["output_config"] = json!({});
            }
            body["output_config"]["effort"] = Value::from(level.as_str());
            true
        }
        // With a budget, calls that are being answered must come from thinking. Calls
        // that a person made do not.
        Some(Thinking::Budget(_)) if calls_without_thought(&conversation.turns) => false,
        Some(Thinking::Budget(budget)) => {
            let budget = (*budget).max(MIN_BUDGET);
            body["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
            let room = conversation.settings.max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
            if room <= budget {
                body["max_tokens"] = Value::from(budget.saturating_add(DEFAULT_MAX_TOKENS));
            }
            true
        }
    }
}

fn calls_without_thought(turns: &[Turn]) -> bool {
    let [.., Turn::Model(said), Turn::Results(_)] = turns else { return false };
    !matches!(said.first().and_then(assistant_block), Some(block)
        if block["type"] == "thinking" || block["type"] == "redacted_thinking")
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::Never => Some(json!({"type": "none"})),
        ToolChoice::Only(names) if names.len() == 1 => {
            Some(json!({"type": "tool", "name": names[0]}))
        }
        ToolChoice::Any | ToolChoice::Only(_) => Some(json!({"type": "any"})),
    }
}

/// The schema with every object closed, which Anthropic demands.
fn closed(schema: &Value) -> Value {
    match schema {
        Value::Object(object) => {
            let mut object: serde_json::Map<String, Value> =
                object.iter().map(|(key, value)| (key.clone(), closed(value))).collect();
            let kind = object.get("type");
            if kind.is_some_and(|kind| kind == "object")
                && !object.contains_key("additionalProperties")
            {
                object.insert("additionalProperties".to_owned(), Value::Bool(false));
            }
            Value::Object(object)
        }
        Value::Array(items) => items.iter().map(closed).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => schema.clone(),
    }
}

fn messages(turns: &[Turn]) -> Result<Vec<Value>, ModelError> {
    let mut messages: Vec<Value> = Vec::new();
    for turn in turns {
        let (role, blocks) = match turn {
            Turn::User(inputs) => {
                let blocks: Result<Vec<Option<Value>>, ModelError> =
                    inputs.iter().map(user_block).collect();
                ("user", blocks?.into_iter().flatten().collect())
            }
            Turn::Results(results) => ("user", results.iter().map(result_block).collect()),
            Turn::Model(said) => {
                if let Some(Said::Other(part)) =
                    said.iter().find(|said| matches!(said, Said::Other(_)))
                {
                    return Err(only_gemini(PROVIDER, part));
                }
                ("assistant", said.iter().filter_map(assistant_block).collect::<Vec<Value>>())
            }
        };
        push(&mut messages, role, blocks);
    }
    Ok(messages)
}

/// Adds a message, or adds to the last one if it has the same role.
fn push(messages: &mut Vec<Value>, role: &str, mut blocks: Vec<Value>) {
    if blocks.is_empty() {
        return;
    }
    if messages.is_empty() && role == "assistant" {
        let begun = json!({"type": "text", "text": BEGUN});
        messages.push(json!({"role": "user", "content": [begun]}));
    }
    if let Some(last) = messages.last_mut()
        && last["role"] == role
        && let Some(content) = last["content"].as_array_mut()
    {
        content.append(&mut blocks);
        return;
    }
    messages.push(json!({"role": role, "content": blocks}));
}

fn user_block(input: &Input) -> Result<Option<Value>, ModelError> {
    match input {
        Input::Text(text) => Ok(text_block(text)),
        Input::Blob(blob) => match blob.media() {
            Media::Image(data) => {
                let source = json!({"type": "base64", "media_type": blob.mime_type, "data": data});
                Ok(Some(json!({"type": "image", "source": source})))
            }
            Media::Pdf(data) => {
                let source = json!({"type": "base64", "media_type": blob.mime_type, "data": data});
                Ok(Some(json!({"type": "document", "source": source})))
            }
            Media::Text(text) => Ok(text_block(&text)),
            Media::Unknown => Err(unsupported(PROVIDER, &format!("it holds a {}", blob.mime_type))),
        },
        Input::File { uri, mime_type } if uri.starts_with("http") => {
            let kind = match mime_type.as_deref() {
                Some("application/pdf") => "document",
                _ => "image",
            };
            Ok(Some(json!({"type": kind, "source": {"type": "url", "url": uri}})))
        }
        Input::File { .. } => {
            Err(unsupported(PROVIDER, "it refers to a file that is not on the web"))
        }
        Input::Other(part) => Err(only_gemini(PROVIDER, part)),
    }
}

fn assistant_block(said: &Said) -> Option<Value> {
    match said {
        Said::Text { text, .. } => text_block(text),
        Said::Thought { text, signature } => {
            let signature = decode_signature(signature.as_deref()?)?;
            Some(match text {
                Some(text) => json!({"type": "thinking", "thinking": text, "signature": signature}),
                None => json!({"type": "redacted_thinking", "data": signature}),
            })
        }
        Said::Call(call) => {
            Some(json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args}))
        }
        // An assistant's message has no place for it, and the text says that it was there.
        Said::Blob(blob) => text_block(&format!("[{}]", blob.mime_type)),
        Said::Other(_) => None,
    }
}

fn result_block(result: &CallResult) -> Value {
    let content = result.response.to_string();
    let mut block = json!({"type": "tool_result", "tool_use_id": result.id, "content": content});
    if result.response.get("error").is_some_and(|error| !error.is_null()) {
        block["is_error"] = Value::Bool(true);
    }
    block
}

/// A block of text; none if there is nothing in it, which Anthropic refuses.
fn text_block(text: &str) -> Option<Value> {
    (!text.trim().is_empty()).then(|| json!({"type": "text", "text": text}))
}
