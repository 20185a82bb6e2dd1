//! The golden trace: a completed session as an ADK `EvalCase`.
//!
//! Only what happens on the session's own level counts. ADK's evaluation runs
//! an agent that is a tool as one tool call, so what happened inside it stays
//! out. `Invocation` refuses unknown fields, so nothing is added to it.
//!
//! A user's function responses (a confirmation, a credential, the result of a
//! long-running tool) begin no invocation. ADK gives them the id of the
//! invocation that they continue, and its own conversion
//! (`convert_events_to_eval_invocations`) groups by that id, which is done here
//! too: what follows an answer belongs to the message that led to the question.
//! As an invocation of its own an answer would also break the case, because it
//! names a call by an id that is another one in every evaluation.
//!
//! Two things differ from ADK's conversion on purpose:
//!
//! * the user's words stay the `user_content`, where ADK keeps what came last;
//! * what ADK asks the user is no tool use. No model decided it, and its
//!   arguments hold ids that never come again, so no trajectory could match.
//!   (A model that has `adk_request_input` as a tool does decide it.)
//!
//! `adk eval` sends the user's words only and cannot answer ADK. The part of
//! such an invocation after the question is a record; the part before it is what
//! an evaluation reaches, with the trajectory matched `IN_ORDER`.

mod case;
mod invocation;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::adk_event::{AdkEvent, AdkPart, is_user_message, read_parts};
use crate::instant::{basic_iso, seconds};
use crate::payload::{RunChange, RunStatus, ToolRun};
use crate::tool_calls::{Giver, ToolCalls, made_up_id};
use crate::{Event, InputKind, Kind, SessionId, snake_case};
pub use case::GoldenCase;
use case::SessionInput;
use invocation::Invocation;

/// The session that a trace is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Its id; the invocations are named after it.
    pub session_id: SessionId,
    /// Its agent; the case is named after it.
    pub agent_name: String,
    /// ADK's name of the app.
    pub app_name: String,
    /// Whose session it is.
    pub user_id: String,
    /// When it began.
    pub created_at: Timestamp,
}

/// Why there is no trace.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GoldenError {
    /// Nobody asked anything.
    #[error("session {session_id} has no user message")]
    NoUserMessage {
        /// The session.
        session_id: SessionId,
    },
    /// Nothing was answered.
    #[error("session {session_id} has no final response")]
    NoFinalResponse {
        /// The session.
        session_id: SessionId,
    },
}

/// The prefix that the ids of a session's invocations have in an EvalSet.
pub(crate) fn invocation_prefix(session_id: SessionId) -> String {
    format!("{session_id}_inv_")
}

/// The EvalCase of a session in the making, from its events in their order.
///
/// A user message begins an invocation; the last final text in it is its final
/// response. An invocation that ended without one has none here either.
#[derive(Default)]
pub struct GoldenTrace {
    invocations: Vec<Invocation>,
    /// Each call with the invocation that it is in.
    calls: ToolCalls<usize>,
    /// The message of a run, until ADK's event for it comes.
    held: Option<(Vec<AdkPart>, Value)>,
    /// The state that the session began with, as the first request saw it.
    /// Without it, an instruction with placeholders could not be evaluated.
    state: Option<Map<String, Value>>,
}

impl GoldenTrace {
    /// The next event of the log.
    pub fn push(&mut self, event: &Event) {
        match event.kind {
            Kind::ToolRun => {
                if let Ok(run) = ToolRun::parse(&event.payload) {
                    self.calls.ran(run);
                }
            }
            _ if event.parent_call_id.is_some() => {}
            Kind::Request => {
                self.state.get_or_insert_with(|| initial_state(event));
            }
            Kind::Run => self.run(event),
            Kind::Event => match AdkEvent::parse(&event.payload) {
                Ok(adk) if adk.partial => {}
                Ok(adk) if adk.is_from_user() => self.user_event(event, adk),
                Ok(adk) => self.agent_event(event, adk),
                Err(_) => {}
            },
            Kind::Response | Kind::Session | Kind::Message => {}
        }
    }

    fn run(&mut self, event: &Event) {
        let Ok(run) = RunChange::parse(&event.payload) else { return };
        if run.status == RunStatus::Queued
            && let Some(Value::Object(mut message)) = run.message
        {
            self.begin_held();
            let parts = read_parts(&mut message);
            let asks = is_user_message(&parts);
            self.held = asks.then(|| (parts, seconds(event.timestamp)));
        }
    }

