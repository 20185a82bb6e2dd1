//! Runs: one user message, handed to whoever hosts the agent.
//!
//! A run is in the log before anyone is told to work on it, and stays open there
//! until somebody says that it ended. A worker that attaches is given every open
//! run of its agents that nobody works on, so neither a restart of the server
//! nor the death of a worker loses a message that was accepted.

mod opening;

use std::collections::HashSet;
use std::sync::Arc;

use hotseat_core::{
    Kind, NewEvent, Role, RunChange, RunId, RunStatus, Seat, Seq, SessionId, SessionStatus,
    ToolRun, ToolRunStatus,
};
use hotseat_store::{EventQuery, Expected, Order, Running, Session, SessionQuery};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

pub(crate) use self::opening::RunWish;
pub(super) use self::opening::{Opened, Started, invocation_of};
use super::admission::shown;
use super::native::NATIVE;
use super::replicas::Word;
use super::sessions::{raw, server_event};
use super::spans::Origin;
use super::workers::{Tell, WORKER_QUEUE};
use super::{
    Agent, App, Attachment, Registration, Reservation, ServiceError, ToWorker, no_events, seen,
};

/// What a worker needs to know to begin.
#[derive(Debug, Clone)]
pub(crate) struct StartRun {
    pub(crate) run_id: RunId,
    pub(crate) session_id: SessionId,
    pub(crate) agent: String,
    pub(crate) user_id: String,
    pub(crate) change: Arc<RunChange>,
    pub(crate) seat: Seat,
    /// The log holds part of this run: go on from there.
    pub(crate) resume: bool,
    /// The state of a session that others may change.
    pub(crate) state: Option<Map<String, Value>>,
    /// Its message is all that was ever said in the session.
    pub(crate) first: bool,
    /// The request that began it.
    pub(crate) origin: Origin,
}

/// How a run ended, in its worker's words.
#[derive(Debug)]
pub(crate) struct RunEnd {
    pub(crate) session: SessionId,
    pub(crate) run_id: String,
    /// Who worked on it.
    pub(crate) worker: String,
    pub(crate) status: String,
    pub(crate) error: Option<Value>,
}

impl App {
    pub(super) fn agent_to_run(&self, session: &Session) -> Result<Arc<Agent>, ServiceError> {
        if session.status == SessionStatus::Completed {
            return Err(ServiceError::SessionCompleted(session.id));
        }
        if session.source == "plugin" {
            return Err(ServiceError::DrivenByProgram(session.id));
        }
        let name = session.agent.clone().ok_or(ServiceError::NoAgent(session.id))?;
        match self.workers.agent(&name) {
            Some(agent) if agent.connected => Ok(agent),
            Some(_) | None => Err(ServiceError::NoWorker(name)),
        }
    }

    /// Takes a worker in that reads what it is told, and gives it the open runs that nobody works
    /// on.
    pub(crate) async fn attach_worker(
        &self,
        registration: Registration,
    ) -> Result<(Attachment, mpsc::Receiver<ToWorker>), ServiceError> {
        let (sender, messages) = mpsc::channel(WORKER_QUEUE);
        Ok((self.attach_told(registration, Arc::new(sender)).await?, messages))
    }

    /// The same for one that is told by a call.
    pub(super) async fn attach_told(
        &self,
        registration: Registration,
        line: Arc<dyn Tell>,
    ) -> Result<Attachment, ServiceError> {
        self.needs(Role::Admin)?;
        let agents: Vec<_> = registration.agents.iter().map(|agent| agent.name.clone()).collect();
        let claims = registration.active_runs.clone();
        let worker = registration.worker_id.clone();
        let attached = self.workers.attach(registration, line);
        let mut open = HashSet::new();
        for agent in agents {
            open.extend(self.resume_runs(&agent, &worker, &claims).await?);
        }
        // What ended while the worker was away is told to it now.
        for run_id in claims.iter().filter(|run_id| !open.contains(*run_id)) {
            self.workers.cancel(run_id);
        }
        Ok(attached)
    }

