//! Complete events: what is left to say of their parts.

use serde_json::{Map, Value, json};

use super::Translator;
use super::answer::{another_id, rest_of_args};
use super::lane::{Lane, Leave};
use crate::adk::{Adk, Part, PartKind};
use crate::event::{Body, EncryptedSubtype, Event, ToolRole};
use crate::history::{Place, call_id, is_answer, media_id, reasoning_id, result_id};
use crate::message::{Content, ContentPart};

/// The tool by which ADK hands a conversation over to another agent.
const TRANSFER_TOOL: &str = "transfer_to_agent";
/// The type of activities that are files.
pub(crate) const MEDIA_ACTIVITY: &str = "hotseat.media";

/// How much of the texts of an event was said already, in bytes.
#[derive(Default)]
struct Said {
    text: usize,
    thought: usize,
}

impl Translator {
    /// The user's own words are the client's; answers that the user gave for
    /// tools end the wait for them.
    pub(super) fn user_said(&mut self, adk: Adk<'_>) {
        for part in adk.parts() {
            if let PartKind::Result { id, name, response, .. } = part.kind
                && let Some(id) = self.history.call_of(id, name)
            {
                self.history.result_number(&id, response);
                self.questions.retain(|question| question.call_id != id);
            }
        }
    }

    pub(super) fn agent_said(&mut self, parent_call_id: Option<&str>, event: &Value, adk: Adk<'_>) {
        self.usage.add(adk);
        let parts = adk.parts();
        let transfer_to = adk.transfer_to();
        let error = [adk.text("error_code"), adk.text("error_message")];
        let failed = error.iter().any(Option::is_some);
        if parts.is_empty() && transfer_to.is_none() && !failed {
            // Events of other makers are known by their type.
            if adk.text("type").is_some() {
                self.out.push(Event::new(Body::Raw { event: event.clone(), source: None }));
            }
            return;
        }
        let lane = Lane::new(parent_call_id, adk.text("branch"));
        let author = adk.text("author").unwrap_or_default();
        self.say_parts(&lane, author, adk, &parts);
        let stint = self.enter(&lane, author, None);
        if failed {
            let agent = self.stints[stint].agent.as_str();
            let fields = [("agent", Some(agent)), ("code", error[0]), ("message", error[1])];
            let known = fields.into_iter().filter_map(|(key, text)| Some((key, text?)));
            let value = known.map(|(key, text)| (key.to_owned(), Value::from(text))).collect();
            self.send(stint, Body::Custom { name: "hotseat.error".to_owned(), value });
        }
        if let Some(agent) = transfer_to {
            let by_call = self.stints[stint].transfer_call_id.take();
            self.enter(&lane, agent, by_call);
        }
    }

