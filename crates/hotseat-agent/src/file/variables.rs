//! `${NAME}` and `${NAME:-default}` in the texts of a file.
//!
//! They are filled in after the YAML was read, so a value that holds quotes or
//! line breaks cannot change the file's structure. `$${` stands for a plain
//! `${`.

/// A place of the environment that a file needs and does not find.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum VariableProblem {
    /// The variable is not set.
    Missing(String),
    /// `${` without its end, or with a name that no variable has.
    Malformed(String),
}

/// The text with its variables filled in.
pub(crate) fn fill(
    text: &str,
    env: &dyn Fn(&str) -> Option<String>,
) -> Result<String, VariableProblem> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("${") {
        if rest[..start].ends_with('$') {
            filled.push_str(&rest[..start - 1]);
            filled.push_str("${");
            rest = &rest[start + 2..];
            continue;
        }
        filled.push_str(&rest[..start]);
        let inner = &rest[start + 2..];
        let Some(end) = inner.find('}') else {
            return Err(VariableProblem::Malformed(rest[start..].chars().take(40).collect()));
        };
        filled.push_str(&value(&inner[..end], env)?);
        rest = &inner[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn value(inner: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, VariableProblem> {
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inner, None),
    };
    let usable = !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !usable {
        return Err(VariableProblem::Malformed(format!("${{{inner}}}")));
    }
    match (env(name), default) {
        // As in a shell, `:-` also stands in for an empty variable.
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(VariableProblem::Missing(name.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> Result<String, VariableProblem> {
        fill(text, &|name| match name {
            "KEY" => Some("k1".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        })
    }

    #[test]
    fn variables_and_defaults_are_filled_in() {
        assert_eq!(filled("a ${KEY}${KEY} b").unwrap(), "a k1k1 b");
        assert_eq!(filled("${NONE:-x:y}").unwrap(), "x:y");
        assert_eq!(filled("${EMPTY:-x}").unwrap(), "x");
        assert_eq!(filled("${EMPTY}").unwrap(), "");
        assert_eq!(filled("$${KEY} costs $5").unwrap(), "${KEY} costs $5");
    }

    #[test]
    fn a_missing_variable_is_named() {
        assert_eq!(filled("a ${NONE}"), Err(VariableProblem::Missing("NONE".to_owned())));
        assert_eq!(filled("${KEY"), Err(VariableProblem::Malformed("${KEY".to_owned())));
        assert_eq!(filled("${1A}"), Err(VariableProblem::Malformed("${1A}".to_owned())));
    }
}
