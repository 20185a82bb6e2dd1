//! Small ADK objects to send.

use serde_json::{Value, json};

/// A model request that says `text` and offers the tools `add` and `wait`.
pub fn llm_request(text: &str) -> Value {
    json!({
        "model": "gemini-2.5-flash",
        "contents": [{"role": "user", "parts": [{"text": text}]}],
        "config": {
            "systemInstruction": "You are good at sums.",
            "tools": [{"functionDeclarations": [
                {"name": "add", "description": "Adds two integers.", "parametersJsonSchema": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                    "required": ["a", "b"],
                    "additionalProperties": false,
                }},
                {"name": "wait", "description": "Waits."},
            ]}],
        },
    })
}

/// A decision that says `text`.
pub fn says(text: &str) -> Value {
    json!({"candidates": [{"role": "model", "parts": [{"text": text}]}]})
}

/// A decision that calls a tool.
pub fn calls(tool: &str, args: &Value) -> Value {
    let call = json!({"function_call": {"name": tool, "args": args}});
    json!({"candidates": [{"role": "model", "parts": [call]}]})
}

/// What a user said, as a raw ADK event.
pub fn user_event(id: &str, text: &str) -> Value {
    json!({
        "id": id, "author": "user", "invocationId": "e-1", "timestamp": 1_767_607_200.25,
        "content": {"role": "user", "parts": [{"text": text}]},
        "actions": {"stateDelta": {}, "artifactDelta": {}},
    })
}

/// What an agent said, as a raw ADK event.
pub fn agent_event(id: &str, author: &str, text: &str) -> Value {
    json!({
        "id": id, "author": author, "invocationId": "e-1", "timestamp": 1_767_607_201.5,
        "content": {"role": "model", "parts": [{"text": text}]},
        "actions": {"stateDelta": {}, "artifactDelta": {}},
    })
}
