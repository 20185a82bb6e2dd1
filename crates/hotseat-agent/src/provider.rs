//! Models behind the HTTP interfaces of their providers.
//!
//! [`connect`] gives a [`Model`] for OpenAI, Azure, Anthropic, Gemini or Ollama.
//! All of them read one [`Conversation`](conversation::Conversation), send it in
//! their own wire format, and tell what comes back to one
//! [`Answer`](answer::Answer), so the rules are in one place and the same for all:
//!
//! * every call has an id, and the pieces of it add up to its arguments;
//! * a request is repeated only before the first piece was told;
//! * waiting, lines, answers and error messages are bounded;
//! * the key is in a header marked as sensitive, and in no message.
//!
//! The clients are written out, because what must survive a round trip (ids,
//! signatures of thoughts, big integers) is what general client libraries drop.

mod address;
mod answer;
mod anthropic;
mod calls;
mod client;
mod conversation;
mod fields;
mod gemini;
mod lines;
mod media;
mod ollama;
mod openai;
mod refusal;
mod retry;
mod settings;
mod spoken;
mod tls;

use std::sync::Arc;

pub use address::ConnectError;
pub use tls::install_crypto;

use crate::{Model, ModelSpec, ProviderKind};
use client::{Dialect, Endpoint, HttpModel};

/// A model that answers as `spec` says. Nothing is sent before it is asked.
pub fn connect(spec: &ModelSpec) -> Result<Arc<dyn Model>, ConnectError> {
    let spoken = match spec.provider {
        ProviderKind::OpenAi => boxed(openai::OpenAi::direct(spec)?),
        ProviderKind::Azure => boxed(openai::OpenAi::azure(spec)?),
        ProviderKind::Anthropic => boxed(anthropic::Anthropic::new(spec)?),
        ProviderKind::Gemini => boxed(gemini::Gemini::new(spec)?),
        ProviderKind::Ollama => boxed(ollama::Ollama::new(spec)?),
    };
    Ok(Arc::new(HttpModel::new(spoken, spec)?))
}

fn boxed<D: Dialect + 'static>((endpoint, dialect): (Endpoint, D)) -> (Endpoint, Box<dyn Dialect>) {
    (endpoint, Box::new(dialect))
}
