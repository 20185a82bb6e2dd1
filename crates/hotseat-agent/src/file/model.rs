//! The `model` of a file.

use super::Surroundings;
use super::fields::Fields;
use super::problem::Problem;
use super::yaml::{Node, Place};
use crate::spec::{
    DEFAULT_IDLE_TIMEOUT, DEFAULT_RETRIES, DEFAULT_TIMEOUT, ModelSpec, ProviderKind, Secret,
};

/// The keys of `model`.
pub(super) const KEYS: [&str; 13] = [
    "provider",
    "name",
    "endpoint",
    "api_key",
    "api_version",
    "temperature",
    "max_tokens",
    "top_p",
    "timeout",
    "idle_timeout",
    "retries",
    "headers",
    "images",
];

/// Most repetitions of a failed request that a file may ask for.
pub(super) const MAX_RETRIES: u32 = 10;
/// Most tokens of an answer that a file may ask for.
pub(super) const MAX_TOKENS: u32 = 10_000_000;

/// Reads a `model`.
pub(super) fn read(node: Node, around: &Surroundings<'_>) -> Result<ModelSpec, Problem> {
    let mut fields = Fields::of(node, "`model`", &KEYS)?;
    let at = fields.at;
    let names: Vec<&str> = ProviderKind::NAMES.iter().map(|(name, _)| *name).collect();
    let provider = fields.word("provider", &names)?;
    let Some(provider) = provider.as_deref().and_then(ProviderKind::from_name) else {
        return Err(Problem::at(at, "`provider` of the model is missing")
            .hint("add `provider: openai`, `azure`, `anthropic`, `gemini` or `ollama`"));
    };
    let name = fields.required_text("name")?;
    let endpoint = endpoint(&mut fields, provider, at)?;
    let api_key = match fields.text("api_key")?.filter(|key| !key.trim().is_empty()) {
        Some(key) => Some(Secret::new(key.trim())),
        // A key from the environment only goes to the provider that it belongs to.
        None if endpoint.is_none() || provider == ProviderKind::Azure => {
            usual_key(provider, around)
        }
        None => None,
    };
    Ok(ModelSpec {
        provider,
        name,
        endpoint,
        api_key,
        api_version: fields.text("api_version")?,
        temperature: fields.number("temperature", 0.0, 2.0)?,
        max_tokens: fields.count("max_tokens", 1, MAX_TOKENS)?,
        top_p: fields.number("top_p", 0.0, 1.0)?,
        timeout: fields.duration("timeout")?.unwrap_or(DEFAULT_TIMEOUT),
        idle_timeout: fields.duration("idle_timeout")?.unwrap_or(DEFAULT_IDLE_TIMEOUT),
        retries: fields.count("retries", 0, MAX_RETRIES)?.unwrap_or(DEFAULT_RETRIES),
        headers: fields.text_map("headers")?,
        images: fields.flag("images")?.unwrap_or(true),
    })
}

/// The key in the variable that a provider's own tools read.
pub(super) fn usual_key(provider: ProviderKind, around: &Surroundings<'_>) -> Option<Secret> {
    let names: &[&str] = match provider {
        ProviderKind::OpenAi => &["OPENAI_API_KEY"],
        ProviderKind::Azure => &["AZURE_OPENAI_API_KEY"],
        ProviderKind::Anthropic => &["ANTHROPIC_API_KEY"],
        ProviderKind::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        ProviderKind::Ollama => &[],
    };
    let keys = names.iter().filter_map(|name| (around.env)(name));
    keys.into_iter().find(|key| !key.trim().is_empty()).map(|key| Secret::new(key.trim()))
}

fn endpoint(
    fields: &mut Fields,
    provider: ProviderKind,
    at: Place,
) -> Result<Option<String>, Problem> {
    let place = fields.place("endpoint");
    match fields.text("endpoint")?.filter(|endpoint| !endpoint.trim().is_empty()) {
        Some(endpoint) if is_http(&endpoint) => Ok(Some(endpoint.trim().to_owned())),
        Some(endpoint) => Err(Problem::at(place, format!("`{endpoint}` is no address"))
            .hint("an endpoint begins with https:// or http://")),
        None if provider == ProviderKind::Azure => {
            Err(Problem::at(at, "a model at Azure needs its `endpoint`")
                .hint("add `endpoint: https://NAME.openai.azure.com`"))
        }
        None => Ok(None),
    }
}

/// Whether a text is an address that can be asked.
pub(super) fn is_http(text: &str) -> bool {
    let text = text.trim();
    ["https://", "http://"].iter().filter_map(|scheme| text.strip_prefix(scheme)).any(|rest| {
        !rest.is_empty() && !rest.starts_with('/') && !rest.contains(char::is_whitespace)
    })
}
