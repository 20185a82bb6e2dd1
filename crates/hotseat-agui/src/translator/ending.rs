//! The three ways to end. Each closes whatever is open, and then the run.

use serde_json::Value;

use super::lane::Leave;
use super::{Phase, Translator};
use crate::event::{Body, Event};
use crate::outcome::Outcome;

impl Translator {
    /// The run came to its end, or as far as it can get without answers: the
    /// outcome says which.
    pub fn finish(&mut self, result: Option<Value>) -> Vec<Event> {
        if self.phase == Phase::Over {
            return Vec::new();
        }
        self.begin();
        self.leave_where(Leave::Done, |_| true);
        let interrupts = self.interrupts();
        let outcome = if self.start.interrupts && !interrupts.is_empty() {
            Outcome::Interrupt { interrupts }
        } else {
            let unanswered = self.calls.iter().filter(|id| !self.answered.contains(*id));
            Outcome::Success { pending_tool_call_ids: unanswered.cloned().collect() }
        };
        self.run_finished(outcome, result)
    }

    /// The run failed.
    pub fn fail(&mut self, message: &str, code: Option<&str>) -> Vec<Event> {
        if self.phase == Phase::Over {
            return Vec::new();
        }
        self.begin();
        self.leave_where(Leave::Failed { message, code }, |_| true);
        self.phase = Phase::Over;
        self.out.push(Event::new(Body::RunError {
            message: message.to_owned(),
            code: code.map(str::to_owned),
            usage: self.usage.list(),
        }));
        self.take()
    }

    /// Somebody stopped the run.
    pub fn cancel(&mut self) -> Vec<Event> {
        if self.phase == Phase::Over {
            return Vec::new();
        }
        self.begin();
        let stopped = Leave::Failed { message: "the run was cancelled", code: Some("cancelled") };
        self.leave_where(stopped, |_| true);
        self.run_finished(Outcome::Cancelled, None)
    }

    fn run_finished(&mut self, outcome: Outcome, result: Option<Value>) -> Vec<Event> {
        self.phase = Phase::Over;
        self.out.push(Event::new(Body::RunFinished {
            thread_id: self.start.thread_id.clone(),
            run_id: self.start.run_id.clone(),
            result,
            outcome: Some(outcome),
            usage: self.usage.list(),
        }));
        self.take()
    }
}
