//! Pieces of answers that are given at one server and heard at another.
//!
//! They are passed on only while somebody at another server listens, which is told when they
//! begin to: then what was said until now comes first. Each says how much was said before it. One
//! that is lost ends the show of its answer, for the event that completes it says it all.
//!
//! The event may be read before the last pieces arrive, so whoever listens tells which events it
//! has passed, and hears nothing more of the answers that they complete.

use std::collections::HashSet;
use std::sync::Arc;

use hotseat_core::{Delta, Event, Kind, Piece, Seq, SessionId};
use uuid::Uuid;

use super::answer::{Answer, Lane, length};
use super::{Ear, Live, OPEN_ANSWERS, Rooms, Told};
use crate::service::replicas::{AnswerPiece, Word};

/// Sessions that are remembered to be listened to elsewhere. Beyond it all are forgotten, and
/// answers come whole.
const WANTED_KEPT: usize = 4096;

/// Bytes of a piece that are passed on at once.
const PIECE_BYTES: usize = 1500;

/// What was said of an answer is passed on later if it is no longer than this.
const CATCH_UP_BYTES: usize = 64 * 1024;

/// Who said the last events that a listener has passed, and where they stand.
const PASSED_KEPT: usize = 64;

/// The sessions that somebody at another server listens to.
#[derive(Debug, Default)]
pub(super) struct Wanted(HashSet<SessionId>);

impl Wanted {
    pub(super) fn is(&self, session: SessionId) -> bool {
        self.0.contains(&session)
    }

    pub(super) fn forget(&mut self, session: SessionId) {
        self.0.remove(&session);
    }

    fn note(&mut self, session: SessionId) {
        if self.0.len() >= WANTED_KEPT {
            self.0.clear();
        }
        self.0.insert(session);
    }
}

/// How far a listener has read the log.
#[derive(Debug, Default)]
pub(super) struct Passed {
    /// Where it began. What was complete by then it has read before.
    begun: Seq,
    by: Vec<(Lane, Seq)>,
}

impl Passed {
    fn note(&mut self, lane: Lane, seq: Seq) {
        self.by.retain(|(known, _)| *known != lane);
        if self.by.len() >= PASSED_KEPT {
            self.by.remove(0);
        }
        self.by.push((lane, seq));
    }

    fn completes(&self, lane: &Lane, after: Seq) -> bool {
        after < self.begun || self.by.iter().any(|(by, seq)| by == lane && *seq > after)
    }
}

impl Live {
    /// Somebody at another server listens: what is said of open answers here, and what will be,
    /// is passed on.
    pub(in crate::service) fn wanted_elsewhere(&self, session: SessionId) {
        let mut rooms = self.lock();
        rooms.wanted.note(session);
        let Some(room) = rooms.by_session.get(&session) else { return };
        for answer in room.open.iter().filter(|answer| answer.elsewhere.is_none()) {
            if answer.length() > CATCH_UP_BYTES {
                continue;
            }
            let mut offset = 0;
            for piece in answer.said_after(0).into_iter().flatten() {
                self.tell_elsewhere(session, answer, offset, &piece);
                offset += length(&piece.delta);
            }
        }
    }

    /// Passes a piece on. `offset` is how much was said of its answer before.
    pub(super) fn tell_elsewhere(
        &self,
        session: SessionId,
        answer: &Answer,
        mut offset: usize,
        piece: &Piece,
    ) {
        for delta in in_parts(&piece.delta) {
            let said = length(&delta);
            let piece = Piece { delta, ..piece.clone() };
            let (answer, after) = (answer.number, answer.after.get());
            let part = AnswerPiece { answer, after, offset, piece };
            self.replicas.tell(session, &Word::Piece(Box::new(part)));
            offset += said;
        }
    }

