//! What a run says to whoever asked: its answer, the tools it called, what it cost.
//!
//! Made from the log, step by step, so that the whole reply and the stream of its
//! parts cannot disagree.

use hotseat_core::{
    AdkEvent, AdkPart, Delta, Event, Kind, Piece, RunChange, RunStatus, is_failure,
};
use serde::Serialize;
use serde_json::{Map, Value};

/// Tokens, as the models told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[expect(clippy::struct_field_names, reason = "these are the names of the protocol")]
pub(crate) struct TokenUsage {
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    pub(crate) total_tokens: u64,
}

/// A tool that was called.
#[derive(Debug, Clone, PartialEq, Serialize, utoipa::ToSchema)]
pub(crate) struct ToolCallInfo {
    pub(crate) id: String,
    pub(crate) name: String,
    #[schema(value_type = Object)]
    pub(crate) arguments: Value,
    /// `success`, `error`, or `pending` while it waits for somebody.
    pub(crate) status: &'static str,
}

/// A part of a reply, as it comes.
#[derive(Debug, PartialEq)]
pub(crate) enum ReplyPart {
    Text(String),
    CallStart { id: String, name: String },
    CallArgs { id: String, json: String },
    CallEnd { id: String, status: &'static str },
}

/// A reply that is being made.
#[derive(Debug, Default)]
pub(crate) struct Reply {
    pub(crate) calls: Vec<ToolCallInfo>,
    pub(crate) usage: Option<TokenUsage>,
    finals: Vec<String>,
    /// What the last answer said instead of anything else, such as that it was dismissed.
    error: Option<String>,
    /// Text that was told in pieces and whose event has not come yet.
    told: String,
    /// Calls that were told in pieces.
    told_calls: Vec<(String, String)>,
    /// Calls whose result comes later, whatever their tool says at once.
    long_running: Vec<String>,
}

impl Reply {
    /// The answer.
    pub(crate) fn content(&self) -> String {
        self.finals.join("\n\n")
    }

    /// Why there is no answer, though the run came to its end.
    pub(crate) fn error(&self) -> Option<&str> {
        self.error.as_deref().filter(|_| self.finals.is_empty())
    }

    pub(crate) fn piece(&mut self, piece: &Piece) -> Option<ReplyPart> {
        match &piece.delta {
            Delta::Text(text) => {
                self.told.push_str(text);
                Some(ReplyPart::Text(text.clone()))
            }
            // Thoughts are not said.
            Delta::Thought(_) => None,
            Delta::Call { id, name } => {
                self.told_calls.push((id.clone(), String::new()));
                Some(ReplyPart::CallStart { id: id.clone(), name: name.clone() })
            }
            Delta::Args { id, json } => {
                let told = self.told_calls.iter_mut().find(|(told, _)| told == id)?;
                told.1.push_str(json);
                Some(ReplyPart::CallArgs { id: id.clone(), json: json.clone() })
            }
        }
    }

    pub(crate) fn logged(&mut self, event: &Event) -> Vec<ReplyPart> {
        if event.kind != Kind::Event || event.parent_call_id.is_some() {
            return Vec::new();
        }
        let Ok(event) = AdkEvent::parse(&event.payload) else { return Vec::new() };
        if event.author == "user" || event.partial {
            return Vec::new();
        }
        self.count(&event);
        self.long_running.extend(event.long_running_tool_ids.iter().cloned());
        let said = [&event.error_code, &event.error_message].map(|text| text.as_deref());
        let said: Vec<_> = said.into_iter().flatten().collect();
        self.error = (!said.is_empty()).then(|| said.join(": "));
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut calls = false;
        for part in &event.parts {
            match part {
                AdkPart::Text { text: said, thought: false } => text.push_str(said),
                AdkPart::FunctionCall { id, name, args } => {
                    calls = true;
                    self.called(id.as_deref().unwrap_or_default(), name, args, &mut parts);
                }
                AdkPart::FunctionResponse { id, response, .. } => {
                    let id = id.as_deref().unwrap_or_default();
                    let waits = event.waiting_call_ids.iter().any(|waiting| waiting == id);
                    parts.extend(self.answered(id, response, waits));
                }
                _ => {}
            }
        }
        if !text.is_empty() {
            // What pieces told already is not told again; what they missed is.
            let told = std::mem::take(&mut self.told);
            match text.strip_prefix(told.as_str()) {
                Some("") => {}
                Some(rest) => parts.insert(0, ReplyPart::Text(rest.to_owned())),
                None => parts.insert(0, ReplyPart::Text(text.clone())),
            }
            if !calls {
                self.finals.push(text);
            }
        }
        parts
    }

    fn called(&mut self, id: &str, name: &str, args: &Value, parts: &mut Vec<ReplyPart>) {
        self.calls.push(ToolCallInfo {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments: match args {
                Value::Null => Value::Object(Map::new()),
                args => args.clone(),
            },
            status: "pending",
        });
        let told = self.told_calls.iter().position(|(told, _)| told == id);
        let told_args = told.map(|at| self.told_calls.swap_remove(at).1);
        if told_args.is_none() {
            parts.push(ReplyPart::CallStart { id: id.to_owned(), name: name.to_owned() });
        }
        if told_args.is_none_or(|args| args.is_empty()) {
            parts.push(ReplyPart::CallArgs { id: id.to_owned(), json: args.to_string() });
        }
    }

    /// What a tool said. While it `waits` for the user, that is no result, though ADK spells
    /// it as an error; and what a long-running tool says at once is none either.
    fn answered(&mut self, id: &str, response: &Value, waits: bool) -> Option<ReplyPart> {
        let call = self.calls.iter_mut().find(|call| call.id == id)?;
        call.status = if waits {
            "pending"
        } else if is_failure(response) {
            "error"
        } else if self.long_running.contains(&call.id) {
            "pending"
        } else {
            "success"
        };
        Some(ReplyPart::CallEnd { id: id.to_owned(), status: call.status })
    }

    fn count(&mut self, event: &AdkEvent) {
        if event.prompt_tokens + event.output_tokens > 0 {
            let usage = self.usage.get_or_insert_default();
            usage.prompt_tokens += event.prompt_tokens;
            usage.completion_tokens += event.output_tokens;
            usage.total_tokens += event.prompt_tokens + event.output_tokens;
        }
    }
}

/// Why a run gave no answer.
pub(crate) fn failure(end: &RunChange) -> Option<(&'static str, String)> {
    match end.status {
        RunStatus::Finished | RunStatus::Queued | RunStatus::Started => None,
        RunStatus::Cancelled => Some(("run_cancelled", "the run was cancelled".to_owned())),
        RunStatus::Failed => {
            let reason =
                end.error.as_ref().map(|error| format!("{}: {}", error.error_type, error.message));
            Some(("agent_failed", reason.unwrap_or_else(|| "the agent failed".to_owned())))
        }
    }
}
