//! An answer on its way: what has been said of it and what is open.

use hotseat_core::Delta;
use serde_json::Value;

use super::Translator;
use crate::event::{Body, ReasoningRole, TextRole};
use crate::history::{Place, reasoning_id};

/// How much of an answer is shown before it is complete. The rest comes with
/// the complete event.
const MAX_STREAMED_BYTES: usize = 8 * 1024 * 1024;
/// How many calls of an answer are shown before it is complete.
const MAX_STREAMED_CALLS: usize = 256;

/// What has been said of an answer.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// The id that everybody can work out.
    pub(super) base: String,
    /// The id that is used. Another one only if the answer before it broke off
    /// under the same id.
    pub(super) id: String,
    pub(super) text: String,
    pub(super) text_open: bool,
    pub(super) thought: String,
    pub(super) thought_open: bool,
    pub(super) calls: Vec<StreamedCall>,
    /// No more is shown until it is complete.
    full: bool,
}

/// A call whose arguments arrive bit by bit.
#[derive(Debug)]
pub(super) struct StreamedCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: String,
    pub(super) open: bool,
}

impl Answer {
    /// Whether more of it is expected.
    pub(super) fn is_open(&self) -> bool {
        self.text_open || self.thought_open || self.calls.iter().any(|call| call.open)
    }

    fn size(&self) -> usize {
        let args: usize = self.calls.iter().map(|call| call.args.len()).sum();
        self.text.len() + self.thought.len() + args
    }
}

impl Translator {
    /// Makes sure that the stint is giving the next answer of `place`.
    pub(super) fn answer(&mut self, stint: usize, place: &Place) {
        let base = self.history.message_id(place);
        if self.stints[stint].answer.as_ref().is_some_and(|answer| answer.base == base) {
            return;
        }
        self.close_answer(stint);
        let mut id = base.clone();
        let mut attempt = 1;
        while self.claims.contains(&id) {
            attempt += 1;
            id = another_id(&base, attempt);
        }
        self.claims.insert(id.clone());
        self.stints[stint].answer = Some(Answer { base, id, ..Answer::default() });
    }

    pub(super) fn say_piece(&mut self, stint: usize, delta: &Delta) {
        let Some(answer) = &mut self.stints[stint].answer else { return };
        let (Delta::Text(text) | Delta::Thought(text) | Delta::Args { json: text, .. }) = delta
        else {
            if let Delta::Call { id, name } = delta
                && answer.calls.len() < MAX_STREAMED_CALLS
            {
                self.stream_call(stint, id, name);
            }
            return;
        };
        if answer.full || answer.size() + text.len() > MAX_STREAMED_BYTES {
            answer.full = true;
            return;
        }
        match delta {
            Delta::Text(text) => self.say_text(stint, text),
            Delta::Thought(text) => self.say_thought(stint, text),
            Delta::Args { id, json } => self.say_args(stint, id, json),
            Delta::Call { .. } => {}
        }
    }

    fn stream_call(&mut self, stint: usize, id: &str, name: &str) {
        if !id.is_empty() && self.history.call(id, name) {
            self.begin_call(stint, id, name);
            if let Some(answer) = &mut self.stints[stint].answer {
                let (id, name) = (id.to_owned(), name.to_owned());
                answer.calls.push(StreamedCall { id, name, args: String::new(), open: true });
            }
        }
    }

    fn say_args(&mut self, stint: usize, id: &str, json: &str) {
        let calls = self.stints[stint].answer.as_mut().map(|answer| &mut answer.calls);
        let mut open = calls.into_iter().flatten().filter(|call| call.open);
        if json.is_empty() {
            return;
        }
        if let Some(call) = open.find(|call| call.id == id) {
            call.args.push_str(json);
            let body = Body::ToolCallArgs { tool_call_id: id.to_owned(), delta: json.to_owned() };
            self.send(stint, body);
        }
    }

    pub(super) fn say_text(&mut self, stint: usize, delta: &str) {
        self.close_thought(stint);
        let name = self.stints[stint].owner.as_ref().map(|_| self.stints[stint].agent.clone());
        let Some(answer) = self.stints[stint].answer.as_mut().filter(|_| !delta.is_empty()) else {
            return;
        };
        let begins = !std::mem::replace(&mut answer.text_open, true);
        answer.text.push_str(delta);
        let message_id = answer.id.clone();
        if begins {
            let role = Some(TextRole::Assistant);
            let message_id = message_id.clone();
            self.send(stint, Body::TextMessageStart { message_id, role, name });
        }
        self.send(stint, Body::TextMessageContent { message_id, delta: delta.to_owned() });
    }

