//! What all strict providers check in requests.

use serde_json::Value;

/// What is wrong with a request, in words for its sender.
pub(super) type Checked = Result<(), String>;

/// Whether only these fields are there.
pub(super) fn only_fields(place: &str, object: &Value, known: &[&str]) -> Checked {
    let Some(object) = object.as_object() else { return Err(format!("{place}: not an object")) };
    match object.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(format!("{place}.{key}: Extra inputs are not permitted")),
        None => Ok(()),
    }
}

/// The list there, which must not be empty.
pub(super) fn list<'a>(place: &str, value: &'a Value) -> Result<&'a [Value], String> {
    match value.as_array() {
        Some(items) if !items.is_empty() => Ok(items),
        Some(_) => Err(format!("{place}: must not be empty")),
        None => Err(format!("{place}: Field required")),
    }
}

/// The text there, which must not be empty.
pub(super) fn text<'a>(place: &str, value: &'a Value) -> Result<&'a str, String> {
    value.as_str().filter(|text| !text.is_empty()).ok_or_else(|| format!("{place}: Field required"))
}

/// Whether this is base64 in the usual alphabet, padding included.
pub(super) fn base64(place: &str, data: &str) -> Checked {
    let body = data.trim_end_matches('=');
    let usual = body.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/".contains(&byte));
    if usual && !data.is_empty() && data.len().is_multiple_of(4) && data.len() - body.len() <= 2 {
        return Ok(());
    }
    Err(format!("{place}: invalid base64 data"))
}

/// Whether the name of a tool is one.
pub(super) fn tool_name(place: &str, name: &Value, most: usize) -> Checked {
    let name = text(place, name)?;
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
    if name.len() <= most && name.bytes().all(usual) {
        return Ok(());
    }
    Err(format!("{place}: does not match '^[a-zA-Z0-9_-]{{1,{most}}}$'"))
}