    fn say_parts(&mut self, lane: &Lane, author: &str, adk: Adk<'_>, parts: &[Part<'_>]) {
        let place = Place::of(adk);
        if is_answer(parts) {
            let stint = self.enter(lane, author, None);
            self.answer(stint, &place);
            let mut said = self.said(stint, parts);
            for (index, part) in parts.iter().enumerate() {
                self.say_part(stint, index, part, adk, &mut said);
            }
            self.complete_answer(stint);
            self.history.answered(&place, parts);
        }
        for part in parts {
            if let PartKind::Result { id, name, response, media } = &part.kind {
                let call = self.history.call_of(*id, name);
                if let Some(id) = &call {
                    self.leave_inside(id, lane);
                }
                // Only now: leaving lanes moves the others.
                let stint = self.enter(lane, author, None);
                if let Some(id) = call {
                    self.result(stint, &id, response, media);
                } else {
                    let result = json!({"id": id, "name": name, "response": response});
                    self.send_part(stint, &json!({"function_response": result}));
                }
            }
        }
    }

    /// A call that got its result is over, and so is the agent that it ran.
    fn leave_inside(&mut self, call_id: &str, lane: &Lane) {
        self.leave_where(Leave::Done, |stint| {
            stint.lane != *lane && stint.lane.parent_call_id.as_deref() == Some(call_id)
        });
    }

    /// What the pieces said of these parts. Where they said something else, the
    /// text is said again as a message of its own, and thoughts are left alone.
    fn said(&mut self, stint: usize, parts: &[Part<'_>]) -> Said {
        let Some(answer) = &self.stints[stint].answer else { return Said::default() };
        let text: String = parts.iter().filter_map(Part::text).collect();
        let thought: String = parts.iter().filter_map(Part::thought).collect();
        let thought_said = if answer.thought.is_empty() || thought.starts_with(&answer.thought) {
            answer.thought.len()
        } else {
            thought.len()
        };
        if text.is_empty() || text.starts_with(&answer.text) {
            return Said { text: answer.text.len(), thought: thought_said };
        }
        self.close_text(stint);
        let mut attempt = 2;
        if let Some(answer) = &mut self.stints[stint].answer {
            while self.claims.contains(&another_id(&answer.base, attempt)) {
                attempt += 1;
            }
            answer.id = another_id(&answer.base, attempt);
            self.claims.insert(answer.id.clone());
        }
        Said { text: 0, thought: thought_said }
    }

    fn say_part(
        &mut self,
        stint: usize,
        index: usize,
        part: &Part<'_>,
        adk: Adk<'_>,
        said: &mut Said,
    ) {
        let base = self.stints[stint].answer.as_ref().map(|answer| answer.base.clone());
        let base = base.unwrap_or_default();
        match &part.kind {
            PartKind::Text(text) => {
                let rest = unsaid(text, &mut said.text);
                self.say_text(stint, rest);
                self.sign_text(stint, part.signature);
            }
            PartKind::Thought(text) => {
                let rest = unsaid(text, &mut said.thought);
                self.say_thought(stint, rest);
                self.sign_thought(stint, part.signature);
            }
            PartKind::Call { id, name, args } => {
                let id = call_id(*id, &base, index);
                self.call(stint, &id, name, args.unwrap_or(&json!({})));
                self.ask(stint, adk, &id, name, *args);
                let made = self.callers.get(&id) == Some(&self.stints[stint].number);
                if let Some(signature) = part.signature.filter(|_| made) {
                    self.sign(stint, EncryptedSubtype::ToolCall, id, signature);
                }
            }
            PartKind::Media(media) => {
                let content = Map::from_iter([("part".to_owned(), json!(media))]);
                let (message_id, replace) = (media_id(&base, index), None);
                let activity_type = MEDIA_ACTIVITY.to_owned();
                let body = Body::ActivitySnapshot { message_id, activity_type, content, replace };
                self.send(stint, body);
            }
            PartKind::Other(part) => self.send_part(stint, part),
            PartKind::Result { .. } => {}
        }
    }

    fn call(&mut self, stint: usize, id: &str, name: &str, args: &Value) {
        if name == TRANSFER_TOOL {
            self.stints[stint].transfer_call_id = Some(id.to_owned());
        }
        let whole = args.to_string();
        let answer = self.stints[stint].answer.as_ref();
        let streamed = answer.and_then(|answer| answer.calls.iter().find(|call| call.id == id));
        let rest = match streamed {
            Some(call) if !call.open => return,
            Some(call) => rest_of_args(&call.args, args, &whole),
            None if self.history.call(id, name) => {
                self.begin_call(stint, id, name);
                Some(whole)
            }
            // It was made before, and a call is made once.
            None if self.history.knows_call(id) => return,
            None => {
                return self.send_part(
                    stint,
                    &json!({"function_call": {"id": id, "name": name, "args": args}}),
                );
            }
        };
        match rest {
            Some(delta) if delta.is_empty() => {}
            Some(delta) => {
                self.send(stint, Body::ToolCallArgs { tool_call_id: id.to_owned(), delta });
            }
            None => {
                let value = json!({"toolCallId": id, "arguments": args});
                self.send(stint, Body::Custom { name: "hotseat.correction".to_owned(), value });
            }
        }
        self.end_call(stint, id);
    }

    fn result(&mut self, stint: usize, id: &str, response: &Value, media: &[ContentPart]) {
        let caller = self.stints.iter().position(|stint| {
            let mut calls = stint.answer.iter().flat_map(|answer| &answer.calls);
            calls.any(|call| call.open && call.id == id)
        });
        if let Some(caller) = caller {
            self.end_call(caller, id);
        }
        let Some(number) = self.history.result_number(id, response) else { return };
        let message_id = result_id(id, number);
        let text = response.to_string();
        let content = if media.is_empty() {
            Content::Text(text)
        } else {
            let text = ContentPart::Text { text };
            Content::Parts(std::iter::once(text).chain(media.iter().cloned()).collect())
        };
        self.questions.retain(|question| question.call_id != id);
        self.answered.insert(id.to_owned());
        let role = Some(ToolRole::Tool);
        let tool_call_id = id.to_owned();
        self.send(stint, Body::ToolCallResult { message_id, tool_call_id, content, role });
    }

    /// The answer is complete: its ids are never needed again.
    fn complete_answer(&mut self, stint: usize) {
        let base = self.stints[stint].answer.as_ref().map(|answer| answer.base.clone());
        self.close_answer(stint);
        let Some(base) = base else { return };
        self.claims.remove(&base);
        for attempt in 2.. {
            if !self.claims.remove(&another_id(&base, attempt)) {
                break;
            }
        }
    }

    /// A signature belongs to the text that it comes with, if there is one.
    fn sign_text(&mut self, stint: usize, signature: Option<&str>) {
        let Some(answer) = &self.stints[stint].answer else { return };
        if answer.text.is_empty() {
            return self.sign_thought(stint, signature);
        }
        let id = answer.id.clone();
        if let Some(signature) = signature {
            self.sign(stint, EncryptedSubtype::Message, id, signature);
        }
    }

    /// Otherwise to the thoughts, which are made if there are none.
    fn sign_thought(&mut self, stint: usize, signature: Option<&str>) {
        let Some(signature) = signature else { return };
        let Some(answer) = &self.stints[stint].answer else { return };
        let said = !answer.thought.is_empty();
        let id = if said { reasoning_id(&answer.id) } else { self.open_thought(stint) };
        self.sign(stint, EncryptedSubtype::Message, id, signature);
    }

    fn sign(&mut self, stint: usize, subtype: EncryptedSubtype, entity_id: String, value: &str) {
        let encrypted_value = value.to_owned();
        self.send(stint, Body::ReasoningEncryptedValue { subtype, entity_id, encrypted_value });
    }

    /// What AG-UI has no event for, as it is.
    fn send_part(&mut self, stint: usize, part: &Value) {
        let value = json!({"part": part});
        self.send(stint, Body::Custom { name: "hotseat.part".to_owned(), value });
    }
}

impl<'a> Part<'a> {
    pub(crate) fn text(&self) -> Option<&'a str> {
        match self.kind {
            PartKind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn thought(&self) -> Option<&'a str> {
        match self.kind {
            PartKind::Thought(text) => Some(text),
            _ => None,
        }
    }
}

/// What of `text` is not among the first `said` bytes, which are used up.
fn unsaid<'a>(text: &'a str, said: &mut usize) -> &'a str {
    let known = text.floor_char_boundary(*said);
    *said -= known;
    &text[known..]
}
