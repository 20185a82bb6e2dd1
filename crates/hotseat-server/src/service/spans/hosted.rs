//! The spans of runs that workers carry out.
//!
//! The agent's code is elsewhere, so its spans are told by what comes into the log: turns that
//! are submitted and answered, tools that start and end. Where ADK itself asks the model, a
//! turn lasts from the message or the tools' results to the event that answers them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_core::{AdkEvent, Kind, NewEvent, Seat, SessionId, ToolRun, TurnId};
use tracing::Span;

use super::{Tools, Turn, failed_as, of_run, of_turn, tokens};
use crate::service::StartRun;

/// The runs that go on now. Those of the server's own agents are not among them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Hosted(Arc<Mutex<HashMap<SessionId, Run>>>);

#[derive(Debug)]
struct Run {
    span: Span,
    agent: String,
    seat: Seat,
    tools: Tools,
    turns: HashMap<TurnId, Span>,
    /// ADK's own model is being asked.
    asked: Option<Span>,
}

impl Hosted {
    /// A worker is told to begin, or to go on.
    pub(crate) fn begin(&self, start: &StartRun) {
        let mut run = Run {
            span: of_run(start),
            agent: start.agent.clone(),
            seat: start.seat,
            tools: Tools::default(),
            turns: HashMap::new(),
            asked: None,
        };
        run.ask();
        self.lock().insert(start.session_id, run);
    }

    /// A turn waits for whoever is in the seat.
    pub(crate) fn turn_waits(&self, session: SessionId, agent_name: &str, id: TurnId) {
        if let Some(run) = self.lock().get_mut(&session) {
            let turn_id = id.to_string();
            let turn = Turn { agent_name, id: Some(&turn_id), model: None };
            let span = run.span.in_scope(|| of_turn(&turn, run.seat));
            run.turns.insert(id, span);
        }
    }

    /// A turn has its answer.
    pub(crate) fn turn_ended(&self, session: SessionId, id: TurnId) {
        if let Some(run) = self.lock().get_mut(&session) {
            run.turns.remove(&id);
        }
    }

    /// What comes into the log of a session.
    pub(crate) fn logged(&self, session: SessionId, events: &[NewEvent]) {
        let mut runs = self.lock();
        let Some(run) = runs.get_mut(&session) else { return };
        for event in events {
            match event.kind {
                Kind::ToolRun => {
                    if let Ok(told) = ToolRun::parse(&event.payload) {
                        run.span.in_scope(|| run.tools.note(&told));
                    }
                }
                Kind::Event if run.seat == Seat::Model => {
                    if let Ok(said) = AdkEvent::parse(&event.payload) {
                        run.said(&said);
                    }
                }
                Kind::Event
                | Kind::Request
                | Kind::Response
                | Kind::Run
                | Kind::Session
                | Kind::Message => {}
            }
        }
    }

    /// A run is over; `error` is the kind of its failure.
    pub(crate) fn end(&self, session: SessionId, error: Option<&str>) {
        let run = self.lock().remove(&session);
        if let (Some(run), Some(error)) = (run, error) {
            failed_as(&run.span, error);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Run>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Run {
    fn ask(&mut self) {
        if self.seat == Seat::Model {
            let turn = Turn { agent_name: &self.agent, id: None, model: None };
            self.asked = Some(self.span.in_scope(|| of_turn(&turn, self.seat)));
        }
    }

    fn said(&mut self, event: &AdkEvent) {
        if event.partial || event.is_from_user() {
            return;
        }
        if event.has_function_responses() {
            self.ask();
        } else if let Some(span) = self.asked.take() {
            let given = |tokens: u64| Some(tokens).filter(|tokens| *tokens > 0);
            tokens(&span, given(event.prompt_tokens), given(event.output_tokens));
        }
    }
}
