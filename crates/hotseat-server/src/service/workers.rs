//! The workers that host agents, here and at other servers.
//!
//! A worker is known while its connection lasts. Its agents stay listed as not
//! connected after it goes, so that a page can say what is missing rather than
//! forget that it ever was. A run is reserved for a worker before anything else is
//! done for it, so that it is handed out once however many want to.

mod elsewhere;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{broadcast, mpsc, oneshot};
use uuid::Uuid;

use hotseat_core::RunId;

use super::native::NATIVE;
use super::{Agent, AgentList, AskAnswer, LoadProblem, StartRun, What};

/// Messages that may wait for a worker. One that does not read this many is as good as gone.
pub(super) const WORKER_QUEUE: usize = 4096;

/// Pages that are told about changes may lag this far behind.
const CHANGES_KEPT: usize = 16;

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
    CancelRun {
        run_id: String,
    },
    /// Another worker has it now.
    LeaveRun {
        run_id: String,
    },
    Ask {
        ask_id: String,
        what: What,
        question: String,
    },
}

/// By what a worker is told something.
pub(super) trait Tell: fmt::Debug + Send + Sync {
    /// `false` if the worker is not there to be told.
    fn tell(&self, message: ToWorker) -> bool;
}

impl Tell for mpsc::Sender<ToWorker> {
    fn tell(&self, message: ToWorker) -> bool {
        self.try_send(message).is_ok()
    }
}

/// A worker's place among the attached ones; leaving it behind detaches the worker.
#[derive(Debug)]
pub(crate) struct Attachment {
    workers: Workers,
    worker_id: String,
    number: u64,
}

/// A worker that a run is kept for. Nobody else is given the run until it is handed out or let
/// go of ([`Workers::run_ended`]).
#[derive(Debug)]
pub(crate) struct Reserved {
    worker_id: String,
    number: u64,
    native: bool,
    run_id: String,
}

impl Reserved {
    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    /// The worker's name, if it is not this process itself.
    pub(crate) fn worker(&self) -> Option<String> {
        (!self.native).then(|| self.worker_id.clone())
    }
}

/// What became of the wish to reserve a run.
#[derive(Debug)]
pub(crate) enum Reservation {
    /// It is kept for this worker.
    For(Reserved),
    /// A worker has it already.
    Taken,
    /// No worker here hosts the agent.
    NoWorker,
}

#[derive(Debug, Clone)]
pub(crate) struct Workers {
    inner: Arc<Mutex<Inner>>,
    changes: broadcast::Sender<()>,
}

#[derive(Debug, Default)]
struct Inner {
    attached: BTreeMap<String, Attached>,
    known: BTreeMap<String, Arc<Agent>>,
    process_problem: Option<LoadProblem>,
    attachments: u64,
    asks: HashMap<String, oneshot::Sender<AskAnswer>>,
    /// What other servers host.
    elsewhere: HashMap<Uuid, Vec<Agent>>,
}

#[derive(Debug)]
struct Attached {
    number: u64,
    agents: Vec<String>,
    problems: Vec<LoadProblem>,
    active_runs: HashSet<String>,
    /// It is this process itself.
    native: bool,
    line: Arc<dyn Tell>,
}

impl Default for Workers {
    fn default() -> Self {
        Self { inner: Arc::default(), changes: broadcast::Sender::new(CHANGES_KEPT) }
    }
}

impl Workers {
    /// Takes a worker in. A worker that attaches again replaces its older self.
    pub(super) fn attach(&self, registration: Registration, line: Arc<dyn Tell>) -> Attachment {
        let mut inner = self.lock();
        inner.attachments += 1;
        let number = inner.attachments;
        let attached = Attached {
            number,
            agents: registration.agents.iter().map(|agent| agent.name.clone()).collect(),
            problems: registration.problems,
            native: registration.worker_id.starts_with(NATIVE),
            active_runs: registration.active_runs.into_iter().collect(),
            line,
        };
        for agent in registration.agents {
            inner.known.insert(agent.name.clone(), Arc::new(agent));
        }
        inner.attached.insert(registration.worker_id.clone(), attached);
        inner.process_problem = None;
        drop(inner);
        self.changed();
        let worker_id = registration.worker_id;
        Attachment { workers: self.clone(), worker_id, number }
    }

