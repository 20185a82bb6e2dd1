//! Events that are too large, made smaller.

use serde_json::{Map, Value, json};

use super::MAX_FRAME_BYTES;
use crate::event::{Body, Event};
use crate::message::Content;

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
        Body::RunStarted { input, .. } => *input = None,
        Body::RunFinished { result, .. } | Body::SubagentFinished { result, .. } => *result = None,
        Body::RunError { message, .. } | Body::SubagentError { message, .. } => {
            let end = split(message).next().map_or(0, str::len);
            message.truncate(end);
        }
        // Half a state or conversation would be a lie, and a piece of these
        // others is an id or a name, which nobody may change.
        Body::StateSnapshot { .. }
        | Body::StateDelta { .. }
        | Body::MessagesSnapshot { .. }
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
