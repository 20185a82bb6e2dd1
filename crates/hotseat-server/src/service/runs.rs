//! Runs: one user message, handed to the worker that hosts the agent.
//!
//! A run is in the log before anyone is told to work on it, and stays open there
//! until somebody says that it ended. A worker that attaches is given every open
//! run of its agents that nobody works on, so neither a restart of the server
//! nor the death of a worker loses a message that was accepted.

use std::collections::HashSet;

use hotseat_core::{
    Kind, NewEvent, RunId, SessionId, SessionStatus, ToolRun, ToolRunStatus, violations,
};
use hotseat_store::{EventQuery, Expected, Order, Running, Session, SessionQuery};
use serde::Deserialize;
use serde_json::{Value, json};

use super::admission::shown;
use super::sessions::{raw, server_event};
use super::{Agent, App, Attachment, Registration, ServiceError, ToWorker};
use crate::clock;

/// The longest user message, in bytes.
const MAX_QUERY_BYTES: usize = 1024 * 1024;

/// What the user says to the agent.
#[derive(Debug)]
pub(crate) enum Query {
    Text(String),
    Structured(Value),
    /// Answers to what ADK asked the user: a confirmation, a credential, the
    /// result of a tool that takes its time.
    FunctionResponses(Vec<FunctionResponse>),
}

/// An answer to a function call that ADK put to the user.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct FunctionResponse {
    /// The id of the call.
    id: String,
    /// The name of the call.
    name: String,
    /// What to say.
    #[schema(value_type = Object)]
    response: serde_json::Map<String, Value>,
}

/// A run that was accepted.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) run_id: RunId,
    pub(crate) seq: hotseat_core::Seq,
}

/// How a run ended, in its worker's words.
#[derive(Debug)]
pub(crate) struct RunEnd {
    pub(crate) session: SessionId,
    pub(crate) run_id: String,
    pub(crate) status: String,
    pub(crate) error: Option<Value>,
}

impl App {
    /// Accepts a user message and hands it to a worker.
    pub(crate) async fn query(
        &self,
        id: SessionId,
        query: Query,
    ) -> Result<Accepted, ServiceError> {
        let session = self.session(id).await?;
        let agent = self.agent_to_run(&session)?;
        let message = json!({"role": "user", "parts": parts(query, &agent)?});
        let run_id = RunId::new(clock::new_id());
        let change = json!({"run_id": run_id, "status": "queued", "message": message});
        let event = run_event(&agent.name, &run_id.to_string(), "queued", &change);
        let appended = self.store.append(id, Expected::Any, vec![event]).await?;
        self.dispatch(&session, run_id, &message, Resume::No);
        Ok(Accepted { run_id, seq: appended.last_seq })
    }

    fn agent_to_run(&self, session: &Session) -> Result<Agent, ServiceError> {
        if session.status == SessionStatus::Completed {
            return Err(ServiceError::SessionCompleted(session.id));
        }
        if session.source != "web" {
            return Err(ServiceError::DrivenByProgram(session.id));
        }
        let name = session.agent.clone().ok_or(ServiceError::NoAgent(session.id))?;
        match self.workers.agent(&name) {
            Some(agent) if agent.connected => Ok(agent),
            Some(_) | None => Err(ServiceError::NoWorker(name)),
        }
    }

    /// Takes a worker in and gives it the open runs that nobody works on.
    pub(crate) async fn attach_worker(
        &self,
        registration: Registration,
    ) -> Result<(Attachment, tokio::sync::mpsc::Receiver<ToWorker>), ServiceError> {
        self.owner_only()?;
        let agents: Vec<_> = registration.agents.iter().map(|agent| agent.name.clone()).collect();
        let claimed = registration.active_runs.clone();
        let attached = self.workers.attach(registration);
        let mut open = HashSet::new();
        for agent in agents {
            open.extend(self.resume_runs(&agent).await?);
        }
        // What ended while the worker was away is told to it now.
        for run_id in claimed.iter().filter(|run_id| !open.contains(*run_id)) {
            self.workers.cancel(run_id);
        }
        Ok(attached)
    }

    /// Hands out the open runs of an agent that nobody works on, and returns all of them.
    async fn resume_runs(&self, agent: &str) -> Result<Vec<String>, ServiceError> {
        let mut open = Vec::new();
        let mut query = SessionQuery {
            agent: Some(agent.to_owned()),
            running: Running::Only,
            ..Default::default()
        };
        loop {
            let page = self.store.sessions(query.clone()).await?;
            for session in &page.items {
                self.resume_run(session).await?;
                open.extend(session.run.as_ref().map(|run| run.run_id.clone()));
            }
            if page.next.is_none() {
                return Ok(open);
            }
            query.cursor = page.next;
        }
    }

    pub(super) async fn resume_run(&self, session: &Session) -> Result<(), ServiceError> {
        let Some(run) = &session.run else { return Ok(()) };
        // A run of the user's own program has ADK's invocation id; only its program can go on with it.
        let Ok(run_id) = run.run_id.parse::<RunId>() else { return Ok(()) };
        if session.source != "web" || self.workers.works_on(&run.run_id) {
            return Ok(());
        }
        let query =
            EventQuery { kinds: vec![Kind::Run], order: Order::Descending, ..Default::default() };
        for event in self.store.events(session.id, query).await? {
            let change: Value = serde_json::from_str(event.payload.get()).unwrap_or_default();
            if change["run_id"] == run.run_id.as_str() && change["status"] == "queued" {
                let resume = if run.status == "queued" { Resume::No } else { Resume::Yes };
                self.dispatch(session, run_id, &change["message"], resume);
            }
        }
        Ok(())
    }

