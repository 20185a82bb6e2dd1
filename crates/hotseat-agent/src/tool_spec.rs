//! The tools that a file gives to an agent, checked but not connected.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::spec::{ModelSpec, Secret};

/// How long one call of an MCP tool may take, if the file says nothing.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_mins(1);
/// How long an MCP server may take to start, if the file says nothing.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// One entry of `tools`.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolSpec {
    /// All tools of an MCP server.
    Mcp(McpSpec),
    /// A template that a model answers.
    Prompt(PromptSpec),
    /// A Python function, run by a worker.
    Function(FunctionSpec),
}

/// An MCP server.
#[derive(Debug, Clone, PartialEq)]
pub struct McpSpec {
    /// What the server is called in messages.
    pub name: String,
    /// How it is reached.
    pub transport: McpTransport,
    /// The tools that are offered; all, if it is missing.
    pub load_tools: Option<Vec<String>>,
    /// Put before the names of its tools.
    pub prefix: Option<String>,
    /// How long one call may take.
    pub request_timeout: Duration,
    /// How long the server may take to start.
    pub connect_timeout: Duration,
}

/// How an MCP server is reached.
#[derive(Debug, Clone, PartialEq)]
pub enum McpTransport {
    /// A child process that talks over its standard input and output.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets besides PATH, HOME and the like.
        env: BTreeMap<String, Secret>,
        /// Where it runs.
        cwd: PathBuf,
    },
    /// A server over streamable HTTP.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request.
        headers: BTreeMap<String, Secret>,
    },
}

/// A template that a model answers.
#[derive(Debug, Clone, PartialEq)]
pub struct PromptSpec {
    /// The tool's name.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// The text, with `{{parameter}}` in it.
    pub template: String,
    /// Its parameters as JSON Schema.
    pub parameters: Value,
    /// The model, where it is not the agent's.
    pub model: Option<ModelSpec>,
}

/// A Python function.
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionSpec {
    /// The tool's name.
    pub name: String,
    /// What the model is told about it; the function's own text, if missing.
    pub description: Option<String>,
    /// The file that holds it.
    pub file: PathBuf,
    /// The function in the file.
    pub function: String,
    /// Its parameters as JSON Schema; derived from its type hints, if missing.
    pub parameters: Option<Value>,
}
