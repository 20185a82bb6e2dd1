//! OpenAI's chat completions, as the real server speaks and checks them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::checks::{Checked, base64, list, only_fields, text, tool_name};
use super::script::{Ending, Reply, Say, pieces};
use super::wire::data;

/// Longest id of a call.
const MAX_ID_CHARS: usize = 40;
const FIELDS: [&str; 16] = [
    "model",
    "messages",
    "stream",
    "stream_options",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "max_tokens",
    "max_completion_tokens",
    "stop",
    "seed",
    "response_format",
    "reasoning_effort",
    "parallel_tool_calls",
    "user",
];

pub(super) fn check(body: &Value) -> Checked {
    only_fields("body", body, &FIELDS)?;
    text("model", &body["model"])?;
    if body.get("stream_options").is_some() && body["stream"] != true {
        return Err("stream_options: only allowed when stream is enabled".to_owned());
    }
    check_tools(body)?;
    let mut open: Vec<&str> = Vec::new();
    let mut used = HashSet::new();
    for (n, message) in list("messages", &body["messages"])?.iter().enumerate() {
        let place = format!("messages[{n}]");
        let role = text(&format!("{place}.role"), &message["role"])?;
        if role != "tool" && !open.is_empty() {
            return Err(format!(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each \
                 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
                open.join(", ")
            ));
        }
        match role {
            "system" | "developer" => drop(text(&place, &message["content"])?),
            "user" => check_user(&place, &message["content"])?,
            "assistant" => open = check_assistant(&place, message, &mut used)?,
            "tool" => {
                let id = text(&format!("{place}.tool_call_id"), &message["tool_call_id"])?;
                let Some(at) = open.iter().position(|other| *other == id) else {
                    return Err(format!(
                        "{place}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                    ));
                };
                open.remove(at);
                message["content"].as_str().ok_or(format!("{place}.content: not a string"))?;
            }
            other => return Err(format!("{place}.role: '{other}' is not one of the roles")),
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(format!("{place}: no response", place = open.join(", ")))
    }
}

fn check_tools(body: &Value) -> Checked {
    let Some(tools) = body.get("tools") else { return Ok(()) };
    for (n, tool) in list("tools", tools)?.iter().enumerate() {
        only_fields(&format!("tools[{n}]"), tool, &["type", "function"])?;
        let function = &tool["function"];
        only_fields("function", function, &["name", "description", "parameters", "strict"])?;
        tool_name(&format!("tools[{n}].function.name"), &function["name"], 64)?;
        if function["parameters"]["type"] != "object" {
            return Err(format!(
                "Invalid schema for function '{}': schema must be a JSON Schema of 'type: \"object\"'",
                function["name"]
            ));
        }
    }
    Ok(())
}

fn check_user(place: &str, content: &Value) -> Checked {
    if content.is_string() {
        return Ok(());
    }
    for part in list(place, content)? {
        match part["type"].as_str() {
            Some("text") => drop(text(place, &part["text"])?),
            Some("image_url") => {
                let url = text(place, &part["image_url"]["url"])?;
                match url.split_once(";base64,") {
                    Some((kind, data)) if kind.starts_with("data:image/") => base64(place, data)?,
                    _ if url.starts_with("http") => {}
                    _ => return Err(format!("{place}.image_url: invalid URL")),
                }
            }
            Some("file") => {
                let data = text(place, &part["file"]["file_data"])?;
                base64(place, data.split_once(";base64,").ok_or("file_data: no data URL")?.1)?;
            }
            other => return Err(format!("{place}: invalid content type {other:?}")),
        }
    }
    Ok(())
}

fn check_assistant<'a>(
    place: &str,
    message: &'a Value,
    used: &mut HashSet<&'a str>,
) -> Result<Vec<&'a str>, String> {
    only_fields(
        place,
        message,
        &["role", "content", "tool_calls", "reasoning_content", "refusal"],
    )?;
    let Some(calls) = message.get("tool_calls") else {
        text(&format!("{place}.content"), &message["content"])?;
        return Ok(Vec::new());
    };
    let mut ids = Vec::new();
    for call in list(place, calls)? {
        let id = text(&format!("{place}.tool_calls.id"), &call["id"])?;
        if id.len() > MAX_ID_CHARS {
            return Err(format!(
                "{place}.tool_calls.id: string too long. Expected a string with maximum length 40"
            ));
        }
        if !used.insert(id) {
            return Err(format!("{place}.tool_calls.id: duplicate {id}"));
        }
        if call["type"] != "function" {
            return Err(format!("{place}.tool_calls.type: Field required"));
        }
        tool_name(place, &call["function"]["name"], 64)?;
        let arguments = call["function"]["arguments"].as_str().ok_or("arguments: not a string")?;
        serde_json::from_str::<Value>(arguments).map_err(|error| format!("arguments: {error}"))?;
        ids.push(id);
    }
    Ok(ids)
}

pub(super) fn stream(number: usize, reply: &Reply) -> (String, String) {
    let chunk = |delta: Value, reason: Value| {
        data(&json!({
            "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "scripted-1",
            "choices": [{"index": 0, "delta": delta, "logprobs": null, "finish_reason": reason}],
            "usage": null,
        }))
    };
    // What a deployment at Azure and some proxies send first.
    let mut begun = format!(": keep-alive\r\n\r\n{}", data(&json!({"choices": [], "model": ""})));
    begun += &chunk(json!({"role": "assistant", "content": "", "refusal": null}), Value::Null);
    let mut calls = 0;
    for say in &reply.says {
        match say {
            Say::Text(text) => {
                for piece in pieces(text) {
                    begun += &chunk(json!({"content": piece}), Value::Null);
                }
            }
            Say::Refusal(text) => {
                for piece in pieces(text) {
                    begun += &chunk(json!({"refusal": piece}), Value::Null);
                }
            }
            Say::Thought { text, .. } => {
                for piece in pieces(text) {
                    begun +=
                        &chunk(json!({"reasoning_content": piece, "content": null}), Value::Null);
                }
            }
            Say::Hidden(_) => {}
            Say::Call { id, name, args, .. } => {
                let id = call_id(number, calls, id.as_ref());
                let first = json!({"index": calls, "id": id, "type": "function",
                    "function": {"name": name, "arguments": ""}});
                begun += &chunk(json!({"tool_calls": [first]}), Value::Null);
                for piece in pieces(&reply.args_text(args)) {
                    let more = json!({"index": calls, "function": {"arguments": piece}});
                    begun += &chunk(json!({"tool_calls": [more]}), Value::Null);
                }
                calls += 1;
            }
        }
    }
    let mut end = chunk(json!({}), finish_reason(reply).into());
    end += &data(&json!({"model": "scripted-1", "choices": [], "usage": usage(reply)}));
    end += "data: [DONE]\n\n";
    (begun, end)
}

pub(super) fn whole(number: usize, reply: &Reply) -> Value {
    let (mut content, mut thought, mut calls) = (String::new(), String::new(), Vec::new());
    for say in &reply.says {
        match say {
            Say::Text(text) | Say::Refusal(text) => content.push_str(text),
            Say::Thought { text, .. } => thought.push_str(text),
            Say::Hidden(_) => {}
            Say::Call { id, name, args, .. } => {
                let id = call_id(number, calls.len(), id.as_ref());
                let function = json!({"name": name, "arguments": args.to_string()});
                calls.push(json!({"id": id, "type": "function", "function": function}));
            }
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !thought.is_empty() {
        message["reasoning_content"] = Value::from(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "scripted-1",
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason(reply)}],
        "usage": usage(reply),
    })
}

fn call_id(number: usize, call: usize, id: Option<&String>) -> String {
    id.cloned().unwrap_or_else(|| format!("call_{number}_{call}"))
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply.ending {
        Ending::CutShort => "length",
        _ if reply.has_calls() => "tool_calls",
        _ => "stop",
    }
}

fn usage(reply: &Reply) -> Value {
    let tokens = reply.tokens;
    let completion = tokens.answer + tokens.thoughts;
    json!({
        "prompt_tokens": tokens.prompt,
        "completion_tokens": completion,
        "total_tokens": tokens.prompt + completion,
        "prompt_tokens_details": {"cached_tokens": tokens.cached},
        "completion_tokens_details": {"reasoning_tokens": tokens.thoughts},
    })
}
