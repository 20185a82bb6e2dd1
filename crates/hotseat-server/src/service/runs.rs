//! Runs: one user message, handed to whoever hosts the agent.
//!
//! A run is in the log before anyone is told to work on it, and stays open there
//! until somebody says that it ended. A worker that attaches is given every open
//! run of its agents that nobody works on, so neither a restart of the server
//! nor the death of a worker loses a message that was accepted.

use std::collections::HashSet;
use std::sync::Arc;

use hotseat_core::{
    Kind, NewEvent, Role, RunChange, RunId, RunStatus, Seat, Seq, SessionId, SessionStatus,
    ToolRun, ToolRunStatus,
};
use hotseat_store::{
    Created, EventQuery, Expected, NewSession, Order, Running, Session, SessionQuery,
};
use serde_json::{Map, Value, json};

use super::admission::shown;
use super::native::NATIVE;
use super::replicas::Word;
use super::sessions::{raw, server_event};
use super::spans::Origin;
use super::{
    Agent, App, Attachment, Registration, Reservation, ServiceError, ToWorker, no_events, seen,
};
use crate::clock;

/// A user message, and how it is to be run.
#[derive(Debug, Clone, Default)]
pub(crate) struct RunWish {
    /// A genai Content.
    pub(crate) message: Value,
    pub(crate) seat: Option<Seat>,
    /// Whether pieces of answers are wanted as they come.
    pub(crate) streaming: bool,
    /// Tools that run where the user is.
    pub(crate) client_tools: Vec<Value>,
    pub(crate) state_delta: Map<String, Value>,
    /// What the front door wants to find again.
    pub(crate) client: Option<Value>,
    /// What makes the same message sent twice one run.
    pub(crate) key: Option<String>,
}

/// A run that was accepted.
#[derive(Debug)]
pub(crate) struct Started {
    pub(crate) run_id: String,
    /// Where it is queued in the log; what happens in it comes behind.
    pub(crate) seq: Seq,
}

