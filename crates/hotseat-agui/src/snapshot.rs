//! A session's events as AG-UI messages.
//!
//! The ids are those that the [`Translator`](crate::Translator) gives while it
//! streams, so a client that has some of the messages keeps one of each.

use serde_json::{Map, Value, json};

use crate::adk::{Adk, Part, PartKind};
use crate::history::{History, Place, call_id, is_answer, media_id, reasoning_id, result_id};
use crate::message::{Content, ContentPart, Message, MessageBody, ToolCall};
use crate::translator::MEDIA_ACTIVITY;

/// The messages of a session, from its raw ADK events in order.
///
/// `client_id` says under which id the client knows the nth message (from 0) of
/// an event of the user; where it does not know, the event's own id is taken.
pub fn messages_snapshot(
    events: &[Value],
    client_id: &dyn Fn(&Value, usize) -> Option<String>,
) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut history = History::default();
    for event in events {
        let Some(adk) = Adk::new(event).filter(|adk| !adk.flag("partial")) else { continue };
        if adk.is_from_user() {
            user_messages(&mut messages, &mut history, event, adk, client_id);
        } else {
            agent_messages(&mut messages, &mut history, adk);
        }
    }
    messages
}

fn user_messages(
    messages: &mut Vec<Message>,
    history: &mut History,
    event: &Value,
    adk: Adk<'_>,
    client_id: &dyn Fn(&Value, usize) -> Option<String>,
) {
    let first = messages.len();
    let mut said: Vec<ContentPart> = Vec::new();
    for part in adk.parts() {
        match part.kind {
            PartKind::Text(text) if !text.is_empty() => {
                said.push(ContentPart::Text { text: text.to_owned() });
            }
            PartKind::Media(media) => said.push(media),
            PartKind::Result { id, name, response, media } => {
                if let Some(call) = history.call_of(id, name)
                    && let Some(number) = history.result_number(&call, response)
                {
                    let id = client_id(event, messages.len() - first);
                    let id = id.unwrap_or_else(|| result_id(&call, number));
                    messages.push(result_message(id, &call, response, media));
                }
            }
            PartKind::Text(_)
            | PartKind::Thought(_)
            | PartKind::Call { .. }
            | PartKind::Other(_) => {}
        }
    }
    let content = match said.as_slice() {
        [] => return,
        [ContentPart::Text { text }] => Content::Text(text.clone()),
        _ => Content::Parts(said),
    };
    let index = messages.len();
    let own = || adk.text("id").map_or_else(|| format!("~user:{index}"), str::to_owned);
    let id = client_id(event, index - first).unwrap_or_else(own);
    messages.push(Message::new(id, MessageBody::User { content, name: None }));
}

fn agent_messages(messages: &mut Vec<Message>, history: &mut History, adk: Adk<'_>) {
    let parts = adk.parts();
    let place = Place::of(adk);
    if is_answer(&parts) {
        answer_messages(messages, history, &history.message_id(&place), &parts);
        history.answered(&place, &parts);
    }
    for part in parts {
        if let PartKind::Result { id, name, response, media } = part.kind
            && let Some(call) = history.call_of(id, name)
            && let Some(number) = history.result_number(&call, response)
        {
            let id = result_id(&call, number);
            messages.push(result_message(id, &call, response, media));
        }
    }
}

fn answer_messages(
    messages: &mut Vec<Message>,
    history: &mut History,
    id: &str,
    parts: &[Part<'_>],
) {
    let thought: String = parts.iter().filter_map(Part::thought).collect();
    let text: String = parts.iter().filter_map(Part::text).collect();
    let mut tool_calls = Vec::new();
    let mut files = Vec::new();
    let (mut text_signature, mut thought_signature) = (None, None);
    for (index, part) in parts.iter().enumerate() {
        match &part.kind {
            PartKind::Call { id: own, name, args } => {
                let call = call_id(*own, id, index);
                if history.call(&call, name) {
                    let args = args.map_or_else(|| "{}".to_owned(), Value::to_string);
                    let mut call = ToolCall::new(call, *name, args);
                    call.encrypted_value = part.signature.map(str::to_owned);
                    tool_calls.push(call);
                }
            }
            PartKind::Media(media) => {
                let content = Map::from_iter([("part".to_owned(), json!(media))]);
                let activity_type = MEDIA_ACTIVITY.to_owned();
                let body = MessageBody::Activity { activity_type, content };
                files.push(Message::new(media_id(id, index), body));
            }
            PartKind::Text(_) if !text.is_empty() => {
                text_signature = part.signature.or(text_signature);
            }
            PartKind::Text(_) | PartKind::Thought(_) => {
                thought_signature = part.signature.or(thought_signature);
            }
            PartKind::Result { .. } | PartKind::Other(_) => {}
        }
    }
    if !thought.is_empty() || thought_signature.is_some() {
        let encrypted_value = thought_signature.map(str::to_owned);
        let body = MessageBody::Reasoning { content: thought, encrypted_value };
        messages.push(Message::new(reasoning_id(id), body));
    }
    if !text.is_empty() || !tool_calls.is_empty() {
        let content = Some(text).filter(|text| !text.is_empty());
        let encrypted_value = text_signature.map(str::to_owned);
        let body = MessageBody::Assistant { content, name: None, tool_calls, encrypted_value };
        messages.push(Message::new(id, body));
    }
    messages.append(&mut files);
}

fn result_message(id: String, call: &str, response: &Value, media: Vec<ContentPart>) -> Message {
    let text = response.to_string();
    let content = if media.is_empty() {
        Content::Text(text)
    } else {
        Content::Parts(std::iter::once(ContentPart::Text { text }).chain(media).collect())
    };
    let body = MessageBody::Tool { content, tool_call_id: call.to_owned(), error: None };
    Message::new(id, body)
}
