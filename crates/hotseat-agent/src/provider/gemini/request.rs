//! A conversation as Gemini's contents.

use serde_json::{Map, Value, json};

use super::schema::sanitise;
use crate::provider::answer::OWN_ID;
use crate::provider::conversation::{CallResult, Conversation, Input, Said, Turn};
use crate::provider::fields::{self, camel, respell, set, snake};
use crate::provider::settings::Output;

/// Stands in for a signature where there is none, because a person or another
/// provider's model made the call. Gemini 3 refuses calls without any. It is
/// `skip_thought_signature_validator` in base64, as ADK sends it.
const NO_SIGNATURE: &str = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=";

/// Fields of ADK's config that go into `generationConfig` as they are.
const GENERATION: [&str; 9] = [
    "candidate_count",
    "presence_penalty",
    "frequency_penalty",
    "response_modalities",
    "response_mime_type",
    "media_resolution",
    "speech_config",
    "image_config",
    "thinking_config",
];
/// Fields of ADK's config that go beside it.
const BESIDE: [&str; 3] = ["safety_settings", "tool_config", "cached_content"];

pub(super) fn body(model: &str, conversation: &Conversation) -> Value {
    let contents = conversation.turns.iter().map(|turn| content(turn, needs_signatures(model)));
    let contents: Vec<Value> = contents.filter(|content| content["parts"] != json!([])).collect();
    let mut body = json!({"contents": contents});
    if let Some(system) = &conversation.system {
        body["systemInstruction"] = json!({"parts": [{"text": system}]});
    }
    let mut tools = Vec::new();
    if !conversation.tools.is_empty() {
        let declarations: Vec<Value> = conversation
            .tools
            .iter()
            .map(|tool| {
                json!({
                    "name": tool.name,
                    "description": tool.description,
                    "parametersJsonSchema": sanitise(&tool.parameters),
                })
            })
            .collect();
        tools.push(json!({"functionDeclarations": declarations}));
    }
    tools.extend(conversation.provider_tools.iter().map(|tool| respell(tool, camel)));
    set(&mut body, "tools", (!tools.is_empty()).then_some(Value::Array(tools)));
    for name in BESIDE {
        let value = fields::get(&conversation.config, name).map(|value| respell(value, camel));
        set(&mut body, &camel(name), value);
    }
    let generation = generation(conversation);
    set(&mut body, "generationConfig", (generation != json!({})).then_some(generation));
    body
}

fn generation(conversation: &Conversation) -> Value {
    let settings = &conversation.settings;
    let mut generation = json!({});
    set(&mut generation, "temperature", settings.temperature.clone());
    set(&mut generation, "topP", settings.top_p.clone());
    set(&mut generation, "topK", settings.top_k.clone());
    set(&mut generation, "seed", settings.seed.clone());
    set(&mut generation, "maxOutputTokens", settings.max_tokens.map(Value::from));
    set(&mut generation, "stopSequences", settings.stop.clone());
    for name in GENERATION {
        let value = fields::get(&conversation.config, name).map(|value| respell(value, camel));
        set(&mut generation, &camel(name), value);
    }
    if let Output::Schema(schema) = &settings.output {
        generation["responseMimeType"] = json!("application/json");
        generation["responseJsonSchema"] = sanitise(schema);
    }
    generation
}

/// Gemini 3 and later check that their calls come back signed.
fn needs_signatures(model: &str) -> bool {
    let version = model.strip_prefix("gemini-").unwrap_or_default();
    let major: String = version.chars().take_while(char::is_ascii_digit).collect();
    major.parse::<u32>().is_ok_and(|major| major >= 3)
}

fn content(turn: &Turn, needs_signatures: bool) -> Value {
    match turn {
        Turn::User(inputs) => {
            json!({"role": "user", "parts": inputs.iter().map(user_part).collect::<Vec<_>>()})
        }
        Turn::Results(results) => {
            json!({"role": "user", "parts": results.iter().map(result_part).collect::<Vec<_>>()})
        }
        Turn::Model(said) => {
            let mut parts: Vec<Value> = said.iter().filter_map(model_part).collect();
            // Of calls made at once only the first one is signed.
            let first = parts.iter_mut().find(|part| part.get("functionCall").is_some());
            if let Some(first) = first
                && needs_signatures
                && first.get("thoughtSignature").is_none()
            {
                first["thoughtSignature"] = Value::from(NO_SIGNATURE);
            }
            json!({"role": "model", "parts": parts})
        }
    }
}

fn user_part(input: &Input) -> Value {
    match input {
        Input::Text(text) => json!({"text": text}),
        Input::Blob(blob) => json!({"inlineData": {"mimeType": blob.mime_type, "data": blob.data}}),
        Input::File { uri, mime_type } => {
            let mut file = json!({"fileUri": uri});
            set(&mut file, "mimeType", mime_type.as_deref().map(Value::from));
            json!({"fileData": file})
        }
        Input::Other(part) => respell(part, camel),
    }
}

fn model_part(said: &Said) -> Option<Value> {
    let (mut part, signature) = match said {
        Said::Text { text, signature } => {
            if text.is_empty() && signature.is_none() {
                return None;
            }
            (json!({"text": text}), signature)
        }
        // Without text it is another provider's and means nothing here.
        Said::Thought { text, signature } => {
            (json!({"text": text.as_deref()?, "thought": true}), signature)
        }
        Said::Call(call) => {
            let mut part = json!({"name": call.name, "args": call.args});
            set(&mut part, "id", provider_id(call.given.as_deref()));
            (json!({"functionCall": part}), &call.signature)
        }
        Said::Blob(blob) => {
            (json!({"inlineData": {"mimeType": blob.mime_type, "data": blob.data}}), &None)
        }
        Said::Other(part) => (respell(part, camel), &None),
    };
    set(&mut part, "thoughtSignature", signature.as_deref().map(Value::from));
    Some(part)
}

fn result_part(result: &CallResult) -> Value {
    let response = match &result.response {
        Value::Object(response) => Value::Object(response.clone()),
        other => json!({"result": other}),
    };
    let mut part = json!({"name": result.name, "response": response});
    set(&mut part, "id", provider_id(result.given.as_deref()));
    json!({"functionResponse": part})
}

/// An id, if it is not one that was made up.
fn provider_id(id: Option<&str>) -> Option<Value> {
    id.filter(|id| !id.starts_with(OWN_ID)).map(Value::from)
}

/// A part that only Gemini knows, in ADK's spelling.
pub(super) fn snake_part(part: &Value) -> Value {
    let part: Map<String, Value> = part
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, value)| (snake(key), respell(value, snake)))
        .collect();
    Value::Object(part)
}
