//! Workers attach, register their agents, and are given runs.

use std::pin::Pin;

use futures_util::stream::{Stream, StreamExt, once, unfold};
use hotseat_core::{AgentName, Piece, Role, ToolDeclaration};
use prost::bytes::Bytes;
use serde_json::{Value, json};
use tonic::{Request, Response, Status, Streaming};

use super::convert;
use crate::proto::server_message::Message as FromServer;
use crate::proto::worker_message::Message as FromWorker;
use crate::proto::worker_server::Worker;
use crate::proto::{
    self, Ask, CancelRun, Register, Registered, RunEnded, ServerMessage, StartRun, WorkerMessage,
};
use crate::service::{self, Agent, App, AskAnswer, LoadProblem, Registration, RunEnd, ToWorker};

pub(super) struct WorkerService(pub(super) App);

#[tonic::async_trait]
impl Worker for WorkerService {
    type AttachStream = Pin<Box<dyn Stream<Item = Result<ServerMessage, Status>> + Send>>;

    async fn attach(
        &self,
        request: Request<Streaming<WorkerMessage>>,
    ) -> Result<Response<Self::AttachStream>, Status> {
        let app = super::entered(&self.0, &request)?;
        app.needs(Role::Admin)?;
        let mut incoming = request.into_inner();
        let first = incoming.message().await?;
        let Some(FromWorker::Register(register)) = first.and_then(|message| message.message) else {
            return Err(Status::invalid_argument("the first message must be `register`"));
        };
        let registration = registration(register)?;
        let names: Vec<_> = registration.agents.iter().map(|agent| agent.name.as_str()).collect();
        tracing::info!(
            worker.id = registration.worker_id,
            agents = names.join(", "),
            "worker attached"
        );
        let (attachment, receiver) = app.attach_worker(registration).await?;
        let greeting = registered(&app);
        // The attachment lives as long as the stream, and the stream as long as both directions.
        let state = (app, attachment, receiver, incoming);
        let messages = unfold(state, |(app, attachment, mut receiver, mut incoming)| async {
            loop {
                tokio::select! {
                    message = receiver.recv() => {
                        let message = server_message(message?);
                        return Some((Ok(message), (app, attachment, receiver, incoming)));
                    }
                    message = incoming.message() => {
                        handle(&app, attachment.worker_id(), message.ok()??).await;
                    }
                    () = app.closed() => return None,
                }
            }
        });
        Ok(Response::new(Box::pin(once(std::future::ready(Ok(greeting))).chain(messages))))
    }
}

fn registered(app: &App) -> ServerMessage {
    let registered = Registered { url: app.config.url() };
    ServerMessage { message: Some(FromServer::Registered(registered)) }
}

async fn handle(app: &App, worker_id: &str, message: WorkerMessage) {
    match message.message {
        Some(FromWorker::RunEnded(ended)) => {
            if let Err(error) = end_run(app, worker_id, ended).await {
                tracing::warn!(error = %error.message(), "a worker's report on a run was refused");
            }
        }
        Some(FromWorker::Answer(answer)) => app.workers.answer(
            &answer.ask_id,
            AskAnswer {
                json: String::from_utf8_lossy(&answer.json).into_owned(),
                data: answer.data.into(),
                error: convert::given(answer.error),
                not_found: answer.not_found,
            },
        ),
        Some(FromWorker::Partial(partial)) => tell(app, &partial),
        Some(FromWorker::Register(_)) | None => {
            tracing::warn!("a worker sent a message that has no meaning here");
        }
    }
}

async fn end_run(app: &App, worker_id: &str, ended: RunEnded) -> Result<(), Status> {
    if !matches!(ended.status.as_str(), "finished" | "failed" | "cancelled") {
        return Err(Status::invalid_argument("status must be finished, failed or cancelled"));
    }
    let error = (ended.status == "failed").then(|| {
        json!({"type": ended.error_type, "message": ended.error_message, "traceback": ended.traceback})
    });
    app.end_run(RunEnd {
        session: convert::id(&ended.session_id)?,
        run_id: ended.run_id,
        worker: worker_id.to_owned(),
        status: ended.status,
        error,
    })
    .await?;
    Ok(())
}

