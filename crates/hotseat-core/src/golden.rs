//! The golden trace: a completed session as an ADK `EvalCase`.
//!
//! Only what happens on the session's own level counts. ADK's evaluation runs
//! an agent that is a tool as one tool call, so what happened inside it stays
//! out. `Invocation` refuses unknown fields, so nothing is added to it.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::adk_event::{AdkEvent, AdkPart, read_parts, user_text};
use crate::instant::{basic_iso, seconds};
use crate::payload::{RunChange, RunStatus, ToolRun};
use crate::tool_calls::{EndedCall, Outcome, ToolCalls, made_up_id};
use crate::{Event, Kind, SessionId, snake_case};

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

/// The EvalCase of a session, from its events in their order.
///
/// A user message begins an invocation; the last final text in it is its final
/// response. An invocation that ended without one has none here either.
pub fn golden_trace(subject: &Subject, events: &[Event]) -> Result<Value, GoldenError> {
    let session_id = subject.session_id;
    let mut trace = Trace::default();
    for event in events {
        trace.push(event);
    }
    trace.finish();
    if trace.invocations.is_empty() {
        return Err(GoldenError::NoUserMessage { session_id });
    }
    if trace.invocations.iter().all(|invocation| invocation.final_text.is_none()) {
        return Err(GoldenError::NoFinalResponse { session_id });
    }
    let prefix = invocation_prefix(session_id);
    let conversation: Vec<Value> = trace
        .invocations
        .into_iter()
        .enumerate()
        .map(|(n, invocation)| invocation.into_value(format!("{prefix}{n}")))
        .collect();
    Ok(json!({
        "eval_id": format!("{}_{}", snake_case(&subject.agent_name), basic_iso(subject.created_at)),
        "conversation": conversation,
        "session_input": {
            "app_name": subject.app_name,
            "user_id": subject.user_id,
            "state": trace.state.unwrap_or_default(),
        },
        "creation_timestamp": seconds(subject.created_at),
    }))
}

#[derive(Default)]
struct Trace {
    invocations: Vec<Invocation>,
    calls: ToolCalls<()>,
    /// The message of a run, until ADK's event for it comes.
    held: Option<(Vec<AdkPart>, Value)>,
    /// The state that the session began with, as the first request saw it.
    /// Without it, an instruction with placeholders could not be evaluated.
    state: Option<Map<String, Value>>,
}

#[derive(Default)]
struct Invocation {
    user_parts: Vec<AdkPart>,
    timestamp: Value,
    tool_uses: Vec<Value>,
    tool_responses: Vec<Value>,
    /// What was said, in order: author and parts.
    texts: Vec<(String, Vec<AdkPart>)>,
    /// Which of the texts is the final response.
    final_text: Option<usize>,
}

