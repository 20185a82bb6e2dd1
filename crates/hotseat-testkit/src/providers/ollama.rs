//! Ollama's chat, as the real server speaks and checks it.
//!
//! Ollama forgives much: it ignores what it does not know and asks for no ids.

use serde_json::{Value, json};

use super::checks::{Checked, base64, list, text};
use super::script::{Ending, Reply, Say, pieces};
use super::wire::line;

pub(super) fn check(body: &Value) -> Checked {
    text("model", &body["model"]).map_err(|_| "model is required".to_owned())?;
    for message in list("messages", &body["messages"])? {
        let role = text("role", &message["role"])?;
        if !matches!(role, "system" | "user" | "assistant" | "tool") {
            return Err(format!("invalid role: {role}"));
        }
        message["content"].as_str().ok_or(
            "json: cannot unmarshal into Go struct field .messages.content of type string",
        )?;
        for image in message["images"].as_array().into_iter().flatten() {
            base64("illegal base64 data", image.as_str().unwrap_or_default())?;
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            call["function"]["arguments"].as_object().ok_or("json: cannot unmarshal string into Go struct field .arguments of type api.ToolCallFunctionArguments")?;
        }
        if role == "tool" {
            text("tool_name", &message["tool_name"])?;
        }
    }
    Ok(())
}

pub(super) fn stream(reply: &Reply) -> (String, String) {
    let message = |message: Value| {
        line(
            &json!({"model": "scripted-1", "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false}),
        )
    };
    let mut begun = String::new();
    for say in &reply.says {
        match say {
            Say::Text(text) | Say::Refusal(text) => {
                for piece in pieces(text) {
                    begun += &message(json!({"role": "assistant", "content": piece}));
                }
            }
            Say::Thought { text, .. } => {
                for piece in pieces(text) {
                    begun +=
                        &message(json!({"role": "assistant", "content": "", "thinking": piece}));
                }
            }
            Say::Hidden(_) => {}
            Say::Call { .. } => {
                begun += &message(
                    json!({"role": "assistant", "content": "", "tool_calls": [call(say)]}),
                );
            }
        }
    }
    (begun, line(&ended(reply, &json!({"role": "assistant", "content": ""}))))
}

pub(super) fn whole(reply: &Reply) -> Value {
    let (mut content, mut thinking, mut calls) = (String::new(), String::new(), Vec::new());
    for say in &reply.says {
        match say {
            Say::Text(text) | Say::Refusal(text) => content.push_str(text),
            Say::Thought { text, .. } => thinking.push_str(text),
            Say::Hidden(_) => {}
            Say::Call { .. } => calls.push(call(say)),
        }
    }
    let mut message = json!({"role": "assistant", "content": content});
    if !thinking.is_empty() {
        message["thinking"] = Value::from(thinking);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    ended(reply, &message)
}

fn ended(reply: &Reply, message: &Value) -> Value {
    let reason = match reply.ending {
        Ending::CutShort => "length",
        _ => "stop",
    };
    json!({
        "model": "scripted-1", "created_at": "2026-01-01T00:00:00Z", "message": message,
        "done": true, "done_reason": reason,
        "prompt_eval_count": reply.tokens.prompt,
        "eval_count": reply.tokens.answer + reply.tokens.thoughts,
    })
}

fn call(say: &Say) -> Value {
    let Say::Call { id, name, args, .. } = say else { return Value::Null };
    let mut call = json!({"function": {"name": name, "arguments": args}});
    if let Some(id) = id {
        call["id"] = Value::from(id.as_str());
    }
    call
}
