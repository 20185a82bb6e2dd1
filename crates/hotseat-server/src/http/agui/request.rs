//! What a front end asks for, as a run of ours.

use std::collections::HashSet;

use hotseat_agui::{
    Content, Incoming, Message, MessageBody, RunAgentInput, incoming, user_content,
};
use hotseat_core::Seat;
use serde_json::{Map, Value, json};

use super::answers::{resumed, told};
use super::{AguiParams, Problem, messages};
use crate::service::{Agent, PendingCall, RunWish, Thread};

/// What a front end wishes for beyond the protocol.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wishes {
    pub(super) queue: bool,
    pub(super) seat: Option<Seat>,
    pub(super) interrupts: bool,
}

/// What is to be done.
pub(super) enum Next {
    /// Nothing is new.
    Nothing,
    /// Only the state is: these keys of it.
    Keep(Map<String, Value>),
    /// Calls whose results have not all come. Until they have, nothing is run.
    Missing(Vec<PendingCall>),
    /// A message is to be run, and `more` when its run has ended.
    Say { wish: Box<RunWish>, more: bool },
}

impl Wishes {
    /// From the address, else from `forwardedProps`.
    pub(super) fn read(params: &AguiParams, input: &RunAgentInput) -> Result<Self, Problem> {
        let props = input.forwarded_props.as_ref().and_then(Value::as_object);
        let prop = |name: &str| props.and_then(|props| props.get(name));
        let flag = |given: Option<bool>, name: &str| {
            given.or_else(|| prop(name).and_then(Value::as_bool)).unwrap_or_default()
        };
        let seat = params.seat.as_deref().or_else(|| prop("seat").and_then(Value::as_str));
        let seat = seat.map(str::parse).transpose();
        Ok(Self {
            queue: flag(params.queue, "queue"),
            seat: seat
                .map_err(|error: hotseat_core::UnknownWord| Problem::invalid(error.to_string()))?,
            interrupts: flag(params.interrupts, "interrupts"),
        })
    }
}

/// Whether a front end knows of nothing but one plain message of its user, as when a thread
/// begins. Then the thread is made without a look for it first; it may be there all the same.
pub(super) fn seems_first(input: &RunAgentInput) -> bool {
    let [only] = input.messages.as_slice() else { return false };
    input.resume.is_empty()
        && matches!(only.body, MessageBody::User { content: Content::Text(_), .. })
}

/// What is new in a request, given what the thread knows.
pub(super) fn next(
    thread: &Thread,
    agent: &Agent,
    input: &RunAgentInput,
    wishes: Wishes,
) -> Result<Next, Problem> {
    let ours = messages(thread);
    let known = known_ids(thread, &ours, input);
    let mut incoming = incoming(input, &|id| known.contains(id));
    if let Some(unknown) = incoming
        .resume
        .iter()
        .find(|resume| !thread.pending.iter().any(|call| call.id == resume.interrupt_id))
    {
        let id: String = unknown.interrupt_id.chars().take(100).collect();
        return Err(Problem::invalid(format!("no interrupt `{id}` waits in this thread")));
    }
    let (mut parts, missing) = answered(thread, &incoming);
    if !missing.is_empty() && (!parts.is_empty() || incoming.user_content.is_some()) {
        return Ok(Next::Missing(missing));
    }
    let more =
        !parts.is_empty() && incoming.user_content.is_some() && !agent.takes_words_with_results();
    if more {
        incoming.user_content = None;
        let results = incoming.tool_results.iter();
        incoming.message_ids = results.map(|result| result.message_id.clone()).collect();
    }
    let context = incoming.context_text.filter(|text| {
        incoming.user_content.is_some() && thread.last_context() != Some(text.as_str())
    });
    if let Some(mut content) = incoming.user_content {
        if let Some(text) = &context {
            parts.push(json!({"text": format!("[What the application adds]\n{text}")}));
        }
        if let Some(Value::Array(said)) = content.get_mut("parts") {
            parts.append(said);
        }
    }
    let state = match incoming.state {
        Some(Value::Object(state)) => thread.state_delta(&state),
        _ => Map::new(),
    };
    if parts.is_empty() {
        let keep = !state.is_empty() && thread.rests(&input.run_id) && has_last(&ours, input);
        return Ok(if keep { Next::Keep(state) } else { Next::Nothing });
    }
    let message_ids = incoming.message_ids;
    // Answers to interrupts have no ids of their own.
    let resumed = incoming.resume.last().map(|resume| format!("resume-{}", resume.interrupt_id));
    let key = message_ids.last().cloned().or(resumed);
    let tools = incoming.tools.into_iter().map(|tool| {
        let parameters = tool.parameters.unwrap_or_else(|| json!({"type": "object"}));
        json!({"name": tool.name, "description": tool.description, "parameters": parameters})
    });
    let mut client =
        json!({"protocol": "ag-ui", "run_id": input.run_id, "message_ids": message_ids});
    if let Some(parent) = &input.parent_run_id {
        client["parent_run_id"] = json!(parent);
    }
    if wishes.interrupts {
        client["interrupts"] = json!(true);
    }
    if let Some(text) = &context {
        client["context"] = json!(text);
    }
    let wish = RunWish {
        message: user_content(parts),
        seat: wishes.seat,
        streaming: true,
        client_tools: tools.collect(),
        state_delta: state,
        client: Some(client),
        key: key.map(|key| format!("ag-ui-{key}")),
    };
    Ok(Next::Say { wish: Box::new(wish), more })
}

