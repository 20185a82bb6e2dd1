//! Anthropic's messages, as the real server speaks and checks them.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::checks::{Checked, base64, list, only_fields, text, tool_name};
use super::script::{Ending, Reply, Say, pieces};
use super::wire::event;

const FIELDS: [&str; 14] = [
    "model",
    "max_tokens",
    "messages",
    "stream",
    "system",
    "tools",
    "tool_choice",
    "temperature",
    "top_p",
    "top_k",
    "stop_sequences",
    "thinking",
    "output_config",
    "metadata",
];

pub(super) fn check(body: &Value) -> Checked {
    only_fields("body", body, &FIELDS)?;
    text("model", &body["model"])?;
    let most = body["max_tokens"].as_u64().filter(|most| *most > 0);
    let most = most.ok_or("max_tokens: Field required")?;
    check_thinking(body, most)?;
    if let Some(tools) = body.get("tools") {
        for (n, tool) in list("tools", tools)?.iter().enumerate() {
            let place = format!("tools.{n}");
            only_fields(&place, tool, &["name", "description", "input_schema"])?;
            tool_name(&format!("{place}.name"), &tool["name"], 128)?;
            if tool["input_schema"]["type"] != "object" {
                return Err(format!("{place}.input_schema.type: Field required"));
            }
        }
    }
    check_messages(list("messages", &body["messages"])?)
}

fn check_thinking(body: &Value, most: u64) -> Checked {
    let on = matches!(body["thinking"]["type"].as_str(), Some("enabled" | "adaptive"));
    if on && body.get("temperature").is_some_and(|temperature| *temperature != json!(1)) {
        return Err("`temperature` may only be set to 1 when thinking is enabled".to_owned());
    }
    if body["thinking"]["type"] == "enabled" {
        let budget = body["thinking"]["budget_tokens"].as_u64().unwrap_or_default();
        if budget < 1024 {
            return Err(
                "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024"
                    .to_owned(),
            );
        }
        if budget >= most {
            return Err("`max_tokens` must be greater than `thinking.budget_tokens`".to_owned());
        }
        let messages = body["messages"].as_array().into_iter().flatten();
        let last = messages.rev().find(|message| message["role"] == "assistant");
        let first_block = last.map(|message| &message["content"][0]["type"]);
        let answering = body["messages"][body["messages"].as_array().map_or(0, Vec::len) - 1]["content"]
            [0]["type"]
            == "tool_result";
        if answering
            && !matches!(
                first_block.and_then(Value::as_str),
                Some("thinking" | "redacted_thinking")
            )
        {
            return Err(
                "Expected `thinking` or `redacted_thinking`, but found `tool_use`".to_owned()
            );
        }
    }
    Ok(())
}

fn check_messages(messages: &[Value]) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    let mut used = HashSet::new();
    for (n, message) in messages.iter().enumerate() {
        let place = format!("messages.{n}");
        let role = if n.is_multiple_of(2) { "user" } else { "assistant" };
        if message["role"] != role {
            return Err(format!(
                "{place}: roles must alternate between \"user\" and \"assistant\", and the first must be \"user\""
            ));
        }
        let string = json!([{"type": "text", "text": message["content"]}]);
        let blocks = match &message["content"] {
            Value::String(text) if !text.is_empty() => {
                string.as_array().map_or(&[][..], Vec::as_slice)
            }
            content => list(&format!("{place}.content"), content)?,
        };
        let answered: Vec<&str> = blocks
            .iter()
            .take_while(|block| block["type"] == "tool_result")
            .filter_map(|block| block["tool_use_id"].as_str())
            .collect();
        if let Some(missing) = open.iter().find(|id| !answered.contains(id)) {
            return Err(format!(
                "{place}: `tool_use` ids were found without `tool_result` blocks immediately after: {missing}"
            ));
        }
        if let Some(extra) = answered.iter().find(|id| !open.contains(id)) {
            return Err(format!(
                "{place}: unexpected `tool_use_id` found in `tool_result` blocks: {extra}"
            ));
        }
        open.clear();
        for (m, block) in blocks.iter().enumerate() {
            let place = format!("{place}.content.{m}");
            check_block(&place, role, block)?;
            if block["type"] == "tool_use"
                && let Value::Array(blocks) = &message["content"]
                && let Some(id) = blocks[m]["id"].as_str()
            {
                if !used.insert(id) {
                    return Err(format!("{place}: `tool_use` ids must be unique"));
                }
                open.push(id);
            }
            if block["type"] == "tool_result" && m >= answered.len() {
                return Err(format!("{place}: `tool_result` blocks must come first"));
            }
        }
    }
    if messages.last().is_some_and(|last| last["role"] == "assistant") {
        return Err("This model does not support assistant message prefill. The conversation must end with a user message.".to_owned());
    }
    Ok(())
}

