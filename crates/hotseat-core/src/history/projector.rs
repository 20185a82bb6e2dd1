//! The fold from the log to the history.

use serde_json::{Map, Value};

use super::item::NewCall;
use super::query::Query;
use super::state::StateChanges;
use super::turns::Turns;
use super::{HistoryEntry, HistoryItem};
use crate::adk_event::{AdkEvent, AdkPart, user_text};
use crate::payload::{RunChange, RunStatus, ToolRun};
use crate::tool_calls::{Giver, Outcome, TRANSFER_TOOL, ToolCalls, made_up_id};
use crate::{Event, InputKind, Kind};

/// Makes the history of one session. Feed it the events in their order.
#[derive(Debug, Default)]
pub struct HistoryProjector {
    turns: Turns,
    calls: ToolCalls<Scope>,
    state: StateChanges,
    query: Query,
    /// The invocation that the latest ADK event outside of tools belongs to.
    invocation_id: Option<String>,
    last: Last,
}

/// Where an entry belongs.
#[derive(Debug, Clone, Default)]
struct Scope {
    invocation_id: Option<String>,
    branch: Option<String>,
    parent_call_id: Option<String>,
}

/// The latest entry outside of tools.
#[derive(Debug, Default, PartialEq)]
enum Last {
    #[default]
    Other,
    FinalResponse,
    RunError,
}

impl HistoryProjector {
    /// The entries that this event adds. An event that cannot be read adds none.
    pub fn push(&mut self, event: &Event) -> Vec<HistoryEntry> {
        let entries = match event.kind {
            Kind::Request => {
                self.turns.ask(event);
                Vec::new()
            }
            Kind::Response => {
                self.turns.answer(event);
                Vec::new()
            }
            Kind::ToolRun => {
                if let Ok(run) = ToolRun::parse(&event.payload) {
                    self.calls.ran(run);
                }
                Vec::new()
            }
            Kind::Event => match AdkEvent::parse(&event.payload) {
                Ok(adk) if !adk.partial => self.adk_event(event, adk),
                Ok(_) | Err(_) => Vec::new(),
            },
            Kind::Run => match RunChange::parse(&event.payload) {
                Ok(run) => self.run_change(event, run),
                Err(_) => Vec::new(),
            },
            Kind::Session | Kind::Message => Vec::new(),
        };
        self.after_query(entries)
    }

    fn adk_event(&mut self, event: &Event, mut adk: AdkEvent) -> Vec<HistoryEntry> {
        let scope = Scope {
            invocation_id: adk.invocation_id.clone().or_else(|| event.invocation_id.clone()),
            branch: adk.branch.clone().or_else(|| event.branch.clone()),
            parent_call_id: event.parent_call_id.clone(),
        };
        if scope.parent_call_id.is_none() && scope.invocation_id.is_some() {
            self.invocation_id.clone_from(&scope.invocation_id);
        }
        let state_delta = std::mem::take(&mut adk.state_delta);
        let items = if adk.is_from_user() {
            self.user_event(&scope, adk)
        } else {
            self.agent_event(event, &scope, adk)
        };
        let mut entries: Vec<_> =
            items.into_iter().map(|(scope, what)| entry(event, scope, what)).collect();
        self.state.tell(scope.invocation_id.as_deref(), state_delta, &mut entries);
        entries
    }

    fn user_event(&mut self, scope: &Scope, adk: AdkEvent) -> Vec<(Scope, HistoryItem)> {
        let mut items = Vec::new();
        if let Some(content) = user_text(&adk.parts) {
            let outside = scope.parent_call_id.is_none();
            if !(outside && self.query.is_shown(&content)) {
                items.push((scope.clone(), HistoryItem::UserQuery { content }));
            }
            if outside {
                self.query = Query::None;
            }
        }
        for part in adk.parts {
            if let AdkPart::FunctionResponse { id, name, response } = part {
                items.extend(self.result(Giver::User, id.as_deref(), &name, response));
            }
        }
        items
    }

