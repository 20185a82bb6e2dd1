//! What a model is to an agent: a request goes in, pieces are told as they come,
//! and the whole answer comes out.
//!
//! Requests and answers have ADK's shapes, so the loop, the log and a person who
//! sits in for the model all see the same thing.

use std::time::Duration;

use async_trait::async_trait;
use hotseat_core::Delta;
use serde_json::Value;

/// Answers model requests.
#[async_trait]
pub trait Model: Send + Sync {
    /// Sends an `LlmRequest` to the model. Pieces are told to `sink` as they come;
    /// the answer repeats them whole, with the same ids of calls.
    async fn generate(
        &self,
        request: &Value,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<SeatAnswer, ModelError>;

    /// What it is called, for people and for `model_version` where the provider is silent.
    fn name(&self) -> &str;
}

/// The answer to one model request, whoever gave it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SeatAnswer {
    /// A genai Content with the role `model`; every call in it has an id.
    pub content: Value,
    /// ADK's `usage_metadata`.
    pub usage: Option<Value>,
    /// ADK's `finish_reason`, such as `STOP` or `MAX_TOKENS`.
    pub finish_reason: Option<String>,
    /// The model that answered, as the provider names it.
    pub model_version: Option<String>,
    /// Set if the seat answered with an error instead.
    pub error_code: Option<String>,
    /// What the error says.
    pub error_message: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// The provider could not be reached, or the connection broke.
    #[error("{provider} cannot be reached: {reason}")]
    Unreachable {
        /// The provider.
        provider: &'static str,
        /// What happened.
        reason: String,
    },
    /// The provider refused the request.
    #[error("{provider} answered {status}: {message}")]
    Refused {
        /// The provider.
        provider: &'static str,
        /// The HTTP status.
        status: u16,
        /// What the provider said, cut.
        message: String,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
    },
    /// The provider said nothing for too long.
    #[error("{provider} sent nothing for {waited:?}")]
    Stalled {
        /// The provider.
        provider: &'static str,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The whole answer took too long, repeated requests included.
    #[error("{provider} gave no whole answer within {waited:?}")]
    TimedOut {
        /// The provider.
        provider: &'static str,
        /// How long it was waited for.
        waited: Duration,
    },
    /// What the provider sent cannot be understood.
    #[error("{provider} sent something that cannot be read: {reason}")]
    Unreadable {
        /// The provider.
        provider: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// The request holds something that this provider cannot be asked.
    #[error("{provider} cannot take this request: {reason}")]
    Unsupported {
        /// The provider.
        provider: &'static str,
        /// What it is.
        reason: String,
    },
}

impl ModelError {
    /// Whether the same request may succeed a moment later.
    pub fn retryable(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 409 | 429 | 500..=599),
            Self::Stalled { .. }
            | Self::TimedOut { .. }
            | Self::Unreadable { .. }
            | Self::Unsupported { .. } => false,
        }
    }
}