    fn user_event(&mut self, event: &Event, adk: AdkEvent) {
        let asks = is_user_message(&adk.parts);
        let (answers, parts): (Vec<_>, Vec<_>) = adk
            .parts
            .into_iter()
            .partition(|part| matches!(part, AdkPart::FunctionResponse { .. }));
        for part in answers {
            self.tool_part(Giver::User, part);
        }
        if asks {
            self.held = None;
            let timestamp = adk.timestamp.map_or_else(|| seconds(event.timestamp), Value::Number);
            self.begin(adk.invocation_id, parts, timestamp);
        }
    }

    fn agent_event(&mut self, event: &Event, adk: AdkEvent) {
        self.begin_held();
        let Some(current) = self.invocation_of(adk.invocation_id.as_deref()) else { return };
        let is_final = adk.is_final_text();
        let said = adk.says_something();
        let mut shown = Vec::new();
        for (index, part) in adk.parts.into_iter().enumerate() {
            match part {
                AdkPart::FunctionCall { id, name, args } => {
                    let id = id.unwrap_or_else(|| made_up_id(event, index));
                    self.call(current, id, name, args);
                }
                AdkPart::FunctionResponse { .. } => self.tool_part(Giver::Tool, part),
                AdkPart::Text { thought: true, .. } => {}
                AdkPart::Text { .. } | AdkPart::Other(_) => shown.push(part),
            }
        }
        if said {
            let invocation = &mut self.invocations[current];
            invocation.say(adk.author, shown);
            if is_final {
                invocation.finish();
            }
        }
    }

    /// The invocation with ADK's id, else the latest.
    fn invocation_of(&mut self, adk_id: Option<&str>) -> Option<usize> {
        let with_id = |invocation: &Invocation| invocation.adk_id.as_deref() == adk_id;
        if let Some(index) = self.invocations.iter().rposition(with_id) {
            return Some(index);
        }
        let latest = self.invocations.last_mut()?;
        if latest.adk_id.is_none() {
            latest.adk_id = adk_id.map(str::to_owned);
        }
        Some(self.invocations.len() - 1)
    }

    fn call(&mut self, invocation: usize, id: String, name: String, args: Value) {
        let is_tool = InputKind::of_call(&name).is_none_or(|input| input.is_from_model(&args));
        if is_tool && self.calls.call(&id, &name, invocation) {
            self.invocations[invocation].call(id, name, args);
        }
    }

    /// A result goes where its call is.
    fn tool_part(&mut self, giver: Giver, part: AdkPart) {
        if let AdkPart::FunctionResponse { id, name, response } = part
            && let Some(call) = self.calls.end(giver, id.as_deref(), &name, response)
        {
            self.invocations[*call.scope].end(call);
        }
    }

    fn begin_held(&mut self) {
        if let Some((parts, timestamp)) = self.held.take() {
            self.begin(None, parts, timestamp);
        }
    }

    fn begin(&mut self, adk_id: Option<String>, user_parts: Vec<AdkPart>, timestamp: Value) {
        self.end_failed_calls();
        self.invocations.push(Invocation::new(adk_id, user_parts, timestamp));
    }

    /// The case, once all of the log has been seen.
    pub fn finish(mut self, subject: &Subject) -> Result<GoldenCase, GoldenError> {
        let session_id = subject.session_id;
        self.begin_held();
        self.end_failed_calls();
        if self.invocations.is_empty() {
            return Err(GoldenError::NoUserMessage { session_id });
        }
        if self.invocations.iter().all(Invocation::is_unfinished) {
            return Err(GoldenError::NoFinalResponse { session_id });
        }
        let prefix = invocation_prefix(session_id);
        let named = self.invocations.into_iter().enumerate();
        let conversation =
            named.map(|(n, invocation)| invocation.into_case(format!("{prefix}{n}")));
        let began = basic_iso(subject.created_at);
        Ok(GoldenCase {
            eval_id: format!("{}_{began}", snake_case(&subject.agent_name)),
            conversation: conversation.collect(),
            session_input: SessionInput {
                app_name: subject.app_name.clone(),
                user_id: subject.user_id.clone(),
                state: self.state.unwrap_or_default(),
            },
            creation_timestamp: seconds(subject.created_at),
        })
    }

    fn end_failed_calls(&mut self) {
        for call in self.calls.end_failed() {
            self.invocations[*call.scope].end(call);
        }
    }
}

/// The state in a request without what ADK itself would not keep.
pub(crate) fn initial_state(event: &Event) -> Map<String, Value> {
    #[derive(Deserialize)]
    struct Payload {
        #[serde(default)]
        state: Option<Map<String, Value>>,
    }
    let payload = serde_json::from_str::<Payload>(event.payload.get());
    let state = payload.ok().and_then(|payload| payload.state).unwrap_or_default();
    state.into_iter().filter(|(key, _)| !key.starts_with("temp:")).collect()
}
