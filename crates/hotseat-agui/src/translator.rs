//! From Hotseat's run to AG-UI's events.
//!
//! The server feeds a [`Translator`] with whatever happens in a run, in order,
//! and sends what comes back. Whatever it is fed with, the stream is one that
//! [`Verifier`](crate::Verifier) accepts and it ends exactly once: with
//! [`finish`](Translator::finish), [`fail`](Translator::fail) or
//! [`cancel`](Translator::cancel), after which nothing comes out any more.
//!
//! Pieces are shown at once; the complete event that follows adds only what the
//! pieces left out. An agent works in a *lane*, a branch or the inside of a call
//! that runs an agent; in a lane one agent works at a time, and that is what
//! steps and sub-agents are made of.

mod answer;
mod ending;
mod lane;
mod parts;
mod progress;
mod question;
mod reattach;
mod silence;
mod state;
mod usage;

use std::collections::{HashMap, HashSet};

use hotseat_core::Piece;
use serde_json::{Map, Value};

use crate::adk::Adk;
use crate::event::{Body, Event};
use crate::history::{History, Place};
use crate::input::RunAgentInput;
use crate::verifier::Verifier;
use lane::{Lane, Stint};
pub(crate) use parts::MEDIA_ACTIVITY;
use question::Question;
use silence::Silence;
use usage::Usages;

/// The protocol that is spoken here.
pub const PROTOCOL_VERSION: &str = "1.0";

/// How many answers of a run may break off. After that, answers are shown when
/// they are complete.
const MAX_BROKEN_OFF: usize = 10_000;

/// What a run begins with.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The conversation.
    pub thread_id: String,
    /// The run, as the client named it.
    pub run_id: String,
    /// The run that led to it.
    pub parent_run_id: Option<String>,
    /// The request, to be sent back; not for clients that have it anyway.
    pub input: Option<RunAgentInput>,
    /// The state that the session begins with; `null` if it has none. The
    /// client gets it as a snapshot.
    pub state: Value,
    /// The root agent's name. Others are sub-agents.
    pub agent: String,
    /// Whether a run that waits for answers ends with an interrupt. Otherwise it
    /// ends with success and its calls are pending, which front ends understand
    /// that answer with plain tool messages.
    pub interrupts: bool,
    /// The session's events before this run.
    pub history: History,
}

/// Turns what happens in one run into events.
#[derive(Debug)]
pub struct Translator {
    start: Start,
    phase: Phase,
    out: Vec<Event>,
    history: History,
    /// The calls that began in this run, in order.
    calls: Vec<String>,
    /// Those of them that got a result.
    answered: HashSet<String>,
    /// Who made a call: the number of a stint.
    callers: HashMap<String, u64>,
    stints: Vec<Stint>,
    next_stint: u64,
    /// Message ids of answers whose event has not come.
    claims: HashSet<String>,
    state: Option<Value>,
    questions: Vec<Question>,
    usage: Usages,
    activities: HashMap<String, Map<String, Value>>,
    waiting: Vec<(String, String)>,
    silence: Silence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    New,
    Running,
    Over,
}

impl Translator {
    /// The translator of a run.
    pub fn new(mut start: Start) -> Self {
        let state = Some(std::mem::take(&mut start.state)).filter(|state| !state.is_null());
        Self {
            phase: Phase::New,
            out: Vec::new(),
            history: std::mem::take(&mut start.history),
            start,
            calls: Vec::new(),
            answered: HashSet::new(),
            callers: HashMap::new(),
            stints: Vec::new(),
            next_stint: 0,
            claims: HashSet::new(),
            state,
            questions: Vec::new(),
            usage: Usages::default(),
            activities: HashMap::new(),
            waiting: Vec::new(),
            silence: Silence::default(),
        }
    }

    /// The run begins. Whatever comes first begins it, if this does not.
    pub fn start(&mut self) -> Vec<Event> {
        self.begin();
        self.take()
    }

    /// A piece of an answer.
    pub fn piece(&mut self, piece: &Piece) -> Vec<Event> {
        self.say(None, piece);
        self.take()
    }

