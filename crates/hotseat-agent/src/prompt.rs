//! Prompt tools: a template that a model answers.
//!
//! The model sees the filled template and nothing else: no tools, no
//! conversation, no instruction. `{{parameter}}` is replaced once, so what an
//! argument says is never taken for a placeholder.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::model::Model;
use crate::tool_spec::PromptSpec;

/// A template and the model that answers it.
pub(crate) struct PromptTool {
    spec: PromptSpec,
    model: Arc<dyn Model>,
}

impl PromptTool {
    pub(crate) fn new(spec: PromptSpec, model: Arc<dyn Model>) -> Self {
        Self { spec, model }
    }

    /// Fills the template and gives what the model says.
    pub(crate) async fn call(&self, args: &Value) -> Result<Value, String> {
        let text = fill(&self.spec.template, args)?;
        let request = json!({
            "model": self.model.name(),
            "contents": [{"role": "user", "parts": [{"text": text}]}],
            "config": {},
        });
        let answer = self.model.generate(&request, &mut |_| {}).await;
        let answer = answer.map_err(|error| error.to_string())?;
        if let Some(message) = answer.error_message.or(answer.error_code) {
            return Err(message);
        }
        let parts = answer.content.get("parts").and_then(Value::as_array);
        let said: String = parts
            .into_iter()
            .flatten()
            .filter(|part| part.get("thought").and_then(Value::as_bool) != Some(true))
            .filter_map(|part| part.get("text")?.as_str())
            .collect();
        if said.trim().is_empty() {
            return Err(format!("the model `{}` answered without text", self.model.name()));
        }
        Ok(json!({"result": said}))
    }
}

/// The names in `{{…}}`, in order.
pub(crate) fn placeholders(template: &str) -> impl Iterator<Item = &str> {
    pieces(template).filter_map(|piece| match piece {
        Piece::Placeholder(name) => Some(name),
        Piece::Text(_) => None,
    })
}

fn fill(template: &str, args: &Value) -> Result<String, String> {
    let mut filled = String::with_capacity(template.len());
    for piece in pieces(template) {
        match piece {
            Piece::Text(text) => filled.push_str(text),
            Piece::Placeholder(name) => match args.get(name) {
                Some(Value::String(value)) => filled.push_str(value),
                Some(Value::Null) => {}
                Some(value) => filled.push_str(&value.to_string()),
                None => return Err(format!("the argument `{name}` is missing")),
            },
        }
    }
    Ok(filled)
}

enum Piece<'a> {
    Text(&'a str),
    Placeholder(&'a str),
}

fn pieces(template: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = template;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        if let Some(inner) = rest.strip_prefix("{{")
            && let Some((name, after)) = inner.split_once("}}")
            && is_name(name.trim())
        {
            rest = after;
            return Some(Piece::Placeholder(name.trim()));
        }
        // The first character is no placeholder, so the search starts after it.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find("{{").map_or(rest.len(), |at| at + first);
        let (text, after) = rest.split_at(end);
        rest = after;
        Some(Piece::Text(text))
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_put_in_once() {
        let args = json!({"text": "{{n}} {{", "n": 3, "none": null});
        let filled = fill("a {{ text }}|{{n}}{{none}}|{{{n}}|{{x y}}|{{", &args).unwrap();
        assert_eq!(filled, "a {{n}} {{|3|{3|{{x y}}|{{");
    }

    #[test]
    fn a_missing_argument_is_named() {
        assert_eq!(fill("{{who}}", &json!({})).unwrap_err(), "the argument `who` is missing");
    }
}
