//! A small MCP server for tests, over standard input and output or, with
//! `--http`, over streamable HTTP. In that case its address is the first line
//! of its output. `--port` chooses the port, so that a server can come back
//! where it was.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, JsonObject, ListToolsResult, PaginatedRequestParams, ProgressNotificationParam,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{ServerHandler, ServiceExt as _};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

/// One pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

#[derive(Clone, Default)]
struct Server(Arc<State>);

struct State {
    calls: AtomicU32,
    grown: AtomicBool,
    /// Gets a permit for every call that was cancelled.
    cancelled: Semaphore,
}

impl Default for State {
    fn default() -> Self {
        Self {
            calls: AtomicU32::new(0),
            grown: AtomicBool::new(false),
            cancelled: Semaphore::new(0),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities =
            ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("test", "1"))
    }

    async fn list_tools(
        &self,
        page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut tools = tools(self.0.grown.load(Ordering::SeqCst));
        // Two pages, so that a client that reads only one is noticed.
        let second = tools.split_off(3);
        let cursor = page.and_then(|page| page.cursor);
        let mut list = ListToolsResult::default();
        match cursor.as_deref() {
            None => {
                list.tools = tools;
                list.next_cursor = Some("2".to_owned());
            }
            Some(_) => list.tools = second,
        }
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.0.calls.fetch_add(1, Ordering::SeqCst);
        let args = Value::Object(request.arguments.clone().unwrap_or_default());
        let text = |text: String| CallToolResult::success(vec![ContentBlock::text(text)]);
        let number = |key: &str| args.get(key).and_then(Value::as_i64).unwrap_or_default();
        let result = match request.name.as_ref() {
            "add" => {
                let sum = number("a") + number("b");
                let mut result = text(sum.to_string());
                result.structured_content = Some(json!({"sum": sum}));
                result
            }
            "echo" => text(args.get("text").and_then(Value::as_str).unwrap_or_default().to_owned()),
            "slow" => self.slow(&request, number("steps"), &context).await,
            "hang" => {
                self.slow(&request, 1, &context).await;
                context.ct.cancelled().await;
                self.0.cancelled.add_permits(1);
                text("cancelled".to_owned())
            }
            "wait_for_cancel" => {
                let permit = self.0.cancelled.acquire().await;
                let seen = permit.map(tokio::sync::SemaphorePermit::forget).is_ok();
                text(seen.to_string())
            }
            "fail" => CallToolResult::error(vec![ContentBlock::text("it cannot be done")]),
            "image" => CallToolResult::success(vec![
                ContentBlock::text("a pixel"),
                ContentBlock::image(PNG, "image/png"),
            ]),
            "variables" => {
                let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
                text(names.join(" "))
            }
            "grow" => {
                self.0.grown.store(true, Ordering::SeqCst);
                let _ = context.peer.notify_tool_list_changed().await;
                text("grown".to_owned())
            }
            "die" => std::process::abort(),
            other => {
                return Err(ErrorData::invalid_params(format!("no tool `{other}`"), None));
            }
        };
        Ok(CallToolResponse::Complete(result))
    }
}

impl Server {
    async fn slow(
        &self,
        request: &CallToolRequestParams,
        steps: i64,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResult {
        let token = context.meta.get_progress_token();
        for step in 1..=steps {
            if let Some(token) = &token {
                #[expect(clippy::cast_precision_loss, reason = "a handful of steps")]
                let param = ProgressNotificationParam::new(token.clone(), step as f64)
                    .with_total(steps as f64)
                    .with_message(format!("step {step} of {}", request.name));
                let _ = context.peer.notify_progress(param).await;
            }
            tokio::task::yield_now().await;
        }
        CallToolResult::success(vec![ContentBlock::text("done")])
    }
}

fn tools(grown: bool) -> Vec<Tool> {
    let any = || json!({"type": "object"});
    let numbers = json!({
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    });
    let text = json!({
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    });
    let mut tools = vec![
        tool("add", "Adds two numbers.", numbers),
        tool("echo", "Says it again.", text),
        tool("slow", "Takes its time.", any()),
        tool("hang", "Never ends by itself.", any()),
        tool("wait_for_cancel", "Ends when a call was cancelled.", any()),
        tool("fail", "Fails.", any()),
        tool("image", "Shows a pixel.", any()),
        tool("variables", "Names the variables of the process.", any()),
        tool("grow", "Brings another tool.", any()),
        tool("die", "Ends the server.", any()),
    ];
    if grown {
        tools.push(tool("late", "Came later.", any()));
    }
    tools
}

fn tool(name: &'static str, description: &'static str, schema: Value) -> Tool {
    let schema: JsonObject = serde_json::from_value(schema).unwrap_or_default();
    Tool::new(name, description, Arc::new(schema))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    if args.iter().any(|arg| arg == "--broken") {
        return Err("the test server was told to fail".into());
    }
    if !args.iter().any(|arg| arg == "--http") {
        let service = Server::default().serve(rmcp::transport::stdio()).await?;
        service.waiting().await?;
        return Ok(());
    }
    let port = args.iter().skip_while(|arg| *arg != "--port").nth(1);
    let port: u16 = port.map_or(Ok(0), |port| port.parse())?;
    let state = Server::default();
    let service = StreamableHttpService::new(
        move || Ok(state.clone()),
        Arc::new(LocalSessionManager::default()),
        StreamableHttpServerConfig::default(),
    );
    let router =
        axum::Router::new().nest_service("/mcp", service).layer(axum::middleware::from_fn(
            |request: axum::extract::Request, next: axum::middleware::Next| async {
                // A server that wants a key, as most do.
                if request.headers().get("x-key").is_none_or(|key| key != "secret") {
                    return Err(axum::http::StatusCode::UNAUTHORIZED);
                }
                Ok(next.run(request).await)
            },
        ));
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    #[expect(clippy::print_stdout, reason = "its address is what it prints")]
    {
        println!("http://{}/mcp", listener.local_addr()?);
    }
    axum::serve(listener, router).await?;
    Ok(())
}
