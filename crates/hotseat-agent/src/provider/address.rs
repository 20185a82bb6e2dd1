//! Where a provider is, and what lets us in.
//!
//! Everything that can be wrong with a spec is found here, before anything is
//! sent. No message repeats an endpoint or a header, as both may hold secrets.

use reqwest::Url;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::ModelSpec;

/// Why a spec does not lead to a model.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The provider's own address wants a key.
    #[error("{provider} needs a key: set `api_key` of the model")]
    MissingKey {
        /// The provider.
        provider: &'static str,
    },
    /// The provider has no address of its own.
    #[error("{provider} needs an address: set `endpoint` of the model")]
    MissingEndpoint {
        /// The provider.
        provider: &'static str,
    },
    /// The model has no name.
    #[error("{provider} needs the name of a model: set `name` of the model")]
    MissingName {
        /// The provider.
        provider: &'static str,
    },
    /// The address cannot be used.
    #[error("the `endpoint` of {provider} is not usable: {reason}")]
    Endpoint {
        /// The provider.
        provider: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A header cannot be sent.
    #[error("the header `{name}` for {provider} holds characters that no header may hold")]
    Header {
        /// The provider.
        provider: &'static str,
        /// The header's name.
        name: String,
    },
    /// There are no usable certificates on this machine, or the like.
    #[error("no HTTP client can be made for {provider}")]
    Client {
        /// The provider.
        provider: &'static str,
        /// What is in the way.
        #[source]
        source: reqwest::Error,
    },
}

/// The URL of a provider's interface: `endpoint` or `own`, and then `path`. Where
/// they overlap, because the endpoint has the version or is the whole URL already,
/// nothing is said twice.
pub(super) fn url(
    provider: &'static str,
    spec: &ModelSpec,
    own: Option<&str>,
    path: &[&str],
) -> Result<Url, ConnectError> {
    let endpoint = spec.endpoint.as_deref().filter(|endpoint| !endpoint.is_empty());
    let endpoint = endpoint.or(own).ok_or(ConnectError::MissingEndpoint { provider })?;
    let wrong = |reason: String| ConnectError::Endpoint { provider, reason };
    let mut url = Url::parse(endpoint.trim()).map_err(|error| wrong(error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("it begins with neither http:// nor https://".to_owned()));
    }
    let known: Vec<String> = url
        .path_segments()
        .into_iter()
        .flatten()
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    let overlap = (1..=path.len()).rev().find(|n| known.ends_with(&owned(&path[..*n])));
    let path = &path[overlap.unwrap_or_default()..];
    url.path_segments_mut()
        .map_err(|()| wrong("it has no path".to_owned()))?
        .pop_if_empty()
        .extend(path);
    Ok(url)
}

/// The headers of every request: the spec's own, and the key under `key_header`.
pub(super) fn headers(
    provider: &'static str,
    spec: &ModelSpec,
    key_header: KeyHeader,
) -> Result<HeaderMap, ConnectError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &spec.headers {
        let wrong = || ConnectError::Header { provider, name: name.clone() };
        let parsed = HeaderName::try_from(name.as_str()).map_err(|_| wrong())?;
        headers.insert(parsed, sensitive(value).ok_or_else(wrong)?);
    }
    let name = HeaderName::from_static(key_header.name());
    if let Some(key) = &spec.api_key {
        let value = match key_header {
            KeyHeader::Bearer => format!("Bearer {}", key.reveal()),
            KeyHeader::ApiKey | KeyHeader::XApiKey | KeyHeader::XGoogApiKey => {
                key.reveal().to_owned()
            }
        };
        let wrong = || ConnectError::Header { provider, name: name.to_string() };
        headers.insert(name.clone(), sensitive(&value).ok_or_else(wrong)?);
    }
    Ok(headers)
}

/// Refuses a spec without a key where the provider is sure to refuse it too.
pub(super) fn require_key(
    provider: &'static str,
    spec: &ModelSpec,
    headers: &HeaderMap,
    key_header: KeyHeader,
) -> Result<(), ConnectError> {
    let bearer = KeyHeader::Bearer.name();
    if headers.contains_key(key_header.name()) || headers.contains_key(bearer) {
        return Ok(());
    }
    // Behind an address of one's own there may be a proxy that holds the key.
    if spec.endpoint.is_some() {
        return Ok(());
    }
    Err(ConnectError::MissingKey { provider })
}

/// The header that a provider reads its key from.
#[derive(Debug, Clone, Copy)]
pub(super) enum KeyHeader {
    /// OpenAI, Ollama behind a proxy.
    Bearer,
    /// Azure.
    ApiKey,
    /// Anthropic.
    XApiKey,
    /// Gemini.
    XGoogApiKey,
}

impl KeyHeader {
    const fn name(self) -> &'static str {
        match self {
            Self::Bearer => "authorization",
            Self::ApiKey => "api-key",
            Self::XApiKey => "x-api-key",
            Self::XGoogApiKey => "x-goog-api-key",
        }
    }
}

fn owned(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

fn sensitive(value: &str) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.trim()).ok()?;
    value.set_sensitive(true);
    Some(value)
}
