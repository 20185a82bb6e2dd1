//! A session that goes another way from one of its turns.
//!
//! The log up to that turn is copied into a new session. What the worker does
//! then is what it does after a crash: it runs the invocation again, with answers
//! and results from the log, and stops at the first turn without an answer, which
//! is the one that somebody wants to answer differently. So nothing that happened
//! before happens twice.
//!
//! Event and turn ids stay: they are unique in a session only. The id of a run is
//! known to workers, so the run that goes on in the copy needs one of its own.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::payload::raw;
use crate::{Effect, Event, Kind, NewEvent, RunEffect, TurnId};

/// Why there is nothing to go on from.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ForkError {
    /// Nobody opened it.
    #[error("there is no turn {turn_id}")]
    UnknownTurn {
        /// The turn.
        turn_id: TurnId,
    },
    /// A program of the user's own asked, and it cannot be run from here.
    #[error("no run is open at turn {turn_id}")]
    NoRun {
        /// The turn.
        turn_id: TurnId,
    },
}

/// The events of a new session that stands where this one stood before `turn`
/// was answered, or when it was opened if nobody answered it.
///
/// The run that was open then goes on as `new_run_id`. Times stay as they were.
pub fn fork_prefix(
    events: &[Event],
    turn: TurnId,
    new_run_id: &str,
) -> Result<Vec<NewEvent>, ForkError> {
    let of_turn =
        |kind| events.iter().position(|event| event.kind == kind && event.turn_id == Some(turn));
    let asked = of_turn(Kind::Request).ok_or(ForkError::UnknownTurn { turn_id: turn })?;
    let cut = of_turn(Kind::Response).unwrap_or(asked + 1).max(asked + 1);
    let prefix = &events[..cut];
    let open = open_run(prefix).ok_or(ForkError::NoRun { turn_id: turn })?;
    Ok(prefix
        .iter()
        .filter(|event| !Effect::of(event).completes)
        .map(|event| match run_of(event) {
            Some(run_id) if run_id == open => with_run_id(event, new_run_id),
            Some(_) | None => event.entry.clone(),
        })
        .collect())
}

/// The run that was opened last among those that are not over.
fn open_run(events: &[Event]) -> Option<String> {
    let mut closed = HashSet::new();
    events.iter().rev().find_map(|event| match run_effect(event)? {
        RunEffect::Open { run_id, .. } => (!closed.contains(&run_id)).then_some(run_id),
        RunEffect::Closed { run_id } => {
            closed.insert(run_id);
            None
        }
    })
}

fn run_of(event: &Event) -> Option<String> {
    match run_effect(event)? {
        RunEffect::Open { run_id, .. } | RunEffect::Closed { run_id } => Some(run_id),
    }
}

fn run_effect(event: &Event) -> Option<RunEffect> {
    // The effects of other kinds cost a look into their payload.
    if event.kind == Kind::Run { Effect::of(event).run } else { None }
}

/// The same change of another run, with the id that such an event has.
fn with_run_id(event: &Event, run_id: &str) -> NewEvent {
    let mut change: Map<String, Value> =
        serde_json::from_str(event.payload.get()).unwrap_or_default();
    for key in ["run_id", "runId"] {
        if let Some(value) = change.get_mut(key) {
            *value = Value::from(run_id);
        }
    }
    let status = change.get("status").and_then(Value::as_str).unwrap_or_default();
    NewEvent {
        event_id: format!("run-{run_id}-{status}"),
        payload: raw(&change),
        ..event.entry.clone()
    }
}
