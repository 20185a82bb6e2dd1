//! OpenAI's chat completions, as OpenAI, Azure and many others speak them.
//!
//! Azure differs in its address and its key. Servers of others differ in small
//! things: they know `max_tokens` rather than `max_completion_tokens`, and those
//! whose models reason give `reasoning_content` and want it back.

mod request;
mod stream;

use serde_json::Value;

use super::address::{self, ConnectError, KeyHeader};
use super::client::{Dialect, Endpoint, Reader};
use super::conversation::Conversation;
use super::lines::Framing;
use crate::{ModelError, ModelSpec};

/// Azure's version of the interface, if the spec names none.
const AZURE_VERSION: &str = "2024-10-21";

/// Chat completions, somewhere.
pub(super) struct OpenAi {
    provider: &'static str,
    model: String,
    house: House,
}

/// Whose server it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum House {
    OpenAi,
    Other,
}

impl OpenAi {
    /// OpenAI, or who speaks like it at another endpoint.
    pub(super) fn direct(spec: &ModelSpec) -> Result<(Endpoint, Self), ConnectError> {
        let (provider, own) = ("openai", "https://api.openai.com/v1");
        let url = address::url(provider, spec, Some(own), &["chat", "completions"])?;
        let headers = address::headers(provider, spec, KeyHeader::Bearer)?;
        address::require_key(provider, spec, &headers, KeyHeader::Bearer)?;
        let house = match url.host_str() {
            Some("api.openai.com") => House::OpenAi,
            _ => House::Other,
        };
        let endpoint = Endpoint { provider, url, headers, framing: Framing::Events };
        Self::at(endpoint, spec, house)
    }

    /// A deployment at Azure.
    pub(super) fn azure(spec: &ModelSpec) -> Result<(Endpoint, Self), ConnectError> {
        let provider = "azure";
        let path = ["openai", "deployments", &spec.name, "chat", "completions"];
        let mut url = address::url(provider, spec, None, &path)?;
        let version = spec.api_version.as_deref().unwrap_or(AZURE_VERSION);
        if !url.query_pairs().any(|(name, _)| name == "api-version") {
            url.query_pairs_mut().append_pair("api-version", version);
        }
        let headers = address::headers(provider, spec, KeyHeader::ApiKey)?;
        let endpoint = Endpoint { provider, url, headers, framing: Framing::Events };
        Self::at(endpoint, spec, House::OpenAi)
    }

    fn at(
        endpoint: Endpoint,
        spec: &ModelSpec,
        house: House,
    ) -> Result<(Endpoint, Self), ConnectError> {
        if spec.name.is_empty() {
            return Err(ConnectError::MissingName { provider: endpoint.provider });
        }
        let provider = endpoint.provider;
        Ok((endpoint, Self { provider, model: spec.name.clone(), house }))
    }
}

impl Dialect for OpenAi {
    fn body(&self, conversation: &Conversation) -> Result<Value, ModelError> {
        request::body(self, conversation)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<stream::Chunks>::default()
    }
}
