//! Which agent works where: steps and sub-agents.

use super::Translator;
use super::answer::Answer;
use crate::event::{Body, Event};
use crate::outcome::SubagentOutcome;

/// How many lanes are open at once. Beyond that, the oldest counts as done.
const MAX_LANES: usize = 256;

/// Where an agent works.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Lane {
    /// The call that runs it, for an agent that is a tool.
    pub(super) parent_call_id: Option<String>,
    /// The branch, where agents run side by side.
    pub(super) branch: Option<String>,
}

/// The time that one agent works in a lane.
#[derive(Debug)]
pub(super) struct Stint {
    pub(super) number: u64,
    pub(super) lane: Lane,
    pub(super) agent: String,
    /// The id of the sub-agent; none for the root agent.
    pub(super) owner: Option<String>,
    /// What it was started with, for clients that come late.
    pub(super) started: Option<Body>,
    /// The answer that it is giving.
    pub(super) answer: Option<Answer>,
    /// Its last call of `transfer_to_agent`.
    pub(super) transfer_call_id: Option<String>,
}

/// How an agent's work ends.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leave<'a> {
    Done,
    Failed { message: &'a str, code: Option<&'a str> },
}

impl Lane {
    pub(super) fn new(parent_call_id: Option<&str>, branch: Option<&str>) -> Self {
        Self {
            parent_call_id: parent_call_id.map(str::to_owned),
            branch: branch.map(str::to_owned),
        }
    }

    /// Whether it branched off from `other`.
    fn is_below(&self, other: &Self) -> bool {
        if self.parent_call_id != other.parent_call_id {
            return false;
        }
        match (&self.branch, &other.branch) {
            (Some(_), None) => true,
            (Some(own), Some(other)) => {
                own.strip_prefix(other.as_str()).is_some_and(|rest| rest.starts_with('.'))
            }
            (None, _) => false,
        }
    }
}

impl Translator {
    /// Lets `agent` work in the lane and says at which index its stint is. Other
    /// agents there are done, and so are branches of the lane: whoever branched
    /// goes on only when all are through.
    pub(super) fn enter(&mut self, lane: &Lane, agent: &str, by_call: Option<String>) -> usize {
        let agent = if agent.is_empty() { self.start.agent.clone() } else { agent.to_owned() };
        self.leave_where(Leave::Done, |stint| stint.lane.is_below(lane));
        self.leave_where(Leave::Done, |stint| stint.lane == *lane && stint.agent != agent);
        if let Some(index) = self.stints.iter().position(|stint| stint.lane == *lane) {
            return index;
        }
        if self.stints.len() >= MAX_LANES {
            let oldest = self.stints[0].number;
            self.leave_where(Leave::Done, |stint| stint.number == oldest);
        }
        self.open(lane.clone(), agent, by_call)
    }

    fn open(&mut self, lane: Lane, agent: String, by_call: Option<String>) -> usize {
        let number = self.next_stint;
        self.next_stint += 1;
        // Two root agents at once would have one step between them.
        let is_root = agent == self.start.agent
            && lane.parent_call_id.is_none()
            && self.stints.iter().all(|stint| stint.owner.is_some());
        let mut owner = None;
        let mut started = None;
        if !is_root {
            let id = format!("{}:{agent}:{number}", self.start.run_id);
            let made_here = |id: &String| self.callers.contains_key(id);
            let body = Body::SubagentStarted {
                id: id.clone(),
                name: agent.clone(),
                description: None,
                parent_subagent_run_id: self.parent_of(&lane),
                parent_tool_call_id: by_call.or(lane.parent_call_id.clone()).filter(made_here),
                parent_message_id: None,
            };
            self.out.push(Event::new(body.clone()));
            (owner, started) = (Some(id), Some(body));
        }
        self.stints.push(Stint {
            number,
            lane,
            agent: agent.clone(),
            owner,
            started,
            answer: None,
            transfer_call_id: None,
        });
        let index = self.stints.len() - 1;
        self.send(index, Body::StepStarted { step_name: agent });
        index
    }

    /// The sub-agent at work that a new one works for.
    fn parent_of(&self, lane: &Lane) -> Option<String> {
        let parent = match &lane.parent_call_id {
            Some(call) if lane.branch.is_none() => {
                let caller = self.callers.get(call)?;
                self.stints.iter().find(|stint| stint.number == *caller)
            }
            _ => self.stints.iter().rev().find(|stint| lane.is_below(&stint.lane)),
        };
        parent?.owner.clone()
    }

    /// Ends the stints that `ends` says, and what works for them first.
    pub(super) fn leave_where(&mut self, how: Leave<'_>, ends: impl Fn(&Stint) -> bool) {
        let mut leaving: Vec<u64> =
            self.stints.iter().filter(|stint| ends(stint)).map(|stint| stint.number).collect();
        let mut seen = 0;
        while let Some(&number) = leaving.get(seen) {
            seen += 1;
            let works_for = |stint: &&Stint| {
                let call = stint.lane.parent_call_id.as_ref();
                call.and_then(|call| self.callers.get(call)) == Some(&number)
            };
            let inner = self.stints.iter().filter(works_for).map(|stint| stint.number);
            let new: Vec<u64> = inner.filter(|inner| !leaving.contains(inner)).collect();
            leaving.extend(new);
        }
        for number in leaving.into_iter().rev() {
            self.leave(number, how);
        }
    }

    fn leave(&mut self, number: u64, how: Leave<'_>) {
        let Some(index) = self.stints.iter().position(|stint| stint.number == number) else {
            return;
        };
        self.close_answer(index);
        let step_name = self.stints[index].agent.clone();
        self.send(index, Body::StepFinished { step_name });
        let Some(id) = self.stints.remove(index).owner else { return };
        let body = match how {
            Leave::Done => {
                Body::SubagentFinished { outcome: self.subagent_outcome(&id), id, result: None }
            }
            Leave::Failed { message, code } => Body::SubagentError {
                id,
                message: message.to_owned(),
                code: code.map(str::to_owned),
            },
        };
        self.out.push(Event::new(body));
    }

    fn subagent_outcome(&self, id: &str) -> Option<SubagentOutcome> {
        let interrupt_ids: Vec<String> = self
            .open_questions()
            .filter(|question| question.owner.as_deref() == Some(id))
            .map(|question| question.call_id.clone())
            .collect();
        let suspended = self.start.interrupts && !interrupt_ids.is_empty();
        suspended.then_some(SubagentOutcome::Suspended { interrupt_ids })
    }
}