    fn agent_event(
        &mut self,
        event: &Event,
        scope: &Scope,
        adk: AdkEvent,
    ) -> Vec<(Scope, HistoryItem)> {
        let agent_name = if adk.author.is_empty() { &event.agent_name } else { &adk.author };
        let agent_name = agent_name.clone();
        let mut items = Vec::new();
        let of_event = if adk.visible_text().is_some() || adk.has_function_calls() {
            self.turns.of_event(&agent_name, event)
        } else {
            None
        };
        if let Some(content) = adk.visible_text() {
            let agent_name = agent_name.clone();
            items.push(if adk.is_final_text() {
                let answered = of_event.clone().unwrap_or_default();
                HistoryItem::FinalResponse { agent_name, content, answered }
            } else {
                HistoryItem::AgentText { agent_name, content }
            });
        }
        if let Some(error_type) = adk.error_code {
            let error_message = adk.error_message.unwrap_or_default();
            items.push(HistoryItem::RunError { error_type, error_message, traceback: None });
        }
        let mut items: Vec<_> = items.into_iter().map(|item| (scope.clone(), item)).collect();
        let mut transfer = adk.transfer_to_agent;
        let (long_running, waiting) = (adk.long_running_tool_ids, adk.waiting_call_ids);
        for (index, part) in adk.parts.into_iter().enumerate() {
            match part {
                AdkPart::FunctionCall { id, name, args } => {
                    let id = id.unwrap_or_else(|| made_up_id(event, index));
                    let answered = self.turns.of_call(&id).or_else(|| of_event.clone());
                    let call = NewCall {
                        agent_name: &agent_name,
                        long_running: long_running.contains(&id),
                        id,
                        name,
                        arguments: args,
                        answered: answered.unwrap_or_default(),
                    };
                    items.extend(self.call(scope, call));
                }
                AdkPart::FunctionResponse { id: Some(id), .. } if waiting.contains(&id) => {}
                AdkPart::FunctionResponse { id, name, response } => {
                    // The call said it already.
                    transfer.take_if(|_| name == TRANSFER_TOOL);
                    items.extend(self.result(Giver::Tool, id.as_deref(), &name, response));
                }
                AdkPart::Text { .. } | AdkPart::Other(_) => {}
            }
        }
        if let Some(to_agent) = transfer {
            let item = HistoryItem::Transfer { agent_name, to_agent, call_id: None };
            items.push((scope.clone(), item));
        }
        items
    }

    /// A call, if it was not there before.
    fn call(&mut self, scope: &Scope, call: NewCall<'_>) -> Option<(Scope, HistoryItem)> {
        let for_call_id = InputKind::of_call(&call.name)
            .and_then(|request| request.waiting_call(&call.arguments))
            // A credential can also be for a whole toolset or a step of a workflow.
            .filter(|waiting| *waiting != call.id && self.calls.contains(waiting))
            .map(str::to_owned);
        let is_new = self.calls.call(&call.id, &call.name, scope.clone());
        is_new.then(|| (scope.clone(), HistoryItem::of_call(call, for_call_id)))
    }

    fn result(
        &mut self,
        giver: Giver,
        id: Option<&str>,
        name: &str,
        response: Value,
    ) -> Option<(Scope, HistoryItem)> {
        let call = self.calls.end(giver, id, name, response)?;
        if call.name == TRANSFER_TOOL && matches!(call.outcome, Outcome::Output(_)) {
            return None;
        }
        Some((call.scope.clone(), HistoryItem::of_result(call)))
    }

    fn run_change(&mut self, event: &Event, run: RunChange) -> Vec<HistoryEntry> {
        let mut entries = Vec::new();
        if run.status.is_end() {
            entries.extend(self.show_query());
            let failed = self.calls.end_failed().into_iter();
            entries.extend(
                failed.map(|call| entry(event, call.scope.clone(), HistoryItem::of_result(call))),
            );
        }
        let told = match run.status {
            RunStatus::Queued => {
                self.invocation_id = None;
                self.last = Last::Other;
                self.query = Query::hold(event, run.message);
                return entries;
            }
            RunStatus::Started | RunStatus::Finished => return entries,
            RunStatus::Failed => entries.is_empty() && self.last == Last::RunError,
            // The page completes a session as soon as it has the final response,
            // which may stop a run in its last steps.
            RunStatus::Cancelled => entries.is_empty() && self.last != Last::Other,
        };
        if !told {
            let scope = Scope { invocation_id: self.invocation_id.clone(), ..Scope::default() };
            entries.push(entry(event, scope, HistoryItem::of_failed_run(run)));
        }
        entries
    }

    /// Puts the query of the run first if ADK did not, and notes what came last.
    fn after_query(&mut self, entries: Vec<HistoryEntry>) -> Vec<HistoryEntry> {
        let mut all = Vec::with_capacity(entries.len() + 1);
        for entry in entries {
            if entry.parent_call_id.is_none() {
                self.last = match entry.what {
                    HistoryItem::FinalResponse { .. } => Last::FinalResponse,
                    HistoryItem::RunError { .. } => Last::RunError,
                    _ => Last::Other,
                };
            }
            all.extend(self.show_query());
            all.push(entry);
        }
        all
    }

    /// The query of the run, if it is not in the history yet.
    fn show_query(&mut self) -> Option<HistoryEntry> {
        let held = self.query.show()?;
        Some(HistoryEntry {
            what: HistoryItem::UserQuery { content: held.content },
            seq: held.seq,
            timestamp: held.timestamp,
            invocation_id: self.invocation_id.clone(),
            branch: None,
            parent_call_id: None,
            state_delta: Map::new(),
        })
    }
}

fn entry(event: &Event, scope: Scope, what: HistoryItem) -> HistoryEntry {
    HistoryEntry {
        what,
        seq: event.seq,
        timestamp: event.timestamp,
        invocation_id: scope.invocation_id,
        branch: scope.branch,
        parent_call_id: scope.parent_call_id,
        state_delta: Map::new(),
    }
}
