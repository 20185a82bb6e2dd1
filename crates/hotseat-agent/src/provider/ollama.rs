//! Ollama's chat.
//!
//! One JSON object per line. Calls come whole, and older versions give them no ids.

use serde_json::{Value, json};

use super::address::{self, ConnectError, KeyHeader};
use super::answer::{Answer, Words};
use super::client::{Dialect, Endpoint, Flow, Reader};
use super::conversation::{Conversation, Input, Said, Turn};
use super::fields::set;
use super::lines::Framing;
use super::media::Media;
use super::settings::{Output, Settings, Thinking};
use super::spoken::{Spoken, only_gemini, unsupported};
use crate::{ModelError, ModelSpec};

const PROVIDER: &str = "ollama";

/// A local Ollama, or one elsewhere.
pub(super) struct Ollama {
    model: String,
}

impl Ollama {
    pub(super) fn new(spec: &ModelSpec) -> Result<(Endpoint, Self), ConnectError> {
        if spec.name.is_empty() {
            return Err(ConnectError::MissingName { provider: PROVIDER });
        }
        let own = "http://localhost:11434";
        let url = address::url(PROVIDER, spec, Some(own), &["api", "chat"])?;
        let headers = address::headers(PROVIDER, spec, KeyHeader::Bearer)?;
        let endpoint = Endpoint { provider: PROVIDER, url, headers, framing: Framing::Lines };
        Ok((endpoint, Self { model: spec.name.clone() }))
    }
}

impl Dialect for Ollama {
    fn body(&self, conversation: &Conversation) -> Result<Value, ModelError> {
        conversation.require_own_tools(PROVIDER)?;
        let mut messages = Vec::new();
        if let Some(system) = &conversation.system {
            messages.push(json!({"role": "system", "content": system}));
        }
        for turn in &conversation.turns {
            match turn {
                Turn::User(inputs) => messages.push(user(inputs)?),
                Turn::Model(said) => messages.push(assistant(said)?),
                Turn::Results(results) => messages.extend(results.iter().map(|result| {
                    json!({
                        "role": "tool",
                        "tool_name": result.name,
                        "tool_call_id": result.id,
                        "content": result.response.to_string(),
                    })
                })),
            }
        }
        let mut body = json!({"model": self.model, "messages": messages, "stream": true});
        if !conversation.tools.is_empty() {
            let tools = conversation.tools.iter().map(|tool| {
                json!({"type": "function", "function": {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                }})
            });
            body["tools"] = tools.collect();
        }
        settings(&mut body, &conversation.settings);
        Ok(body)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::new(Lines)
    }
}

fn settings(body: &mut Value, settings: &Settings) {
    let mut options = json!({});
    set(&mut options, "temperature", settings.temperature.clone());
    set(&mut options, "top_p", settings.top_p.clone());
    set(&mut options, "top_k", settings.top_k.clone());
    set(&mut options, "seed", settings.seed.clone());
    set(&mut options, "num_predict", settings.max_tokens.map(Value::from));
    set(&mut options, "stop", settings.stop.clone());
    set(body, "options", (options != json!({})).then_some(options));
    let format = match &settings.output {
        Output::Text => None,
        Output::Json => Some(json!("json")),
        Output::Schema(schema) => Some(schema.clone()),
    };
    set(body, "format", format);
    let think = settings.thinking.as_ref().map(|thinking| match thinking {
        Thinking::Off => json!(false),
        Thinking::Auto | Thinking::Budget(_) => json!(true),
        Thinking::Level(level) => json!(level),
    });
    set(body, "think", think);
}

fn user(inputs: &[Input]) -> Result<Value, ModelError> {
    let (mut texts, mut images) = (Vec::new(), Vec::new());
    for input in inputs {
        match input {
            Input::Text(text) => texts.push(text.clone()),
            Input::Blob(blob) => match blob.media() {
                Media::Image(data) => images.push(data),
                Media::Text(text) => texts.push(text),
                Media::Pdf(_) | Media::Unknown => {
                    return Err(unsupported(PROVIDER, &format!("it holds a {}", blob.mime_type)));
                }
            },
            Input::File { .. } => {
                return Err(unsupported(PROVIDER, "it refers to a file, and Ollama takes none"));
            }
            Input::Other(part) => return Err(only_gemini(PROVIDER, part)),
        }
    }
    let mut message = json!({"role": "user", "content": texts.join("\n\n")});
    set(&mut message, "images", (!images.is_empty()).then(|| json!(images)));
    Ok(message)
}

fn assistant(said: &[Said]) -> Result<Value, ModelError> {
    let spoken = Spoken::of(said, PROVIDER)?;
    let calls: Vec<Value> = spoken
        .calls
        .iter()
        .map(|call| json!({"id": call.id, "function": {"name": call.name, "arguments": call.args}}))
        .collect();
    let mut message = json!({"role": "assistant", "content": spoken.text});
    set(&mut message, "thinking", (!spoken.thought.is_empty()).then(|| json!(spoken.thought)));
    set(&mut message, "tool_calls", (!calls.is_empty()).then(|| json!(calls)));
    Ok(message)
}

/// Reads lines until one says that it is done.
struct Lines;

impl Reader for Lines {
    fn read(&mut self, message: &str, answer: &mut Answer<'_>) -> Result<Flow, ModelError> {
        let line: Value = serde_json::from_str(message)
            .map_err(|error| answer.unreadable(&format!("{error} in {message}")))?;
        if line.get("error").is_some() {
            return Err(answer.refused(500, &line));
        }
        if let Some(model) = line.get("model").and_then(Value::as_str) {
            answer.model_version = Some(model.to_owned());
        }
        let text = |place: &str| line.pointer(place).and_then(Value::as_str).unwrap_or_default();
        answer.say(Words::Thought, text("/message/thinking"))?;
        answer.say(Words::Text, text("/message/content"))?;
        let calls = line.pointer("/message/tool_calls").and_then(Value::as_array);
        for call in calls.into_iter().flatten() {
            let text = |place: &str| call.pointer(place).and_then(Value::as_str);
            let id = text("/id").or_else(|| text("/function/id"));
            let name = text("/function/name").unwrap_or_default();
            answer.call(id, name, call.pointer("/function/arguments"))?;
        }
        if line.get("done") != Some(&Value::Bool(true)) {
            return Ok(Flow::More);
        }
        answer.finish_reason = Some(match line.get("done_reason").and_then(Value::as_str) {
            Some("length") => "MAX_TOKENS".to_owned(),
            _ => "STOP".to_owned(),
        });
        let count = |name: &str| line.get(name).and_then(Value::as_u64).unwrap_or_default();
        let (prompt, answered) = (count("prompt_eval_count"), count("eval_count"));
        answer.usage = Some(json!({
            "prompt_token_count": prompt,
            "candidates_token_count": answered,
            "total_token_count": prompt + answered,
        }));
        Ok(Flow::Done)
    }

    fn complete(&self) -> bool {
        false
    }
}
