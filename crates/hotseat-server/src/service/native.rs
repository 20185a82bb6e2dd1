//! Agents that run in the server itself.
//!
//! To the rest of the server they are hosted by one more worker, which happens to live
//! in the same process: runs are queued in the log and handed out in the same way, and
//! one that a restart cut off is handed out again. What a run does beyond that is in
//! `native/host.rs`.

mod functions;
mod here;
mod host;
mod wellness;

use std::sync::Arc;

use hotseat_agent::{AgentFile, NativeAgent, RunInput};
use hotseat_core::{Kind, RunChange, RunFailure, RunStatus, Seat, ToolDeclaration};
use hotseat_store::Expected;
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;
use tracing::Span;

use self::functions::WorkerFunctions;
use self::here::Here;
use self::host::NativeHost;
pub(crate) use self::wellness::Natives;
use super::ingest::own_event;
use super::runs::invocation_of;
use super::sessions::named_event;
use super::{Agent, App, LoadProblem, Registration, StartRun, spans};

/// The runtime of agents that run here.
pub(super) const NATIVE: &str = "native";

impl App {
    /// Opens an agent from its file and hosts it until the server closes. One that cannot
    /// be opened is shown as a problem.
    pub async fn host_native(self, file: AgentFile) {
        let functions = Arc::new(WorkerFunctions(self.clone()));
        let source = file.path.display().to_string();
        let worker_id = format!("{NATIVE}:{source}");
        let opened = async {
            self.read_recording(&file).await?;
            NativeAgent::open(file, functions).await.map_err(|error| error.to_string())
        };
        let opened = tokio::select! {
            opened = opened => opened,
            () = self.closed() => return,
        };
        let (agents, problems) = match &opened {
            Ok(agent) => (vec![card(agent)], Vec::new()),
            Err(message) => {
                tracing::error!(
                    agent.file = source,
                    error = message,
                    "an agent could not be opened"
                );
                let message = message.clone();
                (Vec::new(), vec![LoadProblem { source, message, traceback: None }])
            }
        };
        let registration = Registration { worker_id, agents, problems, active_runs: Vec::new() };
        let here = opened.as_ref().ok().map(|agent| Here::new(self.clone(), agent.clone()));
        let attached = match &here {
            Some(here) => self.attach_told(registration, Arc::new(here.clone())).await,
            None => self.attach_worker(registration).await.map(|(attachment, _)| attachment),
        };
        let attachment = match attached {
            Ok(attachment) => attachment,
            Err(error) => {
                tracing::error!(%error, "a native agent cannot be hosted");
                return;
            }
        };
        if let Ok(agent) = &opened {
            self.natives.add(agent);
        }
        // One with a problem shows it as long as it is attached.
        self.closed().await;
        if let Some(here) = here {
            here.ended().await;
        }
        if let Ok(agent) = opened {
            self.natives.remove(&agent.file().name);
            drop(attachment);
            agent.close().await;
        }
    }

    /// One run, to its end in the log.
    async fn run_native(&self, agent: &NativeAgent, start: StartRun, stop: &CancellationToken) {
        let (session, run_id) = (start.session_id, start.run_id.to_string());
        let ran = tokio::select! {
            ran = Box::pin(self.run_loop(agent, &start, stop)) => Some(ran),
            // Its end is in the log already.
            () = stop.cancelled() => None,
            () = self.closed() => None,
        };
        self.seats.leave(session);
        self.live.end(session);
        if let Some(ran) = ran
            && self.replicas.still_mine(&run_id).await
        {
            self.end_native(&start, ran).await;
        }
        self.workers.run_ended(&run_id);
        // A server that stops leaves all its runs together, when nothing is on its way any more.
        if !self.is_closing() {
            self.replicas.let_go(session, &run_id).await;
        }
    }

