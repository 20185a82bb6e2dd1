//! The loop: a model request, its answer, the calls in it, and again, until an
//! answer calls nothing.
//!
//! Every step is told to the host as ADK events, in order: first the answer,
//! then one event with the results of all its calls. An event is durable before
//! anything that follows from it happens. Only the events of the last step are
//! handed back instead, so that the host can store them with the end of the run.

mod calls;
mod event;
mod output;
mod request;

use serde_json::{Map, Value};
use uuid::Uuid;

use crate::agent::NativeAgent;
use crate::contents::content;
use crate::host::{Host, RunEnd, RunError, RunInput, TurnRequest};
use crate::model::SeatAnswer;
use crate::tool::ToolSet;
use calls::{Call, Outcome};
use event::Events;

/// Most calls in one answer.
const MAX_CALLS: usize = 128;

impl NativeAgent {
    /// Runs the agent until it comes to an answer, waits for the caller's own
    /// tools, or fails.
    pub async fn run(&self, input: RunInput, host: &dyn Host) -> Result<RunEnd, RunError> {
        let file = self.file();
        let tools = self.tool_set();
        let mut turn = TurnRequest {
            turn_id: String::new(),
            agent_name: file.name.clone(),
            branch: None,
            request: request::new(file, &tools, &input)?,
        };
        let events = Events { host, author: &file.name, invocation_id: &input.invocation_id };
        for _ in 0..file.limits.max_steps {
            turn.turn_id = Uuid::new_v4().to_string();
            let mut answer = tokio::select! {
                biased;
                () = host.cancelled(None) => return Err(RunError::Cancelled),
                answer = host.answer(&turn) => answer?,
            };
            if answer.error_code.is_some() || answer.error_message.is_some() {
                let event = events.answer(answer, &[], None);
                return Ok(RunEnd { last_events: vec![event], pending_call_ids: Vec::new() });
            }
            let calls = calls_in(&mut answer, &input, &tools)?;
            if calls.is_empty() {
                let state_delta = output::check(file, &answer)?;
                let event = events.answer(answer, &[], state_delta);
                return Ok(RunEnd { last_events: vec![event], pending_call_ids: Vec::new() });
            }
            let (pending, own): (Vec<Call>, Vec<Call>) =
                calls.into_iter().partition(|call| call.is_client);
            let pending: Vec<String> = pending.into_iter().map(|call| call.id).collect();
            request::push(&mut turn.request, answer.content.clone());
            let event = events.answer(answer, &pending, None);
            if own.is_empty() {
                return Ok(RunEnd { last_events: vec![event], pending_call_ids: pending });
            }
            host.keep(vec![event]).await?;
            let Outcome { parts, cancelled } =
                calls::run_all(own, &tools, &file.limits, host).await?;
            let event = events.results(&parts);
            if cancelled {
                host.keep(vec![event]).await?;
                return Err(RunError::Cancelled);
            }
            if !pending.is_empty() {
                return Ok(RunEnd { last_events: vec![event], pending_call_ids: pending });
            }
            host.keep(vec![event]).await?;
            request::push(&mut turn.request, content("user", parts));
        }
        Err(RunError::TooManySteps { agent: file.name.clone(), steps: file.limits.max_steps })
    }
}

/// The calls of an answer. A call without id gets one, here and in the answer.
fn calls_in(
    answer: &mut SeatAnswer,
    input: &RunInput,
    tools: &ToolSet,
) -> Result<Vec<Call>, RunError> {
    let unusable = |reason: &str| RunError::Answer { reason: reason.to_owned() };
    let parts = answer.content.get_mut("parts").and_then(Value::as_array_mut);
    let parts = parts.ok_or_else(|| unusable("it has no parts"))?;
    let mut calls: Vec<Call> = Vec::new();
    for part in parts {
        let Some(call) = part.get_mut("function_call") else { continue };
        let call = call.as_object_mut().ok_or_else(|| unusable("a call is no object"))?;
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
        if name.is_empty() {
            return Err(unusable("a call has no name"));
        }
        let id = match call.get("id").and_then(Value::as_str) {
            Some(id) if !id.is_empty() => id.to_owned(),
            _ => {
                let id = format!("adk-{}", Uuid::new_v4());
                call.insert("id".to_owned(), Value::from(id.as_str()));
                id
            }
        };
        if calls.iter().any(|call| call.id == id) {
            return Err(unusable("two calls have the same id"));
        }
        let args = match call.get("args") {
            Some(Value::Object(args)) => args.clone(),
            None | Some(Value::Null) => Map::new(),
            Some(_) => return Err(unusable("the arguments of a call are no object")),
        };
        // A tool of the agent's own goes before one of the caller's with the same name.
        let is_client =
            tools.get(&name).is_none() && input.client_tools.iter().any(|tool| tool.name == name);
        calls.push(Call { id, name, args, is_client });
        if calls.len() > MAX_CALLS {
            return Err(unusable("it has too many calls"));
        }
    }
    Ok(calls)
}
