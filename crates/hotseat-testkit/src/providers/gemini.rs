//! Gemini's `generateContent`, as the real server speaks and checks it.

use axum::http::Uri;
use serde_json::{Value, json};

use super::checks::{Checked, list, only_fields, text};
use super::script::{Ending, Reply, Say, pieces};
use super::wire::data;

const PART: [&str; 9] = [
    "text",
    "thought",
    "thoughtSignature",
    "inlineData",
    "fileData",
    "functionCall",
    "functionResponse",
    "executableCode",
    "codeExecutionResult",
];
const SCHEMA: [&str; 21] = [
    "$id",
    "$defs",
    "$ref",
    "$anchor",
    "type",
    "format",
    "title",
    "description",
    "enum",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "anyOf",
    "oneOf",
    "properties",
    "additionalProperties",
    "required",
    "propertyOrdering",
];
const GENERATION: [&str; 17] = [
    "temperature",
    "topP",
    "topK",
    "seed",
    "maxOutputTokens",
    "stopSequences",
    "candidateCount",
    "presencePenalty",
    "frequencyPenalty",
    "responseModalities",
    "responseMimeType",
    "responseJsonSchema",
    "responseSchema",
    "mediaResolution",
    "speechConfig",
    "thinkingConfig",
    "imageConfig",
];

pub(super) fn check(uri: &Uri, body: &Value) -> Checked {
    if uri.path().ends_with(":streamGenerateContent")
        && !uri.query().unwrap_or_default().contains("alt=sse")
    {
        return Err("only alt=sse is scripted".to_owned());
    }
    let known = [
        "contents",
        "systemInstruction",
        "tools",
        "toolConfig",
        "safetySettings",
        "generationConfig",
        "cachedContent",
    ];
    only_fields("body", body, &known)?;
    if let Some(generation) = body.get("generationConfig") {
        only_fields("generation_config", generation, &GENERATION)?;
        if let Some(schema) = generation.get("responseJsonSchema") {
            check_schema("response_json_schema", schema)?;
        }
    }
    let tools = body.get("tools").and_then(Value::as_array).into_iter().flatten();
    for tool in tools.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten())
    {
        only_fields(
            "function_declarations",
            tool,
            &["name", "description", "parametersJsonSchema", "parameters"],
        )?;
        text("function_declarations.name", &tool["name"])?;
        if let Some(schema) = tool.get("parametersJsonSchema") {
            check_schema("parameters_json_schema", schema)?;
        }
    }
    let model = uri.path().rsplit('/').next().unwrap_or_default();
    check_contents(list("contents", &body["contents"])?, model.starts_with("gemini-3"))
}

fn check_contents(contents: &[Value], signed: bool) -> Checked {
    let mut open = 0;
    for (n, content) in contents.iter().enumerate() {
        let place = format!("contents[{n}]");
        let role = text(&format!("{place}.role"), &content["role"])?;
        if !matches!(role, "user" | "model") {
            return Err("Please use a valid role: user, model.".to_owned());
        }
        let parts = list(&format!("{place}.parts"), &content["parts"])?;
        for part in parts {
            only_fields(&format!("{place}.parts"), part, &PART)?;
            let kinds =
                PART[3..].iter().chain(&PART[..1]).filter(|kind| part.get(**kind).is_some());
            if kinds.count() != 1 {
                return Err(format!(
                    "{place}.parts: required oneof field 'data' must have one initialized field"
                ));
            }
            if let Some(blob) = part.get("inlineData") {
                only_fields("inline_data", blob, &["mimeType", "data"])?;
            }
            if let Some(answer) = part.get("functionResponse") {
                only_fields("function_response", answer, &["id", "name", "response"])?;
                answer["response"].as_object().ok_or("function_response.response: not a Struct")?;
            }
        }
        let count = |kind: &str| parts.iter().filter(|part| part.get(kind).is_some()).count();
        let (calls, answers) = (count("functionCall"), count("functionResponse"));
        if answers != open {
            return Err("Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.".to_owned());
        }
        if calls > 0 && (role != "model" || n == 0) {
            return Err("Please ensure that function call turn comes immediately after a user turn or after a function response turn.".to_owned());
        }
        let first = parts.iter().find(|part| part.get("functionCall").is_some());
        if signed && first.is_some_and(|part| part.get("thoughtSignature").is_none()) {
            return Err(format!(
                "Function call is missing a thought_signature in functionCall parts. {place}"
            ));
        }
        open = calls;
    }
    if open > 0 {
        return Err("Please ensure that single turn requests end with a user role".to_owned());
    }
    Ok(())
}

