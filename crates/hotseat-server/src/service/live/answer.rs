//! What was said of one answer that is not complete.
//!
//! Pieces that say more of the same are put together, so that an answer takes as much memory
//! as it has letters, and not as its model was fond of small pieces.

use hotseat_core::{Delta, NewEvent, Piece, Seq};
use uuid::Uuid;

use super::Told;

/// Bytes that are kept of an answer. Of a longer one, those who come late see nothing until it
/// is complete.
const SAID_BYTES: usize = 1024 * 1024;

/// Who says something: in a lane, answers come one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lane {
    invocation_id: String,
    author: String,
    branch: Option<String>,
}

impl Lane {
    pub(super) fn of(piece: &Piece) -> Self {
        Self::new(&piece.invocation_id, &piece.author, piece.branch.as_deref())
    }

    pub(super) fn of_event(event: &NewEvent) -> Self {
        let invocation_id = event.invocation_id.as_deref().unwrap_or_default();
        Self::new(invocation_id, &event.author, event.branch.as_deref())
    }

    fn new(invocation_id: &str, author: &str, branch: Option<&str>) -> Self {
        Self {
            invocation_id: invocation_id.to_owned(),
            author: author.to_owned(),
            // No branch is written in two ways.
            branch: branch.filter(|branch| !branch.is_empty()).map(str::to_owned),
        }
    }
}

/// An answer on its way.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) number: u64,
    /// How far the log was when it began.
    pub(super) after: Seq,
    pub(super) lane: Lane,
    /// The server that it is given at, and its number there, if that is another one.
    pub(super) elsewhere: Option<(Uuid, u64)>,
    said: Vec<Piece>,
    bytes: usize,
    /// It is too long to be kept.
    cut: bool,
}

impl Answer {
    /// An answer of which nothing was said yet.
    pub(super) fn new(number: u64, after: Seq, lane: Lane) -> Self {
        Self { number, after, lane, elsewhere: None, said: Vec::new(), bytes: 0, cut: false }
    }

    /// How much was said of it.
    pub(super) fn length(&self) -> usize {
        self.bytes
    }

    /// A piece of it, for those who listen.
    pub(super) fn told(&self, piece: Piece) -> Told {
        let elsewhere = self.elsewhere.is_some();
        Told { answer: self.number, after: self.after, elsewhere, piece }
    }

    /// Keeps a piece, as long as there is room.
    pub(super) fn add(&mut self, piece: &Piece) {
        self.bytes += length(&piece.delta);
        if self.cut || self.bytes > SAID_BYTES {
            self.cut = true;
            self.said = Vec::new();
            return;
        }
        let more = match (self.said.last_mut().map(|last| &mut last.delta), &piece.delta) {
            (Some(Delta::Text(said)), Delta::Text(more))
            | (Some(Delta::Thought(said)), Delta::Thought(more)) => Some((said, more)),
            (Some(Delta::Args { id: of, json: said }), Delta::Args { id, json: more })
                if of == id =>
            {
                Some((said, more))
            }
            _ => None,
        };
        match more {
            Some((said, more)) => said.push_str(more),
            None => self.said.push(piece.clone()),
        }
    }

    /// What was said of it after the first `heard` of its length; none if that is not kept.
    pub(super) fn said_after(&self, heard: usize) -> Option<Vec<Piece>> {
        if self.cut {
            return None;
        }
        let mut skip = heard;
        let mut rest = Vec::new();
        for piece in &self.said {
            let length = length(&piece.delta);
            if skip >= length {
                skip -= length;
                continue;
            }
            let mut piece = piece.clone();
            if let Delta::Text(text) | Delta::Thought(text) | Delta::Args { json: text, .. } =
                &mut piece.delta
            {
                // Whole pieces were heard, so this is between two letters.
                *text = text.get(skip..)?.to_owned();
            }
            skip = 0;
            rest.push(piece);
        }
        Some(rest)
    }
}

/// How long a piece is.
pub(super) fn length(delta: &Delta) -> usize {
    match delta {
        Delta::Text(text) | Delta::Thought(text) | Delta::Args { json: text, .. } => text.len(),
        // More than nothing, so that it is counted.
        Delta::Call { id, name } => id.len() + name.len() + 1,
    }
}