fn registration(register: Register) -> Result<Registration, Status> {
    if register.worker_id.is_empty() {
        return Err(Status::invalid_argument("worker_id is missing"));
    }
    let problems = register.problems.into_iter().map(|problem| LoadProblem {
        source: problem.source,
        message: problem.message,
        traceback: convert::given(problem.traceback),
    });
    Ok(Registration {
        worker_id: register.worker_id,
        problems: problems.collect(),
        agents: register.agents.into_iter().map(agent).collect::<Result<_, _>>()?,
        active_runs: register.active_run_ids,
    })
}

fn agent(agent: proto::Agent) -> Result<Agent, Status> {
    let name = AgentName::parse(&agent.name)
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    let tools = match optional_json("tools_json", &agent.tools_json)? {
        None => Vec::new(),
        Some(Value::Array(tools)) => tools.iter().map(ToolDeclaration::parse).collect(),
        Some(_) => return Err(Status::invalid_argument("tools_json must be an array")),
    };
    Ok(Agent {
        root_name: convert::given(agent.root_name).unwrap_or_else(|| agent.name.clone()),
        name: name.as_str().to_owned(),
        app_name: agent.app_name,
        runtime: convert::given(agent.runtime).unwrap_or_else(|| "adk".to_owned()),
        description: agent.description,
        instruction: agent.instruction,
        model: agent.model,
        tools,
        input_schema: optional_json("input_schema_json", &agent.input_schema_json)?,
        output_schema: optional_json("output_schema_json", &agent.output_schema_json)?,
        eval_set_path: convert::given(agent.eval_set_path),
        sub_agents: agent.sub_agents,
        seat: None,
        connected: true,
    })
}

fn optional_json(field: &str, bytes: &[u8]) -> Result<Option<Value>, Status> {
    if bytes.is_empty() {
        return Ok(None);
    }
    serde_json::from_slice(bytes)
        .map(Some)
        .map_err(|error| Status::invalid_argument(format!("{field} is not valid JSON: {error}")))
}

fn server_message(message: ToWorker) -> ServerMessage {
    let message = match message {
        ToWorker::StartRun(start) => FromServer::StartRun(start_run(&start)),
        ToWorker::CancelRun { run_id } => {
            FromServer::CancelRun(CancelRun { run_id, taken_over: false })
        }
        ToWorker::LeaveRun { run_id } => {
            FromServer::CancelRun(CancelRun { run_id, taken_over: true })
        }
        ToWorker::Ask { ask_id, what, question } => {
            FromServer::Ask(Ask { ask_id, what: what.as_str().to_owned(), json: question.into() })
        }
    };
    ServerMessage { message: Some(message) }
}

fn start_run(start: &service::StartRun) -> StartRun {
    let change = &start.change;
    let json = |value: &Value| Bytes::from(value.to_string());
    StartRun {
        run_id: start.run_id.to_string(),
        session_id: start.session_id.to_string(),
        agent: start.agent.clone(),
        user_id: start.user_id.clone(),
        message_json: change.message.as_ref().map(json).unwrap_or_default(),
        resume: start.resume,
        seat: start.seat.as_str().to_owned(),
        streaming: change.streaming,
        client_tools_json: match change.client_tools.as_slice() {
            [] => Bytes::new(),
            tools => json(&Value::from(tools)),
        },
        state_delta_json: match &change.state_delta {
            delta if delta.is_empty() => Bytes::new(),
            delta => json(&Value::Object(delta.clone())),
        },
        state_json: start.state.clone().map(|state| json(&state.into())).unwrap_or_default(),
    }
}

/// Tells a piece of an answer to whoever watches. One that cannot be read is only a piece
/// of a show: the complete event follows.
fn tell(app: &App, partial: &proto::Partial) {
    let Ok(session) = partial.session_id.parse() else { return };
    let Ok(event) = serde_json::from_slice::<Value>(&partial.raw_json) else { return };
    for piece in Piece::from_partial(&event) {
        let after_event_id = convert::given(partial.after_event_id.clone());
        app.live.tell(session, Piece { after_event_id, ..piece });
    }
}
