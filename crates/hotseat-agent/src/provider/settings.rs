//! How an answer is asked for: the request's config, and the spec where it is silent.

use serde_json::{Value, json};

use super::fields;
use crate::ModelSpec;

/// What a request says besides the conversation. Numbers stay as they were written.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Settings {
    pub(super) temperature: Option<Value>,
    pub(super) top_p: Option<Value>,
    pub(super) top_k: Option<Value>,
    pub(super) seed: Option<Value>,
    pub(super) max_tokens: Option<u64>,
    pub(super) stop: Option<Value>,
    pub(super) output: Output,
    pub(super) thinking: Option<Thinking>,
    pub(super) tool_choice: ToolChoice,
}

/// What form an answer in text must have.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) enum Output {
    #[default]
    Text,
    Json,
    Schema(Value),
}

/// How much the model should think.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Thinking {
    /// Not at all.
    Off,
    /// As much as it sees fit.
    Auto,
    /// At most so many tokens.
    Budget(u64),
    /// `low`, `medium`, `high` and the like.
    Level(String),
}

/// Whether the model must, may or must not call a tool.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) enum ToolChoice {
    #[default]
    Auto,
    Never,
    Any,
    Only(Vec<String>),
}

impl Settings {
    /// Reads the `config` of a request. `schema` is what core found the answer has
    /// to satisfy.
    pub(super) fn read(config: &Value, schema: Option<Value>, spec: &ModelSpec) -> Self {
        let number = |name| fields::get(config, name).filter(|value| value.is_number()).cloned();
        let json_asked = fields::text(config, "response_mime_type") == Some("application/json");
        Self {
            temperature: number("temperature").or_else(|| spec.temperature.map(Value::from)),
            top_p: number("top_p").or_else(|| spec.top_p.map(Value::from)),
            top_k: number("top_k").map(whole),
            seed: number("seed"),
            max_tokens: number("max_output_tokens")
                .and_then(|most| most.as_u64())
                .or(spec.max_tokens.map(u64::from)),
            stop: fields::get(config, "stop_sequences")
                .filter(|stop| stop.as_array().is_some_and(|stop| !stop.is_empty()))
                .cloned(),
            output: match schema {
                Some(schema) => Output::Schema(schema),
                None if json_asked => Output::Json,
                None => Output::Text,
            },
            thinking: fields::get(config, "thinking_config").and_then(thinking),
            tool_choice: tool_choice(config),
        }
    }
}

/// genai writes `top_k` as a float, and others take only integers.
fn whole(number: Value) -> Value {
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..1e9).contains(float));
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    float.map_or(number, |float| json!(float as u64))
}

fn thinking(config: &Value) -> Option<Thinking> {
    if let Some(level) = fields::text(config, "thinking_level") {
        return Some(Thinking::Level(level.to_ascii_lowercase()));
    }
    match fields::get(config, "thinking_budget").and_then(Value::as_i64) {
        Some(0) => Some(Thinking::Off),
        Some(budget) => Some(u64::try_from(budget).map_or(Thinking::Auto, Thinking::Budget)),
        None => fields::flag(config, "include_thoughts").then_some(Thinking::Auto),
    }
}

fn tool_choice(config: &Value) -> ToolChoice {
    let calling = fields::get(config, "tool_config")
        .and_then(|config| fields::get(config, "function_calling_config"));
    let Some(calling) = calling else { return ToolChoice::Auto };
    let names: Vec<String> = fields::get(calling, "allowed_function_names")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    match fields::text(calling, "mode") {
        Some("NONE") => ToolChoice::Never,
        Some("ANY") if names.is_empty() => ToolChoice::Any,
        Some("ANY") => ToolChoice::Only(names),
        _ => ToolChoice::Auto,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProviderKind;

    #[test]
    fn the_request_is_heard_before_the_spec() {
        let mut spec = ModelSpec::new(ProviderKind::OpenAi, "m");
        (spec.temperature, spec.top_p, spec.max_tokens) = (Some(0.5), Some(0.9), Some(100));
        let config = json!({"temperature": 0, "maxOutputTokens": 7, "top_k": 40.0});

        let settings = Settings::read(&config, None, &spec);

        assert_eq!(settings.temperature, Some(json!(0)));
        assert_eq!(settings.top_p, Some(json!(0.9)));
        assert_eq!(settings.max_tokens, Some(7));
        assert_eq!(settings.top_k, Some(json!(40)));
    }

    #[test]
    fn thinking_is_read_in_all_its_forms() {
        for (config, read) in [
            (json!({"include_thoughts": true}), Some(Thinking::Auto)),
            (json!({"thinking_budget": 0, "include_thoughts": true}), Some(Thinking::Off)),
            (json!({"thinking_budget": -1}), Some(Thinking::Auto)),
            (json!({"thinkingBudget": 2048}), Some(Thinking::Budget(2048))),
            (json!({"thinking_level": "LOW"}), Some(Thinking::Level("low".to_owned()))),
            (json!({}), None),
        ] {
            assert_eq!(thinking(&config), read, "{config}");
        }
    }
}
