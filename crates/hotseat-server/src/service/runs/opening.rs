//! How a run comes into the log: with its message, in one commit.
//!
//! The same message sent twice is one run, by its key, and a new session is made together
//! with its first message. Handing the run to a worker comes after that.

use hotseat_core::{Kind, NewEvent, RunChange, RunId, RunStatus, Seat, Seq, SessionId};
use hotseat_store::{Created, Expected, NewSession, Session};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Place, Resume};
use crate::clock;
use crate::service::native::NATIVE;
use crate::service::sessions::{named_event, raw};
use crate::service::{Agent, App, ServiceError};

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
    /// All that is in the log of it, where nobody has to be told anything of that.
    pub(crate) shown_through: Option<Seq>,
}

/// What became of the wish for a new session.
#[derive(Debug)]
pub(crate) enum Opened {
    /// It was made, and its first message runs.
    Begun(Box<Session>, Started),
    /// There is one already; nothing was done.
    There(Box<Session>),
}

impl App {
    /// Takes a message into the log and hands it to whoever runs the agent.
    pub(crate) async fn start_run(
        &self,
        session: &Session,
        agent: &Agent,
        wish: RunWish,
    ) -> Result<Started, ServiceError> {
        self.start_run_at(session, agent, wish, Expected::Any).await
    }

    /// The same, if the log is where the caller expects it.
    pub(crate) async fn start_run_at(
        &self,
        session: &Session,
        agent: &Agent,
        wish: RunWish,
        expected: Expected,
    ) -> Result<Started, ServiceError> {
        let (change, events) = self.opening_of_run(agent, wish)?;
        let appended = self.store.append(session.id, expected, events).await?;
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
        let first = new.opening.is_empty();
        let quiet = first && is_quiet(&change);
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
        let place = Place { first, ..Place::of(&session, &agent.name) };
        let mut started = self.begun(place, change, seq).await?;
        started.shown_through = quiet.then_some(session.last_seq);
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
        let said = (agent.runtime == NATIVE).then(|| user_event(&event_id, &change));
        let queued = named_event(event_id, Kind::Run, &agent.name, payload);
        Ok((change, std::iter::once(queued).chain(said).collect()))
    }

    async fn begun(
        &self,
        place: Place<'_>,
        change: RunChange,
        seq: Seq,
    ) -> Result<Started, ServiceError> {
        let run_id = change.run_id.clone();
        self.log_said(place.session, &run_id, change.message.as_ref());
        self.counters.begun(change.seat.unwrap_or(Seat::Human));
        self.dispatch(place, change, Resume::No).await?;
        Ok(Started { run_id, seq, shown_through: None })
    }

    /// The run that an earlier sending of the same message began.
    async fn started_before(&self, id: SessionId, seq: Seq) -> Result<Started, ServiceError> {
        let queued = self.store.event(id, seq).await?;
        let change = queued.and_then(|event| RunChange::parse(&event.payload).ok());
        let run_id = change.ok_or(ServiceError::Conflict { session: id })?.run_id;
        Ok(Started { run_id, seq, shown_through: None })
    }
}

/// Whether whoever sent the message is told nothing of it: it says something, and neither brings
/// the result of a call nor changes the state.
fn is_quiet(change: &RunChange) -> bool {
    let parts = change.message.as_ref().and_then(|message| message.get("parts")?.as_array());
    let is_result = |part: &Value| {
        part.get("function_response").or_else(|| part.get("functionResponse")).is_some()
    };
    change.state_delta.is_empty() && parts.is_some_and(|parts| !parts.iter().any(is_result))
}

/// The user's message as an event of ADK's.
#[derive(Serialize)]
struct UserEvent<'a> {
    id: &'a str,
    invocation_id: &'a str,
    author: &'static str,
    timestamp: f64,
    content: Option<&'a Value>,
    actions: UserActions<'a>,
}

#[derive(Serialize)]
struct UserActions<'a> {
    state_delta: &'a Map<String, Value>,
}

fn user_event(run_event_id: &str, change: &RunChange) -> NewEvent {
    let now = clock::now();
    let event_id = format!("{run_event_id}-user");
    let invocation_id = invocation_of(&change.run_id);
    let payload = raw(&UserEvent {
        id: &event_id,
        invocation_id: &invocation_id,
        author: "user",
        timestamp: now.as_duration().as_secs_f64(),
        content: change.message.as_ref(),
        actions: UserActions { state_delta: &change.state_delta },
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
        payload,
    }
}

/// The invocation of a run that this server itself carries out, in ADK's form.
pub(in crate::service) fn invocation_of(run_id: &str) -> String {
    format!("e-{run_id}")
}
