//! Function calls and what became of them.
//!
//! Three sources say something about one call: the ADK event that makes it, the
//! `tool_run` events around its execution, and the ADK event with its result.
//! [`ToolCalls`] joins them by call id, for the history and the golden trace
//! alike. Ids are unique here and every result belongs to a call; what breaks
//! that in the log is left out.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use crate::Event;
use crate::input_request::InputKind;
use crate::payload::{ToolRun, ToolRunStatus};

/// The tool by which ADK hands a conversation over to another agent.
pub(crate) const TRANSFER_TOOL: &str = "transfer_to_agent";

/// The calls of a session so far. `S` is what the user of this wants to know
/// again when a call ends.
#[derive(Debug)]
pub(crate) struct ToolCalls<S> {
    calls: Vec<Call<S>>,
    by_id: HashMap<String, usize>,
    runs: HashMap<String, ToolRun>,
    /// Calls whose tools failed, until it was looked whether ADK recorded a result.
    failed: HashSet<String>,
}

#[derive(Debug)]
struct Call<S> {
    id: String,
    name: String,
    scope: S,
    ended: bool,
}

/// A call that came to an end.
#[derive(Debug)]
pub(crate) struct EndedCall<'a, S> {
    pub(crate) id: &'a str,
    pub(crate) name: &'a str,
    pub(crate) scope: &'a S,
    pub(crate) outcome: Outcome,
    pub(crate) duration_ms: Option<f64>,
    /// It had come to an end before.
    pub(crate) repeated: bool,
}

/// Who gives a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Giver {
    /// The tool, whose `tool_run` events tell about it.
    Tool,
    /// The user, for a tool that runs long or for what ADK asked.
    User,
}

/// How a call ended.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Output(Value),
    Error { error_type: String, message: String, traceback: Option<String> },
}

impl<S> Default for ToolCalls<S> {
    fn default() -> Self {
        Self {
            calls: Vec::new(),
            by_id: HashMap::new(),
            runs: HashMap::new(),
            failed: HashSet::new(),
        }
    }
}

impl<S> ToolCalls<S> {
    /// Notes what a `tool_run` event says.
    pub(crate) fn ran(&mut self, run: ToolRun) {
        match run.status {
            ToolRunStatus::Started | ToolRunStatus::Progress | ToolRunStatus::CancelRequested => {}
            ToolRunStatus::Succeeded | ToolRunStatus::Failed | ToolRunStatus::Cancelled => {
                if failure_of_run(&run).is_some() {
                    self.failed.insert(run.call_id.clone());
                } else {
                    self.failed.remove(&run.call_id);
                }
                self.runs.insert(run.call_id.clone(), run);
            }
        }
    }

    /// Notes a call. False if a call of that id was there before. ADK may ask
    /// the user again under an id that was answered.
    pub(crate) fn call(&mut self, id: &str, name: &str, scope: S) -> bool {
        if let Some(index) = self.by_id.get(id) {
            let asked = &mut self.calls[*index];
            let again = asked.ended && asked.name == name && InputKind::of_call(name).is_some();
            asked.ended &= !again;
            return again;
        }
        self.by_id.insert(id.to_owned(), self.calls.len());
        self.calls.push(Call { id: id.to_owned(), name: name.to_owned(), scope, ended: false });
        true
    }

    /// Whether there is a call of that id.
    pub(crate) fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Notes the result of a call. A result without id belongs to the oldest
    /// open call of the tool. None if there is no such call.
    pub(crate) fn end(
        &mut self,
        giver: Giver,
        id: Option<&str>,
        name: &str,
        response: Value,
    ) -> Option<EndedCall<'_, S>> {
        let index = match id {
            Some(id) => *self.by_id.get(id)?,
            None => self.calls.iter().position(|call| !call.ended && call.name == name)?,
        };
        let call = &mut self.calls[index];
        let repeated = std::mem::replace(&mut call.ended, true);
        let run = match giver {
            Giver::Tool => self.runs.get(&call.id),
            Giver::User => None,
        };
        let failure = match InputKind::of_call(&call.name) {
            Some(_) => None,
            None => run.and_then(failure_of_run).or_else(|| failure_in_response(&response)),
        };
        Some(EndedCall {
            id: &call.id,
            name: &call.name,
            scope: &call.scope,
            duration_ms: run.and_then(|run| run.duration_ms),
            repeated,
            outcome: failure.unwrap_or(Outcome::Output(response)),
        })
    }

    /// Ends the calls whose tools failed without ADK recording a result, which
    /// happens when the failure ended the run.
    pub(crate) fn end_failed(&mut self) -> Vec<EndedCall<'_, S>> {
        let mut failed = Vec::new();
        self.failed.retain(|id| match self.by_id.get(id) {
            Some(index) => {
                failed.push(*index);
                false
            }
            None => true,
        });
        failed.retain(|index| {
            let call = &mut self.calls[*index];
            let is_open = !call.ended && InputKind::of_call(&call.name).is_none();
            call.ended |= is_open;
            is_open
        });
        failed.sort_unstable();
        let end = |index: usize| {
            let call = &self.calls[index];
            let run = self.runs.get(&call.id)?;
            Some(EndedCall {
                id: &call.id,
                name: &call.name,
                scope: &call.scope,
                outcome: failure_of_run(run)?,
                duration_ms: run.duration_ms,
                repeated: false,
            })
        };
        failed.into_iter().filter_map(end).collect()
    }
}

/// An id for a call that came without: the same whenever the log is read.
pub(crate) fn made_up_id(event: &Event, part: usize) -> String {
    format!("{}:{part}", event.event_id)
}

fn failure_of_run(run: &ToolRun) -> Option<Outcome> {
    let (fallback_type, fallback_message) = match run.status {
        ToolRunStatus::Started
        | ToolRunStatus::Progress
        | ToolRunStatus::CancelRequested
        | ToolRunStatus::Succeeded => return None,
        ToolRunStatus::Failed => ("ToolError", "the tool failed"),
        ToolRunStatus::Cancelled => ("Cancelled", "the tool was cancelled"),
    };
    Some(Outcome::Error {
        error_type: run.error_type.clone().unwrap_or_else(|| fallback_type.to_owned()),
        message: run.error_message.clone().unwrap_or_else(|| fallback_message.to_owned()),
        traceback: run.traceback.clone(),
    })
}

/// A response that is nothing but an `error`: `{"type", "message"}` as the
/// plugin writes it, or a text as ADK does. A tool that returns an error beside
/// other fields has answered, and its answer stands.
fn failure_in_response(response: &Value) -> Option<Outcome> {
    let object = response.as_object().filter(|object| object.len() == 1)?;
    let (error_type, message) = match object.get("error")? {
        Value::String(message) => ("ToolError", message),
        Value::Object(error) => match (error.get("type")?, error.get("message")?) {
            (Value::String(error_type), Value::String(message)) => (error_type.as_str(), message),
            _ => return None,
        },
        _ => return None,
    };
    Some(Outcome::Error {
        error_type: error_type.to_owned(),
        message: message.clone(),
        traceback: None,
    })
}
