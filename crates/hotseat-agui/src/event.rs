//! The 31 events of AG-UI 1.0.
//!
//! An [`Event`] is a [`Body`], which differs, and what every event may carry
//! beside it. Optional fields are left out when they are absent, because the
//! reference client takes `null` in most of them for a broken stream. Events
//! are only written here, never read, so there is no leniency to get wrong.

use serde::Serialize;
use serde_json::{Map, Value};

use crate::message::{Content, Message};
use crate::outcome::{Outcome, SubagentOutcome, Usage};
use crate::patch::Op;

/// One event on its way to a client.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// What happened.
    #[serde(flatten)]
    pub body: Body,
    /// The sub-agent that did it; absent for the root agent, and for events of
    /// the run itself and of a sub-agent's own life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<String>,
    /// Milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<i64>,
    /// What the sender wants to add.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
    /// What the event was made of.
    #[serde(skip_serializing_if = "is_absent")]
    pub raw_event: Option<Value>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields have the protocol's names and meaning")]
pub enum Body {
    /// The run begins.
    RunStarted {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        protocol_version: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_run_id: Option<String>,
        #[serde(skip_serializing_if = "is_absent")]
        input: Option<Value>,
    },
    /// The run came to its end.
    RunFinished {
        thread_id: String,
        run_id: String,
        #[serde(skip_serializing_if = "is_absent")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<Outcome>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<Usage>,
    },
    /// The run failed.
    RunError {
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        usage: Vec<Usage>,
    },
    /// A step begins.
    StepStarted { step_name: String },
    /// A step ends.
    StepFinished { step_name: String },
    /// A text begins.
    TextMessageStart {
        message_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<TextRole>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// More of a text.
    TextMessageContent { message_id: String, delta: String },
    /// A text is complete.
    TextMessageEnd { message_id: String },
    /// A text in shorthand.
    TextMessageChunk {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<TextRole>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A tool is called.
    ToolCallStart {
        tool_call_id: String,
        tool_call_name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
    },
    /// More of a call's arguments.
    ToolCallArgs { tool_call_id: String, delta: String },
    /// A call's arguments are complete.
    ToolCallEnd { tool_call_id: String },
    /// A call in shorthand.
    ToolCallChunk {
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        tool_call_name: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<String>,
    },
    /// A tool answered.
    ToolCallResult {
        message_id: String,
        tool_call_id: String,
        content: Content,
        #[serde(skip_serializing_if = "Option::is_none")]
        role: Option<ToolRole>,
    },
    /// The state as a whole.
    StateSnapshot { snapshot: Value },
    /// What changed in the state.
    StateDelta { delta: Vec<Op> },
    /// The conversation as a whole.
    MessagesSnapshot { messages: Vec<Message> },
    /// Something that goes on beside the conversation, as a whole.
    ActivitySnapshot {
        message_id: String,
        activity_type: String,
        content: Map<String, Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        replace: Option<bool>,
    },
    /// What changed in an activity.
    ActivityDelta { message_id: String, activity_type: String, patch: Vec<Op> },
    /// The model begins to think.
    ReasoningStart { message_id: String },
    /// A thought begins.
    ReasoningMessageStart { message_id: String, role: ReasoningRole },
    /// More of a thought.
    ReasoningMessageContent { message_id: String, delta: String },
    /// A thought is complete.
    ReasoningMessageEnd { message_id: String },
    /// A thought in shorthand.
    ReasoningMessageChunk {
        #[serde(skip_serializing_if = "Option::is_none")]
        message_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        delta: Option<String>,
    },
    /// The model stops thinking.
    ReasoningEnd { message_id: String },
    /// A thought that only the provider can read.
    ReasoningEncryptedValue {
        subtype: EncryptedSubtype,
        entity_id: String,
        encrypted_value: String,
    },
    /// A sub-agent begins its work.
    SubagentStarted {
        #[serde(rename = "subagentRunId")]
        id: String,
        name: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_subagent_run_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_tool_call_id: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_message_id: Option<String>,
    },
    /// A sub-agent's work in this run ends.
    SubagentFinished {
        #[serde(rename = "subagentRunId")]
        id: String,
        #[serde(skip_serializing_if = "is_absent")]
        result: Option<Value>,
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<SubagentOutcome>,
    },
    /// A sub-agent failed.
    SubagentError {
        #[serde(rename = "subagentRunId")]
        id: String,
        message: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// An event of another system, as it is.
    Raw {
        event: Value,
        #[serde(skip_serializing_if = "Option::is_none")]
        source: Option<String>,
    },
    /// Something that AG-UI has no event for.
    Custom { name: String, value: Value },
}

/// Who a streamed text is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TextRole {
    /// Whoever built the application.
    Developer,
    /// The system.
    System,
    /// The agent.
    Assistant,
    /// The user.
    User,
}

/// The only role of a tool's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolRole {
    /// A tool.
    Tool,
}

/// The only role of a thought.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ReasoningRole {
    /// A thought.
    Reasoning,
}

