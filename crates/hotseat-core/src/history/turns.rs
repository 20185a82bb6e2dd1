//! Which turn led to an ADK event.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::value::RawValue;

use super::Answered;
use crate::decision::Answer;
use crate::instant::millis_between;
use crate::{Event, TurnId};

/// Where a turn was asked: agent, branch and the call that runs the agent.
type Place = (String, Option<String>, Option<String>);

/// The turns of a session, as far as an ADK event may still come from them.
#[derive(Debug, Default)]
pub(super) struct Turns {
    asked: HashMap<TurnId, (Timestamp, Place)>,
    by_call: HashMap<String, Answered>,
    latest: HashMap<Place, Answered>,
}

impl Turns {
    /// Notes a `request` event.
    pub(super) fn ask(&mut self, event: &Event) {
        if let Some(turn_id) = event.turn_id {
            let place = place(&event.agent_name, event);
            self.asked.insert(turn_id, (event.timestamp, place));
        }
    }

    /// Notes a `response` event. A dismissed turn leads to no entry of its own.
    pub(super) fn answer(&mut self, event: &Event) {
        let Some(turn_id) = event.turn_id else { return };
        let Some((asked_at, place)) = self.asked.remove(&turn_id) else { return };
        let Ok(Answer::Decision(decision)) = Answer::parse(&event.payload) else { return };
        let answered = Answered {
            turn_id: Some(turn_id),
            answered_by: Some(event.author.clone()),
            person: person_in(&event.payload),
            answered_after_ms: Some(millis_between(asked_at, event.timestamp)),
        };
        for id in decision.calls().filter_map(|call| call.id) {
            self.by_call.insert(id.to_owned(), answered.clone());
        }
        self.latest.insert(place, answered);
    }

    /// The turn that decided the call `id`.
    pub(super) fn of_call(&mut self, id: &str) -> Option<Answered> {
        self.by_call.remove(id)
    }

    /// The turn answered last where this event comes from. It is given out once,
    /// so that a later event without a turn is not taken for its result.
    pub(super) fn of_event(&mut self, author: &str, event: &Event) -> Option<Answered> {
        self.latest.remove(&place(author, event))
    }
}

/// Who gave an answer, where its payload says so.
fn person_in(payload: &RawValue) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Signed {
        person: Option<String>,
    }
    serde_json::from_str::<Signed>(payload.get()).ok()?.person
}

fn place(agent_name: &str, event: &Event) -> Place {
    (agent_name.to_owned(), event.branch.clone(), event.parent_call_id.clone())
}
