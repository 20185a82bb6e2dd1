//! An event in ADK's camelCase, for clients that expect it.
//!
//! The log keeps events as they were written, and some write snake_case. Names of
//! fields are respelled where ADK itself defines them; state, arguments, results
//! and whatever else people put into an event are data and stay as they are.

use serde_json::{Map, Value};

use crate::alias::camel_case;

type Object = Map<String, Value>;

/// The event with ADK's names in camelCase and without `null` fields.
pub fn camel_event(event: Value) -> Value {
    let Value::Object(event) = event else { return event };
    let mut event = camel_keys(event);
    change(&mut event, "content", camel_content);
    change(&mut event, "actions", camel_keys_of);
    for key in ["usageMetadata", "groundingMetadata", "citationMetadata", "logprobsResult"] {
        change(&mut event, key, camel_deep);
    }
    Value::Object(event)
}

fn camel_content(content: Value) -> Value {
    let Value::Object(mut content) = content else { return content };
    if let Some(Value::Array(parts)) = content.get_mut("parts") {
        for part in parts {
            *part = camel_part(part.take());
        }
    }
    Value::Object(content)
}

fn camel_part(part: Value) -> Value {
    let Value::Object(part) = part else { return part };
    let mut part = camel_keys(part);
    for key in [
        "functionCall",
        "functionResponse",
        "inlineData",
        "fileData",
        "executableCode",
        "codeExecutionResult",
        "videoMetadata",
    ] {
        change(&mut part, key, camel_keys_of);
    }
    Value::Object(part)
}

fn change(object: &mut Object, key: &str, with: impl FnOnce(Value) -> Value) {
    if let Some(value) = object.get_mut(key) {
        *value = with(value.take());
    }
}

fn camel_keys_of(value: Value) -> Value {
    match value {
        Value::Object(object) => Value::Object(camel_keys(object)),
        other => other,
    }
}

fn camel_deep(value: Value) -> Value {
    match value {
        Value::Object(object) => {
            let renamed = camel_keys(object);
            Value::Object(
                renamed.into_iter().map(|(key, value)| (key, camel_deep(value))).collect(),
            )
        }
        Value::Array(items) => items.into_iter().map(camel_deep).collect(),
        other => other,
    }
}

fn camel_keys(object: Object) -> Object {
    let mut renamed = Object::with_capacity(object.len());
    for (key, value) in object {
        if value.is_null() {
            continue;
        }
        let key = camel_case(&key).unwrap_or(key);
        renamed.entry(key).or_insert(value);
    }
    renamed
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_adk_are_respelled_and_data_is_left_alone() {
        let event = json!({
            "id": "1", "invocation_id": "e-1", "branch": null, "error_code": null,
            "content": {"role": "model", "parts": [
                {"function_call": {"id": "c", "name": "add_it", "args": {"first_number": 1}}},
                {"text": "hm", "thought_signature": "eA=="},
            ]},
            "actions": {"state_delta": {"user_name": {"first_name": "Ada"}}},
            "usage_metadata": {"prompt_token_count": 3, "prompt_tokens_details": [{"token_count": 3}]},
            "long_running_tool_ids": ["c"],
            "custom_metadata": {"my_key": 1},
        });
        let expected = json!({
            "id": "1", "invocationId": "e-1",
            "content": {"role": "model", "parts": [
                {"functionCall": {"id": "c", "name": "add_it", "args": {"first_number": 1}}},
                {"text": "hm", "thoughtSignature": "eA=="},
            ]},
            "actions": {"stateDelta": {"user_name": {"first_name": "Ada"}}},
            "usageMetadata": {"promptTokenCount": 3, "promptTokensDetails": [{"tokenCount": 3}]},
            "longRunningToolIds": ["c"],
            "customMetadata": {"my_key": 1},
        });
        assert_eq!(camel_event(event), expected);
        assert_eq!(camel_event(expected.clone()), expected);
    }
}