impl Trace {
    fn push(&mut self, event: &Event) {
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
            Kind::Response | Kind::Session => {}
        }
    }

    fn run(&mut self, event: &Event) {
        let Ok(run) = RunChange::parse(&event.payload) else { return };
        if run.status == RunStatus::Queued
            && let Some(Value::Object(mut message)) = run.message
        {
            self.begin_held();
            self.held = Some((read_parts(&mut message), seconds(event.timestamp)));
        }
    }

    fn user_event(&mut self, event: &Event, adk: AdkEvent) {
        if user_text(&adk.parts).is_some() {
            self.held = None;
            let timestamp = adk.timestamp.map_or_else(|| seconds(event.timestamp), Value::Number);
            self.begin(adk.parts, timestamp);
        } else {
            for part in adk.parts {
                self.tool_part(part);
            }
        }
    }

    fn agent_event(&mut self, event: &Event, adk: AdkEvent) {
        self.begin_held();
        let is_final = adk.is_final_text();
        let said = adk.visible_text().is_some();
        let mut shown = Vec::new();
        for (index, part) in adk.parts.into_iter().enumerate() {
            match part {
                AdkPart::FunctionCall { id, name, args } => {
                    let id = id.unwrap_or_else(|| made_up_id(event, index));
                    self.call(&id, &name, &args);
                }
                AdkPart::FunctionResponse { .. } => self.tool_part(part),
                AdkPart::Text { thought: true, .. } => {}
                AdkPart::Text { .. } | AdkPart::Other(_) => shown.push(part),
            }
        }
        if let Some(invocation) = self.invocations.last_mut()
            && said
        {
            if is_final {
                invocation.final_text = Some(invocation.texts.len());
            }
            invocation.texts.push((adk.author, shown));
        }
    }

    fn call(&mut self, id: &str, name: &str, args: &Value) {
        if let Some(invocation) = self.invocations.last_mut()
            && self.calls.call(id, name, ())
        {
            invocation.tool_uses.push(json!({"id": id, "name": name, "args": args}));
        }
    }

    fn tool_part(&mut self, part: AdkPart) {
        if let AdkPart::FunctionResponse { id, name, response } = part
            && let Some(invocation) = self.invocations.last_mut()
            && let Some(call) = self.calls.end(id.as_deref(), &name, response)
        {
            invocation.tool_responses.push(tool_response(call));
        }
    }

    fn begin_held(&mut self) {
        if let Some((parts, timestamp)) = self.held.take() {
            self.begin(parts, timestamp);
        }
    }

    fn begin(&mut self, user_parts: Vec<AdkPart>, timestamp: Value) {
        self.end_failed_calls();
        self.invocations.push(Invocation { user_parts, timestamp, ..Invocation::default() });
    }

    fn finish(&mut self) {
        self.begin_held();
        self.end_failed_calls();
    }

    fn end_failed_calls(&mut self) {
        if let Some(invocation) = self.invocations.last_mut() {
            let failed = self.calls.end_failed().into_iter();
            invocation.tool_responses.extend(failed.map(tool_response));
        }
    }
}

impl Invocation {
    fn into_value(mut self, id: String) -> Value {
        let parts =
            |parts: Vec<AdkPart>| -> Value { parts.into_iter().map(AdkPart::into_value).collect() };
        let mut invocation = Map::new();
        let mut set = |key: &str, value| drop(invocation.insert(key.to_owned(), value));
        set("invocation_id", Value::String(id));
        set("user_content", json!({"role": "user", "parts": parts(self.user_parts)}));
        if let Some(index) = self.final_text {
            let (_, text) = self.texts.remove(index);
            set("final_response", json!({"role": "model", "parts": parts(text)}));
        }
        let said = self.texts.into_iter().map(|(author, said)| json!([author, parts(said)]));
        set(
            "intermediate_data",
            json!({
                "tool_uses": self.tool_uses,
                "tool_responses": self.tool_responses,
                "intermediate_responses": said.collect::<Value>(),
            }),
        );
        set("creation_timestamp", self.timestamp);
        Value::Object(invocation)
    }
}

/// Errors have one form whoever reported them, and no traceback: it names paths
/// of the machine it was recorded on.
fn tool_response<S>(call: EndedCall<'_, S>) -> Value {
    let response = match call.outcome {
        Outcome::Output(output @ Value::Object(_)) => output,
        Outcome::Output(output) => json!({"result": output}),
        Outcome::Error { error_type, message, .. } => {
            json!({"error": {"type": error_type, "message": message}})
        }
    };
    json!({"id": call.id, "name": call.name, "response": response})
}

/// The state in a request without what ADK itself would not keep.
fn initial_state(event: &Event) -> Map<String, Value> {
    #[derive(Deserialize)]
    struct Payload {
        #[serde(default)]
        state: Option<Map<String, Value>>,
    }
    let payload = serde_json::from_str::<Payload>(event.payload.get());
    let state = payload.ok().and_then(|payload| payload.state).unwrap_or_default();
    state.into_iter().filter(|(key, _)| !key.starts_with("temp:")).collect()
}