/// What became of the wish for a new session.
#[derive(Debug)]
pub(crate) enum Opened {
    /// It was made, and its first message runs.
    Begun(Box<Session>, Started),
    /// There is one already; nothing was done.
    There(Box<Session>),
}

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
    /// Takes a message into the log and hands it to whoever runs the agent.
    pub(crate) async fn start_run(
        &self,
        session: &Session,
        agent: &Agent,
        wish: RunWish,
    ) -> Result<Started, ServiceError> {
        let (change, events) = self.opening_of_run(agent, wish)?;
        let appended = self.store.append(session.id, Expected::Any, events).await?;
        let seq = appended.seqs.first().copied().unwrap_or(appended.last_seq);
        if appended.new == 0 {
            return self.started_before(session.id, seq).await;
        }
        let place = Place { last: appended.last_seq, ..Place::of(session, &agent.name) };
        self.begun(place, change, seq).await
    }

    /// Makes a session whose first message is already in it.
    pub(crate) async fn start_session(
        &self,
        new: NewSession,
        agent: &Agent,
        wish: RunWish,
    ) -> Result<(Session, Started), ServiceError> {
        match self.open_session(new, agent, wish.clone()).await? {
            Opened::Begun(session, started) => Ok((*session, started)),
            // Another request made it in between; then this is its next message.
            Opened::There(session) => {
                let started = self.start_run(&session, agent, wish).await?;
                Ok((*session, started))
            }
        }
    }

    /// Makes a session whose first message is already in it, unless there is one.
    pub(crate) async fn open_session(
        &self,
        mut new: NewSession,
        agent: &Agent,
        wish: RunWish,
    ) -> Result<Opened, ServiceError> {
        let (change, events) = self.opening_of_run(agent, wish)?;
        let seq = Seq::new(new.opening.len() as u64 + 1);
        new.opening.extend(events);
        let id = new.id;
        let session = match self.store.create_session(new).await? {
            Created::New(session) => session,
            Created::Existing(session) => {
                let session = self.admit(id, Some(session));
                let session = session.ok_or(ServiceError::SessionNotFound(id))?;
                return Ok(Opened::There(Box::new(session)));
            }
        };
        let started = self.begun(Place::of(&session, &agent.name), change, seq).await?;
        Ok(Opened::Begun(Box::new(session), started))
    }

    /// The entries that a run begins with. Where the server itself runs the agent, the
    /// user's event is among them; ADK's own runner makes its own.
    fn opening_of_run(
        &self,
        agent: &Agent,
        wish: RunWish,
    ) -> Result<(RunChange, Vec<NewEvent>), ServiceError> {
        let seat = self.seat_for(agent, wish.seat)?;
        let run_id = RunId::new(clock::new_id());
        let change = RunChange {
            run_id: run_id.to_string(),
            status: RunStatus::Queued,
            message: Some(wish.message),
            seat: Some(seat),
            streaming: wish.streaming,
            client_tools: wish.client_tools,
            state_delta: wish.state_delta,
            client: wish.client,
            error: None,
        };
        let payload = change.to_payload();
        self.check_size(payload.get().len())?;
        let queued = format!("run-{run_id}-queued");
        let event_id = wish.key.unwrap_or(queued);
        let mut events = Vec::with_capacity(2);
        if agent.runtime == NATIVE {
            events.push(user_event(&event_id, &change));
        }
        let queued = NewEvent { event_id, ..server_event(Kind::Run, &agent.name, payload) };
        events.insert(0, queued);
        Ok((change, events))
    }

    async fn begun(
        &self,
        place: Place<'_>,
        change: RunChange,
        seq: Seq,
    ) -> Result<Started, ServiceError> {
        let run_id = change.run_id.clone();
        self.log_said(place.session, &run_id, change.message.as_ref());
        self.dispatch(place, change, Resume::No).await?;
        Ok(Started { run_id, seq })
    }

    /// The run that an earlier sending of the same message began.
    async fn started_before(&self, id: SessionId, seq: Seq) -> Result<Started, ServiceError> {
        let queued = self.store.event(id, seq).await?;
        let change = queued.and_then(|event| RunChange::parse(&event.payload).ok());
        let run_id = change.ok_or(ServiceError::Conflict { session: id })?.run_id;
        Ok(Started { run_id, seq })
    }

    pub(super) fn agent_to_run(&self, session: &Session) -> Result<Agent, ServiceError> {
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

    /// Takes a worker in and gives it the open runs that nobody works on.
    pub(crate) async fn attach_worker(
        &self,
        registration: Registration,
    ) -> Result<(Attachment, tokio::sync::mpsc::Receiver<ToWorker>), ServiceError> {
        self.needs(Role::Admin)?;
        let agents: Vec<_> = registration.agents.iter().map(|agent| agent.name.clone()).collect();
        let claims = registration.active_runs.clone();
        let worker = registration.worker_id.clone();
        let attached = self.workers.attach(registration);
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
    /// the worker claims to work on is its own, unless another has it by now.
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
                if claimed {
                    let worker = Some(worker.to_owned());
                    if !self.replicas.take(session.id, &run.run_id, worker).await {
                        self.workers.disown(&run.run_id);
                    }
                } else if !self.replicas.possible() {
                    // Where others may have it, what waits is looked for among all at once, as
                    // soon as the worker is known.
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
        let hosted = self.workers.agent(place.agent).is_some_and(|agent| agent.runtime != NATIVE);
        let state = if hosted && place.shared {
            let read = self.store.adk_session(place.session, no_events()).await?;
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
            origin: Origin::here(),
        };
        if hosted {
            self.hosted.begin(&start);
        }
        Ok(start)
    }

    /// Notes that a run ended, unless the log knows already or another worker has it.
    pub(crate) async fn end_run(&self, end: RunEnd) -> Result<(), ServiceError> {
        let its_own = self.workers.works_on(&end.run_id)
            || self.replicas.take(end.session, &end.run_id, Some(end.worker.clone())).await;
        if !its_own {
            return Ok(());
        }
        self.seats.leave(end.session);
        self.live.end(end.session);
        let kind = end.error.as_ref().and_then(|error| error.get("type")?.as_str());
        self.hosted.end(end.session, kind);
        let ended = self.log_end(&end).await;
        self.workers.run_ended(&end.run_id);
        self.replicas.let_go(end.session, &end.run_id).await;
        ended
    }

    async fn log_end(&self, end: &RunEnd) -> Result<(), ServiceError> {
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
}

impl<'a> Place<'a> {
    fn of(session: &'a Session, agent: &'a str) -> Self {
        let shared = session.shares_state();
        let last = session.last_seq;
        Self { session: session.id, agent, user_id: &session.user_id, shared, last }
    }
}

/// The user's message as an event of ADK's.
fn user_event(run_event_id: &str, change: &RunChange) -> NewEvent {
    let now = clock::now();
    let event_id = format!("{run_event_id}-user");
    let invocation_id = invocation_of(&change.run_id);
    let event = json!({
        "id": event_id,
        "invocation_id": invocation_id,
        "author": "user",
        "timestamp": now.as_duration().as_secs_f64(),
        "content": change.message,
        "actions": {"state_delta": change.state_delta},
    });
    NewEvent {
        event_id,
        timestamp: now,
        kind: Kind::Event,
        turn_id: None,
        invocation_id: Some(invocation_id),
        author: "user".to_owned(),
        agent_name: "user".to_owned(),
        branch: None,
        parent_call_id: None,
        payload: raw(&event),
    }
}

/// The invocation of a run that this server itself carries out, in ADK's form.
pub(super) fn invocation_of(run_id: &str) -> String {
    format!("e-{run_id}")
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
