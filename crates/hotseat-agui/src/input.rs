//! What a client sends to run an agent.
//!
//! As lenient as the 1.0 clients need it: `tools`, `context` and `state` may be
//! absent or `null`, and unknown fields are ignored. An unknown role or part is
//! an error that names it, because without it the agent would answer something
//! that nobody asked.

use serde_json::{Map, Value, json};

use crate::fields::Fields;
pub use crate::fields::InputError;
use crate::message::{Message, read_message};

/// How many messages a request may hold.
const MAX_MESSAGES: usize = 10_000;
/// How many tools the client may bring.
const MAX_TOOLS: usize = 512;
/// How many entries of context.
const MAX_CONTEXT: usize = 512;
/// How many interrupts one request may answer.
const MAX_RESUME: usize = 512;

/// The body of a request to run an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct RunAgentInput {
    /// The conversation.
    pub thread_id: String,
    /// The run, named by the client.
    pub run_id: String,
    /// The protocol that the client speaks; absent before 1.0.
    pub protocol_version: Option<String>,
    /// The run that led to this one.
    pub parent_run_id: Option<String>,
    /// The client's state.
    pub state: Option<Value>,
    /// The conversation as the client knows it.
    pub messages: Vec<Message>,
    /// Tools that the client runs.
    pub tools: Vec<Tool>,
    /// What the client wants the agent to know.
    pub context: Vec<Context>,
    /// What the application adds.
    pub forwarded_props: Option<Value>,
    /// Answers to interrupts.
    pub resume: Vec<Resume>,
}

/// A tool that the client runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// The name to call it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: Option<Value>,
}

/// Something that the client wants the agent to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// What it is.
    pub description: String,
    /// What it says.
    pub value: String,
}

/// The answer to an interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct Resume {
    /// The interrupt.
    pub interrupt_id: String,
    /// Whether there is an answer.
    pub status: ResumeStatus,
    /// The answer.
    pub payload: Option<Value>,
    /// What the client added.
    pub metadata: Option<Map<String, Value>>,
}

/// Whether an interrupt was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResumeStatus {
    /// It was.
    Resolved,
    /// Nobody will.
    Cancelled,
}

impl RunAgentInput {
    /// Reads a request.
    pub fn read(value: &Value) -> Result<Self, InputError> {
        let fields = Fields::new(value, "")?;
        if fields.any("messages").is_none() {
            return Err(fields.missing("messages"));
        }
        Ok(Self {
            thread_id: fields.id("threadId")?,
            run_id: fields.id("runId")?,
            protocol_version: fields.text("protocolVersion")?,
            parent_run_id: fields.text("parentRunId")?,
            state: fields.any("state").cloned(),
            messages: fields.list("messages", MAX_MESSAGES, read_message)?,
            tools: fields.list("tools", MAX_TOOLS, read_tool)?,
            context: fields.list("context", MAX_CONTEXT, read_context)?,
            forwarded_props: fields.any("forwardedProps").cloned(),
            resume: fields.list("resume", MAX_RESUME, read_resume)?,
        })
    }
}

impl RunAgentInput {
    /// The request as it was understood, to be sent back: without what is
    /// `null`, unknown or of an older protocol.
    pub fn to_value(&self) -> Value {
        let mut echo = Map::new();
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                echo.insert(key.to_owned(), value);
            }
        };
        set("threadId", Some(self.thread_id.clone().into()));
        set("runId", Some(self.run_id.clone().into()));
        set("protocolVersion", self.protocol_version.clone().map(Value::from));
        set("parentRunId", self.parent_run_id.clone().map(Value::from));
        set("state", self.state.clone());
        set("messages", serde_json::to_value(&self.messages).ok());
        set("tools", Some(self.tools.iter().map(Tool::to_value).collect()));
        let context = self.context.iter().map(
            |Context { description, value }| json!({"description": description, "value": value}),
        );
        set("context", Some(context.collect()));
        set("forwardedProps", self.forwarded_props.clone());
        if !self.resume.is_empty() {
            set("resume", Some(self.resume.iter().map(Resume::to_value).collect()));
        }
        Value::Object(echo)
    }
}

impl Tool {
    fn to_value(&self) -> Value {
        let mut tool = json!({"name": self.name, "description": self.description});
        if let Some(parameters) = &self.parameters {
            tool["parameters"] = parameters.clone();
        }
        tool
    }
}

impl Resume {
    fn to_value(&self) -> Value {
        let status = match self.status {
            ResumeStatus::Resolved => "resolved",
            ResumeStatus::Cancelled => "cancelled",
        };
        let mut resume = json!({"interruptId": self.interrupt_id, "status": status});
        if let Some(payload) = &self.payload {
            resume["payload"] = payload.clone();
        }
        if let Some(metadata) = &self.metadata {
            resume["metadata"] = Value::Object(metadata.clone());
        }
        resume
    }
}

fn read_tool(value: &Value, path: String) -> Result<Tool, InputError> {
    let fields = Fields::new(value, path)?;
    Ok(Tool {
        name: fields.id("name")?,
        description: fields.text("description")?.unwrap_or_default(),
        parameters: fields.object("parameters")?.map(Value::Object),
    })
}

fn read_context(value: &Value, path: String) -> Result<Context, InputError> {
    let fields = Fields::new(value, path)?;
    Ok(Context { description: fields.required("description")?, value: fields.required("value")? })
}

fn read_resume(value: &Value, path: String) -> Result<Resume, InputError> {
    let fields = Fields::new(value, path)?;
    let status = match fields.required("status")?.as_str() {
        "resolved" => ResumeStatus::Resolved,
        "cancelled" => ResumeStatus::Cancelled,
        other => return Err(fields.unknown("status", other, "resolved, cancelled")),
    };
    Ok(Resume {
        interrupt_id: fields.id("interruptId")?,
        status,
        payload: fields.any("payload").cloned(),
        metadata: fields.object("metadata")?,
    })
}