    fn dispatch(&self, session: &Session, run_id: RunId, message: &Value, resume: Resume) {
        let Some(agent) = &session.agent else { return };
        let start = ToWorker::StartRun {
            run_id,
            session_id: session.id,
            agent: agent.clone(),
            user_id: session.user_id.clone(),
            message: message.to_string(),
            resume: resume == Resume::Yes,
        };
        if !self.workers.start(agent, run_id, start) {
            tracing::warn!(session.id = shown(session.id), run.id = %run_id, "no worker took the run; it waits for one");
        }
    }

    /// Notes that a run ended, unless the log knows already.
    pub(crate) async fn end_run(&self, end: RunEnd) -> Result<(), ServiceError> {
        self.workers.run_ended(&end.run_id);
        let session = self.session(end.session).await?;
        if session.run.is_none_or(|run| run.run_id != end.run_id) {
            return Ok(());
        }
        let mut change = json!({"run_id": end.run_id, "status": end.status});
        if let Some(error) = end.error {
            change["error"] = error;
        }
        let agent = session.agent.unwrap_or_default();
        let event = run_event(&agent, &end.run_id, &end.status, &change);
        self.store.append(end.session, Expected::Any, vec![event]).await?;
        Ok(())
    }

    /// Asks whoever runs a tool to stop it. The wish goes through the log, where
    /// both a worker and the user's own program see it.
    pub(crate) async fn cancel_tool(
        &self,
        id: SessionId,
        call_id: &str,
    ) -> Result<(), ServiceError> {
        let query = EventQuery {
            kinds: vec![Kind::ToolRun],
            order: Order::Descending,
            ..Default::default()
        };
        let runs = self.events(id, query).await?;
        let not_running = || ServiceError::ToolNotRunning(call_id.to_owned());
        let (latest, run) = runs
            .iter()
            .filter_map(|event| Some((event, ToolRun::parse(&event.payload).ok()?)))
            .find(|(_, run)| run.call_id == call_id)
            .ok_or_else(not_running)?;
        match run.status {
            ToolRunStatus::Started | ToolRunStatus::Progress => {
                let wish = json!({"call_id": call_id, "tool_name": run.tool_name, "status": "cancel_requested"});
                let event = server_event(Kind::ToolRun, &latest.agent_name, raw(&wish));
                self.store.append(id, Expected::Any, vec![event]).await?;
                Ok(())
            }
            ToolRunStatus::CancelRequested => Ok(()),
            ToolRunStatus::Succeeded | ToolRunStatus::Failed | ToolRunStatus::Cancelled => {
                Err(not_running())
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Resume {
    Yes,
    No,
}

/// The id says what the event is, so that telling it twice is telling it once.
fn run_event(agent: &str, run_id: &str, status: &str, change: &Value) -> NewEvent {
    NewEvent {
        event_id: format!("run-{run_id}-{status}"),
        ..server_event(Kind::Run, agent, raw(change))
    }
}

/// The parts of the user's message.
fn parts(query: Query, agent: &Agent) -> Result<Value, ServiceError> {
    let text = match query {
        Query::FunctionResponses(responses) if responses.is_empty() => {
            return Err(ServiceError::invalid("`function_responses` is empty"));
        }
        Query::FunctionResponses(responses) => {
            return Ok(responses
                .into_iter()
                .map(|FunctionResponse { id, name, response }| {
                    json!({"functionResponse": {"id": id, "name": name, "response": response}})
                })
                .collect());
        }
        Query::Text(text) if text.trim().is_empty() => {
            return Err(ServiceError::invalid("the message is empty"));
        }
        Query::Text(text) => {
            // ADK would fail on text that its agent cannot read as its input.
            if agent.input_schema.is_some() {
                let value = serde_json::from_str(&text).map_err(|_| {
                    ServiceError::invalid(format!(
                        "agent `{}` has an input schema: send `structured`, or JSON as `text`",
                        agent.name
                    ))
                })?;
                check_input(&value, agent, "/text")?;
            }
            text
        }
        Query::Structured(value) => {
            check_input(&value, agent, "/structured")?;
            value.to_string()
        }
    };
    if text.len() > MAX_QUERY_BYTES {
        return Err(ServiceError::TooLarge { bytes: text.len(), limit: MAX_QUERY_BYTES });
    }
    Ok(json!([{"text": text}]))
}

fn check_input(value: &Value, agent: &Agent, at: &str) -> Result<(), ServiceError> {
    let Some(schema) = &agent.input_schema else { return Ok(()) };
    let found = violations(schema, value)
        .map_err(|error| ServiceError::invalid(format!("the agent's input schema: {error}")))?;
    if found.is_empty() {
        return Ok(());
    }
    let violations = found.into_iter().map(|violation| violation.under(at)).collect();
    Err(ServiceError::Invalid {
        detail: "the message does not fit the agent's input schema".to_owned(),
        violations,
    })
}
