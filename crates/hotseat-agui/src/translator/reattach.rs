//! A client that comes while the run is on.

use std::collections::HashSet;

use serde_json::Value;

use super::answer::{Answer, StreamedCall};
use super::lane::Stint;
use super::{Phase, Translator};
use crate::event::{Body, Event, ReasoningRole, TextRole};
use crate::history::reasoning_id;
use crate::message::{Message, MessageBody};

impl Translator {
    /// What such a client gets first: the run, the state, the conversation, and
    /// whatever is open, opened again with what has been said so far. After that
    /// it can read on with the others. `messages` are those of the log, as
    /// [`messages_snapshot`](crate::messages_snapshot) makes them.
    pub fn reattach(&self, mut messages: Vec<Message>) -> Vec<Event> {
        if self.phase == Phase::Running {
            self.leave_open(&mut messages);
        }
        let mut events = vec![Event::new(self.run_started())];
        let state = self.state.as_ref().filter(|state| !Value::is_null(state));
        events
            .extend(state.map(|state| Event::new(Body::StateSnapshot { snapshot: state.clone() })));
        events.push(Event::new(Body::MessagesSnapshot { messages }));
        if self.phase == Phase::Running {
            for (index, stint) in self.stints.iter().enumerate() {
                events.extend(self.reopened(stint, &self.stints[..index]));
            }
            events.extend(self.beside());
        }
        events
    }

    /// What will be opened again must not be in the conversation as well.
    fn leave_open(&self, messages: &mut Vec<Message>) {
        let mut open = HashSet::new();
        let mut open_calls = HashSet::new();
        for answer in self.stints.iter().filter_map(|stint| stint.answer.as_ref()) {
            open.extend([answer.id.clone(), reasoning_id(&answer.id)]);
            open_calls.extend(self.reopened_calls(answer).map(|call| call.id.as_str()));
        }
        messages.retain(|message| !open.contains(&message.id));
        for message in messages {
            if let MessageBody::Assistant { tool_calls, .. } = &mut message.body {
                tool_calls.retain(|call| !open_calls.contains(call.id.as_str()));
            }
        }
    }

    /// The calls of an answer that are opened again: those that still wait for
    /// something.
    pub(super) fn reopened_calls<'a>(
        &'a self,
        answer: &'a Answer,
    ) -> impl Iterator<Item = &'a StreamedCall> {
        answer.calls.iter().filter(|call| call.open || !self.answered.contains(&call.id))
    }

    fn reopened(&self, stint: &Stint, earlier: &[Stint]) -> Vec<Event> {
        let mut events = Vec::new();
        if let Some(mut started) = stint.started.clone() {
            if let Body::SubagentStarted { parent_subagent_run_id: parent, .. } = &mut started
                && !earlier.iter().any(|stint| stint.owner == *parent)
            {
                *parent = None;
            }
            events.push(Event::new(started));
        }
        let mut bodies = vec![Body::StepStarted { step_name: stint.agent.clone() }];
        bodies.extend(self.said_so_far(stint));
        events.extend(bodies.into_iter().map(|body| Event::of(stint.owner.as_deref(), body)));
        events
    }

    fn said_so_far(&self, stint: &Stint) -> Vec<Body> {
        let mut bodies = Vec::new();
        let Some(answer) = &stint.answer else { return bodies };
        if answer.thought_open || !answer.thought.is_empty() {
            let message_id = || reasoning_id(&answer.id);
            let (role, delta) = (ReasoningRole::Reasoning, answer.thought.clone());
            bodies.push(Body::ReasoningStart { message_id: message_id() });
            bodies.push(Body::ReasoningMessageStart { message_id: message_id(), role });
            bodies.push(Body::ReasoningMessageContent { message_id: message_id(), delta });
            if !answer.thought_open {
                bodies.push(Body::ReasoningMessageEnd { message_id: message_id() });
                bodies.push(Body::ReasoningEnd { message_id: message_id() });
            }
        }
        if !answer.text.is_empty() {
            let message_id = || answer.id.clone();
            let name = stint.owner.as_ref().map(|_| stint.agent.clone());
            let (role, delta) = (Some(TextRole::Assistant), answer.text.clone());
            bodies.push(Body::TextMessageStart { message_id: message_id(), role, name });
            bodies.push(Body::TextMessageContent { message_id: message_id(), delta });
            if !answer.text_open {
                bodies.push(Body::TextMessageEnd { message_id: message_id() });
            }
        }
        for call in self.reopened_calls(answer) {
            let tool_call_id = || call.id.clone();
            bodies.push(Body::ToolCallStart {
                tool_call_id: tool_call_id(),
                tool_call_name: call.name.clone(),
                parent_message_id: Some(answer.id.clone()),
            });
            bodies.push(Body::ToolCallArgs {
                tool_call_id: tool_call_id(),
                delta: call.args.clone(),
            });
            if !call.open {
                bodies.push(Body::ToolCallEnd { tool_call_id: tool_call_id() });
            }
        }
        bodies
    }
}
