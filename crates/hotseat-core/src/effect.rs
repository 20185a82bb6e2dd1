//! What an event does to its session's summary.
//!
//! A session's summary (title, state, pending turns, open run, status …) is a
//! fold over its log. Stores keep the folded summary beside the log so that lists
//! are cheap, and every store folds with this one function in the transaction that
//! appends, so the summary can always be computed again from the events.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::input_request::InputKind;
use crate::record::{Account, Research};
use crate::{
    AdkEvent, AdkPart, Kind, NewEvent, RunStatus, ToolRun, ToolRunStatus, is_failure, state,
    title_from,
};

/// What one event changes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Effect {
    /// A title, for a session that has none yet.
    pub title: Option<String>,
    /// How the turn of a response ended.
    pub turn_end: Option<TurnEnd>,
    /// The run it opens, moves or closes.
    pub run: Option<RunEffect>,
    /// The session is completed by it.
    pub completes: bool,
    /// When it happened by its own account, in seconds since 1970; for events that
    /// have no account of their own, none.
    pub time: Option<f64>,
    /// The `type` by which events of other makers than ADK are known.
    pub event_type: Option<String>,
    /// Values of the session's state, by key; `temp:` keys are not among them.
    pub state: Map<String, Value>,
    /// Calls by which ADK asks the user for something.
    pub asks: Vec<String>,
    /// Calls that the user answered.
    pub answers: Vec<String>,
    /// What it tells the session's record.
    pub account: Account,
    /// What it adds to the figures.
    pub usage: Usage,
}

/// What an event adds to the figures about agents and tools.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Usage {
    /// Something failed.
    pub failed: bool,
    /// Tokens that a model read.
    pub prompt_tokens: u64,
    /// Tokens that a model wrote.
    pub output_tokens: u64,
    /// Tools that answered, and whether with an error.
    pub results: Vec<(String, bool)>,
    /// A tool that ended, and how many milliseconds it took.
    pub took: Option<(String, f64)>,
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
        match event.kind {
            Kind::Response => Self { turn_end: Some(turn_end(&event.payload)), ..Self::default() },
            Kind::Run => of_run(&event.payload),
            Kind::Session => of_session(&event.payload),
            Kind::Event => of_adk_event(event),
            Kind::ToolRun => ToolRun::parse(&event.payload).map(of_tool_run).unwrap_or_default(),
            Kind::Request | Kind::Message => Self::default(),
        }
    }
}

fn turn_end(payload: &RawValue) -> TurnEnd {
    #[derive(Deserialize)]
    struct WithError {
        error: Option<IgnoredAny>,
    }
    match serde_json::from_str(payload.get()) {
        Ok(WithError { error: Some(_) }) => TurnEnd::Dismissed,
        Ok(WithError { error: None }) | Err(_) => TurnEnd::Decided,
    }
}

fn of_session(payload: &RawValue) -> Effect {
    let mut change: Value = serde_json::from_str(payload.get()).unwrap_or_default();
    let initial = change.get_mut("state").map(Value::take);
    Effect {
        completes: change["status"] == "completed",
        state: match initial {
            Some(Value::Object(initial)) => state::kept(initial),
            _ => Map::new(),
        },
        ..Effect::default()
    }
}

/// What of a change of a run matters here. The tools of a front end are not looked at, which may
/// be most of it.
#[derive(Deserialize)]
struct RunSeen<'a> {
    #[serde(alias = "runId")]
    run_id: String,
    status: RunStatus,
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
    #[serde(default)]
    error: Option<IgnoredAny>,
}

fn of_run(payload: &RawValue) -> Effect {
    let Ok(change) = serde_json::from_str(payload.get()) else { return Effect::default() };
    let RunSeen { run_id, status, message, error } = change;
    let message = message.and_then(|message| serde_json::from_str::<Value>(message.get()).ok());
    let text = message.as_ref().and_then(|message| {
        let parts = message["parts"].as_array()?;
        parts.iter().find_map(|part| part["text"].as_str())
    });
    let run = if status.is_end() {
        RunEffect::Closed { run_id }
    } else {
        RunEffect::Open { run_id, status: status.as_str().to_owned() }
    };
    Effect {
        run: Some(run),
        title: text.and_then(title_from),
        usage: Usage { failed: error.is_some(), ..Usage::default() },
        ..Effect::default()
    }
}

fn of_tool_run(run: ToolRun) -> Effect {
    let ended = match run.status {
        ToolRunStatus::Started | ToolRunStatus::Progress | ToolRunStatus::CancelRequested => false,
        ToolRunStatus::Succeeded | ToolRunStatus::Failed | ToolRunStatus::Cancelled => true,
    };
    let took = run.duration_ms.filter(|_| ended).map(|duration| (run.tool_name, duration));
    Effect { usage: Usage { took, ..Usage::default() }, ..Effect::default() }
}

fn of_adk_event(entry: &NewEvent) -> Effect {
    let Ok(mut event) = AdkEvent::parse(&entry.payload) else { return Effect::default() };
    let research = event.event_type.as_deref().and_then(|word| word.parse::<Research>().ok());
    // All that they say is looked at only in those few.
    let research = research.and_then(|kind| {
        Some((kind, serde_json::from_str::<Map<String, Value>>(entry.payload.get()).ok()?))
    });
    let mut effect = Effect { time: Some(event.seconds()), ..Effect::default() };
    // A piece of a stream changes nothing: the complete event follows.
    if event.partial {
        effect.event_type = event.event_type.take();
        return effect;
    }
    effect.usage = usage(&event);
    effect.account = Account::of(entry, research, &event);
    effect.event_type = event.event_type.take();
    let from_user = event.is_from_user();
    for part in &event.parts {
        match part {
            AdkPart::FunctionCall { id: Some(id), name, .. }
                if !from_user && InputKind::of_call(name).is_some() =>
            {
                effect.asks.push(id.clone());
            }
            AdkPart::FunctionResponse { id: Some(id), .. } if from_user => {
                effect.answers.push(id.clone());
            }
            _ => {}
        }
    }
    // What an agent does inside a tool call reaches the session with the tool's response.
    if entry.parent_call_id.is_none() {
        if from_user {
            effect.title = event.visible_text().as_deref().and_then(title_from);
        }
        effect.state = state::kept(event.state_delta);
    }
    effect
}

fn usage(event: &AdkEvent) -> Usage {
    let results = event.parts.iter().filter_map(|part| match part {
        // A tool that waits for a confirmation or a credential has not answered yet.
        AdkPart::FunctionResponse { id: Some(id), .. } if event.waiting_call_ids.contains(id) => {
            None
        }
        AdkPart::FunctionResponse { name, response, .. } if !event.is_from_user() => {
            Some((name.clone(), is_failure(response)))
        }
        _ => None,
    });
    let results: Vec<_> = results.collect();
    Usage {
        failed: event.error_code.is_some() || results.iter().any(|(_, failed)| *failed),
        prompt_tokens: event.prompt_tokens,
        output_tokens: event.output_tokens,
        results,
        took: None,
    }
}
