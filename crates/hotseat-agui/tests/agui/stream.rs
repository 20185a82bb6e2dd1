//! A run as a client sees it: every event verified, and written short.

use hotseat_agui::{Body, Content, Event, Start, Translator, Verifier};
use hotseat_core::{Delta, Piece};
use serde_json::{Value, json};

/// A run whose events are collected.
pub(crate) struct Run {
    pub(crate) translator: Translator,
    pub(crate) verifier: Verifier,
    pub(crate) events: Vec<Event>,
}

pub(crate) fn start() -> Start {
    Start {
        thread_id: "t".to_owned(),
        run_id: "r".to_owned(),
        agent: "root".to_owned(),
        ..Start::default()
    }
}

impl Run {
    pub(crate) fn new(start: Start) -> Self {
        let mut translator = Translator::new(start);
        let verifier = translator.verifier();
        let first = translator.start();
        let mut run = Self { translator, verifier, events: Vec::new() };
        run.take(first);
        run
    }

    pub(crate) fn take(&mut self, events: Vec<Event>) -> &mut Self {
        for event in events {
            if let Err(violation) = self.verifier.check(&event) {
                panic!("{violation}\nafter {:#?}", self.short());
            }
            self.events.push(event);
        }
        self
    }

    pub(crate) fn event(&mut self, event: &Value) -> &mut Self {
        let events = self.translator.event(event);
        self.take(events)
    }

    pub(crate) fn inner(&mut self, event: &Value, call: &str) -> &mut Self {
        let events = self.translator.inner_event(event, call);
        self.take(events)
    }

    pub(crate) fn piece(&mut self, author: &str, delta: Delta) -> &mut Self {
        let events = self.translator.piece(&piece(author, delta));
        self.take(events)
    }

    pub(crate) fn finish(&mut self) -> &mut Self {
        let events = self.translator.finish(None);
        self.take(events)
    }

    /// The events since the last time.
    pub(crate) fn short(&mut self) -> Vec<String> {
        self.events.drain(..).map(|event| short(&event)).collect()
    }
}

pub(crate) fn piece(author: &str, delta: Delta) -> Piece {
    Piece {
        invocation_id: "i".to_owned(),
        author: author.to_owned(),
        branch: None,
        after_event_id: None,
        delta,
    }
}

/// An event of an agent in invocation `i`.
pub(crate) fn said(author: &str, parts: &Value) -> Value {
    json!({"id": "e", "invocation_id": "i", "author": author, "content": {"role": "model", "parts": parts}})
}

pub(crate) fn call(id: &str, name: &str, args: &Value) -> Value {
    json!({"function_call": {"id": id, "name": name, "args": args}})
}

pub(crate) fn result(id: &str, name: &str, response: &Value) -> Value {
    json!({"function_response": {"id": id, "name": name, "response": response}})
}

/// An event in one line; the tag of a sub-agent in front.
pub(crate) fn short(event: &Event) -> String {
    let text = match &event.body {
        Body::TextMessageStart { message_id, .. } => format!("text {message_id}"),
        Body::TextMessageContent { message_id, delta } => format!("text {message_id} + {delta}"),
        Body::TextMessageEnd { message_id } => format!("text {message_id} end"),
        Body::ToolCallStart { tool_call_id, tool_call_name, parent_message_id } => {
            let parent = parent_message_id.as_deref().unwrap_or("nothing");
            format!("call {tool_call_id} of {tool_call_name} in {parent}")
        }
        Body::ToolCallArgs { tool_call_id, delta } => format!("call {tool_call_id} + {delta}"),
        Body::ToolCallEnd { tool_call_id } => format!("call {tool_call_id} end"),
        Body::ToolCallResult { message_id, tool_call_id, content, .. } => match content {
            Content::Text(text) => format!("result {message_id} of {tool_call_id}: {text}"),
            Content::Parts(parts) => {
                format!("result {message_id} of {tool_call_id}: {}", json!(parts))
            }
        },
        Body::ReasoningMessageContent { message_id, delta } => format!("{message_id} + {delta}"),
        Body::ReasoningMessageStart { .. } | Body::ReasoningMessageEnd { .. } => {
            return String::from("-");
        }
        Body::StepStarted { step_name } => format!("step {step_name}"),
        Body::StepFinished { step_name } => format!("step {step_name} end"),
        other => {
            let mut value = serde_json::to_value(other).unwrap();
            let name = value.as_object_mut().unwrap().shift_remove("type").unwrap();
            format!("{} {value}", name.as_str().unwrap())
        }
    };
    match &event.subagent_run_id {
        Some(tag) => format!("[{tag}] {text}"),
        None => text,
    }
}
