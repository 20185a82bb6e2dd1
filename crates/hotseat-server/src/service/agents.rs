//! Agents, and the workers that host them.
//!
//! A worker is known while its connection lasts. Its agents stay listed as not
//! connected after it goes, so that a page can say what is missing rather than
//! forget that it ever was.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{broadcast, mpsc, oneshot};

use hotseat_core::{RunId, Seat, ToolDeclaration};

use super::native::NATIVE;
use super::{App, AskAnswer, StartRun, What};

/// Messages that may wait for a worker. One that does not read this many is as good as gone.
const WORKER_QUEUE: usize = 4096;

/// Pages that are told about changes may lag this far behind.
const CHANGES_KEPT: usize = 16;

/// Something that can be run.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub struct Agent {
    /// The name it is chosen by.
    pub name: String,
    /// ADK's application name.
    pub app_name: String,
    /// Where its code runs: `adk` is a worker, `native` is the server itself.
    pub runtime: String,
    /// What it is for, in its author's words.
    pub description: String,
    /// Its instruction, before state is filled in.
    pub instruction: String,
    /// The model it would use.
    pub model: String,
    /// Its tools: `{name, description, parameters, kind, error?}`.
    #[schema(value_type = Vec<Object>)]
    pub tools: Vec<ToolDeclaration>,
    /// JSON Schema of its input.
    #[schema(value_type = Option<Object>)]
    pub input_schema: Option<Value>,
    /// JSON Schema of its output.
    #[schema(value_type = Option<Object>)]
    pub output_schema: Option<Value>,
    /// Where its golden traces go.
    pub eval_set_path: Option<String>,
    /// Names of the agents below it.
    pub sub_agents: Vec<String>,
    /// Who answers for its model, where it says so itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub seat: Option<Seat>,
    /// Whoever hosts it is connected.
    pub connected: bool,
}

/// An agent that could not be loaded, or a worker that could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct LoadProblem {
    /// What was asked for, as the user wrote it.
    pub source: String,
    /// What happened.
    pub message: String,
    /// Where, in the user's code.
    pub traceback: Option<String>,
}

/// The agents that are known, and what keeps others from being.
#[derive(Debug, Clone, Serialize, utoipa::ToSchema)]
pub struct AgentList {
    /// The agents, by name.
    pub items: Vec<Agent>,
    /// Always null: there is one page.
    pub next_cursor: Option<String>,
    /// What could not be loaded.
    pub problems: Vec<LoadProblem>,
}

/// What a worker says of itself when it attaches.
#[derive(Debug)]
pub(crate) struct Registration {
    pub(crate) worker_id: String,
    pub(crate) agents: Vec<Agent>,
    pub(crate) problems: Vec<LoadProblem>,
    pub(crate) active_runs: Vec<String>,
}

/// What the server tells a worker.
#[derive(Debug, Clone)]
pub(crate) enum ToWorker {
    StartRun(Box<StartRun>),
    CancelRun { run_id: String },
    Ask { ask_id: String, what: What, question: String },
}

/// A worker's place among the attached ones; leaving it behind detaches the worker.
#[derive(Debug)]
pub(crate) struct Attachment {
    workers: Workers,
    worker_id: String,
    number: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Workers {
    inner: Arc<Mutex<Inner>>,
    changes: broadcast::Sender<()>,
}

#[derive(Debug, Default)]
struct Inner {
    attached: BTreeMap<String, Attached>,
    known: BTreeMap<String, Agent>,
    process_problem: Option<LoadProblem>,
    attachments: u64,
    asks: HashMap<String, oneshot::Sender<AskAnswer>>,
}

#[derive(Debug)]
struct Attached {
    number: u64,
    agents: Vec<String>,
    problems: Vec<LoadProblem>,
    active_runs: HashSet<String>,
    /// It is this process itself.
    native: bool,
    sender: mpsc::Sender<ToWorker>,
}

impl App {
    /// The agents, and for those who see all where their files are and what went wrong.
    pub(crate) fn agents(&self) -> AgentList {
        let mut list = self.workers.list();
        for agent in &mut list.items {
            agent.seat = Some(self.usual_seat(agent));
        }
        if !self.visitor.caller.sees_all() {
            list.problems.clear();
            for agent in &mut list.items {
                agent.eval_set_path = None;
            }
        }
        list
    }
}

impl Default for Workers {
    fn default() -> Self {
        Self { inner: Arc::default(), changes: broadcast::Sender::new(CHANGES_KEPT) }
    }
}

impl Workers {
    /// Takes a worker in. A worker that attaches again replaces its older self.
    pub(crate) fn attach(
        &self,
        registration: Registration,
    ) -> (Attachment, mpsc::Receiver<ToWorker>) {
        let (sender, receiver) = mpsc::channel(WORKER_QUEUE);
        let mut inner = self.lock();
        inner.attachments += 1;
        let number = inner.attachments;
        let attached = Attached {
            number,
            agents: registration.agents.iter().map(|agent| agent.name.clone()).collect(),
            problems: registration.problems,
            native: registration.worker_id.starts_with(NATIVE),
            active_runs: registration.active_runs.into_iter().collect(),
            sender,
        };
        for agent in registration.agents {
            inner.known.insert(agent.name.clone(), agent);
        }
        inner.attached.insert(registration.worker_id.clone(), attached);
        inner.process_problem = None;
        drop(inner);
        self.changed();
        let worker_id = registration.worker_id;
        (Attachment { workers: self.clone(), worker_id, number }, receiver)
    }

