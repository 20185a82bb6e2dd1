//! Which model an agent uses, and how it is reached.
//!
//! A spec is complete: it comes out of a file whose variables are filled in and
//! whose values were checked, so a provider takes it as it is. Keys are kept in
//! [`Secret`], which no log and no error message can print.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// How long a whole answer may take, if the file says nothing.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_mins(5);
/// How long a provider may be silent within an answer, if the file says nothing.
pub const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_mins(1);
/// How often a failed request is repeated, if the file says nothing.
pub const DEFAULT_RETRIES: u32 = 3;

/// A model and the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelSpec {
    /// Whose wire format it speaks.
    pub provider: ProviderKind,
    /// The model's name, as the provider knows it; for Azure the deployment.
    pub name: String,
    /// The address, where it is not the provider's own.
    pub endpoint: Option<String>,
    /// The key, where one is needed.
    pub api_key: Option<Secret>,
    /// The version of the API, where the provider has several.
    pub api_version: Option<String>,
    /// How freely the model chooses its words, from 0 to 2.
    pub temperature: Option<f64>,
    /// Most tokens of an answer.
    pub max_tokens: Option<u32>,
    /// The share of likely words that it chooses among, from 0 to 1.
    pub top_p: Option<f64>,
    /// How long a whole answer may take.
    pub timeout: Duration,
    /// How long the provider may be silent within an answer.
    pub idle_timeout: Duration,
    /// How often a request that failed for a passing reason is repeated.
    pub retries: u32,
    /// Headers to send besides.
    pub headers: BTreeMap<String, String>,
    /// Whether it can see images. One that cannot is only told the text in them.
    pub images: bool,
}

/// Whose wire format a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderKind {
    /// OpenAI's chat completions, which many others speak too.
    OpenAi,
    /// OpenAI's models at Azure.
    Azure,
    /// Anthropic's messages.
    Anthropic,
    /// Google's Gemini.
    Gemini,
    /// A local Ollama.
    Ollama,
}

/// A key that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl ModelSpec {
    /// A spec with nothing but the necessary.
    pub fn new(provider: ProviderKind, name: impl Into<String>) -> Self {
        Self {
            provider,
            name: name.into(),
            endpoint: None,
            api_key: None,
            api_version: None,
            temperature: None,
            max_tokens: None,
            top_p: None,
            timeout: DEFAULT_TIMEOUT,
            idle_timeout: DEFAULT_IDLE_TIMEOUT,
            retries: DEFAULT_RETRIES,
            headers: BTreeMap::new(),
            images: true,
        }
    }
}

impl ProviderKind {
    /// All names that a file may use, the usual one of each provider first.
    pub const NAMES: [(&'static str, Self); 7] = [
        ("openai", Self::OpenAi),
        ("azure", Self::Azure),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
        ("ollama", Self::Ollama),
        ("azure_openai", Self::Azure),
        ("google", Self::Gemini),
    ];

    /// The provider of that name in a file.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// Its usual name in a file.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Azure => "azure",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }
}

impl fmt::Display for ProviderKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed() {
        let mut spec = ModelSpec::new(ProviderKind::OpenAi, "small");
        spec.api_key = Some(Secret::new("sk-very-secret"));

        let printed = format!("{spec:?} {}", Secret::new("sk-very-secret"));

        assert!(!printed.contains("very-secret"), "{printed}");
    }

    #[test]
    fn every_provider_has_its_usual_name() {
        for (name, kind) in ProviderKind::NAMES {
            assert_eq!(ProviderKind::from_name(name), Some(kind));
            assert_eq!(ProviderKind::from_name(kind.name()), Some(kind));
        }
    }
}
