//! A recording in the model's seat.
//!
//! A [`Recording`] is read once, from an EvalSet or an exported session. Its
//! [`Player`] answers model requests from it. The choice of an answer depends on
//! nothing but the request: the conversation in it says how many user messages
//! and how many answers there were. So a replay survives restarts, works for any
//! session, and can be repeated.
//!
//! The user's words decide before their order does: a conversation may be
//! replayed in part or in another order. Ids of calls are not replayed; whoever
//! runs the agent makes new ones.
//!
//! An EvalSet does not keep which calls were made together, so they come one by
//! one, in order; nor does it keep where the texts between them belong, so these
//! are played only in an invocation without calls. A session keeps both.

mod position;
mod problem;
mod read;

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

pub use problem::{RecordingError, ReplayProblem};

use crate::ModelRequest;
use position::Position;
use problem::shown;

/// The largest file that is read.
pub const MAX_RECORDING_BYTES: usize = 64 * 1024 * 1024;

/// Conversations and how the model answered in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    cases: Vec<Case>,
    /// Where each text of a user stands, in order: case and invocation.
    by_text: HashMap<String, Vec<(usize, usize)>>,
}

/// One conversation.
#[derive(Debug, Clone, PartialEq, Default)]
struct Case {
    id: String,
    invocations: Vec<Invocation>,
}

/// A user message and the answers of the model to it.
#[derive(Debug, Clone, PartialEq, Default)]
struct Invocation {
    text: String,
    steps: Vec<Replayed>,
}

/// An answer of the model.
#[derive(Debug, Clone, PartialEq)]
pub struct Replayed {
    /// A genai Content of the role `model`, its calls without ids.
    pub content: Value,
    /// ADK's `usage_metadata`, where it was recorded.
    pub usage: Option<Value>,
}

/// Answers model requests from a recording. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Player {
    recording: Arc<Recording>,
    case: Option<usize>,
}

impl Recording {
    /// Reads an EvalSet, an ADK session, a list of raw ADK events, or the same
    /// as JSON Lines.
    pub fn read(bytes: &[u8]) -> Result<Self, RecordingError> {
        let cases = read::cases(bytes)?;
        let mut by_text: HashMap<String, Vec<(usize, usize)>> = HashMap::new();
        for (case_index, case) in cases.iter().enumerate() {
            for (index, invocation) in case.invocations.iter().enumerate() {
                by_text.entry(invocation.text.clone()).or_default().push((case_index, index));
            }
        }
        if by_text.is_empty() {
            return Err(RecordingError::Empty);
        }
        Ok(Self { cases, by_text })
    }

    /// The names of its conversations.
    pub fn case_ids(&self) -> impl Iterator<Item = &str> {
        self.cases.iter().map(|case| case.id.as_str())
    }

    /// A player of one conversation, or of all of them.
    pub fn player(self: &Arc<Self>, case: Option<&str>) -> Result<Player, RecordingError> {
        let case = match case {
            None => None,
            Some(id) => {
                Some(self.cases.iter().position(|case| case.id == id).ok_or_else(|| {
                    RecordingError::UnknownCase {
                        case: id.to_owned(),
                        known: shown(self.case_ids()),
                    }
                })?)
            }
        };
        Ok(Player { recording: Arc::clone(self), case })
    }
}

impl Player {
    /// The recorded answer to the request.
    pub fn answer(&self, request: &ModelRequest) -> Result<Replayed, ReplayProblem> {
        self.answer_in(&request.contents)
    }

    /// The recorded answer in a conversation: genai Contents with snake_case keys.
    pub fn answer_in(&self, contents: &[Value]) -> Result<Replayed, ReplayProblem> {
        let position = Position::of(contents).ok_or(ReplayProblem::NoUserMessage)?;
        let invocation =
            self.invocation(&position).ok_or_else(|| ReplayProblem::UnknownMessage {
                asked: shown([position.text()]),
                holds: shown(self.texts()),
            })?;
        invocation.steps.get(position.step).cloned().ok_or_else(|| ReplayProblem::NothingMore {
            asked: shown([position.text()]),
            answers: invocation.steps.len(),
            wanted: position.step + 1,
        })
    }

    fn texts(&self) -> impl Iterator<Item = &str> {
        let cases = match self.case {
            Some(case) => &self.recording.cases[case..=case],
            None => &self.recording.cases[..],
        };
        cases.iter().flat_map(|case| &case.invocations).map(|one| one.text.as_str())
    }

    fn invocation(&self, position: &Position) -> Option<&Invocation> {
        let cases = &self.recording.cases;
        let at = |(case, index): (usize, usize)| cases.get(case)?.invocations.get(index);
        let begun = |case: usize| {
            let first = cases[case].invocations.first();
            first.is_some_and(|first| Some(first.text.as_str()) == position.first_text())
        };
        let only = self.case.or((cases.len() == 1).then_some(0));
        let index = position.texts.len() - 1;
        let known = self.recording.by_text.get(position.text()).map_or(&[][..], Vec::as_slice);
        let of_case = known.iter().filter(|(case, _)| only.is_none_or(|only| *case == only));
        // The one that stands where the request does, in a conversation that
        // began alike; else the next best.
        let best = of_case.max_by_key(|(case, place)| {
            (
                begun(*case) && *place == index,
                *place == index,
                begun(*case),
                std::cmp::Reverse((*case, *place)),
            )
        });
        if let Some(best) = best {
            return at(*best);
        }
        let only = only.or_else(|| (0..cases.len()).find(|case| begun(*case)))?;
        match cases[only].invocations.as_slice() {
            [single] => Some(single),
            invocations => invocations.get(index),
        }
    }
}
