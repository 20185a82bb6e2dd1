//! Field names in both spellings.
//!
//! ADK writes camelCase (`functionCall`) or snake_case (`function_call`),
//! depending on its version and on who dumped the object. Everything here that
//! reads an ADK object asks for the snake_case name and gets either. `null`
//! counts as absent, as it does for pydantic.

use serde_json::{Map, Value};

/// The value under `name` or its camelCase spelling.
pub(crate) fn get<'a>(object: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    get_entry(object, name).map(|(_, value)| value)
}

/// Like [`get`], with the key as it is spelled there.
pub(crate) fn get_entry<'a>(
    object: &'a Map<String, Value>,
    name: &str,
) -> Option<(&'a str, &'a Value)> {
    let entry = |name: &str| {
        let (key, value) = object.get_key_value(name)?;
        (!value.is_null()).then_some((key.as_str(), value))
    };
    entry(name).or_else(|| {
        let (key, value) = object.iter().find(|(key, _)| is_camel_of(key, name))?;
        (!value.is_null()).then_some((key.as_str(), value))
    })
}

/// Like [`get`], but moves the value out and leaves `null` in its place.
pub(crate) fn take(object: &mut Map<String, Value>, name: &str) -> Option<Value> {
    if let Some(value) = object.get_mut(name)
        && !value.is_null()
    {
        return Some(value.take());
    }
    let (_, value) = object.iter_mut().find(|(key, _)| is_camel_of(key, name))?;
    let value = value.take();
    (!value.is_null()).then_some(value)
}

/// The text under `name`; absent if it is empty or no text.
pub(crate) fn take_text(object: &mut Map<String, Value>, name: &str) -> Option<String> {
    match take(object, name)? {
        Value::String(text) if !text.is_empty() => Some(text),
        _ => None,
    }
}

/// The object under `name`; absent if it is none.
pub(crate) fn take_object(
    object: &mut Map<String, Value>,
    name: &str,
) -> Option<Map<String, Value>> {
    match take(object, name)? {
        Value::Object(inner) => Some(inner),
        _ => None,
    }
}

/// Whether the field `name` is `true`.
pub(crate) fn flag(object: &Map<String, Value>, name: &str) -> bool {
    get(object, name) == Some(&Value::Bool(true))
}

/// The object with its own keys in snake_case and without `null` fields; what
/// the fields hold is left alone. Of two spellings of one key the first wins.
pub(crate) fn snake_keys(object: Map<String, Value>) -> Map<String, Value> {
    let mut renamed = Map::with_capacity(object.len());
    for (key, value) in object {
        let key = snake_key(&key);
        if !value.is_null() && !renamed.contains_key(&key) {
            renamed.insert(key, value);
        }
    }
    renamed
}

/// The snake_case spelling of a camelCase key.
pub(crate) fn snake_key(key: &str) -> String {
    let mut snake = String::with_capacity(key.len() + 4);
    for c in key.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// Whether a key is the camelCase spelling of a snake_case name that differs from it. Asked
/// several times for every event, so nothing is written down to find out.
pub fn is_camel_of(key: &str, name: &str) -> bool {
    let mut key = key.bytes();
    let mut upper = false;
    let mut differs = false;
    for byte in name.bytes() {
        if byte == b'_' {
            (upper, differs) = (true, true);
            continue;
        }
        let expected = if upper { byte.to_ascii_uppercase() } else { byte };
        upper = false;
        if key.next() != Some(expected) {
            return false;
        }
    }
    differs && key.next().is_none()
}

/// The camelCase spelling of a snake_case name, where it differs.
pub(crate) fn camel_case(name: &str) -> Option<String> {
    if !name.contains('_') {
        return None;
    }
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        match c {
            '_' => upper = true,
            _ if upper => {
                camel.push(c.to_ascii_uppercase());
                upper = false;
            }
            _ => camel.push(c),
        }
    }
    Some(camel)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_spellings_are_read_and_null_is_absent() {
        let Value::Object(mut object) = json!({
            "functionCall": {"name": "add"},
            "function_response": null,
            "functionResponse": 1,
            "thought": true,
        }) else {
            unreachable!()
        };

        assert!(flag(&object, "thought"));
        assert_eq!(get(&object, "function_response"), Some(&json!(1)));
        assert_eq!(get(&object, "inline_data"), None);
        assert_eq!(take(&mut object, "function_call"), Some(json!({"name": "add"})));
        assert_eq!(take(&mut object, "function_call"), None);
    }

    #[test]
    fn keys_become_snake_case_one_level_deep() {
        let Value::Object(object) = json!({"functionCall": {"willContinue": true}, "text": null})
        else {
            unreachable!()
        };
        assert_eq!(
            Value::Object(snake_keys(object)),
            json!({"function_call": {"willContinue": true}})
        );
    }
}
