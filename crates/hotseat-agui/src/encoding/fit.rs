//! Events that are too large, made smaller.

use serde_json::{Map, Value, json};

use super::MAX_FRAME_BYTES;
use crate::event::{Body, Event};
use crate::message::{Content, ContentPart, Media, Message, MessageBody, Source};
use crate::translator::MEDIA_ACTIVITY;

/// How long a piece of a delta may be. A character takes up to six bytes in
/// JSON, and the rest of the event needs room too.
const PIECE_BYTES: usize = MAX_FRAME_BYTES / 8;

/// What to send instead of an event of `bytes`; nothing if there is no way.
pub(super) fn smaller(event: &Event, bytes: usize) -> Vec<Event> {
    let mut event = event.clone();
    // What others added goes first: nothing depends on it.
    event.raw_event = None;
    event.metadata = None;
    let note = || format!("left out: the event would take {bytes} bytes; the session's log has it");
    match &mut event.body {
        Body::TextMessageContent { delta, .. }
        | Body::ToolCallArgs { delta, .. }
        | Body::ReasoningMessageContent { delta, .. } => {
            let delta = std::mem::take(delta);
            return split(&delta).map(|piece| with_delta(&event, piece)).collect();
        }
        Body::ToolCallResult { content, .. } => {
            *content = Content::Text(json!({"omitted": note()}).to_string());
        }
        Body::Custom { value, .. } | Body::Raw { event: value, .. } => {
            *value = json!({"omitted": note()});
        }
        Body::ActivitySnapshot { content, .. } => {
            *content = Map::from_iter([("omitted".to_owned(), Value::String(note()))]);
        }
        Body::MessagesSnapshot { messages } => messages.iter_mut().for_each(leave_files_out),
        Body::RunStarted { input, .. } => *input = None,
        Body::RunFinished { result, .. } | Body::SubagentFinished { result, .. } => *result = None,
        Body::RunError { message, .. } | Body::SubagentError { message, .. } => {
            let end = split(message).next().map_or(0, str::len);
            message.truncate(end);
        }
        // Half a state would be a lie, and a piece of these others is an id or
        // a name, which nobody may change.
        Body::StateSnapshot { .. }
        | Body::StateDelta { .. }
        | Body::ActivityDelta { .. }
        | Body::StepStarted { .. }
        | Body::StepFinished { .. }
        | Body::TextMessageStart { .. }
        | Body::TextMessageEnd { .. }
        | Body::TextMessageChunk { .. }
        | Body::ToolCallStart { .. }
        | Body::ToolCallEnd { .. }
        | Body::ToolCallChunk { .. }
        | Body::ReasoningStart { .. }
        | Body::ReasoningMessageStart { .. }
        | Body::ReasoningMessageEnd { .. }
        | Body::ReasoningMessageChunk { .. }
        | Body::ReasoningEnd { .. }
        | Body::ReasoningEncryptedValue { .. }
        | Body::SubagentStarted { .. } => {}
    }
    vec![event]
}

/// Leaves the bytes of files out of a message and says so in their place. What
/// was said stays, and a file that is somewhere else does, too.
fn leave_files_out(message: &mut Message) {
    match &mut message.body {
        MessageBody::User { content: Content::Parts(parts), .. }
        | MessageBody::Tool { content: Content::Parts(parts), .. } => {
            for part in parts {
                if let Some(note) = file_note(part) {
                    *part = ContentPart::Text { text: note };
                }
            }
        }
        MessageBody::Activity { activity_type, content } if activity_type == MEDIA_ACTIVITY => {
            let part = content.get("part");
            let bytes = part.and_then(|part| part.pointer("/source/value")?.as_str());
            if let Some(bytes) = bytes.map(str::len).filter(|_| is_inline(part)) {
                let text = left_out("file", bytes);
                content.insert("part".to_owned(), json!({"type": "text", "text": text}));
            }
        }
        MessageBody::User { .. }
        | MessageBody::Tool { .. }
        | MessageBody::Activity { .. }
        | MessageBody::Developer { .. }
        | MessageBody::System { .. }
        | MessageBody::Assistant { .. }
        | MessageBody::Reasoning { .. } => {}
    }
}

fn is_inline(part: Option<&Value>) -> bool {
    part.and_then(|part| part.pointer("/source/type")) == Some(&json!("data"))
}

/// What stands for a file whose bytes are in the message.
fn file_note(part: &ContentPart) -> Option<String> {
    let (kind, Media { source, .. }) = match part {
        ContentPart::Text { .. } => return None,
        ContentPart::Image(media) => ("image", media),
        ContentPart::Audio(media) => ("audio", media),
        ContentPart::Video(media) => ("video", media),
        ContentPart::Document(media) => ("document", media),
    };
    match source {
        Source::Data { value, .. } => Some(left_out(kind, value.len())),
        Source::Url { .. } | Source::File { .. } => None,
    }
}

fn left_out(kind: &str, base64: usize) -> String {
    let bytes = base64 / 4 * 3;
    format!("[{kind} of {bytes} bytes left out: the session's log has it]")
}

fn with_delta(event: &Event, piece: &str) -> Event {
    let mut event = event.clone();
    if let Body::TextMessageContent { delta, .. }
    | Body::ToolCallArgs { delta, .. }
    | Body::ReasoningMessageContent { delta, .. } = &mut event.body
    {
        piece.clone_into(delta);
    }
    event
}

/// `text` in pieces that end between characters.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        rest = after;
        Some(piece)
    })
}
