//! Threads: conversations that a front end names, each a session of its own.
//!
//! A front end sends all it knows of a thread with every message. What is new in it is
//! found by the ids of its messages: those that a run was begun for are in the log with
//! that run, written in the same commit, and only if the log ends where it was read. So
//! a message that is sent twice, to one server or to two, is run once.

use std::collections::{HashMap, HashSet};

use hotseat_core::{AdkEvent, AdkPart, Event, Kind, RunChange, RunStatus, Seq, SessionStatus};
use hotseat_store::{AppendError, EventQuery, Expected, NewSession, Order, Session};
use serde_json::{Map, Value, json};

use super::runs::Opened;
use super::sessions::raw;
use super::{AdkKey, Agent, App, RunWish, ServiceError, WatchedRun, adk_event, no_events, seen};
use crate::clock;

/// Runs looked back on for what was sent already.
const RUNS_KEPT: usize = 1000;

/// Events looked back on for calls that wait.
const EVENTS_KEPT: usize = 1000;

/// A conversation as it stands.
#[derive(Debug)]
pub(crate) struct Thread {
    key: AdkKey,
    /// What was said, unless nothing was.
    pub(crate) session: Option<Session>,
    /// Ids of messages that were run already.
    pub(crate) ledger: HashSet<String>,
    /// Calls that wait for a result from outside, by id.
    pub(crate) pending: Vec<PendingCall>,
    pub(crate) state: Map<String, Value>,
    /// Whether all that was ever said is looked back on.
    pub(crate) whole: bool,
    /// The latest raw events, oldest first.
    pub(crate) events: Vec<Value>,
    /// What became of runs, the latest first.
    runs: Vec<(Seq, RunChange)>,
}

/// A call that waits for a result from outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PendingCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) args: Value,
    /// Somebody said something else since, and the conversation went on without the result.
    pub(crate) passed_over: bool,
}

impl App {
    /// A thread with an agent in which nothing was said, without a look whether that is so.
    pub(crate) fn new_thread(&self, agent: &Agent, id: &str) -> Result<Thread, ServiceError> {
        let user_id = self.user_of_new(None)?;
        let key = AdkKey::new(&agent.app_name, &user_id, id)?;
        Ok(Thread {
            key,
            session: None,
            ledger: HashSet::new(),
            pending: Vec::new(),
            state: Map::new(),
            whole: true,
            events: Vec::new(),
            runs: Vec::new(),
        })
    }

    /// A thread with an agent; its session may not be there yet.
    pub(crate) async fn thread(&self, agent: &Agent, id: &str) -> Result<Thread, ServiceError> {
        let new = self.new_thread(agent, id)?;
        let read = match self.adk_session(&new.key, no_events()).await {
            Ok(read) => seen(read),
            Err(ServiceError::AdkSessionNotFound(_)) => return Ok(new),
            Err(error) => return Err(error),
        };
        let key = new.key;
        let session = read.session;
        let backwards = |kind, limit| EventQuery {
            kinds: vec![kind],
            order: Order::Descending,
            limit,
            ..EventQuery::default()
        };
        let runs = self.store.events(session.id, backwards(Kind::Run, RUNS_KEPT)).await?;
        let all_runs = runs.len() < RUNS_KEPT;
        let runs: Vec<_> = runs
            .into_iter()
            .filter_map(|event| Some((event.seq, RunChange::parse(&event.payload).ok()?)))
            .collect();
        let ids =
            runs.iter().filter_map(|(_, run)| run.client.as_ref()?.get("message_ids")?.as_array());
        let ledger = ids.flatten().filter_map(|id| id.as_str().map(str::to_owned)).collect();
        let events = self.store.events(session.id, backwards(Kind::Event, EVENTS_KEPT)).await?;
        let whole = all_runs && events.len() < EVENTS_KEPT && session.removed_through == Seq::START;
        let pending = pending_calls(events.iter().rev());
        let own = events.iter().rev().filter(|event| event.parent_call_id.is_none());
        let events =
            own.filter_map(|event| serde_json::from_str(event.payload.get()).ok()).collect();
        let (session, state) = (Some(session), read.state);
        Ok(Thread { key, session, ledger, pending, state, whole, events, runs })
    }

