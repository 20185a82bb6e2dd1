//! One request to a provider: sent, repeated if need be, and read to its end.

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use hotseat_core::Delta;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Response, Url};
use serde_json::Value;
use tokio::time::{Instant, timeout, timeout_at};

use super::address::ConnectError;
use super::answer::Answer;
use super::conversation::Conversation;
use super::lines::{Framing, Messages};
use super::{refusal, retry, tls};
use crate::{Model, ModelError, ModelSpec, SeatAnswer};

/// How long a finished connection is waited for, so that it can be used again.
const LEAVE: Duration = Duration::from_millis(20);
/// How much of a body without any message is kept to be shown.
const MAX_UNREAD_BYTES: usize = 2_048;
/// How long a connection may take to open.
const CONNECT: Duration = Duration::from_secs(10);

/// Where a provider is reached, and how.
pub(super) struct Endpoint {
    /// Its name, for messages.
    pub(super) provider: &'static str,
    /// Where requests go.
    pub(super) url: Url,
    /// What goes with every request.
    pub(super) headers: HeaderMap,
    /// How its messages are separated.
    pub(super) framing: Framing,
}

/// What a provider does in its own way.
pub(super) trait Dialect: Send + Sync {
    /// The conversation in its words.
    fn body(&self, conversation: &Conversation) -> Result<Value, ModelError>;
    /// Reads one answer.
    fn reader(&self) -> Box<dyn Reader>;
}

/// Reads the messages of one answer.
pub(super) trait Reader: Send {
    /// Takes the next message.
    fn read(&mut self, message: &str, answer: &mut Answer<'_>) -> Result<Flow, ModelError>;
    /// Whether the answer is whole, should the stream end here.
    fn complete(&self) -> bool;
}

/// Whether more is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    More,
    Done,
}

/// A model behind a provider's HTTP interface.
pub(super) struct HttpModel {
    endpoint: Endpoint,
    dialect: Box<dyn Dialect>,
    client: Client,
    spec: ModelSpec,
}

impl HttpModel {
    pub(super) fn new(
        (endpoint, dialect): (Endpoint, Box<dyn Dialect>),
        spec: &ModelSpec,
    ) -> Result<Self, ConnectError> {
        tls::install_crypto();
        let provider = endpoint.provider;
        let mut client = Client::builder()
            // A redirect would take the key to wherever it points.
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .user_agent(concat!("hotseat/", env!("CARGO_PKG_VERSION")));
        if endpoint.url.host_str().is_some_and(is_here) {
            // No proxy reaches this machine, whatever the environment says of proxies.
            client = client.no_proxy();
        }
        if endpoint.url.scheme() == "http" {
            // Without TLS no certificates are needed, and a small container has none.
            client = client.tls_certs_only([]);
        }
        let client = client.build().map_err(|source| ConnectError::Client { provider, source })?;
        Ok(Self { endpoint, dialect, client, spec: spec.clone() })
    }

