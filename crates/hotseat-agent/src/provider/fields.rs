//! Fields of ADK objects in both spellings.
//!
//! ADK writes snake_case or camelCase, depending on who dumped the object.
//! `null` counts as absent, as it does for pydantic.

use serde_json::{Map, Value};

/// The value under a snake_case name or its camelCase spelling.
pub(super) fn get<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let present = |name: &str| object.get(name).filter(|value| !value.is_null());
    present(name).or_else(|| present(&camel(name)))
}

/// The text there, if it is one and not empty.
pub(super) fn text<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    get(object, name)?.as_str().filter(|text| !text.is_empty())
}

/// Whether the field is `true`.
pub(super) fn flag(object: &Value, name: &str) -> bool {
    get(object, name) == Some(&Value::Bool(true))
}

/// The camelCase spelling of a snake_case name.
pub(super) fn camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    let mut upper = false;
    for c in name.chars() {
        if c == '_' {
            upper = true;
        } else if upper {
            camel.push(c.to_ascii_uppercase());
            upper = false;
        } else {
            camel.push(c);
        }
    }
    camel
}

/// The snake_case spelling of a camelCase name.
pub(super) fn snake(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 4);
    for c in name.chars() {
        if c.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

/// The value with all keys of objects spelled by `spell`, at every level.
pub(super) fn respell(value: &Value, spell: fn(&str) -> String) -> Value {
    match value {
        Value::Object(object) => {
            let renamed: Map<String, Value> = object
                .iter()
                .filter(|(_, value)| !value.is_null())
                .map(|(key, value)| (spell(key), respell(value, spell)))
                .collect();
            Value::Object(renamed)
        }
        Value::Array(items) => items.iter().map(|item| respell(item, spell)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// Sets the field if there is a value for it.
pub(super) fn set(object: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(object), Some(value)) = (object.as_object_mut(), value) {
        object.insert(name.to_owned(), value);
    }
}