fn check_block(place: &str, role: &str, block: &Value) -> Checked {
    match (role, block["type"].as_str()) {
        (_, Some("text")) => {
            let said = text(&format!("{place}.text"), &block["text"]);
            let said =
                said.map_err(|_| "messages: text content blocks must be non-empty".to_owned())?;
            if said.trim().is_empty() {
                return Err(
                    "messages: text content blocks must contain non-whitespace text".to_owned()
                );
            }
        }
        ("user", Some("image" | "document")) => match block["source"]["type"].as_str() {
            Some("base64") => {
                text(&format!("{place}.source.media_type"), &block["source"]["media_type"])?;
                base64(place, text(place, &block["source"]["data"])?)?;
            }
            Some("url") => drop(text(place, &block["source"]["url"])?),
            _ => return Err(format!("{place}.source: invalid")),
        },
        ("user", Some("tool_result")) => {
            only_fields(place, block, &["type", "tool_use_id", "content", "is_error"])?;
        }
        ("assistant", Some("thinking")) => {
            only_fields(place, block, &["type", "thinking", "signature"])?;
            // The real one checks that it made the signature itself.
            if !text(&format!("{place}.signature"), &block["signature"])?.starts_with("sig-") {
                return Err(format!("{place}: Invalid `signature` in `thinking` block"));
            }
        }
        ("assistant", Some("redacted_thinking")) => drop(text(place, &block["data"])?),
        ("assistant", Some("tool_use")) => {
            only_fields(place, block, &["type", "id", "name", "input"])?;
            tool_name(&format!("{place}.id"), &block["id"], 64)?;
            tool_name(&format!("{place}.name"), &block["name"], 200)?;
            block["input"]
                .as_object()
                .ok_or(format!("{place}.input: Input should be a valid dictionary"))?;
        }
        (_, kind) => return Err(format!("{place}: {kind:?} is not allowed for {role}")),
    }
    Ok(())
}

pub(super) fn stream(number: usize, reply: &Reply) -> (String, String) {
    let tokens = reply.tokens;
    let input = json!({
        "input_tokens": tokens.prompt - tokens.cached,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": 1,
    });
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [],
        "model": "scripted-1", "stop_reason": null, "stop_sequence": null, "usage": input});
    let mut begun = event("message_start", &json!({"type": "message_start", "message": message}));
    begun += &event("ping", &json!({"type": "ping"}));
    for (index, say) in reply.says.iter().enumerate() {
        begun += &block(number, index, say, reply);
    }
    let ended = json!({"type": "message_delta", "usage": {"output_tokens": tokens.answer + tokens.thoughts},
        "delta": {"stop_reason": stop_reason(reply), "stop_sequence": null}});
    let end =
        event("message_delta", &ended) + &event("message_stop", &json!({"type": "message_stop"}));
    (begun, end)
}

fn block(number: usize, index: usize, say: &Say, reply: &Reply) -> String {
    let start = |block: Value| {
        let start = json!({"type": "content_block_start", "index": index, "content_block": block});
        event("content_block_start", &start)
    };
    let delta = |delta: Value| {
        let delta = json!({"type": "content_block_delta", "index": index, "delta": delta});
        event("content_block_delta", &delta)
    };
    let mut events = match say {
        Say::Text(text) | Say::Refusal(text) => {
            let pieces = pieces(text)
                .into_iter()
                .map(|piece| delta(json!({"type": "text_delta", "text": piece})));
            start(json!({"type": "text", "text": ""})) + &pieces.collect::<String>()
        }
        Say::Thought { text, signature } => {
            let pieces = pieces(text)
                .into_iter()
                .map(|piece| delta(json!({"type": "thinking_delta", "thinking": piece})));
            let signature = signature.as_deref().unwrap_or("sig-none");
            start(json!({"type": "thinking", "thinking": "", "signature": ""}))
                + &pieces.collect::<String>()
                + &delta(json!({"type": "signature_delta", "signature": signature}))
        }
        Say::Hidden(data) => start(json!({"type": "redacted_thinking", "data": data})),
        Say::Call { id, name, args, .. } => {
            let id = call_id(number, index, id.as_ref());
            let none = delta(json!({"type": "input_json_delta", "partial_json": ""}));
            // No arguments are no JSON at all.
            let args = if *args == json!({}) { String::new() } else { reply.args_text(args) };
            let pieces = pieces(&args)
                .into_iter()
                .map(|piece| delta(json!({"type": "input_json_delta", "partial_json": piece})));
            start(json!({"type": "tool_use", "id": id, "name": name, "input": {}}))
                + &none
                + &pieces.collect::<String>()
        }
    };
    events += &event("content_block_stop", &json!({"type": "content_block_stop", "index": index}));
    events
}

pub(super) fn whole(number: usize, reply: &Reply) -> Value {
    let blocks = reply.says.iter().enumerate().map(|(index, say)| match say {
        Say::Text(text) | Say::Refusal(text) => json!({"type": "text", "text": text}),
        Say::Thought { text, signature } => {
            let signature = signature.as_deref().unwrap_or("sig-none");
            json!({"type": "thinking", "thinking": text, "signature": signature})
        }
        Say::Hidden(data) => json!({"type": "redacted_thinking", "data": data}),
        Say::Call { id, name, args, .. } => {
            json!({"type": "tool_use", "id": call_id(number, index, id.as_ref()), "name": name, "input": args})
        }
    });
    let tokens = reply.tokens;
    json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "scripted-1",
        "content": blocks.collect::<Vec<_>>(), "stop_reason": stop_reason(reply), "stop_sequence": null,
        "usage": {
            "input_tokens": tokens.prompt - tokens.cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": tokens.cached,
            "output_tokens": tokens.answer + tokens.thoughts,
        },
    })
}

fn call_id(number: usize, index: usize, id: Option<&String>) -> String {
    id.cloned().unwrap_or_else(|| format!("toolu_{number}_{index}"))
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply.ending {
        Ending::CutShort => "max_tokens",
        _ if reply.says.iter().any(|say| matches!(say, Say::Refusal(_))) => "refusal",
        _ if reply.has_calls() => "tool_use",
        _ => "end_turn",
    }
}