    async fn attempts(
        &self,
        body: &[u8],
        deadline: Instant,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<SeatAnswer, ModelError> {
        let mut failures = 0;
        loop {
            let mut answer = Answer::new(self.endpoint.provider, &mut *sink);
            let Err(error) = self.attempt(body, &mut answer).await else {
                let mut answer = answer.finish().map_err(|error| self.without_key(error))?;
                answer.model_version.get_or_insert_with(|| self.spec.name.clone());
                return Ok(answer);
            };
            let error = self.without_key(error);
            failures += 1;
            // Pieces cannot be taken back, so what was told cannot be told anew.
            let pause = retry::pause(&error, failures, self.spec.retries);
            let Some(pause) = pause.filter(|_| !answer.told()) else { return Err(error) };
            if Instant::now() + pause >= deadline {
                return Err(error);
            }
            tracing::info!(
                model.provider = self.endpoint.provider,
                model.name = self.spec.name,
                retry.failures = failures,
                retry.pause_ms = pause.as_millis(),
                "model request failed and is repeated: {error}"
            );
            tokio::time::sleep(pause).await;
        }
    }

    async fn attempt(&self, body: &[u8], answer: &mut Answer<'_>) -> Result<(), ModelError> {
        let request = self
            .client
            .post(self.endpoint.url.clone())
            .headers(self.endpoint.headers.clone())
            .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
            .body(body.to_vec());
        let response = self.patiently(request.send()).await?;
        if !response.status().is_success() {
            return Err(self.refused(response).await);
        }
        self.read(response, answer).await
    }

    async fn read(
        &self,
        mut response: Response,
        answer: &mut Answer<'_>,
    ) -> Result<(), ModelError> {
        let mut reader = self.dialect.reader();
        let mut messages = Messages::new(self.endpoint.framing);
        let mut unread = Some(Vec::new());
        while let Some(chunk) = self.patiently(response.chunk()).await? {
            if let Some(unread) = unread.as_mut().filter(|unread| unread.len() < MAX_UNREAD_BYTES) {
                unread.extend_from_slice(&chunk);
            }
            let complete = messages.push(&chunk);
            for message in complete.map_err(|error| answer.unreadable(&error.to_string()))? {
                unread = None;
                if reader.read(&message, answer)? == Flow::Done {
                    // The end of the body usually came along; reading it frees the connection.
                    let _ = timeout(LEAVE, response.chunk()).await;
                    return Ok(());
                }
            }
        }
        let last = messages.end().map_err(|error| answer.unreadable(&error.to_string()))?;
        if let Some(message) = last {
            unread = None;
            if reader.read(&message, answer)? == Flow::Done {
                return Ok(());
            }
        }
        if reader.complete() {
            return Ok(());
        }
        match unread.filter(|unread| !unread.is_empty()) {
            // Somebody else answered: a proxy, a login page, a server of another kind.
            Some(unread) => Err(answer.unreadable(&String::from_utf8_lossy(&unread))),
            None => Err(self.unreachable("it ended the answer before it was complete".to_owned())),
        }
    }

    /// What the provider sends next, if it does so in time.
    async fn patiently<T>(
        &self,
        next: impl Future<Output = Result<T, reqwest::Error>>,
    ) -> Result<T, ModelError> {
        let waited = self.spec.idle_timeout;
        match timeout(waited, next).await {
            Ok(Ok(next)) => Ok(next),
            Ok(Err(error)) => Err(self.unreachable(causes(&error.without_url()))),
            Err(_) => Err(ModelError::Stalled { provider: self.endpoint.provider, waited }),
        }
    }

    async fn refused(&self, mut response: Response) -> ModelError {
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        let mut body = Vec::new();
        // What cannot be read of a refusal is no reason to forget it.
        while let Ok(Some(chunk)) = self.patiently(response.chunk()).await {
            body.extend_from_slice(&chunk);
            if body.len() >= refusal::MAX_REFUSAL_BYTES {
                break;
            }
        }
        ModelError::Refused {
            provider: self.endpoint.provider,
            status,
            message: refusal::message(&body),
            retry_after: refusal::retry_after(&headers, &body),
        }
    }

    fn unreachable(&self, reason: String) -> ModelError {
        ModelError::Unreachable { provider: self.endpoint.provider, reason }
    }

    /// The error without the key, which providers and broken proxies may repeat.
    fn without_key(&self, mut error: ModelError) -> ModelError {
        let text = match &mut error {
            ModelError::Unreachable { reason, .. }
            | ModelError::Unreadable { reason, .. }
            | ModelError::Unsupported { reason, .. } => reason,
            ModelError::Refused { message, .. } => message,
            ModelError::Stalled { .. } | ModelError::TimedOut { .. } => return error,
        };
        let key = self.spec.api_key.as_ref().map(|key| key.reveal().trim());
        *text = refusal::without_key(std::mem::take(text), key);
        error
    }
}

#[async_trait]
impl Model for HttpModel {
    async fn generate(
        &self,
        request: &Value,
        sink: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<SeatAnswer, ModelError> {
        let provider = self.endpoint.provider;
        let conversation = Conversation::read(request, &self.spec, provider)?;
        let body = self.dialect.body(&conversation)?.to_string();
        let waited = self.spec.timeout;
        let deadline = Instant::now() + waited;
        let answered = timeout_at(deadline, self.attempts(body.as_bytes(), deadline, sink)).await;
        answered.unwrap_or(Err(ModelError::TimedOut { provider, waited }))
    }

    fn name(&self) -> &str {
        &self.spec.name
    }
}

/// Whether a host is this machine.
fn is_here(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// The error and everything behind it, once.
fn causes(error: &reqwest::Error) -> String {
    let mut text = error.to_string();
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(inner) = cause {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        cause = inner.source();
    }
    refusal::cut(&text)
}