    /// Notes how a run ended, with what it said last.
    async fn end_native(&self, start: &StartRun, ran: Result<Vec<Value>, RunFailure>) {
        let (session, run_id) = (start.session_id, start.run_id.to_string());
        let (events, error) = match ran {
            Ok(events) => (events, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        if let Some(error) = &error {
            spans::failed(&Span::current(), error);
            tracing::warn!(
                agent = start.agent,
                run.id = run_id,
                error = error.message,
                "a run failed"
            );
        }
        let end = RunChange {
            run_id: run_id.clone(),
            status: if error.is_some() { RunStatus::Failed } else { RunStatus::Finished },
            message: None,
            seat: None,
            streaming: false,
            client_tools: Vec::new(),
            state_delta: Map::new(),
            client: None,
            error,
        };
        let status = end.status;
        let mut entries = match entries(&events) {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(%error, "a native agent made an event that cannot be kept");
                Vec::new()
            }
        };
        let event_id = format!("run-{run_id}-{status}");
        entries.push(named_event(event_id, Kind::Run, &start.agent, end.to_payload()));
        match self.store.append(session, Expected::Any, entries).await {
            Ok(_) => self.counters.ended(start.seat, status),
            Err(error) => {
                tracing::warn!(run.id = run_id, %error, "the end of a run could not be kept");
            }
        }
    }

    async fn run_loop(
        &self,
        agent: &NativeAgent,
        start: &StartRun,
        stop: &CancellationToken,
    ) -> Result<Vec<Value>, RunFailure> {
        let failed = |error: &dyn std::fmt::Display| failure("StoreError", error);
        let history = if start.first {
            vec![said(&start.change)]
        } else {
            let read = Box::pin(self.conversation(start.session_id, None));
            read.await.map_err(|error| failed(&error))?
        };
        let state = if agent.file().instruction.contains('{') {
            self.adk_state(start.session_id).await.map_err(|error| failed(&error))?
        } else {
            Map::new()
        };
        let input = RunInput {
            invocation_id: invocation_of(&start.run_id.to_string()),
            user_id: start.user_id.clone(),
            session_id: start.session_id.to_string(),
            state,
            history,
            client_tools: start.change.client_tools.iter().filter_map(client_tool).collect(),
        };
        let host = NativeHost::new(self.clone(), agent.clone(), start, stop.clone());
        if start.seat == Seat::Human {
            host.find_turn().await.map_err(|error| failed(&error))?;
        }
        match agent.run(input, &host).await {
            Ok(end) => Ok(end.last_events),
            Err(error) => Err(failure(error.code(), &error)),
        }
    }
}

fn failure(kind: &str, error: &dyn std::fmt::Display) -> RunFailure {
    RunFailure { error_type: kind.to_owned(), message: error.to_string(), traceback: None }
}

/// The event of what the user said, as far as an agent looks at it.
fn said(change: &RunChange) -> Value {
    let message = change.message.clone().unwrap_or_default();
    Value::from_iter([("author".to_owned(), "user".into()), ("content".to_owned(), message)])
}

/// Raw events as entries of the log.
fn entries(events: &[Value]) -> Result<Vec<hotseat_core::NewEvent>, hotseat_core::InvalidEvent> {
    events.iter().map(own_event).collect()
}

fn client_tool(tool: &Value) -> Option<hotseat_agent::ClientTool> {
    Some(hotseat_agent::ClientTool {
        name: tool.get("name")?.as_str()?.to_owned(),
        description: tool.get("description").and_then(Value::as_str).unwrap_or_default().to_owned(),
        parameters: tool.get("parameters").cloned().unwrap_or(Value::Null),
    })
}

/// A file's word for a seat, without the file of a recording.
fn seat(written: &str) -> Option<Seat> {
    let word = written.split_once(':').map_or(written, |(word, _)| word);
    word.parse().ok()
}

/// An agent as the server lists it.
fn card(agent: &NativeAgent) -> Agent {
    let file = agent.file();
    let tools = agent.tools();
    Agent {
        name: file.name.clone(),
        root_name: file.name.clone(),
        app_name: file.name.clone(),
        runtime: NATIVE.to_owned(),
        description: file.description.clone(),
        instruction: file.instruction.clone(),
        model: file.model.as_ref().map(|model| model.name.clone()).unwrap_or_default(),
        tools: tools
            .iter()
            .map(|tool| {
                ToolDeclaration::parse(&serde_json::json!({
                    "name": tool.name, "description": tool.description,
                    "parameters": tool.parameters, "kind": tool.kind,
                }))
            })
            .collect(),
        input_schema: None,
        output_schema: file.output_schema.clone(),
        eval_set_path: file.eval_set_path.as_ref().map(|path| path.display().to_string()),
        sub_agents: Vec::new(),
        seat: file.seat.as_deref().and_then(seat),
        connected: true,
    }
}