/// The ids of the messages that came before, from the client or from here. Of a thread that is
/// longer than what is looked back on, all that stands before one of them did, too; but results
/// may be known before the words that came with them.
fn known_ids<'a>(
    thread: &'a Thread,
    ours: &'a [Message],
    input: &'a RunAgentInput,
) -> HashSet<&'a str> {
    let mut known: HashSet<&str> = thread.ledger.iter().map(String::as_str).collect();
    known.extend(ours.iter().map(|message| message.id.as_str()));
    // A client that was never told its own id of a message has the event's.
    known.extend(thread.events.iter().filter_map(|event| event.get("id")?.as_str()));
    if !thread.whole {
        let is_result = |message: &Message| matches!(message.body, MessageBody::Tool { .. });
        let last = input
            .messages
            .iter()
            .rposition(|message| known.contains(message.id.as_str()) && !is_result(message));
        let before = &input.messages[..last.unwrap_or_default()];
        known.extend(before.iter().map(|message| message.id.as_str()));
    }
    known
}

/// The results of calls that wait, as parts of a message, and the calls without which the
/// conversation cannot go on.
fn answered(thread: &Thread, incoming: &Incoming) -> (Vec<Value>, Vec<PendingCall>) {
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for call in &thread.pending {
        let result = incoming.tool_results.iter().find(|result| result.tool_call_id == call.id);
        let resume = incoming.resume.iter().find(|resume| resume.interrupt_id == call.id);
        let (response, files) = match (result, resume) {
            (Some(result), _) => (told(&call.name, result), result.parts.as_slice()),
            (None, Some(resume)) => (resumed(&call.name, resume), [].as_slice()),
            (None, None) if call.passed_over => continue,
            (None, None) => {
                missing.push(call.clone());
                continue;
            }
        };
        parts.push(
            json!({"function_response": {"id": call.id, "name": call.name, "response": response}}),
        );
        parts.extend_from_slice(files);
    }
    (parts, missing)
}

/// Whether a client has what was said last. One that has not may bring a state from before that.
fn has_last(ours: &[Message], input: &RunAgentInput) -> bool {
    let said = |message: &&Message| {
        let beside =
            matches!(message.body, MessageBody::Activity { .. } | MessageBody::Reasoning { .. });
        !beside
    };
    let last = ours.iter().rfind(said);
    last.is_none_or(|last| input.messages.iter().any(|message| message.id == last.id))
}