    /// A piece of an answer inside a call that runs an agent.
    pub fn inner_piece(&mut self, piece: &Piece, parent_call_id: &str) -> Vec<Event> {
        self.say(Some(parent_call_id), piece);
        self.take()
    }

    /// A raw ADK event, in either spelling. A partial one counts as pieces.
    pub fn event(&mut self, event: &Value) -> Vec<Event> {
        self.read(None, event);
        self.take()
    }

    /// A raw ADK event from inside a call that runs an agent.
    pub fn inner_event(&mut self, event: &Value, parent_call_id: &str) -> Vec<Event> {
        self.read(Some(parent_call_id), event);
        self.take()
    }

    /// The history, with the events of this run.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The verifier for a client that begins to read now, from the start of the
    /// run or with [`reattach`](Self::reattach).
    pub fn verifier(&self) -> Verifier {
        let answers = self.stints.iter().filter_map(|stint| stint.answer.as_ref());
        let open: HashSet<&str> = answers
            .flat_map(|answer| self.reopened_calls(answer))
            .map(|call| call.id.as_str())
            .collect();
        let known = self.history.call_ids().filter(|id| !open.contains(id)).map(str::to_owned);
        Verifier::new(self.start.thread_id.as_str(), self.start.run_id.as_str(), known)
    }

    /// Whether no answer is half said: whoever has read until here can read on with what the
    /// log says next.
    pub fn is_at_rest(&self) -> bool {
        let answers = self.stints.iter().filter_map(|stint| stint.answer.as_ref());
        answers.into_iter().all(|answer| !answer.is_open())
    }

    /// Why there is no answer, where the seat gave a reason instead of one.
    pub fn no_answer(&self) -> Option<&str> {
        self.silence.reason()
    }

    /// Whether the run has come to its end.
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    fn begin(&mut self) {
        if self.phase != Phase::New {
            return;
        }
        self.phase = Phase::Running;
        let begun = self.run_started();
        self.out.push(Event::new(begun));
        if let Some(snapshot) = self.state.clone() {
            self.out.push(Event::new(Body::StateSnapshot { snapshot }));
        }
    }

    fn run_started(&self) -> Body {
        Body::RunStarted {
            thread_id: self.start.thread_id.clone(),
            run_id: self.start.run_id.clone(),
            protocol_version: Some(PROTOCOL_VERSION.to_owned()),
            parent_run_id: self.start.parent_run_id.clone(),
            input: self.start.input.as_ref().map(RunAgentInput::to_value),
        }
    }

    fn say(&mut self, parent_call_id: Option<&str>, piece: &Piece) {
        let in_vain = self.phase == Phase::Over || self.claims.len() >= MAX_BROKEN_OFF;
        if in_vain || piece.author.eq_ignore_ascii_case("user") {
            return;
        }
        self.begin();
        let branch = piece.branch.as_deref().filter(|branch| !branch.is_empty());
        let stint = self.enter(&Lane::new(parent_call_id, branch), &piece.author, None);
        let place = Place::new(&piece.invocation_id, branch);
        self.answer(stint, &place);
        self.say_piece(stint, &piece.delta);
    }

    fn read(&mut self, parent_call_id: Option<&str>, event: &Value) {
        let Some(adk) = Adk::new(event).filter(|_| self.phase != Phase::Over) else { return };
        if adk.flag("partial") {
            for piece in Piece::from_partial(event) {
                self.say(parent_call_id, &piece);
            }
            return;
        }
        self.begin();
        let first = self.out.len();
        if adk.is_from_user() {
            self.user_said(adk);
        } else {
            if parent_call_id.is_none() {
                self.silence.heard(adk);
            }
            self.agent_said(parent_call_id, event, adk);
        }
        if let Some(delta) = adk.state_delta() {
            self.state_changed(delta);
        }
        for event in &mut self.out[first..] {
            event.timestamp = adk.millis();
        }
    }

    /// Sends something in the name of a stint.
    fn send(&mut self, stint: usize, body: Body) {
        let owner = self.stints.get(stint).and_then(|stint| stint.owner.as_deref());
        self.out.push(Event::of(owner, body));
    }

    fn take(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.out)
    }
}