/// What an encrypted value belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EncryptedSubtype {
    /// A tool call.
    ToolCall,
    /// A text or a thought.
    Message,
}

impl Event {
    /// An event of the root agent or of the run.
    pub fn new(body: Body) -> Self {
        Self { body, subagent_run_id: None, timestamp: None, metadata: None, raw_event: None }
    }

    /// An event of a sub-agent, if there is one.
    pub fn of(owner: Option<&str>, body: Body) -> Self {
        Self { subagent_run_id: owner.map(str::to_owned), ..Self::new(body) }
    }

    /// Whether the run is over with it.
    pub fn is_terminal(&self) -> bool {
        matches!(self.body, Body::RunFinished { .. } | Body::RunError { .. })
    }
}

/// `null` is not sent where the protocol has "any value".
#[expect(clippy::ref_option, reason = "serde passes the field by reference")]
fn is_absent(value: &Option<Value>) -> bool {
    value.as_ref().is_none_or(Value::is_null)
}

impl Body {
    /// The protocol's name of it.
    pub const fn name(&self) -> &'static str {
        match self {
            Body::RunStarted { .. } => "RUN_STARTED",
            Body::RunFinished { .. } => "RUN_FINISHED",
            Body::RunError { .. } => "RUN_ERROR",
            Body::StepStarted { .. } => "STEP_STARTED",
            Body::StepFinished { .. } => "STEP_FINISHED",
            Body::TextMessageStart { .. } => "TEXT_MESSAGE_START",
            Body::TextMessageContent { .. } => "TEXT_MESSAGE_CONTENT",
            Body::TextMessageEnd { .. } => "TEXT_MESSAGE_END",
            Body::TextMessageChunk { .. } => "TEXT_MESSAGE_CHUNK",
            Body::ToolCallStart { .. } => "TOOL_CALL_START",
            Body::ToolCallArgs { .. } => "TOOL_CALL_ARGS",
            Body::ToolCallEnd { .. } => "TOOL_CALL_END",
            Body::ToolCallChunk { .. } => "TOOL_CALL_CHUNK",
            Body::ToolCallResult { .. } => "TOOL_CALL_RESULT",
            Body::StateSnapshot { .. } => "STATE_SNAPSHOT",
            Body::StateDelta { .. } => "STATE_DELTA",
            Body::MessagesSnapshot { .. } => "MESSAGES_SNAPSHOT",
            Body::ActivitySnapshot { .. } => "ACTIVITY_SNAPSHOT",
            Body::ActivityDelta { .. } => "ACTIVITY_DELTA",
            Body::ReasoningStart { .. } => "REASONING_START",
            Body::ReasoningMessageStart { .. } => "REASONING_MESSAGE_START",
            Body::ReasoningMessageContent { .. } => "REASONING_MESSAGE_CONTENT",
            Body::ReasoningMessageEnd { .. } => "REASONING_MESSAGE_END",
            Body::ReasoningMessageChunk { .. } => "REASONING_MESSAGE_CHUNK",
            Body::ReasoningEnd { .. } => "REASONING_END",
            Body::ReasoningEncryptedValue { .. } => "REASONING_ENCRYPTED_VALUE",
            Body::SubagentStarted { .. } => "SUBAGENT_STARTED",
            Body::SubagentFinished { .. } => "SUBAGENT_FINISHED",
            Body::SubagentError { .. } => "SUBAGENT_ERROR",
            Body::Raw { .. } => "RAW",
            Body::Custom { .. } => "CUSTOM",
        }
    }
}
