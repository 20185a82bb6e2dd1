//! What a run asks of the one who hosts it: answers to model requests, a log,
//! Python functions, and a way to stop.
//!
//! The loop knows no store and no transport. It hands out ADK events in order
//! and goes on once they are durable, so whatever it did can be read back from
//! the log.

use std::path::Path;

use async_trait::async_trait;
use serde_json::{Map, Value};

use crate::instruction::MissingState;
use crate::model::SeatAnswer;

/// What a run starts from.
#[derive(Debug, Clone, Default)]
pub struct RunInput {
    /// ADK's id of the run.
    pub invocation_id: String,
    /// Whose session it is.
    pub user_id: String,
    /// The session.
    pub session_id: String,
    /// The session's state, with the prefixes `app:` and `user:`.
    pub state: Map<String, Value>,
    /// The raw ADK events of the session so far, oldest first. The new user
    /// event is among them, as the last one or ones.
    pub history: Vec<Value>,
    /// Tools that the caller runs itself.
    pub client_tools: Vec<ClientTool>,
}

/// A tool that the caller runs: a call of it ends the run, and its result
/// comes with the next one.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientTool {
    /// Its name.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// Its parameters as JSON Schema.
    pub parameters: Value,
}

/// One model request that waits for an answer.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnRequest {
    /// A new UUID.
    pub turn_id: String,
    /// The agent that asks.
    pub agent_name: String,
    /// The branch, where agents run side by side.
    pub branch: Option<String>,
    /// ADK's `LlmRequest`.
    pub request: Value,
}

/// How a run ended.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunEnd {
    /// The events of the last step, not yet kept, so that they can be stored
    /// together with the end of the run.
    pub last_events: Vec<Value>,
    /// The calls of the caller's own tools that wait for their results.
    pub pending_call_ids: Vec<String>,
}

/// Hosts runs.
#[async_trait]
pub trait Host: Send + Sync {
    /// Lets whoever is in the seat answer one model request.
    async fn answer(&self, turn: &TurnRequest) -> Result<SeatAnswer, RunError>;

    /// Stores raw ADK events, in order. They are durable when it returns.
    async fn keep(&self, events: Vec<Value>) -> Result<(), RunError>;

    /// Tells that a tool starts, makes progress or ends; the payload is that of
    /// a `tool_run` event.
    async fn tool_run(&self, run: Value) -> Result<(), RunError>;

    /// Resolves when the call with this id should stop; without an id, when the
    /// whole run should.
    async fn cancelled(&self, call_id: Option<&str>);

    /// The time, in seconds since 1970. A host with a clock of its own gives that.
    fn now(&self) -> f64 {
        #[expect(
            clippy::disallowed_methods,
            reason = "only for hosts without a clock of their own"
        )]
        let now = std::time::SystemTime::now();
        now.duration_since(std::time::UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64())
    }
}

/// Runs Python functions, in a worker that is attached.
#[async_trait]
pub trait Functions: Send + Sync {
    /// What a function is called and takes: a genai FunctionDeclaration.
    async fn declaration(&self, file: &Path, function: &str) -> Result<Value, String>;

    /// Calls a function. An error is what the model is told.
    async fn call(&self, file: &Path, function: &str, args: &Value) -> Result<Value, String>;
}

/// Why a run came to no answer.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Somebody stopped it.
    #[error("the run was cancelled")]
    Cancelled,
    /// It went on for too long.
    #[error(
        "the agent `{agent}` made {steps} model requests without coming to an answer: raise `limits.max_steps` if it needs more"
    )]
    TooManySteps {
        /// The agent.
        agent: String,
        /// How many it may make.
        steps: u32,
    },
    /// The state lacks what the instruction needs.
    #[error(transparent)]
    Instruction(#[from] MissingState),
    /// The final answer is not what the agent promises.
    #[error("the answer of `{agent}` does not satisfy its response_format: {reason}")]
    Output {
        /// The agent.
        agent: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The seat gave an answer that is no model content.
    #[error("the answer to the model request cannot be used: {reason}")]
    Answer {
        /// What is wrong with it.
        reason: String,
    },
    /// The model in the seat failed.
    #[error(transparent)]
    Model(#[from] crate::model::ModelError),
    /// The host could not do its part.
    #[error("{message}")]
    Host {
        /// What it could not do.
        message: String,
        /// Why.
        #[source]
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    },
}

impl RunError {
    /// The host could not do its part.
    pub fn host(message: impl Into<String>) -> Self {
        Self::Host { message: message.into(), source: None }
    }

    /// A stable word for the error.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Cancelled => "cancelled",
            Self::TooManySteps { .. } => "too_many_steps",
            Self::Instruction(_) => "missing_state",
            Self::Output { .. } => "invalid_output",
            Self::Answer { .. } => "invalid_answer",
            Self::Model(_) => "model_error",
            Self::Host { .. } => "host_error",
        }
    }
}
