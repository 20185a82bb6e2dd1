//! Tools of MCP servers: one connection per server, shared by all sessions.
//!
//! A server that died is started or reached again by the next call, with a
//! growing pause between attempts that failed, so a broken server costs a quick
//! error and not a stalled run. A call that was under way when its server died
//! is not repeated: nobody knows how far it got.

mod connection;
mod listing;
mod progress;
mod result;
mod stdio;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::Tool as McpTool;
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::Instant;

pub(crate) use progress::{Progress, ProgressSender};

use crate::tool_spec::McpSpec;
use connection::Connection;

/// The pause after the first attempt that failed.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// An MCP server and what is known of it.
pub(crate) struct McpServer {
    spec: McpSpec,
    shared: Arc<Shared>,
    connection: RwLock<Option<Arc<Connection>>>,
    /// Held while somebody connects, so that only one does.
    attempts: Mutex<Attempts>,
}

/// What a connection tells its server object.
pub(crate) struct Shared {
    tools: RwLock<Arc<Vec<McpTool>>>,
    /// Counts up whenever the list of tools of any server changes.
    changes: Arc<AtomicU64>,
}

#[derive(Default)]
struct Attempts {
    failed: u32,
    not_before: Option<Instant>,
    last_error: String,
    closed: bool,
}

impl McpServer {
    /// Connects and lists the tools.
    pub(crate) async fn open(spec: McpSpec, changes: Arc<AtomicU64>) -> Result<Arc<Self>, String> {
        let server = Self {
            spec,
            shared: Arc::new(Shared { tools: RwLock::default(), changes }),
            connection: RwLock::new(None),
            attempts: Mutex::default(),
        };
        server.connection().await?;
        Ok(Arc::new(server))
    }

    pub(crate) fn spec(&self) -> &McpSpec {
        &self.spec
    }

    /// The tools that the server has and the file asks for.
    pub(crate) fn tools(&self) -> Vec<McpTool> {
        let tools = Arc::clone(&self.shared.tools.read().unwrap_or_else(PoisonError::into_inner));
        let wanted = |tool: &&McpTool| match &self.spec.load_tools {
            Some(names) => names.iter().any(|name| *name == tool.name),
            None => true,
        };
        tools.iter().filter(wanted).cloned().collect()
    }

    /// The tools that the file asks for and the server does not have.
    pub(crate) fn missing(&self) -> Vec<String> {
        let tools = self.tools();
        let names = self.spec.load_tools.iter().flatten();
        names.filter(|name| tools.iter().all(|tool| tool.name != **name)).cloned().collect()
    }

    /// Calls a tool.
    pub(crate) async fn call(
        &self,
        tool: &str,
        args: &Map<String, Value>,
        progress: ProgressSender,
    ) -> Result<Value, String> {
        let connection = self.connection().await?;
        let result = connection.call(tool, args, progress).await;
        if connection.is_closed() {
            self.forget(&connection);
        }
        result
    }

    /// Whether the server answers now.
    pub(crate) async fn ready(&self) -> Result<(), String> {
        let connection = self.connection().await?;
        let alive = connection.ping().await;
        if alive.is_err() {
            self.forget(&connection);
        }
        alive.map_err(|error| {
            format!("the MCP server `{}` does not answer: {error}", self.spec.name)
        })
    }

    /// Ends the connection, and the process if there is one.
    pub(crate) async fn close(&self) {
        self.attempts.lock().await.closed = true;
        let connection = self.connection.write().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// The connection that is open, or a new one.
    async fn connection(&self) -> Result<Arc<Connection>, String> {
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let mut attempts = self.attempts.lock().await;
        // Somebody else may have connected while this one waited.
        if let Some(connection) = self.open_connection() {
            return Ok(connection);
        }
        let name = &self.spec.name;
        if attempts.closed {
            return Err(format!("the MCP server `{name}` was closed"));
        }
        if let Some(not_before) = attempts.not_before
            && let Some(pause) = not_before.checked_duration_since(Instant::now())
        {
            let error = &attempts.last_error;
            return Err(format!("{error} (next attempt in {:.1} s)", pause.as_secs_f64()));
        }
        // Greeting a server takes much memory, which calls on an open connection should not pay for.
        match Box::pin(Connection::open(&self.spec, Arc::clone(&self.shared))).await {
            Ok(connection) => {
                *attempts = Attempts::default();
                let connection = Arc::new(connection);
                *self.connection.write().unwrap_or_else(PoisonError::into_inner) =
                    Some(Arc::clone(&connection));
                Ok(connection)
            }
            Err(error) => {
                let error = format!("the MCP server `{name}` cannot be reached: {error}");
                let pause = FIRST_PAUSE.saturating_mul(1 << attempts.failed.min(6));
                attempts.failed = attempts.failed.saturating_add(1);
                attempts.not_before = Some(Instant::now() + pause.min(LONGEST_PAUSE));
                attempts.last_error.clone_from(&error);
                Err(error)
            }
        }
    }

    fn open_connection(&self) -> Option<Arc<Connection>> {
        let connection = self.connection.read().unwrap_or_else(PoisonError::into_inner);
        connection.as_ref().filter(|connection| !connection.is_closed()).map(Arc::clone)
    }

    /// Makes the next call connect anew.
    fn forget(&self, dead: &Arc<Connection>) {
        let mut connection = self.connection.write().unwrap_or_else(PoisonError::into_inner);
        if connection.as_ref().is_some_and(|current| Arc::ptr_eq(current, dead)) {
            *connection = None;
        }
    }
}

impl Shared {
    /// Takes a new list of tools.
    fn set_tools(&self, tools: Vec<McpTool>) {
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(tools);
        self.changes.fetch_add(1, Ordering::Release);
    }
}