fn check_schema(place: &str, schema: &Value) -> Checked {
    only_fields(place, schema, &SCHEMA)?;
    for keyword in ["properties", "$defs"] {
        for (name, inner) in schema[keyword].as_object().into_iter().flatten() {
            check_schema(&format!("{place}.{name}"), inner)?;
        }
    }
    for keyword in ["anyOf", "oneOf", "prefixItems"] {
        for inner in schema[keyword].as_array().into_iter().flatten() {
            check_schema(place, inner)?;
        }
    }
    for keyword in ["items", "additionalProperties"] {
        match &schema[keyword] {
            inner @ Value::Object(_) => check_schema(place, inner)?,
            Value::Null => {}
            _ => {
                return Err(format!(
                    "{place}.{keyword}: Proto field is not repeating, cannot start list"
                ));
            }
        }
    }
    Ok(())
}

pub(super) fn stream(reply: &Reply) -> (String, String) {
    let chunk = |parts: Value| {
        data(&json!({
            "candidates": [{"content": {"role": "model", "parts": parts}, "index": 0}],
            "usageMetadata": {"promptTokenCount": reply.tokens.prompt, "totalTokenCount": reply.tokens.prompt},
            "modelVersion": "scripted-1", "responseId": "r",
        }))
    };
    let mut begun = String::new();
    for say in &reply.says {
        let parts = match say {
            Say::Text(text) | Say::Refusal(text) => {
                pieces(text).into_iter().map(|piece| json!({"text": piece})).collect()
            }
            Say::Thought { text, signature } => {
                let mut parts: Vec<Value> = pieces(text)
                    .into_iter()
                    .map(|piece| json!({"text": piece, "thought": true}))
                    .collect();
                if let (Some(last), Some(signature)) = (parts.last_mut(), signature) {
                    last["thoughtSignature"] = Value::from(signature.as_str());
                }
                parts
            }
            Say::Hidden(_) => Vec::new(),
            Say::Call { .. } => vec![call_part(say)],
        };
        begun += &parts.into_iter().map(|part| chunk(json!([part]))).collect::<String>();
    }
    (begun, data(&ended(reply, &json!([{"text": ""}]))))
}

pub(super) fn whole(reply: &Reply) -> Value {
    let parts: Vec<Value> = reply
        .says
        .iter()
        .filter_map(|say| match say {
            Say::Text(text) | Say::Refusal(text) => Some(json!({"text": text})),
            Say::Thought { text, .. } => Some(json!({"text": text, "thought": true})),
            Say::Hidden(_) => None,
            Say::Call { .. } => Some(call_part(say)),
        })
        .collect();
    ended(reply, &Value::Array(parts))
}

fn ended(reply: &Reply, parts: &Value) -> Value {
    let tokens = reply.tokens;
    let reason = match reply.ending {
        Ending::CutShort => "MAX_TOKENS",
        _ if reply.says.iter().any(|say| matches!(say, Say::Refusal(_))) => "SAFETY",
        _ => "STOP",
    };
    let mut usage = json!({
        "promptTokenCount": tokens.prompt,
        "candidatesTokenCount": tokens.answer,
        "totalTokenCount": tokens.prompt + tokens.answer + tokens.thoughts,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": tokens.prompt}],
    });
    if tokens.cached > 0 {
        usage["cachedContentTokenCount"] = Value::from(tokens.cached);
    }
    if tokens.thoughts > 0 {
        usage["thoughtsTokenCount"] = Value::from(tokens.thoughts);
    }
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": reason, "index": 0}],
        "usageMetadata": usage, "modelVersion": "scripted-1", "responseId": "r",
    })
}

fn call_part(say: &Say) -> Value {
    let Say::Call { id, name, args, signature } = say else { return Value::Null };
    let mut part = json!({"functionCall": {"name": name, "args": args}});
    if let Some(id) = id {
        part["functionCall"]["id"] = Value::from(id.as_str());
    }
    if let Some(signature) = signature {
        part["thoughtSignature"] = Value::from(signature.as_str());
    }
    part
}
