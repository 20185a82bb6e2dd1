//! What a request asks for, in Hotseat's terms.
//!
//! A client sends the whole conversation every time. Only what the server does
//! not know yet, by the ids of messages, is run; so a request that is sent twice
//! runs nothing twice. Files go to the model as they came: inline, or by their
//! address.

use serde_json::{Value, json};

use crate::input::{Resume, RunAgentInput, Tool};
use crate::message::{Content, ContentPart, Media, Message, MessageBody, Source};

/// How much of a conversation that the server never saw is told to the agent.
const MAX_EARLIER_BYTES: usize = 64 * 1024;

/// What a request asks for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Incoming {
    /// What the user says, as a genai Content; none if nothing new.
    pub user_content: Option<Value>,
    /// Results of tools that the client ran.
    pub tool_results: Vec<ToolResult>,
    /// Answers to interrupts.
    pub resume: Vec<Resume>,
    /// The ids of the messages that are new, for the ledger.
    pub message_ids: Vec<String>,
    /// The client's state.
    pub state: Option<Value>,
    /// Tools that the client runs.
    pub tools: Vec<Tool>,
    /// What belongs into the instruction: the client's context, its system and
    /// developer messages, and a conversation from before this server.
    pub context_text: Option<String>,
}

/// The result of a tool that the client ran.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolResult {
    /// The message that brought it.
    pub message_id: String,
    /// The call.
    pub tool_call_id: String,
    /// The result: JSON if the text is JSON, else the text.
    pub content: Value,
    /// Files that belong to it, as genai Parts.
    pub parts: Vec<Value>,
    /// What went wrong.
    pub error: Option<String>,
}

impl ToolResult {
    /// The `response` of a genai FunctionResponse, which is always an object.
    pub fn response(&self) -> Value {
        match (&self.error, &self.content) {
            (Some(error), Value::Null) => json!({"error": error}),
            (Some(error), content) => json!({"error": error, "result": content}),
            (None, content @ Value::Object(_)) => content.clone(),
            (None, content) => json!({"result": content}),
        }
    }
}

/// Sorts a request. `is_known` says whether a message of that id came before,
/// from the client or from here.
pub fn incoming(input: &RunAgentInput, is_known: &dyn Fn(&str) -> bool) -> Incoming {
    let mut found = Incoming {
        resume: input.resume.clone(),
        state: input.state.clone(),
        tools: input.tools.clone(),
        ..Incoming::default()
    };
    let is_assistant = |message: &Message| matches!(message.body, MessageBody::Assistant { .. });
    let turn = input.messages.iter().rposition(is_assistant).map_or(0, |index| index + 1);
    let mut instructions: Vec<String> = Vec::new();
    let mut earlier: Vec<String> = Vec::new();
    let mut parts: Vec<Value> = Vec::new();
    for (index, message) in input.messages.iter().enumerate() {
        let is_new = !is_known(&message.id);
        match &message.body {
            MessageBody::Developer { content, .. } | MessageBody::System { content, .. } => {
                instructions.push(content.clone());
            }
            MessageBody::User { content, .. } if is_new && index >= turn => {
                parts.extend(genai_parts(content));
            }
            MessageBody::User { content, .. } if is_new => {
                earlier.push(format!("User: {}", plain_text(content)));
            }
            MessageBody::Assistant { content: Some(content), .. } if is_new => {
                earlier.push(format!("Assistant: {content}"));
            }
            MessageBody::Tool { content, tool_call_id, error } if is_new => {
                found.tool_results.push(tool_result(
                    message,
                    tool_call_id,
                    content,
                    error.as_ref(),
                ));
            }
            // Known already, or only a view of the client's.
            MessageBody::User { .. }
            | MessageBody::Assistant { .. }
            | MessageBody::Tool { .. }
            | MessageBody::Activity { .. }
            | MessageBody::Reasoning { .. } => {}
        }
        if is_new {
            found.message_ids.push(message.id.clone());
        }
    }
    found.user_content = (!parts.is_empty()).then(|| user_content(parts));
    let context = input.context.iter().map(|one| format!("{}: {}", one.description, one.value));
    instructions.extend(context);
    instructions.extend(conversation(&earlier));
    found.context_text = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
    found
}

/// What a user says, as a genai Content.
pub fn user_content(parts: Vec<Value>) -> Value {
    // Moved, since some are long.
    Value::from_iter([
        ("role".to_owned(), "user".into()),
        ("parts".to_owned(), Value::Array(parts)),
    ])
}

/// The last lines of a conversation that fit.
fn conversation(lines: &[String]) -> Option<String> {
    let mut size = 0;
    let fits = lines.iter().rev().take_while(|line| {
        size += line.len();
        size <= MAX_EARLIER_BYTES
    });
    let kept = &lines[lines.len() - fits.count()..];
    (!kept.is_empty()).then(|| format!("The conversation so far:\n{}", kept.join("\n")))
}

fn tool_result(
    message: &Message,
    call_id: &str,
    content: &Content,
    error: Option<&String>,
) -> ToolResult {
    let (texts, parts): (Vec<Value>, Vec<Value>) =
        genai_parts(content).into_iter().partition(|part| part.get("text").is_some());
    let text: String = texts.iter().filter_map(|part| part["text"].as_str()).collect();
    let content = match serde_json::from_str(&text) {
        Ok(json) => json,
        Err(_) if text.is_empty() => Value::Null,
        Err(_) => Value::String(text),
    };
    ToolResult {
        message_id: message.id.clone(),
        tool_call_id: call_id.to_owned(),
        content,
        parts,
        error: error.cloned(),
    }
}

fn plain_text(content: &Content) -> String {
    let line = |part: &Value| part["text"].as_str().unwrap_or("[attachment]").to_owned();
    genai_parts(content).iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The content as genai Parts; a text that says nothing is none.
fn genai_parts(content: &Content) -> Vec<Value> {
    match content {
        Content::Text(text) if text.is_empty() => Vec::new(),
        Content::Text(text) => vec![json!({"text": text})],
        Content::Parts(parts) => parts.iter().map(genai_part).collect(),
    }
}

fn genai_part(part: &ContentPart) -> Value {
    let media = match part {
        ContentPart::Text { text } => return json!({"text": text}),
        ContentPart::Image(media)
        | ContentPart::Audio(media)
        | ContentPart::Video(media)
        | ContentPart::Document(media) => media,
    };
    let Media { source, metadata } = media;
    let (field, mut data) = match source {
        Source::Data { value, mime_type } => {
            ("inline_data", json!({"mime_type": mime_type, "data": value}))
        }
        Source::Url { value, mime_type } | Source::File { value, mime_type, .. } => {
            let mut file = json!({"file_uri": value});
            if let Some(mime_type) = mime_type {
                file["mime_type"] = Value::from(mime_type.as_str());
            }
            ("file_data", file)
        }
    };
    let name = metadata.as_ref().and_then(|metadata| metadata.get("filename"));
    if let Some(name) = name.filter(|name| name.is_string()) {
        data["display_name"] = name.clone();
    }
    json!({field: data})
}
