//! What an event does to its session's summary.
//!
//! A session's summary (title, pending turns, open run, status) is a fold over
//! its log. Stores keep the folded summary beside the log so that lists are
//! cheap, and every store folds with this one function in the transaction that
//! appends, so the summary can always be computed again from the events.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::{Kind, NewEvent};

/// The longest title kept of a first message, in characters.
const TITLE_CHARS: usize = 120;

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
    /// What `event` does, judged by nothing but the event.
    pub fn of(event: &NewEvent) -> Self {
        let payload = &event.payload;
        match event.kind {
            Kind::Request | Kind::ToolRun => Self::default(),
            Kind::Response => Self { turn_end: Some(turn_end(payload)), ..Self::default() },
            Kind::Run => run_effect(payload),
            Kind::Session => Self {
                completes: read::<StatusOnly>(payload)
                    .is_some_and(|session| session.status == "completed"),
                ..Self::default()
            },
            Kind::Event if event.author == "user" && event.parent_call_id.is_none() => Self {
                title: read::<WithContent>(payload).and_then(|event| title(&event.content)),
                ..Self::default()
            },
            Kind::Event => Self::default(),
        }
    }
}

#[derive(Deserialize)]
struct StatusOnly {
    status: String,
}

#[derive(Deserialize)]
struct WithError {
    error: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct WithContent {
    content: Content,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    parts: Vec<TextPart>,
}

#[derive(Deserialize)]
struct TextPart {
    text: Option<String>,
}

#[derive(Deserialize)]
struct Run {
    run_id: String,
    status: String,
    message: Option<Content>,
}

/// Reads the fields that matter; a payload of another shape has no effect.
fn read<'a, T: Deserialize<'a>>(payload: &'a RawValue) -> Option<T> {
    serde_json::from_str(payload.get()).ok()
}

fn turn_end(payload: &RawValue) -> TurnEnd {
    match read::<WithError>(payload) {
        Some(WithError { error: Some(_) }) => TurnEnd::Dismissed,
        Some(WithError { error: None }) | None => TurnEnd::Decided,
    }
}

fn run_effect(payload: &RawValue) -> Effect {
    let Some(Run { run_id, status, message }) = read::<Run>(payload) else {
        return Effect::default();
    };
    let run = match status.as_str() {
        "queued" | "started" => RunEffect::Open { run_id, status },
        _ => RunEffect::Closed { run_id },
    };
    Effect { run: Some(run), title: message.as_ref().and_then(title), ..Effect::default() }
}

fn title(content: &Content) -> Option<String> {
    let text = content.parts.iter().find_map(|part| part.text.as_deref())?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.chars().take(TITLE_CHARS).collect())
}
