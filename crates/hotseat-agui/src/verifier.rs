//! The rules that a stream of events keeps.
//!
//! Every event goes through [`Verifier::check`] before it is sent. It knows all
//! that is fatal to the reference client, and beyond that what the client cannot
//! see but is a bug nevertheless: ids of another run, results for calls that
//! nobody made, a patch that does not fit, a second end. After a violation the
//! event must not be sent; the caller ends the run with `RUN_ERROR`, which the
//! verifier accepts as long as the run is not over.
//!
//! It is stricter than the client in one more way: an event of a sub-agent has
//! to carry its tag, and the tag has to name a sub-agent that was started.

mod chunk;
mod entity;
mod finish;

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use crate::event::{Body, EncryptedSubtype, Event};
use crate::message::{Message, MessageBody};
use crate::outcome::MAX_SAFE_INTEGER;
use crate::patch;
use chunk::OpenChunk;
use entity::{Entity, Opening};

/// How many ids of messages, calls and sub-agents one run may have. What needs
/// more runs away.
const MAX_IDS: usize = 250_000;

/// An event that must not be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{event} cannot be sent: {reason}")]
pub struct Violation {
    /// The event.
    pub event: &'static str,
    /// Which rule it breaks.
    pub reason: String,
}

/// Watches over one run as one client sees it.
#[derive(Debug, Clone)]
pub struct Verifier {
    thread_id: String,
    run_id: String,
    phase: Phase,
    open: HashSet<(Opening, String)>,
    owners: HashMap<(Entity, String), Option<String>>,
    /// The calls that began in this stream, and whether they were answered.
    calls: HashMap<String, bool>,
    steps: HashSet<(Option<String>, String)>,
    /// Each sub-agent, and whether it still works.
    subagents: HashMap<String, bool>,
    activities: HashMap<String, Map<String, Value>>,
    state: Option<Value>,
    chunk: Option<OpenChunk>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Before,
    Running,
    Over,
}

type Checked = Result<(), String>;

impl Verifier {
    /// The verifier of a run. `known_calls` are those of earlier runs that may
    /// still get their result.
    pub fn new(
        thread_id: impl Into<String>,
        run_id: impl Into<String>,
        known_calls: impl IntoIterator<Item = String>,
    ) -> Self {
        let known = known_calls.into_iter().map(|id| ((Entity::Call, id), None));
        Self {
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            phase: Phase::Before,
            open: HashSet::new(),
            owners: known.collect(),
            calls: HashMap::new(),
            steps: HashSet::new(),
            subagents: HashMap::new(),
            activities: HashMap::new(),
            state: None,
            chunk: None,
        }
    }

    /// Whether the event may be sent now. If so, it counts as sent.
    pub fn check(&mut self, event: &Event) -> Result<(), Violation> {
        self.try_check(event).map_err(|reason| Violation { event: event.body.name(), reason })
    }

    /// Whether the run has begun and is not over.
    pub fn is_running(&self) -> bool {
        self.phase == Phase::Running
    }