    /// Hands out the open runs of an agent that nobody works on, and returns all of them. What
    /// the worker claims to work on is its own, unless another has it by now, or had it: then the
    /// log is further than what the worker knows, and it has to be given the run anew.
    async fn resume_runs(
        &self,
        agent: &str,
        worker: &str,
        claims: &[String],
    ) -> Result<Vec<String>, ServiceError> {
        let mut open = Vec::new();
        let mut query = SessionQuery {
            agent: Some(agent.to_owned()),
            running: Running::Only,
            ..Default::default()
        };
        loop {
            let page = self.store.sessions(query.clone()).await?;
            for session in &page.items {
                let Some(run) = &session.run else { continue };
                let claimed = claims.contains(&run.run_id);
                let its_own = claimed && self.take_back(session.id, &run.run_id, worker).await;
                if claimed && !its_own {
                    self.workers.disown_by(worker, &run.run_id);
                }
                // Where others may have it, what waits is looked for among all at once, as soon
                // as the worker is known.
                if !its_own && !self.replicas.possible() {
                    self.resume_run(session).await?;
                }
                open.push(run.run_id.clone());
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
        if run.run_id.parse::<RunId>().is_err() {
            return Ok(());
        }
        if session.source == "plugin" || self.workers.works_on(&run.run_id) {
            return Ok(());
        }
        let query =
            EventQuery { kinds: vec![Kind::Run], order: Order::Descending, ..Default::default() };
        for event in self.store.events(session.id, query).await? {
            let Ok(change) = RunChange::parse(&event.payload) else { continue };
            if change.run_id == run.run_id && change.status == RunStatus::Queued {
                let resume = if run.status == "queued" { Resume::No } else { Resume::Yes };
                let Some(agent) = &session.agent else { continue };
                self.dispatch(Place::of(session, agent), change, resume).await?;
            }
        }
        Ok(())
    }

    /// Gives a run to a worker here. Where none hosts the agent, it waits in the log, and other
    /// servers are told.
    async fn dispatch(
        &self,
        place: Place<'_>,
        change: RunChange,
        resume: Resume,
    ) -> Result<(), ServiceError> {
        let Ok(run_id) = change.run_id.parse::<RunId>() else { return Ok(()) };
        let change = Arc::new(change);
        let mut taken = false;
        // Again only if the worker went in between.
        loop {
            let reserved = match self.workers.reserve(place.agent, run_id) {
                Reservation::For(reserved) => reserved,
                Reservation::Taken => return Ok(()),
                Reservation::NoWorker => break,
            };
            if !self.take_run(place.session, &reserved).await {
                return Ok(());
            }
            taken = true;
            let start = match self.prepare(place, run_id, &change, resume).await {
                Ok(start) => ToWorker::StartRun(Box::new(start)),
                Err(error) => {
                    self.workers.run_ended(reserved.run_id());
                    self.replicas.let_go(place.session, reserved.run_id()).await;
                    return Err(error);
                }
            };
            if self.workers.hand_out(&reserved, start) {
                return Ok(());
            }
        }
        if taken {
            self.replicas.let_go(place.session, &change.run_id).await;
        }
        self.replicas.tell(place.session, &Word::Work);
        let agent = self.workers.agent(place.agent);
        if !agent.is_some_and(|agent| agent.connected) {
            tracing::warn!(session.id = shown(place.session), run.id = %run_id, "no worker took the run; it waits for one");
        }
        Ok(())
    }

    /// All that a worker needs to begin a run that is its own now.
    async fn prepare(
        &self,
        place: Place<'_>,
        run_id: RunId,
        change: &Arc<RunChange>,
        resume: Resume,
    ) -> Result<StartRun, ServiceError> {
        let seat = change.seat.unwrap_or(Seat::Human);
        self.seats.take(place.session, seat);
        self.live.begin(place.session, &change.run_id, place.last);
        // The server's own agents read the state themselves.
        let agent = self.workers.agent(place.agent);
        let hosted = agent.is_some_and(|agent| agent.runtime != NATIVE);
        let state = if hosted && place.shared {
            let read = Box::pin(self.store.adk_session(place.session, no_events())).await?;
            read.map(|read| seen(read).state)
        } else {
            None
        };
        let start = StartRun {
            run_id,
            session_id: place.session,
            agent: place.agent.to_owned(),
            user_id: place.user_id.to_owned(),
            change: Arc::clone(change),
            seat,
            resume: resume == Resume::Yes,
            state,
            first: place.first,
            origin: Origin::here(),
        };
        if hosted {
            self.hosted.begin(&start);
        }
        Ok(start)
    }

    /// Notes that a run ended, unless the log knows already or another worker has it.
    pub(crate) async fn end_run(&self, end: RunEnd) -> Result<(), ServiceError> {
        let its_own = self.workers.has(&end.worker, &end.run_id)
            || self.take_back(end.session, &end.run_id, &end.worker).await;
        if !its_own {
            return Ok(());
        }
        let seat = self.seats.of(end.session);
        self.seats.leave(end.session);
        self.live.end(end.session);
        let kind = end.error.as_ref().and_then(|error| error.get("type")?.as_str());
        self.hosted.end(end.session, kind);
        let ended = self.log_end(&end, seat).await;
        self.workers.run_ended(&end.run_id);
        self.replicas.let_go(end.session, &end.run_id).await;
        match ended {
            // Another server took it over in this moment.
            Err(ServiceError::RunElsewhere(_)) => Ok(()),
            ended => ended,
        }
    }

    async fn log_end(&self, end: &RunEnd, seat: Seat) -> Result<(), ServiceError> {
        let session = self.session(end.session).await?;
        if session.run.is_none_or(|run| run.run_id != end.run_id) {
            return Ok(());
        }
        let mut change = json!({"run_id": end.run_id, "status": end.status});
        if let Some(error) = &end.error {
            change["error"] = error.clone();
        }
        let agent = session.agent.unwrap_or_default();
        let event = run_event(&agent, &end.run_id, &end.status, &change);
        self.store.append_work(end.session, &end.worker, vec![event]).await?;
        if let Ok(status) = end.status.parse() {
            self.counters.ended(seat, status);
        }
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

/// Where a run belongs.
#[derive(Clone, Copy)]
struct Place<'a> {
    session: SessionId,
    agent: &'a str,
    user_id: &'a str,
    /// Others than this server may write into the session, too.
    shared: bool,
    /// How far its log is.
    last: Seq,
    /// Nothing but the run's message was ever said in it.
    first: bool,
}

impl<'a> Place<'a> {
    fn of(session: &'a Session, agent: &'a str) -> Self {
        let shared = session.shares_state();
        let last = session.last_seq;
        Self { session: session.id, agent, user_id: &session.user_id, shared, last, first: false }
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
