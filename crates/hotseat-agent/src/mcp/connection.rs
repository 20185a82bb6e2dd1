//! One connection to an MCP server, from its first message to its last.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotificationParam, ClientCapabilities,
    ClientConfig, ClientRequest, Implementation, PingRequest, ProgressNotificationParam, RequestId,
    ServerResult,
};
use rmcp::service::{
    NotificationContext, PeerRequestOptions, RunningService, ServiceError, serve_client,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::progress::{Listeners, ProgressSender};
use super::{Shared, listing, result, stdio};
use crate::tool_spec::{McpSpec, McpTransport};

/// How long a server may take to answer a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a server may take to list its tools again.
const RELIST_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// An open connection.
pub(super) struct Connection {
    peer: Peer<RoleClient>,
    listeners: Arc<Listeners>,
    request_timeout: Duration,
    /// Set once a message could not be sent, which HTTP notices only then.
    broken: AtomicBool,
    service: Mutex<Option<RunningService<RoleClient, Client>>>,
}

/// Our side of the conversation.
struct Client {
    listeners: Arc<Listeners>,
    shared: Arc<Shared>,
}

impl Connection {
    /// Connects, greets and lists the tools, all within the time that the file gives.
    pub(super) async fn open(spec: &McpSpec, shared: Arc<Shared>) -> Result<Self, String> {
        let listeners = Arc::new(Listeners::default());
        let client = Client { listeners: Arc::clone(&listeners), shared: Arc::clone(&shared) };
        let (service, last_words) = match &spec.transport {
            McpTransport::Stdio { command, args, env, cwd } => {
                let (process, words) = stdio::start(&spec.name, command, args, env, cwd)?;
                (greet(spec, Box::pin(serve_client(client, process))).await, Some(words))
            }
            McpTransport::Http { url, headers } => {
                crate::provider::install_crypto();
                let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str());
                config.custom_headers = http_headers(headers)?;
                let transport = StreamableHttpClientTransport::from_config(config);
                (greet(spec, Box::pin(serve_client(client, transport))).await, None)
            }
        };
        let service = match (service, last_words) {
            (Ok(service), _) => service,
            (Err(error), None) => return Err(error),
            (Err(error), Some(words)) => {
                let words = words.text().await;
                let said = if words.is_empty() { words } else { format!("; it wrote: {words}") };
                return Err(format!("{error}{said}"));
            }
        };
        let tools = tokio::time::timeout(spec.connect_timeout, listing::list(service.peer())).await;
        shared.set_tools(tools.map_err(|_| "it did not list its tools in time".to_owned())??);
        Ok(Self {
            peer: service.peer().clone(),
            listeners,
            request_timeout: spec.request_timeout,
            broken: AtomicBool::new(false),
            service: Mutex::new(Some(service)),
        })
    }

    pub(super) fn is_closed(&self) -> bool {
        self.broken.load(Ordering::Acquire) || self.peer.is_transport_closed()
    }

    /// Calls a tool. If the caller stops waiting, the server is told.
    pub(super) async fn call(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        progress: ProgressSender,
    ) -> Result<Value, String> {
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(args.clone());
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options =
            PeerRequestOptions::with_timeout(self.request_timeout).reset_timeout_on_progress();
        let sent = self.peer.send_cancellable_request(request, options).await;
        let handle = sent.map_err(|error| self.failed(tool, &error))?;
        let _listening = self.listeners.listen(handle.progress_token.clone(), progress);
        let mut abandoned = Abandoned { peer: &self.peer, id: Some(handle.id.clone()) };
        let answer = handle.await_response().await;
        abandoned.id = None;
        match answer.map_err(|error| self.failed(tool, &error))? {
            ServerResult::CallToolResult(answer) => result::response(&answer),
            ServerResult::InputRequiredResult(_) => Err(format!(
                "`{tool}` asks for input in the middle of a call, which nobody can give"
            )),
            _ => Err(format!("the MCP server answered the call of `{tool}` with something else")),
        }
    }

    /// Whether the server answers.
    pub(super) async fn ping(&self) -> Result<(), String> {
        let request = ClientRequest::PingRequest(PingRequest::default());
        let options = PeerRequestOptions::with_timeout(PING_TIMEOUT);
        let sent = self.peer.send_cancellable_request(request, options).await;
        let handle = sent.map_err(|error| error.to_string())?;
        match handle.await_response().await {
            // A server that refuses to be pinged is there nevertheless.
            Ok(_) | Err(ServiceError::McpError(_)) => Ok(()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Says goodbye and waits a moment.
    pub(super) async fn close(&self) {
        let service = self.service.lock().await.take();
        if let Some(mut service) = service {
            // What does not end in time is killed when the service is dropped.
            let _ = service.close_with_timeout(CLOSE_TIMEOUT).await;
        }
    }

    fn failed(&self, tool: &str, error: &ServiceError) -> String {
        match error {
            ServiceError::McpError(error) => error.message.to_string(),
            ServiceError::Timeout { timeout } => {
                format!("`{tool}` was silent for {} s", timeout.as_secs_f64())
            }
            ServiceError::TransportSend(_) | ServiceError::TransportClosed => {
                self.broken.store(true, Ordering::Release);
                format!("the MCP server went away during the call of `{tool}`: {error}")
            }
            other => format!("the call of `{tool}` failed: {other}"),
        }
    }
}

/// Waits for the greeting of a server, but not for ever.
async fn greet<E: std::fmt::Display>(
    spec: &McpSpec,
    greeting: impl Future<Output = Result<RunningService<RoleClient, Client>, E>>,
) -> Result<RunningService<RoleClient, Client>, String> {
    match tokio::time::timeout(spec.connect_timeout, greeting).await {
        Ok(Ok(service)) => Ok(service),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(format!("it did not answer within {} s", spec.connect_timeout.as_secs_f64())),
    }
}

fn http_headers(
    headers: &std::collections::BTreeMap<String, crate::spec::Secret>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    headers
        .iter()
        .map(|(name, value)| {
            let unusable = || format!("the header `{name}` cannot be sent");
            let header = HeaderName::try_from(name.as_str()).map_err(|_| unusable())?;
            let mut value = HeaderValue::try_from(value.reveal()).map_err(|_| unusable())?;
            value.set_sensitive(true);
            Ok((header, value))
        })
        .collect()
}

impl ClientHandler for Client {
    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        self.listeners.tell(params);
    }

    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        match tokio::time::timeout(RELIST_TIMEOUT, listing::list(&context.peer)).await {
            Ok(Ok(tools)) => self.shared.set_tools(tools),
            Ok(Err(error)) => tracing::warn!("new tools of an MCP server are not used: {error}"),
            Err(_) => tracing::warn!("an MCP server said that its tools changed, and not how"),
        }
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("hotseat", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
    }
}

/// Tells the server if a call is dropped before its answer came.
struct Abandoned<'a> {
    peer: &'a Peer<RoleClient>,
    id: Option<RequestId>,
}

impl Drop for Abandoned<'_> {
    fn drop(&mut self) {
        let Some(request_id) = self.id.take() else { return };
        let peer = self.peer.clone();
        tokio::spawn(async move {
            let reason = Some("nobody waits for it any more".to_owned());
            let param = CancelledNotificationParam::new(Some(request_id), reason);
            // If the server is gone, there is nothing to stop.
            let _ = peer.notify_cancelled(param).await;
        });
    }
}