    /// Tells those who listen here a piece of an answer that is given at another server.
    pub(in crate::service) fn told_elsewhere(
        &self,
        session: SessionId,
        server: Uuid,
        part: AnswerPiece,
    ) {
        let mut rooms = self.lock();
        let Rooms { by_session, answers, .. } = &mut *rooms;
        // Nobody here listens, or it is this server that works on the run now.
        let Some(room) = by_session.get_mut(&session).filter(|room| !room.running) else { return };
        let lane = Lane::of(&part.piece);
        let known = Some((server, part.answer));
        let index = match room.open.iter().position(|answer| answer.elsewhere == known) {
            Some(index) => index,
            // Its beginning is lost.
            None if part.offset > 0 => return,
            None => {
                // In a lane, answers come one after the other. One that broke off with its server
                // is given anew by another, and what was heard of it cannot be taken back.
                let gone = |answer: &Answer| answer.elsewhere.is_none_or(|(at, _)| at != server);
                if room.open.iter().any(|answer| answer.lane == lane && gone(answer)) {
                    return;
                }
                room.open.retain(|answer| answer.lane != lane);
                if room.open.len() >= OPEN_ANSWERS {
                    room.open.remove(0);
                }
                *answers += 1;
                let mut answer = Answer::new(*answers, Seq::new(part.after), lane);
                answer.elsewhere = known;
                room.open.push(answer);
                room.open.len() - 1
            }
        };
        let answer = &mut room.open[index];
        match unheard(part.piece, part.offset, answer.length()) {
            Unheard::Nothing => {}
            Unheard::Lost => drop(room.open.remove(index)),
            Unheard::Piece(piece) => {
                answer.add(&piece);
                // Nobody listening is fine.
                let _ = room.sender.send(Arc::new(answer.told(piece)));
            }
        }
    }
}

impl Ear {
    /// Listens from a place in the log on.
    pub(crate) fn begin_at(&mut self, place: Seq) {
        self.passed.begun = place;
    }

    /// The listener has read an event: what is still told of the answer it completes is too late.
    pub(crate) fn passed(&mut self, event: &Event) {
        if event.kind != Kind::Event || !self.live.replicas.possible() {
            return;
        }
        let lane = Lane::of_event(&event.entry);
        if let Some(room) = self.live.lock().by_session.get_mut(&self.session) {
            let complete = |answer: &Answer| answer.lane == lane && answer.after < event.seq;
            room.open.retain(|answer| answer.elsewhere.is_none() || !complete(answer));
        }
        self.passed.note(lane, event.seq);
    }

    pub(super) fn is_too_late(&self, told: &Told) -> bool {
        told.elsewhere && self.passed.completes(&Lane::of(&told.piece), told.after)
    }
}

/// What a piece says that was not heard before.
#[derive(Debug, PartialEq)]
enum Unheard {
    Nothing,
    /// Something before it was lost.
    Lost,
    Piece(Piece),
}

fn unheard(mut piece: Piece, offset: usize, heard: usize) -> Unheard {
    if offset > heard {
        return Unheard::Lost;
    }
    if offset == heard {
        return Unheard::Piece(piece);
    }
    let known = heard - offset;
    if known >= length(&piece.delta) {
        return Unheard::Nothing;
    }
    let (Delta::Text(text) | Delta::Thought(text) | Delta::Args { json: text, .. }) =
        &mut piece.delta
    else {
        return Unheard::Lost;
    };
    match text.get(known..) {
        Some(rest) => {
            *text = rest.to_owned();
            Unheard::Piece(piece)
        }
        None => Unheard::Lost,
    }
}

/// A piece in parts that can be passed on.
fn in_parts(delta: &Delta) -> Vec<Delta> {
    let text = match delta {
        Delta::Text(text) | Delta::Thought(text) | Delta::Args { json: text, .. } => text,
        Delta::Call { .. } => return vec![delta.clone()],
    };
    let mut rest = text.as_str();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let (part, later) = rest.split_at(rest.floor_char_boundary(PIECE_BYTES));
        parts.push(match delta {
            Delta::Text(_) => Delta::Text(part.to_owned()),
            Delta::Thought(_) => Delta::Thought(part.to_owned()),
            Delta::Args { id, .. } => Delta::Args { id: id.clone(), json: part.to_owned() },
            Delta::Call { .. } => return parts,
        });
        rest = later;
    }
    parts
}

#[cfg(test)]
mod tests;
