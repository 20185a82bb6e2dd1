//! What an event does to its session's summary.
//!
//! A session's summary (title, pending turns, open run, status) is a fold over
//! its log. Stores keep the folded summary beside the log so that lists are
//! cheap, and every store folds with this one function in the transaction that
//! appends, so the summary can always be computed again from the events.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::{AdkEvent, Kind, NewEvent, RunChange, title_from};

/// What one event changes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Effect {
    /// A title, for a session that has none yet.
    pub title: Option<String>,
    /// How the turn of a response ended.
    pub turn_end: Option<TurnEnd>,
    /// The run it opens, moves or closes.
    pub run: Option<RunEffect>,
    /// The session is completed by it.
    pub completes: bool,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// Somebody answered. Only the head of the queue may be answered.
    Decided,
    /// Somebody dismissed it. Any pending turn may be dismissed.
    Dismissed,
}

/// What happens to the session's run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEffect {
    /// The run is open, in this status.
    Open {
        /// Its id.
        run_id: String,
        /// `queued` or `started`.
        status: String,
    },
    /// The run is over.
    Closed {
        /// Its id.
        run_id: String,
    },
}

impl Effect {
    /// What `event` does, judged by nothing but the event. A payload of another
    /// shape than its kind has does nothing.
    pub fn of(event: &NewEvent) -> Self {
        let nothing = Self::default();
        match event.kind {
            Kind::Response => Self { turn_end: Some(turn_end(&event.payload)), ..nothing },
            Kind::Run => RunChange::parse(&event.payload).map_or(nothing, of_run),
            Kind::Session => Self { completes: completes(&event.payload), ..nothing },
            Kind::Event if event.author == "user" && event.parent_call_id.is_none() => {
                Self { title: title_of(&event.payload), ..nothing }
            }
            Kind::Request | Kind::ToolRun | Kind::Event => nothing,
        }
    }
}

fn turn_end(payload: &RawValue) -> TurnEnd {
    #[derive(Deserialize)]
    struct WithError {
        error: Option<serde::de::IgnoredAny>,
    }
    match serde_json::from_str(payload.get()) {
        Ok(WithError { error: Some(_) }) => TurnEnd::Dismissed,
        Ok(WithError { error: None }) | Err(_) => TurnEnd::Decided,
    }
}

fn completes(payload: &RawValue) -> bool {
    let change: Value = serde_json::from_str(payload.get()).unwrap_or_default();
    change["status"] == "completed"
}

fn of_run(change: RunChange) -> Effect {
    let RunChange { run_id, status, message, error: _ } = change;
    let text = message.as_ref().and_then(|message| {
        let parts = message["parts"].as_array()?;
        parts.iter().find_map(|part| part["text"].as_str())
    });
    let run = if status.is_end() {
        RunEffect::Closed { run_id }
    } else {
        RunEffect::Open { run_id, status: status.as_str().to_owned() }
    };
    Effect { run: Some(run), title: text.and_then(title_from), ..Effect::default() }
}

fn title_of(payload: &RawValue) -> Option<String> {
    let event = AdkEvent::parse(payload).ok()?;
    title_from(&event.visible_text()?)
}
