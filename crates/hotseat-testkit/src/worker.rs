//! A worker whose part the test plays.

use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::proto::server_message::Message as FromServer;
use crate::proto::worker_message::Message as FromWorker;
use crate::proto::{
    Agent, Answer, Ask, CancelRun, NewEvent, Partial, Register, RunEnded, ServerMessage, StartRun,
    WorkerMessage,
};
use crate::{Api, Grpc, soon};

/// An attached worker. It dies when this is dropped.
#[derive(Debug)]
pub struct ScriptedWorker {
    /// The worker's own connection, for turns and events.
    pub grpc: Grpc,
    id: String,
    to_server: mpsc::Sender<WorkerMessage>,
    from_server: Streaming<ServerMessage>,
}

impl ScriptedWorker {
    /// Attaches a worker that hosts one agent called `agent`.
    pub async fn attach(api: &Api, worker_id: &str, agent: &str) -> Self {
        Self::attach_as(api, Self::registering(worker_id, agent)).await.expect("it is taken in")
    }

    /// What [`ScriptedWorker::attach`] says of itself, to add to.
    pub fn registering(worker_id: &str, agent: &str) -> Register {
        let agent = Agent {
            name: agent.to_owned(),
            app_name: format!("{agent}_app"),
            description: "Adds.".to_owned(),
            instruction: "You are good at sums.".to_owned(),
            tools_json: json!([{"name": "add", "description": "Adds.", "parameters": {
                "type": "object", "properties": {"a": {"type": "integer"}},
            }}])
            .to_string()
            .into(),
            ..Agent::default()
        };
        Register { worker_id: worker_id.to_owned(), agents: vec![agent], ..Register::default() }
    }

    /// Attaches a worker, and waits until the server has greeted it.
    pub async fn attach_as(api: &Api, register: Register) -> Result<Self, Status> {
        let mut grpc = api.grpc().await;
        let (to_server, messages) = mpsc::channel(64);
        let id = register.worker_id.clone();
        let register = WorkerMessage { message: Some(FromWorker::Register(register)) };
        to_server.send(register).await.expect("the channel is open");
        let attached =
            soon("a worker to be taken in", grpc.worker.attach(ReceiverStream::new(messages)));
        let from_server = attached.await?.into_inner();
        let mut worker = Self { grpc, id, to_server, from_server };
        match worker.next().await {
            FromServer::Registered(_) => Ok(worker),
            other => panic!("the server did not greet but sent {other:?}"),
        }
    }

    /// What the server says next.
    pub async fn next(&mut self) -> FromServer {
        let message = soon("a message to the worker", self.from_server.message()).await;
        let message = message.expect("the server keeps the worker").expect("the stream goes on");
        message.message.expect("a message says something")
    }

    /// The run that the server starts next.
    pub async fn run(&mut self) -> StartRun {
        match self.next().await {
            FromServer::StartRun(run) => run,
            other => panic!("the server did not start a run but sent {other:?}"),
        }
    }

    /// The cancellation that the server sends next.
    pub async fn cancellation(&mut self) -> CancelRun {
        match self.next().await {
            FromServer::CancelRun(cancel) => cancel,
            other => panic!("the server did not cancel but sent {other:?}"),
        }
    }

    /// The question that the server puts next, which is about `what`, and its JSON.
    pub async fn asked(&mut self, what: &str) -> (Ask, Value) {
        match self.next().await {
            FromServer::Ask(ask) => {
                assert_eq!(ask.what, what, "{ask:?}");
                let question = serde_json::from_slice(&ask.json).expect("a question is JSON");
                (ask, question)
            }
            other => panic!("the server did not ask but sent {other:?}"),
        }
    }

    /// Answers a question with JSON.
    pub async fn answer(&self, ask: &Ask, json: &Value) {
        let json = json.to_string().into();
        self.answer_as(ask, Answer { json, ..Answer::default() }).await;
    }

    /// Answers a question in any way; the id of the question is filled in.
    pub async fn answer_as(&self, ask: &Ask, answer: Answer) {
        let answer = Answer { ask_id: ask.ask_id.clone(), ..answer };
        self.say(FromWorker::Answer(answer)).await;
    }

    /// Says that work on a run has begun.
    pub async fn begin(&mut self, run: &StartRun) -> Result<(), Status> {
        let change = json!({"run_id": run.run_id, "status": "started"});
        let event_id = format!("run-{}-started", run.run_id);
        self.append(run, "run", &event_id, &change).await
    }

    /// Puts an event of any kind into the session of a run.
    pub async fn append(
        &mut self,
        run: &StartRun,
        kind: &str,
        event_id: &str,
        raw: &Value,
    ) -> Result<(), Status> {
        let event = NewEvent {
            kind: kind.to_owned(),
            event_id: event_id.to_owned(),
            raw_json: raw.to_string().into(),
            agent_name: run.agent.clone(),
            ..NewEvent::default()
        };
        let request = crate::proto::AppendEventsRequest {
            session_id: run.session_id.clone(),
            events: vec![event],
            worker_id: self.id.clone(),
        };
        soon("an append", self.grpc.sessions.append_events(request)).await.map(drop)
    }

    /// Says how a run ended. The log shows when the server has heard it.
    pub async fn end(&self, run: &StartRun, status: &str) {
        let ended = RunEnded {
            run_id: run.run_id.clone(),
            session_id: run.session_id.clone(),
            status: status.to_owned(),
            error_type: if status == "failed" { "ValueError".to_owned() } else { String::new() },
            error_message: if status == "failed" { "no".to_owned() } else { String::new() },
            ..RunEnded::default()
        };
        self.say(FromWorker::RunEnded(ended)).await;
    }

    /// Tells a piece of an answer.
    pub async fn tell(&self, partial: Partial) {
        self.say(FromWorker::Partial(partial)).await;
    }

    async fn say(&self, message: FromWorker) {
        let message = WorkerMessage { message: Some(message) };
        self.to_server.send(message).await.expect("the server listens");
    }
}
