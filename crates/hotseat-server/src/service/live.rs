//! Pieces of answers, on their way to whoever watches.
//!
//! They are in no log: the complete event that follows says it all again. Until then what was
//! said of an answer is kept here, for those who come in its middle and for those who were too
//! slow to hear all of it: both hear the answer from its beginning, or from where they were.
//!
//! Kept true: a piece is told before the event that completes its answer is in the log, and
//! what was said is let go before that event is appended. So whoever begins to listen and then
//! reads the log has either the pieces of an answer or the event, in this order, and never
//! pieces of what is complete already. Of answers that are given at another server this cannot be
//! known in time (`live/elsewhere.rs`), so a listener tells which events it has read.

mod answer;
mod elsewhere;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_core::{Kind, NewEvent, Piece, Seq, SessionId};
use tokio::sync::broadcast;

use self::answer::{Answer, Lane, length};
use self::elsewhere::{Passed, Wanted};
use super::replicas::Replicas;

/// Pieces that a watcher may lag behind before it has to look at what was said. Room for all of
/// them is made for every run, so they are few.
const PIECES_KEPT: usize = 16;

/// Events of a session that are remembered to tell pieces that they have overtaken.
const COMPLETE_KEPT: usize = 64;

/// Answers of a session that are given side by side and kept. The oldest goes first.
const OPEN_ANSWERS: usize = 64;

/// A piece, and where it belongs.
#[derive(Debug, PartialEq)]
pub(crate) struct Told {
    /// The answer that it is a piece of.
    answer: u64,
    /// How far the log was when the answer began.
    pub(crate) after: Seq,
    /// It is given at another server.
    elsewhere: bool,
    pub(crate) piece: Piece,
}

/// Where pieces are told and heard.
#[derive(Debug, Clone, Default)]
pub(crate) struct Live {
    rooms: Arc<Mutex<Rooms>>,
    replicas: Replicas,
}

#[derive(Debug, Default)]
struct Rooms {
    by_session: HashMap<SessionId, Room>,
    answers: u64,
    wanted: Wanted,
}

/// What is said in one session.
#[derive(Debug)]
struct Room {
    sender: broadcast::Sender<Arc<Told>>,
    open: Vec<Answer>,
    /// The run, then the latest complete events, and who said them.
    complete: VecDeque<(String, Option<Lane>)>,
    /// How far the log is known to be.
    after: Seq,
    running: bool,
}

/// Hears the pieces of one session until it is dropped.
#[derive(Debug)]
pub(crate) struct Ear {
    live: Live,
    session: SessionId,
    pieces: broadcast::Receiver<Arc<Told>>,
    /// Said before it was there to be heard.
    said: VecDeque<Arc<Told>>,
    /// How much was heard of each answer.
    heard: HashMap<u64, usize>,
    /// Answers whose beginning is lost. Their complete event says it all.
    missed: HashSet<u64>,
    passed: Passed,
}

impl Live {
    /// Pieces of answers that are given here and at other servers.
    pub(crate) fn among(replicas: Replicas) -> Self {
        Self { rooms: Arc::default(), replicas }
    }

    /// A run begins; the log is at `after`.
    pub(crate) fn begin(&self, session: SessionId, run_id: &str, after: Seq) {
        let mut rooms = self.lock();
        let room = rooms.by_session.entry(session).or_insert_with(Room::new);
        (room.running, room.after) = (true, after);
        // A run that is taken up again gives its open answers anew.
        room.open.clear();
        room.complete = [(run_id.to_owned(), None)].into();
    }

    /// A run is over; what is open of it will not be completed.
    pub(crate) fn end(&self, session: SessionId) {
        let mut rooms = self.lock();
        rooms.wanted.forget(session);
        let Some(room) = rooms.by_session.get_mut(&session) else { return };
        room.running = false;
        room.open.clear();
        if room.sender.receiver_count() == 0 {
            rooms.by_session.remove(&session);
        }
    }

    /// Tells a piece to those who listen, and keeps it for those who will.
    pub(crate) fn tell(&self, session: SessionId, piece: Piece) {
        let mut rooms = self.lock();
        let Rooms { by_session, answers, wanted } = &mut *rooms;
        // Without a run there is nothing to give pieces of.
        let Some(room) = by_session.get_mut(&session).filter(|room| room.running) else { return };
        let lane = Lane::of(&piece);
        if room.has_overtaken(&piece, &lane) {
            return;
        }
        let index = room.open.iter().position(|answer| answer.lane == lane);
        let index = index.unwrap_or_else(|| {
            *answers += 1;
            if room.open.len() >= OPEN_ANSWERS {
                room.open.remove(0);
            }
            room.open.push(Answer::new(*answers, room.after, lane));
            room.open.len() - 1
        });
        let answer = &mut room.open[index];
        if wanted.is(session) {
            self.tell_elsewhere(session, answer, answer.length(), &piece);
        }
        answer.add(&piece);
        let told = answer.told(piece);
        // Nobody listening is fine.
        let _ = room.sender.send(Arc::new(told));
    }

