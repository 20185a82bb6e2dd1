//! Messages and their parts.
//!
//! The same message comes in from a client and goes out in a snapshot. Reading
//! is by hand, in `read.rs`, so that what a client sent and Hotseat does not
//! know is named and never dropped.

mod read;

use serde::Serialize;
use serde_json::{Map, Value};

pub(crate) use read::read_message;

/// A message of the conversation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Message {
    /// Its id.
    pub id: String,
    /// Who says it, and what.
    #[serde(flatten)]
    pub body: MessageBody,
    /// The sub-agent that it belongs to.
    #[serde(rename = "subagentRunId", skip_serializing_if = "Option::is_none")]
    pub subagent_run_id: Option<String>,
    /// What the sender added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Map<String, Value>>,
}

/// Who says a message, and what.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "role", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields have the protocol's names and meaning")]
pub enum MessageBody {
    /// Whoever built the application.
    Developer {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// The system.
    System {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// An agent.
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_value: Option<String>,
    },
    /// The user.
    User {
        content: Content,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A tool.
    Tool {
        content: Content,
        tool_call_id: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// Something beside the conversation.
    Activity { activity_type: String, content: Map<String, Value> },
    /// A thought.
    Reasoning {
        content: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        encrypted_value: Option<String>,
    },
}

/// A call that an assistant message makes.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolCall {
    /// Its id.
    pub id: String,
    #[serde(rename = "type")]
    kind: FunctionType,
    /// The tool and its arguments.
    pub function: FunctionCall,
    /// A thought that only the provider can read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encrypted_value: Option<String>,
}

/// A tool and its arguments.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FunctionCall {
    /// The tool.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

/// The only type of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum FunctionType {
    Function,
}

/// What a user says or a tool answers: a text, or parts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// A text.
    Text(String),
    /// Several parts.
    Parts(Vec<ContentPart>),
}

/// A part of a content.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum ContentPart {
    /// A text.
    Text {
        /// The words.
        text: String,
    },
    /// A picture.
    Image(Media),
    /// A sound.
    Audio(Media),
    /// A film.
    Video(Media),
    /// Any other file.
    Document(Media),
}

/// A part that is a file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Media {
    /// Where its bytes are.
    pub source: Source,
    /// What the sender added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Value>,
}

/// Where the bytes of a file are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "lowercase", rename_all_fields = "camelCase")]
#[expect(missing_docs, reason = "the fields have the protocol's names and meaning")]
pub enum Source {
    /// Here, in base64.
    Data { value: String, mime_type: String },
    /// Under a URL.
    Url {
        value: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// At the model's provider.
    File {
        value: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        provider: Option<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
}

impl Message {
    /// A message that nobody added anything to.
    pub fn new(id: impl Into<String>, body: MessageBody) -> Self {
        Self { id: id.into(), body, subagent_run_id: None, metadata: None }
    }
}

impl ToolCall {
    /// A call.
    pub fn new(id: impl Into<String>, name: impl Into<String>, arguments: String) -> Self {
        Self {
            id: id.into(),
            kind: FunctionType::Function,
            function: FunctionCall { name: name.into(), arguments },
            encrypted_value: None,
        }
    }
}

impl ContentPart {
    /// A file as the kind of part that its MIME type says.
    pub fn media(source: Source, metadata: Option<Value>) -> Self {
        let mime_type = match &source {
            Source::Data { mime_type, .. } => Some(mime_type.as_str()),
            Source::Url { mime_type, .. } | Source::File { mime_type, .. } => mime_type.as_deref(),
        };
        let part = match mime_type.and_then(|mime_type| mime_type.split('/').next()) {
            Some("image") => Self::Image,
            Some("audio") => Self::Audio,
            Some("video") => Self::Video,
            _ => Self::Document,
        };
        part(Media { source, metadata })
    }
}