    /// Begins a thread with its first message. `None` if it has begun already: then nothing was
    /// done, and what is new in the message depends on what was said.
    pub(crate) async fn begin_thread(
        &self,
        thread: &Thread,
        agent: &Agent,
        wish: RunWish,
    ) -> Result<Option<WatchedRun>, ServiceError> {
        self.check_draining()?;
        let new = thread.opened_by(agent);
        let watch = self.watch_session(new.id);
        match self.open_session(new, agent, wish).await? {
            Opened::Begun(_, started) => Ok(Some(watch.started(started))),
            Opened::There(_) => Ok(None),
        }
    }

    /// Says something in a thread, and returns its run from its beginning. `None` if the thread
    /// is not as it was read, or if a run had to be waited for: then nothing was done, and what
    /// is new in the request depends on what was said since.
    pub(crate) async fn say_in(
        &self,
        thread: &Thread,
        agent: &Agent,
        wish: RunWish,
        queue: bool,
    ) -> Result<Option<WatchedRun>, ServiceError> {
        let Some(session) = &thread.session else {
            return self.begin_thread(thread, agent, wish).await;
        };
        self.check_draining()?;
        let id = session.id;
        if let Some(open) = &session.run {
            if !queue {
                let run_id = open.run_id.clone();
                return Err(ServiceError::RunInProgress { session: id, run_id });
            }
            self.no_run(id).await?;
            return Ok(None);
        }
        let watch = self.watch_session(id);
        let expected = Expected::Exactly(session.last_seq);
        match self.start_run_at(session, agent, wish, expected).await {
            Ok(started) => Ok(Some(watch.started(started))),
            Err(ServiceError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Changes the state of a thread, without running anything. `None` if the thread is not as
    /// it was read: then nothing was done.
    pub(crate) async fn keep_state(
        &self,
        thread: &mut Thread,
        delta: Map<String, Value>,
    ) -> Result<Option<()>, ServiceError> {
        self.check_draining()?;
        let Some(session) = &thread.session else { return Ok(None) };
        let payload = raw(&json!({
            "id": clock::new_id().to_string(),
            "invocationId": format!("p-{}", clock::new_id()),
            "author": "user",
            "actions": {"stateDelta": delta},
            "timestamp": clock::now().as_duration().as_secs_f64(),
        }));
        self.check_size(payload.get().len())?;
        let event = adk_event(payload).map_err(|error| ServiceError::invalid(error.to_string()))?;
        let expected = Expected::Exactly(session.last_seq);
        match self.store.append(session.id, expected, vec![event]).await {
            Ok(_) => thread.state.extend(delta),
            Err(AppendError::Conflict { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
        Ok(Some(()))
    }
}

impl Thread {
    /// The session that its first message makes.
    fn opened_by(&self, agent: &Agent) -> NewSession {
        NewSession {
            id: self.key.hashed(),
            created_at: clock::now(),
            description: None,
            agent: Some(agent.name.clone()),
            app_name: agent.app_name.clone(),
            user_id: self.key.user_id().to_owned(),
            source: "ag-ui".to_owned(),
            adk_id: Some(self.key.id().to_owned()),
            opening: Vec::new(),
        }
    }

    /// The id that its front end gave it.
    pub(crate) fn id(&self) -> &str {
        self.key.id()
    }

    /// What the application added when it last added something.
    pub(crate) fn last_context(&self) -> Option<&str> {
        self.runs.iter().find_map(|(_, run)| run.client.as_ref()?.get("context")?.as_str())
    }

    /// The id by which the client knows the nth message of a user's event.
    pub(crate) fn client_message_id(&self, event_id: &str, number: usize) -> Option<String> {
        let said = self.events.iter().filter(|event| is_said(event));
        let from_end = said.rev().position(|event| event["id"] == event_id)?;
        let queued = self.runs.iter().filter(|(_, run)| run.status == RunStatus::Queued);
        let (_, run) = queued.into_iter().nth(from_end)?;
        let ids = run.client.as_ref()?.get("message_ids")?.as_array()?;
        Some(ids.get(number)?.as_str()?.to_owned())
    }

    /// The calls without whose results the conversation cannot go on.
    pub(crate) fn waiting(&self) -> Vec<PendingCall> {
        self.pending.iter().filter(|call| !call.passed_over).cloned().collect()
    }

    /// The run that a client knows by this id, and where it begins in the log.
    pub(crate) fn run(&self, client_run_id: &str) -> Option<(&RunChange, Seq)> {
        self.runs.iter().find_map(|(seq, run)| {
            let id = run.client.as_ref()?.get("run_id")?.as_str()?;
            (id == client_run_id && run.status == RunStatus::Queued).then_some((run, *seq))
        })
    }

    /// The run that goes on now, and where it begins in the log.
    pub(crate) fn open_run(&self) -> Option<(&RunChange, Seq)> {
        let open = self.session.as_ref()?.run.as_ref()?;
        self.runs.iter().find_map(|(seq, run)| {
            let queued = run.run_id == open.run_id && run.status == RunStatus::Queued;
            queued.then_some((run, *seq))
        })
    }

    /// Whether a request may change the state without saying anything: nothing goes on, and it
    /// is none that began a run and is only sent again.
    pub(crate) fn rests(&self, client_run_id: &str) -> bool {
        let session = self.session.as_ref();
        let open = session.filter(|session| session.status == SessionStatus::Active);
        open.is_some_and(|session| session.run.is_none()) && self.run(client_run_id).is_none()
    }

    /// What keys of the client's state are to be changed to, so that the session's are the same.
    /// Keys that the client does not have stay: a client that begins anew has none, and must not
    /// empty the session, and ADK knows no removal. Whoever wants one gone says `null`.
    pub(crate) fn state_delta(&self, state: &Map<String, Value>) -> Map<String, Value> {
        let changed = state.iter().filter(|(key, value)| self.state.get(*key) != Some(value));
        changed.map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

/// Whether an event is what a user said, and not only a change of state.
fn is_said(event: &Value) -> bool {
    event["author"] == "user" && event.get("content").is_some_and(|content| !content.is_null())
}

/// Calls that wait for a result from outside, oldest first.
fn pending_calls<'a>(events: impl Iterator<Item = &'a Event>) -> Vec<PendingCall> {
    let mut calls: Vec<PendingCall> = Vec::new();
    let mut args = HashMap::new();
    for event in events.filter(|event| event.parent_call_id.is_none()) {
        let Ok(event) = AdkEvent::parse(&event.payload) else { continue };
        let says = |part: &AdkPart| matches!(part, AdkPart::Text { .. });
        let speaks = event.author == "user" && event.parts.iter().any(says);
        for part in event.parts {
            match part {
                AdkPart::FunctionCall { id: Some(id), name, args: given } => {
                    args.insert(id, (name, given));
                }
                // The first word of a tool that waits is not its result.
                AdkPart::FunctionResponse { id: Some(id), .. }
                    if event.author == "user" || !event.waiting_call_ids.contains(&id) =>
                {
                    calls.retain(|call| call.id != id);
                }
                _ => {}
            }
        }
        for call in &mut calls {
            call.passed_over |= speaks;
        }
        for id in event.long_running_tool_ids {
            let (name, args) = args.remove(&id).unwrap_or_default();
            calls.push(PendingCall { id, name, args, passed_over: false });
        }
    }
    calls
}