    /// Lets go of what `events` complete. Comes before they are appended.
    pub(crate) fn complete(&self, session: SessionId, events: &[NewEvent]) {
        let mut rooms = self.lock();
        let Some(room) = rooms.by_session.get_mut(&session) else { return };
        for event in events.iter().filter(|event| event.kind == Kind::Event) {
            let lane = Lane::of_event(event);
            room.open.retain(|answer| answer.lane != lane);
            if room.complete.len() == COMPLETE_KEPT {
                room.complete.pop_front();
            }
            room.complete.push_back((event.event_id.clone(), Some(lane)));
        }
    }

    /// The log of a session has come this far.
    pub(crate) fn reached(&self, session: SessionId, last: Seq) {
        if let Some(room) = self.lock().by_session.get_mut(&session) {
            room.after = room.after.max(last);
        }
    }

    /// Listens from now on, and to what was said of open answers until now.
    pub(crate) fn listen(&self, session: SessionId) -> Ear {
        let mut rooms = self.lock();
        let room = rooms.by_session.entry(session).or_insert_with(Room::new);
        let mut ear = Ear {
            live: self.clone(),
            session,
            pieces: room.sender.subscribe(),
            said: VecDeque::new(),
            heard: HashMap::new(),
            missed: HashSet::new(),
            passed: Passed::default(),
        };
        ear.catch_up_in(room);
        drop(rooms);
        ear
    }

    fn lock(&self) -> MutexGuard<'_, Rooms> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Room {
    fn new() -> Self {
        let sender = broadcast::Sender::new(PIECES_KEPT);
        let (open, complete) = (Vec::new(), VecDeque::new());
        Self { sender, open, complete, after: Seq::START, running: false }
    }

    /// Whether the event that completes the piece's answer came before it.
    fn has_overtaken(&self, piece: &Piece, lane: &Lane) -> bool {
        let Some(before) = &piece.after_event_id else { return false };
        let mut complete = self.complete.iter();
        complete.any(|(event_id, _)| event_id == before)
            && complete.any(|(_, of)| of.as_ref() == Some(lane))
    }
}

impl Ear {
    /// The next piece; waits for one.
    pub(crate) async fn hear(&mut self) -> Arc<Told> {
        loop {
            if let Some(told) = self.heard() {
                return told;
            }
            match self.pieces.recv().await {
                Ok(told) => {
                    if let Some(told) = self.note(told) {
                        return told;
                    }
                }
                Err(broadcast::error::RecvError::Lagged(_)) => self.catch_up(),
                Err(broadcast::error::RecvError::Closed) => std::future::pending().await,
            }
        }
    }

    /// A piece that was told already.
    pub(crate) fn heard(&mut self) -> Option<Arc<Told>> {
        loop {
            let told = match self.said.pop_front() {
                Some(told) => told,
                None => match self.pieces.try_recv() {
                    Ok(told) => told,
                    Err(broadcast::error::TryRecvError::Lagged(_)) => {
                        self.catch_up();
                        continue;
                    }
                    Err(
                        broadcast::error::TryRecvError::Empty
                        | broadcast::error::TryRecvError::Closed,
                    ) => return None,
                },
            };
            if let Some(told) = self.note(told) {
                return Some(told);
            }
        }
    }

    /// Remembers what was heard, so that it is not heard again; none of what was missed.
    fn note(&mut self, told: Arc<Told>) -> Option<Arc<Told>> {
        if self.missed.contains(&told.answer) || self.is_too_late(&told) {
            return None;
        }
        *self.heard.entry(told.answer).or_default() += length(&told.piece.delta);
        Some(told)
    }

    /// Goes on with what was said, instead of the pieces that were lost.
    fn catch_up(&mut self) {
        let live = self.live.clone();
        let rooms = live.lock();
        if let Some(room) = rooms.by_session.get(&self.session) {
            self.pieces = room.sender.subscribe();
            self.catch_up_in(room);
        }
    }

    fn catch_up_in(&mut self, room: &Room) {
        let open: HashSet<u64> = room.open.iter().map(|answer| answer.number).collect();
        self.heard.retain(|answer, _| open.contains(answer));
        self.missed.retain(|answer| open.contains(answer));
        self.said.clear();
        for answer in &room.open {
            let heard = self.heard.get(&answer.number).copied().unwrap_or_default();
            match answer.said_after(heard) {
                Some(pieces) => {
                    self.said.extend(pieces.into_iter().map(|piece| Arc::new(answer.told(piece))));
                }
                None => {
                    self.missed.insert(answer.number);
                }
            }
        }
    }
}

impl Drop for Ear {
    fn drop(&mut self) {
        let mut rooms = self.live.lock();
        let room = rooms.by_session.get(&self.session);
        if room.is_some_and(|room| !room.running && room.sender.receiver_count() <= 1) {
            rooms.by_session.remove(&self.session);
        }
    }
}

#[cfg(test)]
mod tests;