    /// Everything known, with what is connected marked.
    pub(crate) fn list(&self) -> AgentList {
        let inner = self.lock();
        let mut items: Vec<_> = inner.known.values().map(|agent| Agent::clone(agent)).collect();
        for agent in &mut items {
            agent.connected = inner.is_hosted(&agent.name);
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
    pub(crate) fn agent(&self, name: &str) -> Option<Arc<Agent>> {
        let inner = self.lock();
        let mut agent = inner.known.get(name).cloned()?;
        let connected = inner.is_hosted(name);
        // A copy only where it was said otherwise: it is asked for with every message.
        if agent.connected != connected {
            Arc::make_mut(&mut agent).connected = connected;
        }
        Some(agent)
    }

    /// Keeps a run for the newest worker here that hosts `agent`.
    pub(crate) fn reserve(&self, agent: &str, run_id: RunId) -> Reservation {
        let run_id = run_id.to_string();
        let mut inner = self.lock();
        // A worker that attaches while a query comes in finds the run in the log, too.
        if inner.attached.values().any(|worker| worker.active_runs.contains(&run_id)) {
            return Reservation::Taken;
        }
        let newest = inner.attached.iter_mut().filter(|(_, worker)| worker.hosts(agent));
        let Some((worker_id, worker)) = newest.max_by_key(|(_, worker)| worker.number) else {
            return Reservation::NoWorker;
        };
        worker.active_runs.insert(run_id.clone());
        let (worker_id, number, native) = (worker_id.clone(), worker.number, worker.native);
        Reservation::For(Reserved { worker_id, number, native, run_id })
    }

    /// Hands a run to the worker that it is kept for. `false` if that worker is gone.
    pub(crate) fn hand_out(&self, reserved: &Reserved, message: ToWorker) -> bool {
        let line = self.lock().kept_for(reserved).map(|worker| Arc::clone(&worker.line));
        let Some(line) = line else { return false };
        let taken = line.tell(message);
        if !taken && let Some(worker) = self.lock().kept_for(reserved) {
            worker.active_runs.remove(&reserved.run_id);
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
        let line = self.lock().newest(agent).map(|worker| Arc::clone(&worker.line));
        line.is_some_and(|line| line.tell(question))
    }

    /// Tells whoever works on a run to stop.
    pub(crate) fn cancel(&self, run_id: &str) {
        self.tell(run_id, &ToWorker::CancelRun { run_id: run_id.to_owned() });
    }

    fn tell(&self, run_id: &str, message: &ToWorker) {
        let inner = self.lock();
        let workers = inner.attached.values().filter(|worker| worker.active_runs.contains(run_id));
        let lines: Vec<_> = workers.map(|worker| Arc::clone(&worker.line)).collect();
        drop(inner);
        for line in lines {
            // One that does not read its messages finds the end in the log.
            line.tell(message.clone());
        }
    }

    /// Whether a certain worker that is attached was given a run, or came with it.
    pub(crate) fn has(&self, worker_id: &str, run_id: &str) -> bool {
        let inner = self.lock();
        let worker = inner.attached.get(worker_id);
        worker.is_some_and(|worker| worker.active_runs.contains(run_id))
    }

    /// Whether an attached worker says that it is working on a run.
    pub(crate) fn works_on(&self, run_id: &str) -> bool {
        self.lock().attached.values().any(|worker| worker.active_runs.contains(run_id))
    }

    /// Takes a run from a worker that came with it, because another has it, or had it since.
    pub(crate) fn disown_by(&self, worker_id: &str, run_id: &str) {
        let mut inner = self.lock();
        let Some(worker) = inner.attached.get_mut(worker_id) else { return };
        worker.active_runs.remove(run_id);
        let line = Arc::clone(&worker.line);
        drop(inner);
        // One that does not read its messages is refused when it writes.
        line.tell(ToWorker::LeaveRun { run_id: run_id.to_owned() });
    }

    /// Takes a run from whoever works on it here, because another server has it now.
    pub(crate) fn disown(&self, run_id: &str) {
        self.tell(run_id, &ToWorker::LeaveRun { run_id: run_id.to_owned() });
        self.run_ended(run_id);
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
    fn is_hosted_here(&self, agent: &str) -> bool {
        self.attached.values().any(|worker| worker.hosts(agent))
    }

    fn is_hosted(&self, agent: &str) -> bool {
        let mut elsewhere = self.elsewhere.values().flatten();
        self.is_hosted_here(agent) || elsewhere.any(|known| known.name == agent)
    }

    /// The worker that a run is kept for, if it is still the same one.
    fn kept_for(&mut self, reserved: &Reserved) -> Option<&mut Attached> {
        let worker = self.attached.get_mut(&reserved.worker_id);
        worker.filter(|worker| worker.number == reserved.number)
    }

    fn newest(&self, agent: Option<&str>) -> Option<&Attached> {
        self.attached
            .values()
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

impl Attachment {
    pub(crate) fn worker_id(&self) -> &str {
        &self.worker_id
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
