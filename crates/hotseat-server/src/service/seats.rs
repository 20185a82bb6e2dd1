//! Who sits in the model's seat of a run.
//!
//! Chosen for the run, else for the agent, else for the server. The choice is in the
//! log with the run, so it is the same after a restart. A recording answers here, in
//! the server, so it can sit in for any agent, wherever its code runs; the one that an
//! agent's own file names goes before the server's, and one that the server was told for
//! that agent before both.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use hotseat_agent::AgentFile;
use hotseat_core::{
    Kind, ModelRequest, Player, Recording, Replayed, RunChange, Seat, SessionId, TurnId,
};
use hotseat_store::{EventQuery, Order};
use serde_json::{Value, json};

use super::native::NATIVE;
use super::{Agent, App, ServiceError};
use crate::clock;

/// The latest entries about runs, among which the beginning of the one that goes on is.
const RUN_ENTRIES: usize = 8;

/// Who sits where, unless a run says otherwise.
#[derive(Debug, Clone)]
pub struct SeatConfig {
    /// For all agents, whomever they name themselves: what the server was told.
    pub chosen: Option<Seat>,
    /// For agents that name nobody.
    pub default: Seat,
    /// For agents by name.
    pub agents: BTreeMap<String, Seat>,
    /// What the seat `replay` answers from.
    pub recording: Option<Player>,
    /// What the seat `replay` of single agents answers from, by name.
    pub recordings: BTreeMap<String, Player>,
}

impl Default for SeatConfig {
    fn default() -> Self {
        Self {
            chosen: None,
            default: Seat::Human,
            agents: BTreeMap::new(),
            recording: None,
            recordings: BTreeMap::new(),
        }
    }
}

/// The seats of the runs that go on now, and what agents named for theirs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seats {
    taken: Arc<Mutex<HashMap<SessionId, Seat>>>,
    recordings: Arc<Mutex<HashMap<String, Player>>>,
}

impl Seats {
    pub(super) fn take(&self, session: SessionId, seat: Seat) {
        let mut seats = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        // A person is who sits there when nobody is noted.
        if seat == Seat::Human {
            seats.remove(&session);
        } else {
            seats.insert(session, seat);
        }
    }

    pub(super) fn leave(&self, session: SessionId) {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).remove(&session);
    }

    pub(super) fn of(&self, session: SessionId) -> Seat {
        let seats = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        seats.get(&session).copied().unwrap_or(Seat::Human)
    }
}

impl App {
    /// Who answers for the model in a run of `agent`.
    pub(super) fn seat_for(&self, agent: &Agent, wish: Option<Seat>) -> Result<Seat, ServiceError> {
        let seat = wish.unwrap_or_else(|| self.usual_seat(agent));
        match seat {
            // What an agent answers from is known where it is hosted.
            Seat::Replay
                if self.workers.hosts(&agent.name) && self.recording_of(&agent.name).is_none() =>
            {
                Err(ServiceError::invalid(
                    "this server has no recording: start it with --seat replay:FILE",
                ))
            }
            Seat::Model if agent.runtime == NATIVE && agent.model.is_empty() => {
                Err(ServiceError::invalid(format!(
                    "agent `{}` names no model: choose the seat `human` or `replay`",
                    agent.name
                )))
            }
            Seat::Human | Seat::Model | Seat::Replay => Ok(seat),
        }
    }

    /// Who answers for the model of `agent`, unless a run says otherwise.
    pub(super) fn usual_seat(&self, agent: &Agent) -> Seat {
        let seats = &self.config.seats;
        let configured = seats.agents.get(&agent.name).copied();
        configured.or(seats.chosen).or(agent.seat).unwrap_or(seats.default)
    }

    /// Reads the recording that a file names for its agent's seat. What is wrong with it
    /// is told in words for the author of the file.
    pub(super) async fn read_recording(&self, file: &AgentFile) -> Result<(), String> {
        let Some(name) = file.seat.as_deref().and_then(|seat| seat.strip_prefix("replay:")) else {
            return Ok(());
        };
        let path = file.folder().join(name);
        let wrong = |problem: &dyn std::fmt::Display| format!("the recording `{name}` {problem}");
        let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
        let bytes = read
            .map_err(|error| wrong(&error))?
            .map_err(|error| wrong(&format_args!("cannot be read: {error}")))?;
        let player = Recording::read(&bytes)
            .and_then(|recording| Arc::new(recording).player(None))
            .map_err(|error| wrong(&format_args!("cannot be played: {error}")))?;
        let mut recordings = self.seats.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        recordings.insert(file.name.clone(), player);
        Ok(())
    }

    /// Who sits in the seat of the run that goes on in a session. Another server may have begun
    /// it; then the log knows.
    pub(super) async fn seat_of(&self, session: SessionId) -> Result<Seat, ServiceError> {
        let seat = self.seats.of(session);
        if seat != Seat::Human || !self.replicas.possible() {
            return Ok(seat);
        }
        let queued = EventQuery {
            kinds: vec![Kind::Run],
            order: Order::Descending,
            limit: RUN_ENTRIES,
            ..EventQuery::default()
        };
        let runs = self.store.events(session, queued).await?;
        let mut changes = runs.iter().filter_map(|run| RunChange::parse(&run.payload).ok());
        Ok(changes.find_map(|change| change.seat).unwrap_or(Seat::Human))
    }

    /// What the seat `replay` of an agent answers from: what the server was told for it, else
    /// what its own file names, else what the server was told for all.
    fn recording_of(&self, agent: &str) -> Option<Player> {
        if let Some(recording) = self.config.seats.recordings.get(agent) {
            return Some(recording.clone());
        }
        let recordings = self.seats.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        recordings.get(agent).or(self.config.seats.recording.as_ref()).cloned()
    }

    /// What the recording of an agent says in a conversation, with ids for its calls.
    pub(super) fn recorded(&self, agent: &str, contents: &[Value]) -> Result<Replayed, String> {
        let player = self.recording_of(agent).ok_or("there is no recording")?;
        let mut replayed = player.answer_in(contents).map_err(|problem| problem.to_string())?;
        let parts = replayed.content.get_mut("parts").and_then(Value::as_array_mut);
        for part in parts.into_iter().flatten() {
            if let Some(Value::Object(call)) = part.get_mut("function_call") {
                call.insert("id".to_owned(), Value::from(format!("adk-{}", clock::new_id())));
            }
        }
        Ok(replayed)
    }

    /// Answers a turn from the recording, or ends it with what is missing.
    pub(super) async fn replay_turn(
        &self,
        session: SessionId,
        turn: TurnId,
        agent: &str,
        request: &ModelRequest,
    ) -> Result<(), ServiceError> {
        let answered = match self.recorded(agent, &request.contents) {
            Ok(replayed) => {
                let answer = json!({"candidates": [replayed.content]});
                self.decide(session, turn, answer, Seat::Replay.as_str()).await
            }
            Err(problem) => self.dismiss(session, turn, Some(&problem)).await,
        };
        match answered {
            // Somebody was faster: the turn has its answer.
            Ok(_) | Err(ServiceError::TurnAnswered { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