    pub(super) fn say_thought(&mut self, stint: usize, delta: &str) {
        if delta.is_empty() {
            return;
        }
        let message_id = self.open_thought(stint);
        if let Some(answer) = &mut self.stints[stint].answer {
            answer.thought.push_str(delta);
        }
        self.send(stint, Body::ReasoningMessageContent { message_id, delta: delta.to_owned() });
    }

    /// Opens the thoughts of the answer, if they are not, and says their id.
    pub(super) fn open_thought(&mut self, stint: usize) -> String {
        self.close_text(stint);
        let Some(answer) = &mut self.stints[stint].answer else { return String::new() };
        let message_id = reasoning_id(&answer.id);
        if !std::mem::replace(&mut answer.thought_open, true) {
            let role = ReasoningRole::Reasoning;
            self.send(stint, Body::ReasoningStart { message_id: message_id.clone() });
            let message_id = message_id.clone();
            self.send(stint, Body::ReasoningMessageStart { message_id, role });
        }
        message_id
    }

    pub(super) fn begin_call(&mut self, stint: usize, id: &str, name: &str) {
        self.close_text(stint);
        self.close_thought(stint);
        self.calls.push(id.to_owned());
        self.callers.insert(id.to_owned(), self.stints[stint].number);
        let parent = self.stints[stint].answer.as_ref().map(|answer| answer.id.clone());
        self.send(
            stint,
            Body::ToolCallStart {
                tool_call_id: id.to_owned(),
                tool_call_name: name.to_owned(),
                parent_message_id: parent,
            },
        );
    }

    pub(super) fn end_call(&mut self, stint: usize, id: &str) {
        let calls = self.stints[stint].answer.as_mut().map(|answer| &mut answer.calls);
        for call in calls.into_iter().flatten().filter(|call| call.id == id) {
            call.open = false;
        }
        self.send(stint, Body::ToolCallEnd { tool_call_id: id.to_owned() });
    }

    pub(super) fn close_text(&mut self, stint: usize) {
        if let Some(answer) = &mut self.stints[stint].answer
            && std::mem::take(&mut answer.text_open)
        {
            let message_id = answer.id.clone();
            self.send(stint, Body::TextMessageEnd { message_id });
        }
    }

    pub(super) fn close_thought(&mut self, stint: usize) {
        if let Some(answer) = &mut self.stints[stint].answer
            && std::mem::take(&mut answer.thought_open)
        {
            let message_id = reasoning_id(&answer.id);
            self.send(stint, Body::ReasoningMessageEnd { message_id: message_id.clone() });
            self.send(stint, Body::ReasoningEnd { message_id });
        }
    }

    /// Closes whatever is open of the answer, which is over with that.
    pub(super) fn close_answer(&mut self, stint: usize) {
        self.close_text(stint);
        self.close_thought(stint);
        let Some(answer) = self.stints[stint].answer.take() else { return };
        for call in answer.calls.into_iter().filter(|call| call.open) {
            self.send(stint, Body::ToolCallEnd { tool_call_id: call.id });
        }
    }
}

/// The id of an answer whose own is taken by one that broke off.
pub(super) fn another_id(base: &str, attempt: u32) -> String {
    format!("{base}~{attempt}")
}

/// What is left to say of a call's arguments after `said`; none if something
/// else was said. The pieces may be spaced as their writer liked.
pub(super) fn rest_of_args(said: &str, args: &Value, whole: &str) -> Option<String> {
    if serde_json::from_str::<Value>(said).is_ok_and(|said| said == *args) {
        return Some(String::new());
    }
    let rest = whole.strip_prefix(said).or_else(|| whole.strip_prefix(&*compact(said)));
    rest.map(str::to_owned)
}

/// JSON text without the spaces between its tokens, also if it is cut off.
fn compact(json: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    json.chars()
        .filter(|c| {
            if inside {
                inside = escaped || *c != '"';
                escaped = *c == '\\' && !escaped;
                return true;
            }
            inside = *c == '"';
            !c.is_ascii_whitespace()
        })
        .collect()
}