    /// Everything known, with what is connected marked.
    pub(crate) fn list(&self) -> AgentList {
        let inner = self.lock();
        let mut items: Vec<_> = inner.known.values().cloned().collect();
        for agent in &mut items {
            agent.connected = inner.host_of(&agent.name).is_some();
        }
        let problems = inner
            .process_problem
            .iter()
            .chain(inner.attached.values().flat_map(|worker| &worker.problems))
            .cloned()
            .collect();
        AgentList { items, next_cursor: None, problems }
    }

    /// The agent that is known as this app.
    pub(crate) fn agent_of_app(&self, app_name: &str) -> Option<String> {
        let inner = self.lock();
        inner
            .known
            .values()
            .find(|agent| agent.app_name == app_name)
            .map(|agent| agent.name.clone())
    }

    /// An agent by name, connected or not.
    pub(crate) fn agent(&self, name: &str) -> Option<Agent> {
        let inner = self.lock();
        let mut agent = inner.known.get(name).cloned()?;
        agent.connected = inner.host_of(name).is_some();
        Some(agent)
    }

    /// Gives a run to the newest worker that hosts `agent`, unless one has it already.
    /// `false` if none takes it.
    pub(crate) fn start(&self, agent: &str, run_id: RunId, message: ToWorker) -> bool {
        let run_id = run_id.to_string();
        let mut inner = self.lock();
        // A worker that attaches while a query comes in finds the run in the log, too.
        if inner.attached.values().any(|worker| worker.active_runs.contains(&run_id)) {
            return true;
        }
        let Some(worker) = inner.newest_mut(Some(agent)) else { return false };
        let taken = worker.sender.try_send(message).is_ok();
        if taken {
            worker.active_runs.insert(run_id);
        }
        taken
    }

    /// Resolves once a worker that runs Python is attached.
    pub(crate) async fn python(&self) {
        let mut changes = self.changes.subscribe();
        while !self.lock().attached.values().any(|worker| !worker.native) {
            // A listener that lags looks again, too.
            if let Err(broadcast::error::RecvError::Closed) = changes.recv().await {
                return;
            }
        }
    }

    /// Puts a question to the newest worker that hosts `agent`, or to the newest of
    /// all. `false` if none takes it.
    pub(crate) fn put(&self, agent: Option<&str>, question: ToWorker) -> bool {
        let mut inner = self.lock();
        inner.newest_mut(agent).is_some_and(|worker| worker.sender.try_send(question).is_ok())
    }

    /// Tells whoever works on a run to stop.
    pub(crate) fn cancel(&self, run_id: &str) {
        for worker in self.lock().attached.values() {
            if worker.active_runs.contains(run_id) {
                // One that does not read its messages finds the end in the log.
                let _ = worker.sender.try_send(ToWorker::CancelRun { run_id: run_id.to_owned() });
            }
        }
    }

    /// Whether an attached worker says that it is working on a run.
    pub(crate) fn works_on(&self, run_id: &str) -> bool {
        self.lock().attached.values().any(|worker| worker.active_runs.contains(run_id))
    }

    /// Forgets a run that has ended.
    pub(crate) fn run_ended(&self, run_id: &str) {
        for worker in self.lock().attached.values_mut() {
            worker.active_runs.remove(run_id);
        }
    }

    pub(crate) fn expect_answer(&self, ask_id: &str, asker: oneshot::Sender<AskAnswer>) {
        self.lock().asks.insert(ask_id.to_owned(), asker);
    }

    pub(crate) fn forget_ask(&self, ask_id: &str) {
        self.lock().asks.remove(ask_id);
    }

    /// Hands a worker's answer to whoever asked. One that gave up does not matter.
    pub(crate) fn answer(&self, ask_id: &str, answer: AskAnswer) {
        let asker = self.lock().asks.remove(ask_id);
        if let Some(asker) = asker {
            let _ = asker.send(answer);
        }
    }

    /// Tells whoever asked that there is no such thing here.
    pub(crate) fn answer_nothing(&self, ask_id: &str) {
        let nothing = AskAnswer {
            json: String::new(),
            data: Vec::new(),
            error: Some("agents that run in the server have none".to_owned()),
            not_found: true,
        };
        self.answer(ask_id, nothing);
    }

    pub(crate) fn set_process_problem(&self, problem: Option<LoadProblem>) {
        self.lock().process_problem = problem;
        self.changed();
    }

    /// Tells whenever the list has changed.
    pub(crate) fn changes(&self) -> broadcast::Receiver<()> {
        self.changes.subscribe()
    }

    fn changed(&self) {
        // Nobody listening is fine.
        let _ = self.changes.send(());
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn host_of(&self, agent: &str) -> Option<&Attached> {
        self.attached
            .values()
            .filter(|worker| worker.hosts(agent))
            .max_by_key(|worker| worker.number)
    }

    fn newest_mut(&mut self, agent: Option<&str>) -> Option<&mut Attached> {
        self.attached
            .values_mut()
            .filter(|worker| match agent {
                Some(agent) => worker.hosts(agent),
                // What is asked of any is asked of Python.
                None => !worker.native,
            })
            .max_by_key(|worker| worker.number)
    }
}

impl Attached {
    fn hosts(&self, agent: &str) -> bool {
        self.agents.iter().any(|name| name == agent)
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        let mut inner = self.workers.lock();
        // A newer attachment of the same worker stays.
        if inner.attached.get(&self.worker_id).is_some_and(|known| known.number == self.number) {
            inner.attached.remove(&self.worker_id);
        }
        drop(inner);
        self.workers.changed();
    }
}
