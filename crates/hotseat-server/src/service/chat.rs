//! A message to an agent over REST: the session it belongs to, and its run.

use std::sync::Arc;

use hotseat_core::{Seat, SessionId};
use hotseat_store::NewSession;
use serde_json::{Value, json};

use super::admission::shown;
use super::guests::REST;
use super::{Agent, App, RunWish, ServerState, ServiceError, WatchedRun};
use crate::clock;

/// The longest message, in characters.
pub(crate) const MAX_MESSAGE_CHARS: usize = 10_000;

/// What somebody says.
#[derive(Debug)]
pub(crate) struct Saying {
    pub(crate) agent: String,
    /// The session to go on with; a new one is made if it is left out.
    pub(crate) session: Option<SessionId>,
    pub(crate) message: String,
    /// What the files that came with it say: genai parts.
    pub(crate) parts: Vec<Value>,
    pub(crate) seat: Option<Seat>,
    /// Wait for a run that is going on, instead of being refused.
    pub(crate) queue: bool,
    pub(crate) streaming: bool,
}

impl App {
    /// The name of the one agent that is served, once it is there.
    pub(crate) fn single_agent(&self) -> Option<String> {
        let single = self.config.serve.single;
        let agents = single.then(|| self.workers.list().items).into_iter().flatten();
        agents.into_iter().next().map(|agent| agent.name)
    }

    /// An agent that can be talked to.
    pub(crate) fn served_agent(&self, name: &str) -> Result<Arc<Agent>, ServiceError> {
        match self.workers.agent(name) {
            Some(agent) if agent.connected => Ok(agent),
            Some(_) => Err(ServiceError::NotReady),
            None if self.server_state() == ServerState::Initializing => Err(ServiceError::NotReady),
            None => Err(ServiceError::UnknownAgent(name.to_owned())),
        }
    }

    /// Takes a message in and returns its run, watched from its beginning.
    pub(crate) async fn say(&self, saying: Saying) -> Result<WatchedRun, ServiceError> {
        self.check_draining()?;
        let agent = self.served_agent(&saying.agent)?;
        check_message(&saying.message)?;
        let mut parts = vec![json!({"text": saying.message})];
        parts.extend(saying.parts);
        let wish = RunWish {
            message: Value::from_iter([
                ("role".to_owned(), "user".into()),
                ("parts".to_owned(), Value::Array(parts)),
            ]),
            seat: saying.seat,
            streaming: saying.streaming,
            ..RunWish::default()
        };
        let Some(id) = saying.session else {
            return self.say_first(&agent, wish).await;
        };
        loop {
            let session = self.guest(id).await?;
            if session.agent.as_deref() != Some(agent.name.as_str()) {
                return Err(ServiceError::SessionNotFound(id));
            }
            let watch = self.watch_session(id);
            match self.start_run(&session, &agent, wish.clone()).await {
                Ok(started) => return Ok(watch.started(started)),
                Err(ServiceError::RunInProgress { .. }) if saying.queue => {
                    self.no_run(id).await?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    async fn say_first(&self, agent: &Agent, wish: RunWish) -> Result<WatchedRun, ServiceError> {
        let id = SessionId::new(uuid::Uuid::from_u128(ulid::Ulid::new().0));
        let user_id = self.user_of_new(None)?;
        self.let_in(id).await?;
        let new = NewSession {
            id,
            created_at: clock::now(),
            description: None,
            agent: Some(agent.name.clone()),
            app_name: agent.app_name.clone(),
            user_id,
            source: REST.to_owned(),
            adk_id: None,
            opening: Vec::new(),
        };
        let watch = self.watch_session(id);
        match self.start_session(new, agent, wish).await {
            Ok((_, started)) => Ok(watch.started(started)),
            Err(error) => {
                self.guests.left(id);
                Err(error)
            }
        }
    }

    /// Writes what somebody said to the log, if that is wished for.
    pub(super) fn log_said(&self, session: SessionId, run_id: &str, message: Option<&Value>) {
        if !self.config.serve.log_content {
            return;
        }
        let parts = message.and_then(|message| message.get("parts")?.as_array());
        let texts = parts.into_iter().flatten().filter_map(|part| part.get("text")?.as_str());
        let text = texts.collect::<Vec<_>>().join("\n");
        tracing::info!(session.id = shown(session), run.id = run_id, text, "a message");
    }

    /// Writes what was answered to the log, if that is wished for.
    pub(crate) fn log_answered(&self, session: SessionId, run_id: &str, text: &str) {
        if self.config.serve.log_content {
            tracing::info!(session.id = shown(session), run.id = run_id, text, "an answer");
        }
    }

    /// Waits until no run is going on in a session.
    pub(super) async fn no_run(&self, id: SessionId) -> Result<(), ServiceError> {
        let mut head = self.store.watch(id);
        loop {
            head.borrow_and_update();
            if self.session(id).await?.run.is_none() {
                return Ok(());
            }
            tokio::select! {
                changed = head.changed() => if changed.is_err() {
                    return Err(ServiceError::SessionNotFound(id));
                },
                () = self.closed() => return Err(ServiceError::Closing),
            }
        }
    }

    /// Ends a conversation for good. One that is not there is as good as ended.
    pub(crate) async fn leave(&self, id: SessionId) -> Result<(), ServiceError> {
        self.guests.left(id);
        match self.session(id).await {
            Ok(session) if session.source == REST => self.delete_session(id).await,
            // Sessions of other kinds are none of the protocol's business.
            Ok(_) | Err(ServiceError::SessionNotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn check_message(message: &str) -> Result<(), ServiceError> {
    if message.trim().is_empty() {
        return Err(ServiceError::invalid("`message` is blank"));
    }
    let chars = message.chars().count();
    if chars > MAX_MESSAGE_CHARS {
        return Err(ServiceError::invalid(format!(
            "`message` has {chars} characters: at most {MAX_MESSAGE_CHARS} are taken; send more as a file"
        )));
    }
    Ok(())
}
