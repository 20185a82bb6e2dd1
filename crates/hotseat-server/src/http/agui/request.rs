//! What a front end asks for, as a run of ours.

use hotseat_agui::{
    Content, MessageBody, ResumeStatus, RunAgentInput, incoming, messages_snapshot, user_content,
};
use hotseat_core::Seat;
use serde_json::{Map, Value, json};

use super::{AguiParams, Problem};
use crate::service::{RunWish, Thread};

/// The call by which ADK asks whether a tool may run.
const CONFIRMATION: &str = "adk_request_confirmation";

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
    /// Calls whose results have not all come.
    Missing(Vec<String>),
    /// A message is to be run; wait for a run that goes on, if that is wished.
    Say(Box<RunWish>, bool),
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
    input: &RunAgentInput,
    wishes: Wishes,
) -> Result<Next, Problem> {
    let ours: Vec<String> = messages_snapshot(&thread.events, &|_, _| None)
        .into_iter()
        .map(|message| message.id)
        .collect();
    let is_known = |id: &str| thread.ledger.contains(id) || ours.iter().any(|known| known == id);
    let incoming = incoming(input, &is_known);

    let mut parts = Vec::new();
    let mut missing = Vec::new();
    for call in &thread.pending {
        let result = incoming.tool_results.iter().find(|result| result.tool_call_id == call.id);
        let resumed = incoming.resume.iter().find(|resume| resume.interrupt_id == call.id);
        let (response, files) = match (result, resumed) {
            (Some(result), _) => (result.response(), result.parts.clone()),
            (None, Some(resume)) => {
                (resumed_with(&call.name, resume.status, resume.payload.as_ref()), Vec::new())
            }
            (None, None) => {
                missing.push(call.id.clone());
                continue;
            }
        };
        parts.push(
            json!({"function_response": {"id": call.id, "name": call.name, "response": response}}),
        );
        parts.extend(files);
    }
    if let Some(unknown) = incoming
        .resume
        .iter()
        .find(|resume| !thread.pending.iter().any(|call| call.id == resume.interrupt_id))
    {
        let id: String = unknown.interrupt_id.chars().take(100).collect();
        return Err(Problem::invalid(format!("no interrupt `{id}` waits in this thread")));
    }
    if !parts.is_empty() && !missing.is_empty() {
        return Ok(Next::Missing(missing));
    }
    let context = incoming.context_text.filter(|text| thread.last_context() != Some(text.as_str()));
    if let Some(mut content) = incoming.user_content {
        if let Some(text) = &context {
            parts.push(json!({"text": format!("[What the application adds]\n{text}")}));
        }
        if let Some(Value::Array(said)) = content.get_mut("parts") {
            parts.append(said);
        }
    }
    if parts.is_empty() {
        return Ok(Next::Nothing);
    }
    let state = match incoming.state {
        Some(Value::Object(state)) => thread.state_delta(&state),
        _ => Map::new(),
    };
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
    Ok(Next::Say(Box::new(wish), wishes.queue))
}

fn resumed_with(call: &str, status: ResumeStatus, payload: Option<&Value>) -> Value {
    match (status, payload) {
        // ADK reads a confirmation strictly: nothing may be in it that it does not know.
        (ResumeStatus::Cancelled, _) if call == CONFIRMATION => json!({"confirmed": false}),
        (ResumeStatus::Cancelled, _) => json!({"error": "cancelled by the user"}),
        (ResumeStatus::Resolved, Some(payload @ Value::Object(_))) => payload.clone(),
        (ResumeStatus::Resolved, Some(Value::Bool(confirmed))) => json!({"confirmed": confirmed}),
        (ResumeStatus::Resolved, Some(other)) => json!({"result": other}),
        (ResumeStatus::Resolved, None) => json!({"confirmed": true}),
    }
}
