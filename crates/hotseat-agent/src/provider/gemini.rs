//! Google's Gemini.
//!
//! ADK's contents are Gemini's own, so this is the provider that loses nothing:
//! parts that only Gemini knows pass through, and signatures and ids go back as
//! they came. Ids that were made up stay here, as they do in ADK.

mod request;
mod schema;
mod stream;

use serde_json::Value;

use super::address::{self, ConnectError, KeyHeader};
use super::client::{Dialect, Endpoint, Reader};
use super::conversation::Conversation;
use super::lines::Framing;
use crate::{ModelError, ModelSpec};

const PROVIDER: &str = "gemini";
/// The version of the interface, if the spec names none.
const VERSION: &str = "v1beta";

/// Gemini's `streamGenerateContent`.
pub(super) struct Gemini {
    model: String,
}

impl Gemini {
    pub(super) fn new(spec: &ModelSpec) -> Result<(Endpoint, Self), ConnectError> {
        let model = spec.name.strip_prefix("models/").unwrap_or(&spec.name);
        if model.is_empty() {
            return Err(ConnectError::MissingName { provider: PROVIDER });
        }
        let own = "https://generativelanguage.googleapis.com";
        let version = spec.api_version.as_deref().unwrap_or(VERSION);
        let method = format!("{model}:streamGenerateContent");
        let mut url = address::url(PROVIDER, spec, Some(own), &[version, "models", &method])?;
        url.query_pairs_mut().append_pair("alt", "sse");
        let headers = address::headers(PROVIDER, spec, KeyHeader::XGoogApiKey)?;
        address::require_key(PROVIDER, spec, &headers, KeyHeader::XGoogApiKey)?;
        let endpoint = Endpoint { provider: PROVIDER, url, headers, framing: Framing::Events };
        Ok((endpoint, Self { model: model.to_owned() }))
    }
}

impl Dialect for Gemini {
    fn body(&self, conversation: &Conversation) -> Result<Value, ModelError> {
        Ok(request::body(&self.model, conversation))
    }

    fn reader(&self) -> Box<dyn Reader> {
        Box::<stream::Chunks>::default()
    }
}
