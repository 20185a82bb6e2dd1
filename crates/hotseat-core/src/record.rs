//! The record of a session: where it stands, and the messages that people read.
//!
//! Both are folds over the raw events of the log, judged by nothing but the
//! events, so computing them again gives the same record and the same messages
//! under the same ids. Two sorts of events are understood:
//!
//! * events that carry a `type` and say how research goes (`research_started`,
//!   `research_progress`, `research_complete`, `error`). What they say is under
//!   `data`, or beside the type if `data` is no object. Every other type is kept
//!   in the log and derives nothing;
//! * plain ADK events, which become what the user and the agents said.
//!
//! Whatever does not have the expected form is passed over. An event that
//! happened inside a function call belongs to another session of ADK's and
//! derives nothing here.

mod message;
mod progress;
#[cfg(test)]
mod tests;
mod time;

use serde_json::value::RawValue;
use serde_json::{Map, Value};

pub use message::{ENTRY as MESSAGE_ENTRY, InvalidMessage, Message, backfill_event, read_message};
pub(crate) use time::read_time;

use crate::adk_event::user_text;
use crate::{AdkEvent, NewEvent, alias};

type Object = Map<String, Value>;

/// Statuses after which nothing can still succeed.
const FAILURES: [&str; 4] = ["error", "failed", "cancelled", "timeout"];

/// What the record says besides what the session says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Record {
    /// Where it stands, in the writer's words: `running`, `completed`, `error` …
    pub status: Option<String>,
    /// How much is done, 1 being all of it. Not clamped.
    pub progress: Option<f64>,
    /// What is being done.
    pub current_phase: Option<String>,
    /// What came out.
    pub final_report: Option<String>,
    /// What went wrong.
    pub error: Option<String>,
}

impl Record {
    /// Takes in what one entry of the log tells. Gives the message that it makes, or
    /// that replaces the one of the same id (see [`Message::replace`]).
    pub fn fold(&mut self, account: &Account, event: &NewEvent) -> Option<Message> {
        match account {
            Account::Nothing => None,
            Account::Said(message) => Some(message.clone()),
            Account::Research(kind, raw) => self.fold_research(*kind, raw, event),
        }
    }

    fn fold_research(&mut self, kind: Research, raw: &Object, event: &NewEvent) -> Option<Message> {
        let payload = raw.get("data").and_then(Value::as_object).unwrap_or(raw);
        self.fold_status(kind, payload);
        if let Some(value) = progress::value(payload) {
            self.progress = Some(progress::fraction(value));
        }
        if let Some(phase) = text(payload, "current_phase") {
            self.current_phase = Some(phase);
        }
        match kind {
            Research::Started => None,
            Research::Error => {
                self.error = error_of(payload).or_else(|| self.error.take());
                None
            }
            Research::Progress | Research::Complete => {
                let report = text(payload, "final_report").or_else(|| {
                    // The old server's own route called the report `content`.
                    (kind == Research::Complete).then(|| text(payload, "content")).flatten()
                });
                let completed = kind == Research::Complete || report.is_some();
                if report.is_some() {
                    self.final_report.clone_from(&report);
                }
                let content = report
                    .unwrap_or_else(|| progress::content(payload, self.current_phase.as_deref()));
                Some(progress::message(content, completed, raw, event))
            }
        }
    }

    /// A late success does not undo a failure; only new research does.
    fn fold_status(&mut self, kind: Research, payload: &Object) {
        let said = payload.get("status").and_then(Value::as_str).filter(|word| !word.is_empty());
        let Some(status) = said.or((kind == Research::Error).then_some("error")) else { return };
        let failed = self.status.as_deref().is_some_and(|status| FAILURES.contains(&status));
        if failed && !FAILURES.contains(&status) {
            if kind != Research::Started {
                return;
            }
            self.error = None;
        }
        self.status = Some(status.to_owned());
    }
}

/// What an event tells the record, worked out without it.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Account {
    /// Nothing.
    #[default]
    Nothing,
    /// What somebody said.
    Said(Message),
    /// How research goes.
    Research(Research, Object),
}

impl Account {
    /// What a raw event tells, given as its fields and as a plain ADK event.
    pub(crate) fn of(
        event: &NewEvent,
        research: Option<(Research, Object)>,
        adk: &AdkEvent,
    ) -> Self {
        if event.parent_call_id.is_some() {
            return Self::Nothing;
        }
        match research {
            Some((kind, raw)) => Self::Research(kind, raw),
            None => said(adk, event).map_or(Self::Nothing, Self::Said),
        }
    }
}

/// The types that say how research goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Research {
    /// It began.
    Started,
    /// It goes on.
    Progress,
    /// It is done.
    Complete,
    /// It failed.
    Error,
}

impl std::str::FromStr for Research {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "research_started" => Ok(Self::Started),
            "research_progress" => Ok(Self::Progress),
            "research_complete" => Ok(Self::Complete),
            "error" => Ok(Self::Error),
            _ => Err(()),
        }
    }
}

/// The `type` of an event that is no plain ADK event.
pub(crate) fn event_type(raw: &Object) -> Option<&str> {
    raw.get("type").and_then(Value::as_str).filter(|kind| !kind.is_empty())
}

/// The `type` of a raw event, and its time in seconds since 1970, where it has them.
pub fn adk_account(payload: &RawValue) -> (Option<String>, Option<f64>) {
    let Ok(adk) = AdkEvent::parse(payload) else { return (None, None) };
    let seconds = adk.timestamp.is_some().then(|| adk.seconds());
    (adk.event_type, seconds)
}

/// What a plain ADK event says to people.
fn said(adk: &AdkEvent, event: &NewEvent) -> Option<Message> {
    if adk.partial || adk.event_type.is_some() {
        return None;
    }
    let (role, content, metadata) = if adk.is_from_user() {
        ("user", user_text(&adk.parts), None)
    } else {
        let author = if adk.author.is_empty() { event.author.clone() } else { adk.author.clone() };
        let metadata = Object::from_iter([("author".to_owned(), Value::String(author))]);
        ("assistant", adk.visible_text(), Some(metadata))
    };
    let time = adk.timestamp.clone().map(Value::Number);
    Some(Message {
        id: event.event_id.clone(),
        role: role.to_owned(),
        content: content.filter(|text| !text.trim().is_empty())?,
        timestamp: time.as_ref().and_then(read_time).unwrap_or(event.timestamp),
        metadata,
    })
}

/// What an `error` event complains about. Rate limits came with `message`.
fn error_of(payload: &Object) -> Option<String> {
    let nested = || match payload.get("data")? {
        Value::Object(data) => text(data, "error").or_else(|| text(data, "message")),
        Value::String(words) => (!words.is_empty()).then(|| words.clone()),
        _ => None,
    };
    text(payload, "error").or_else(|| text(payload, "message")).or_else(nested)
}

/// A field as text; absent if there is nothing in it.
fn text(payload: &Object, field: &str) -> Option<String> {
    match alias::get(payload, field)? {
        Value::String(words) => (!words.is_empty()).then(|| words.clone()),
        Value::Bool(false) => None,
        other => Some(progress::readable_json(other)),
    }
}
