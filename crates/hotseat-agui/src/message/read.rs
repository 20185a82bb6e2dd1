//! Reading messages.

use serde_json::Value;

use super::{Content, ContentPart, Media, Message, MessageBody, Source, ToolCall};
use crate::fields::{Fields, InputError, wrong};

/// How many parts a message may have.
const MAX_PARTS: usize = 1_000;
/// How many calls a message may make.
const MAX_TOOL_CALLS: usize = 1_000;

const ROLES: &str = "developer, system, assistant, user, tool, activity, reasoning";
const PARTS: &str = "text, image, audio, video, document";
const SOURCES: &str = "data, url, file";

/// Reads the message at `path`.
pub(crate) fn read_message(value: &Value, path: String) -> Result<Message, InputError> {
    let fields = Fields::new(value, path)?;
    let role = fields.required("role")?;
    let body = match role.as_str() {
        "developer" => MessageBody::Developer {
            content: fields.required("content")?,
            name: fields.text("name")?,
        },
        "system" => {
            MessageBody::System { content: fields.required("content")?, name: fields.text("name")? }
        }
        "assistant" => MessageBody::Assistant {
            content: fields.text("content")?,
            name: fields.text("name")?,
            tool_calls: fields.list("toolCalls", MAX_TOOL_CALLS, read_call)?,
            encrypted_value: fields.text("encryptedValue")?,
        },
        "user" => MessageBody::User { content: read_content(&fields)?, name: fields.text("name")? },
        "tool" => MessageBody::Tool {
            content: read_content(&fields)?,
            tool_call_id: fields.id("toolCallId")?,
            error: fields.text("error")?,
        },
        "activity" => MessageBody::Activity {
            activity_type: fields.required("activityType")?,
            content: fields.object("content")?.ok_or_else(|| fields.missing("content"))?,
        },
        "reasoning" => MessageBody::Reasoning {
            content: fields.required("content")?,
            encrypted_value: fields.text("encryptedValue")?,
        },
        other => return Err(fields.unknown("role", other, ROLES)),
    };
    Ok(Message {
        id: fields.id("id")?,
        body,
        subagent_run_id: fields.text("subagentRunId")?,
        metadata: fields.object("metadata")?,
    })
}

fn read_call(value: &Value, path: String) -> Result<ToolCall, InputError> {
    let fields = Fields::new(value, path)?;
    let function = fields.any("function").ok_or_else(|| fields.missing("function"))?;
    let function = Fields::new(function, fields.path("function"))?;
    let mut call = ToolCall::new(
        fields.id("id")?,
        function.required("name")?,
        function.required("arguments")?,
    );
    call.encrypted_value = fields.text("encryptedValue")?;
    Ok(call)
}

fn read_content(fields: &Fields<'_>) -> Result<Content, InputError> {
    match fields.any("content") {
        None => Err(fields.missing("content")),
        Some(Value::String(text)) => Ok(Content::Text(text.clone())),
        Some(Value::Array(_)) => fields.list("content", MAX_PARTS, read_part).map(Content::Parts),
        Some(other) => Err(wrong(fields.path("content"), "a string or an array", other)),
    }
}

fn read_part(value: &Value, path: String) -> Result<ContentPart, InputError> {
    let fields = Fields::new(value, path)?;
    let kind = fields.required("type")?;
    let part: fn(Media) -> ContentPart = match kind.as_str() {
        "text" => return Ok(ContentPart::Text { text: fields.required("text")? }),
        "image" => ContentPart::Image,
        "audio" => ContentPart::Audio,
        "video" => ContentPart::Video,
        "document" => ContentPart::Document,
        "binary" => return read_binary(&fields),
        other => return Err(fields.unknown("type", other, PARTS)),
    };
    let source = fields.any("source").ok_or_else(|| fields.missing("source"))?;
    let source = read_source(source, fields.path("source"))?;
    Ok(part(Media { source, metadata: fields.any("metadata").cloned() }))
}

fn read_source(value: &Value, path: String) -> Result<Source, InputError> {
    let fields = Fields::new(value, path)?;
    let kind = fields.required("type")?;
    match kind.as_str() {
        "data" => {
            let value = base64(&fields, "value")?;
            Ok(Source::Data { value, mime_type: fields.required("mimeType")? })
        }
        "url" => {
            let (value, mime_type) = (fields.required("value")?, fields.text("mimeType")?);
            Ok(from_data_url(&value).unwrap_or(Source::Url { value, mime_type }))
        }
        "file" => Ok(Source::File {
            value: fields.required("value")?,
            provider: fields.text("provider")?,
            mime_type: fields.text("mimeType")?,
        }),
        other => Err(fields.unknown("type", other, SOURCES)),
    }
}

/// The part of clients before 1.0: the kind is in the MIME type, and the bytes
/// are here, under a URL, or known by an id.
fn read_binary(fields: &Fields<'_>) -> Result<ContentPart, InputError> {
    let mime_type = fields.required("mimeType")?;
    let source = if fields.any("data").is_some() {
        Source::Data { value: base64(fields, "data")?, mime_type }
    } else if let Some(url) = fields.text("url")? {
        from_data_url(&url).unwrap_or(Source::Url { value: url, mime_type: Some(mime_type) })
    } else if let Some(id) = fields.text("id")? {
        Source::File { value: id, provider: None, mime_type: Some(mime_type) }
    } else {
        return Err(fields.missing("data"));
    };
    let filename = fields.text("filename")?;
    Ok(ContentPart::media(source, filename.map(|name| serde_json::json!({"filename": name}))))
}

/// `data:image/png;base64,…` holds the bytes, so nobody has to fetch them.
fn from_data_url(url: &str) -> Option<Source> {
    let (head, value) = url.strip_prefix("data:")?.split_once(',')?;
    let mime_type = head.strip_suffix(";base64")?;
    is_base64(value)
        .then(|| Source::Data { value: value.to_owned(), mime_type: mime_type.to_owned() })
}

fn base64(fields: &Fields<'_>, name: &str) -> Result<String, InputError> {
    let value = fields.required(name)?;
    if is_base64(&value) {
        return Ok(value);
    }
    let found = "other text".to_owned();
    Err(InputError::Wrong { path: fields.path(name), expected: "base64", found })
}

/// The alphabet and the padding; both alphabets are in use.
fn is_base64(value: &str) -> bool {
    let digits = value.trim_end_matches('=');
    let known = |byte: u8| byte.is_ascii_alphanumeric() || b"+/-_".contains(&byte);
    value.len() - digits.len() <= 2 && digits.bytes().all(known) && digits.len() % 4 != 1
}
