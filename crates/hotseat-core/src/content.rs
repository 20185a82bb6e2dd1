//! genai `Content` and `Part` objects, as far as Hotseat looks into them.

use serde_json::{Map, Value};

use crate::alias;

/// The content with snake_case keys at the levels of Content, Part,
/// FunctionCall and FunctionResponse. Arguments and results are data, so their
/// keys stay as they are, and so does everything malformed.
pub(crate) fn snake_content(content: Value) -> Value {
    let Value::Object(content) = content else { return content };
    let mut content = alias::snake_keys(content);
    if let Some(Value::Array(parts)) = content.get_mut("parts") {
        for part in parts {
            *part = snake_part(part.take());
        }
    }
    Value::Object(content)
}

/// The same for one part.
pub(crate) fn snake_part(part: Value) -> Value {
    let Value::Object(part) = part else { return part };
    let mut part = alias::snake_keys(part);
    for key in ["function_call", "function_response"] {
        if let Some(value) = part.get_mut(key)
            && let Value::Object(inner) = value
        {
            *value = Value::Object(alias::snake_keys(std::mem::take(inner)));
        }
    }
    Value::Object(part)
}

/// The text of a part that the user is meant to see, thoughts left out.
pub(crate) fn visible_text(part: &Map<String, Value>) -> Option<&str> {
    if alias::flag(part, "thought") {
        return None;
    }
    part.get("text")?.as_str()
}
