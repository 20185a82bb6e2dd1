//! Native agents: an agent.yaml, run in this process.
//!
//! [`AgentFile`] is what a file says, [`NativeAgent`] the same with its tools
//! connected, and [`NativeAgent::run`] the loop. Who answers the model's
//! requests is not decided here: the loop asks its [`Host`], and the host asks a
//! person, a recording, or [`NativeAgent::model`]. Everything that a model sees
//! or says has ADK's shapes, so the same log serves both kinds of agents.

mod agent;
mod contents;
mod file;
mod host;
mod instruction;
mod mcp;
mod model;
mod prompt;
pub mod provider;
mod run;
mod spec;
mod tool;
mod tool_spec;

pub use agent::{NativeAgent, OpenError, Unready};
pub use file::{AgentFile, AgentLimits, FileProblem, looks_native};
pub use host::{ClientTool, Functions, Host, RunEnd, RunError, RunInput, TurnRequest};
pub use instruction::MissingState;
pub use model::{Model, ModelError, SeatAnswer};
pub use spec::{
    DEFAULT_IDLE_TIMEOUT, DEFAULT_RETRIES, DEFAULT_TIMEOUT, ModelSpec, ProviderKind, Secret,
};
pub use tool::ToolCard;
pub use tool_spec::{
    DEFAULT_CONNECT_TIMEOUT, DEFAULT_REQUEST_TIMEOUT, FunctionSpec, McpSpec, McpTransport,
    PromptSpec, ToolSpec,
};
