//! Anthropic's messages.

mod request;
mod stream;

use reqwest::header::{HeaderName, HeaderValue};
use serde_json::Value;

use super::address::{self, ConnectError, KeyHeader};
use super::client::{Dialect, Endpoint, Reader};
use super::conversation::Conversation;
use super::lines::Framing;
use crate::{ModelError, ModelSpec};

const PROVIDER: &str = "anthropic";
/// The version of the interface that this is written for.
const VERSION: &str = "2023-06-01";

/// Anthropic, or who speaks like it.
pub(super) struct Anthropic {
    model: String,
}

impl Anthropic {
    pub(super) fn new(spec: &ModelSpec) -> Result<(Endpoint, Self), ConnectError> {
        if spec.name.is_empty() {
            return Err(ConnectError::MissingName { provider: PROVIDER });
        }
        let own = "https://api.anthropic.com";
        let url = address::url(PROVIDER, spec, Some(own), &["v1", "messages"])?;
        let mut headers = address::headers(PROVIDER, spec, KeyHeader::XApiKey)?;
        address::require_key(PROVIDER, spec, &headers, KeyHeader::XApiKey)?;
        let name = HeaderName::from_static("anthropic-version");
        let version = HeaderValue::from_str(spec.api_version.as_deref().unwrap_or(VERSION));
        let version = version
            .map_err(|_| ConnectError::Header { provider: PROVIDER, name: name.to_string() })?;
        headers.insert(name, version);
        let endpoint = Endpoint { provider: PROVIDER, url, headers, framing: Framing::Events };
        Ok((endpoint, Self { model: spec.name.clone() }))
    }
}

impl Dialect for Anthropic {
    fn body(&self, conversation: &Conversation) -> Result<Value, ModelError> {
        request::body(&self.model, conversation)
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<stream::Events>::default()
    }
}
