//! `{placeholders}` of an instruction, filled from the session's state as ADK
//! fills them.
//!
//! `{key}` must be there, `{key?}` may be missing, `{user:key}`, `{app:key}` and
//! `{temp:key}` belong to their owners. Everything else in braces, such as JSON
//! or code, is left as it is.

use serde_json::{Map, Value};

/// A placeholder whose value is missing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the instruction needs `{key}`, which the session's state does not have: set it, or write `{{{key}?}}`"
)]
pub struct MissingState {
    /// The key.
    pub key: String,
}

/// The instruction with its placeholders filled in.
pub(crate) fn fill(template: &str, state: &Map<String, Value>) -> Result<String, MissingState> {
    let mut filled = String::with_capacity(template.len());
    let mut rest = template;
    while let Some(start) = rest.find('{') {
        let before = rest[..start].chars().next_back();
        let opening = rest[start..].bytes().take_while(|byte| *byte == b'{').count();
        let inner_start = start + opening;
        let Some(length) = rest[inner_start..].find(['{', '}']) else { break };
        let end = inner_start + length;
        if rest.as_bytes()[end] == b'{' {
            // Braces within braces: the inner ones may still be a placeholder.
            filled.push_str(&rest[..end]);
            rest = &rest[end..];
            continue;
        }
        let closing = rest[end..].bytes().take_while(|byte| *byte == b'}').count();
        let whole = &rest[start..end + closing];
        filled.push_str(&rest[..start]);
        let escaped = matches!(before, Some('$' | '\\'));
        match (escaped, placeholder(&rest[inner_start..end])) {
            (false, Some((key, needed))) => match state.get(key) {
                Some(value) => push_value(&mut filled, value),
                None if needed => return Err(MissingState { key: key.to_owned() }),
                None => {}
            },
            _ => filled.push_str(whole),
        }
        rest = &rest[end + closing..];
    }
    filled.push_str(rest);
    Ok(filled)
}

/// The key in a placeholder, and whether it must be there.
fn placeholder(inner: &str) -> Option<(&str, bool)> {
    let inner = inner.trim();
    let (key, needed) = match inner.strip_suffix('?') {
        Some(key) => (key, false),
        None => (inner, true),
    };
    let name = match key.split_once(':') {
        Some(("app" | "user" | "temp", name)) => name,
        Some(_) => return None,
        None => key,
    };
    let mut chars = name.chars();
    let first = chars.next()?;
    let identifier =
        (first.is_alphabetic() || first == '_') && chars.all(|c| c.is_alphanumeric() || c == '_');
    identifier.then_some((key, needed))
}

fn push_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => {}
        Value::String(value) => text.push_str(value),
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(template: &str) -> Result<String, MissingState> {
        let state = json!({"name": "Ada", "user:age": 36, "gone": null, "list": [1, "a"]});
        fill(template, state.as_object().unwrap())
    }

    #[test]
    fn values_come_from_the_state() {
        assert_eq!(filled("{name} is {user:age}.").unwrap(), "Ada is 36.");
        assert_eq!(filled("a{gone}b{missing?}c").unwrap(), "abc");
        assert_eq!(filled("{{name}} { name } {list}").unwrap(), "Ada Ada [1,\"a\"]");
    }

    #[test]
    fn other_braces_stay() {
        for text in [
            r#"{"a": {"b": 1}}"#,
            "{a b}",
            "{}",
            "{a.b}",
            "{x:name}",
            "${name}",
            r"\{name}",
            "{ name",
            "name }",
            "{1}",
        ] {
            assert_eq!(filled(text).unwrap(), text);
        }
        assert_eq!(filled(r#"{"a": {name}}"#).unwrap(), r#"{"a": Ada"#);
    }

    #[test]
    fn a_missing_value_is_named() {
        assert_eq!(
            filled("Hello {who}").unwrap_err().to_string(),
            "the instruction needs `who`, which the session's state does not have: set it, or write `{who?}`"
        );
    }
}
