//! The beginning and the end of a run.

use std::collections::HashSet;

use super::entity::Entity;
use super::{Checked, Phase, Verifier};
use crate::outcome::{MAX_SAFE_INTEGER, Outcome, Usage};

impl Verifier {
    pub(super) fn run_started(&mut self, thread_id: &str, run_id: &str) -> Checked {
        if self.phase != Phase::Before {
            return Err("the run has started already".to_owned());
        }
        self.check_ids(thread_id, run_id)?;
        self.phase = Phase::Running;
        Ok(())
    }

    pub(super) fn run_error(&mut self, usage: &[Usage]) -> Checked {
        check_usage(usage)?;
        self.phase = Phase::Over;
        Ok(())
    }

    pub(super) fn run_finished(
        &mut self,
        thread_id: &str,
        run_id: &str,
        outcome: Option<&Outcome>,
        usage: &[Usage],
    ) -> Checked {
        self.check_ids(thread_id, run_id)?;
        check_usage(usage)?;
        if let Some((kind, id)) = self.open.iter().next() {
            return Err(format!("{} {id:?} is still open", kind.name()));
        }
        if let Some((_, name)) = self.steps.iter().next() {
            return Err(format!("step {name:?} is still open"));
        }
        if let Some((id, _)) = self.subagents.iter().find(|(_, at_work)| **at_work) {
            return Err(format!("sub-agent {id:?} is still at work"));
        }
        self.check_outcome(outcome)?;
        self.phase = Phase::Over;
        Ok(())
    }

    fn check_ids(&self, thread_id: &str, run_id: &str) -> Checked {
        if thread_id != self.thread_id || run_id != self.run_id {
            return Err(format!("it names run {run_id:?} of thread {thread_id:?}, not this one"));
        }
        Ok(())
    }

    fn check_outcome(&self, outcome: Option<&Outcome>) -> Checked {
        match outcome {
            Some(Outcome::Interrupt { interrupts }) if interrupts.is_empty() => {
                Err("it is an interrupt, but names none".to_owned())
            }
            Some(Outcome::Interrupt { interrupts }) => {
                let ids: HashSet<&str> = interrupts.iter().map(|one| one.id.as_str()).collect();
                if ids.len() < interrupts.len() {
                    return Err("two interrupts have the same id".to_owned());
                }
                Ok(())
            }
            Some(Outcome::Success { pending_tool_call_ids: named }) if !named.is_empty() => {
                self.check_pending(named)
            }
            None | Some(Outcome::Success { .. } | Outcome::Cancelled) => Ok(()),
        }
    }

    /// A client that came late knows some calls only from the conversation, so
    /// the list may be longer than what began in its stream, but never shorter.
    fn check_pending(&self, named: &[String]) -> Checked {
        for id in named {
            if self.owner(Entity::Call, id).is_none() {
                return Err(format!("nobody made the pending tool call {id:?}"));
            }
            if self.calls.get(id) == Some(&true) {
                return Err(format!("the pending tool call {id:?} was answered"));
            }
        }
        let named: HashSet<&String> = named.iter().collect();
        match self.calls.iter().find(|(id, answered)| !**answered && !named.contains(id)) {
            Some((id, _)) => Err(format!("the unanswered tool call {id:?} is not pending")),
            None => Ok(()),
        }
    }
}

fn check_usage(usage: &[Usage]) -> Checked {
    let counts = usage.iter().flat_map(|usage| {
        [
            usage.input_tokens,
            usage.output_tokens,
            usage.total_tokens,
            usage.reasoning_tokens,
            usage.cached_input_tokens,
            usage.cache_write_input_tokens,
        ]
    });
    if counts.flatten().any(|count| count > MAX_SAFE_INTEGER) {
        return Err("a token count is beyond what JavaScript can count".to_owned());
    }
    Ok(())
}