    /// Whether a terminal event was sent.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn try_check(&mut self, event: &Event) -> Checked {
        let body = &event.body;
        match self.phase {
            Phase::Over => return Err("the run is over".to_owned()),
            Phase::Before if !matches!(body, Body::RunStarted { .. } | Body::RunError { .. }) => {
                return Err("the run has not started".to_owned());
            }
            Phase::Before | Phase::Running => {}
        }
        if event.timestamp.is_some_and(|time| time.unsigned_abs() > MAX_SAFE_INTEGER) {
            return Err("its timestamp is beyond what JavaScript can count".to_owned());
        }
        self.check_tag(event)?;
        let ids = self.owners.len() + self.subagents.len() + self.steps.len();
        // A run that runs away can still be ended.
        if ids > MAX_IDS && !event.is_terminal() {
            return Err(format!("the run has more than {MAX_IDS} messages, calls and agents"));
        }
        self.check_chunk(event)?;
        self.check_body(body, event.subagent_run_id.as_deref())
    }

    fn check_tag(&self, event: &Event) -> Checked {
        let Some(tag) = event.subagent_run_id.as_deref() else { return Ok(()) };
        match event.body {
            Body::RunStarted { .. }
            | Body::RunFinished { .. }
            | Body::RunError { .. }
            | Body::MessagesSnapshot { .. }
            | Body::SubagentStarted { .. }
            | Body::SubagentFinished { .. }
            | Body::SubagentError { .. } => {
                Err("it belongs to no sub-agent, so it cannot carry the tag of one".to_owned())
            }
            _ if self.subagents.contains_key(tag) => Ok(()),
            _ => Err(format!("sub-agent {tag:?} was never started")),
        }
    }

    fn check_body(&mut self, body: &Body, tag: Option<&str>) -> Checked {
        match body {
            Body::RunStarted { thread_id, run_id, .. } => self.run_started(thread_id, run_id),
            Body::RunFinished { thread_id, run_id, outcome, usage, .. } => {
                self.run_finished(thread_id, run_id, outcome.as_ref(), usage)
            }
            Body::RunError { usage, .. } => self.run_error(usage),
            Body::StepStarted { step_name } => self.step_started(tag, step_name),
            Body::StepFinished { step_name } => self.step_finished(tag, step_name),
            Body::TextMessageStart { message_id, .. } => self.begin(Opening::Text, message_id, tag),
            Body::TextMessageContent { message_id, .. } => {
                self.go_on(Opening::Text, message_id, tag)
            }
            Body::TextMessageEnd { message_id } => self.end(Opening::Text, message_id, tag),
            Body::ToolCallStart { tool_call_id, parent_message_id, .. } => {
                self.call_started(tool_call_id, parent_message_id.as_deref(), tag)
            }
            Body::ToolCallArgs { tool_call_id, .. } => self.go_on(Opening::Call, tool_call_id, tag),
            Body::ToolCallEnd { tool_call_id } => self.end(Opening::Call, tool_call_id, tag),
            Body::ToolCallResult { message_id, tool_call_id, .. } => {
                self.call_answered(message_id, tool_call_id, tag)
            }
            Body::StateSnapshot { snapshot } => {
                self.state = Some(snapshot.clone());
                Ok(())
            }
            Body::StateDelta { delta } => self.state_changed(delta),
            Body::MessagesSnapshot { messages } => {
                for message in messages {
                    self.restate(message);
                }
                Ok(())
            }
            Body::ActivitySnapshot { message_id, content, replace, .. } => {
                if *replace != Some(false) || !self.activities.contains_key(message_id) {
                    self.activity(message_id, content, tag);
                }
                Ok(())
            }
            Body::ActivityDelta { message_id, patch, .. } => {
                self.activity_changed(message_id, patch, tag)
            }
            Body::ReasoningStart { message_id } => self.begin(Opening::Reasoning, message_id, tag),
            Body::ReasoningEnd { message_id } => self.end(Opening::Reasoning, message_id, tag),
            Body::ReasoningMessageStart { message_id, .. } => {
                self.begin(Opening::Thought, message_id, tag)
            }
            Body::ReasoningMessageContent { message_id, .. } => {
                self.go_on(Opening::Thought, message_id, tag)
            }
            Body::ReasoningMessageEnd { message_id } => self.end(Opening::Thought, message_id, tag),
            Body::ReasoningEncryptedValue { subtype, entity_id, .. } => {
                self.encrypted(*subtype, entity_id, tag)
            }
            Body::SubagentStarted { id, parent_subagent_run_id, .. } => {
                self.subagent_started(id, parent_subagent_run_id.as_deref())
            }
            Body::SubagentFinished { id, .. } | Body::SubagentError { id, .. } => {
                self.subagent_ended(id)
            }
            // Chunks have been looked at; the rest stands alone.
            Body::TextMessageChunk { .. }
            | Body::ToolCallChunk { .. }
            | Body::ReasoningMessageChunk { .. }
            | Body::Raw { .. }
            | Body::Custom { .. } => Ok(()),
        }
    }

    fn state_changed(&mut self, delta: &[patch::Op]) -> Checked {
        let Some(state) = &mut self.state else {
            return Err("the client has no state yet that it could change".to_owned());
        };
        patch::apply(state, delta).map_err(|error| error.to_string())
    }

    fn activity(&mut self, id: &str, content: &Map<String, Value>, tag: Option<&str>) {
        self.own(Entity::Activity, id, tag);
        self.activities.insert(id.to_owned(), content.clone());
    }

    fn activity_changed(&mut self, id: &str, ops: &[patch::Op], tag: Option<&str>) -> Checked {
        self.check_owner(Entity::Activity, id, tag)?;
        let Some(content) = self.activities.get_mut(id) else {
            return Err(format!("there is no activity {id:?}"));
        };
        let mut changed = Value::Object(content.clone());
        patch::apply(&mut changed, ops).map_err(|error| error.to_string())?;
        match changed {
            Value::Object(changed) => *content = changed,
            _ => return Err("the content of an activity is an object".to_owned()),
        }
        Ok(())
    }

    fn encrypted(&self, subtype: EncryptedSubtype, id: &str, tag: Option<&str>) -> Checked {
        let kinds: &[Entity] = match subtype {
            EncryptedSubtype::ToolCall => &[Entity::Call],
            EncryptedSubtype::Message => &[Entity::Message, Entity::Reasoning],
        };
        match kinds.iter().find(|kind| self.owner(**kind, id).is_some()) {
            Some(kind) => self.check_owner(*kind, id, tag),
            None => Err(format!("there is nothing with the id {id:?} that it could belong to")),
        }
    }

    /// A snapshot says anew whose a message is.
    fn restate(&mut self, message: &Message) {
        let owner = message.subagent_run_id.as_deref();
        let kind = match &message.body {
            MessageBody::Reasoning { .. } => Entity::Reasoning,
            MessageBody::Activity { content, .. } => {
                self.activities.insert(message.id.clone(), content.clone());
                Entity::Activity
            }
            MessageBody::Assistant { tool_calls, .. } => {
                for call in tool_calls {
                    self.own(Entity::Call, &call.id, owner);
                }
                Entity::Message
            }
            MessageBody::Developer { .. }
            | MessageBody::System { .. }
            | MessageBody::User { .. }
            | MessageBody::Tool { .. } => Entity::Message,
        };
        self.own(kind, &message.id, owner);
    }
}
