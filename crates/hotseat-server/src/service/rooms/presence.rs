//! Who is in a room and who is typing: known while they are, and kept nowhere.
//!
//! Other servers are told of those who are here, and tell of theirs, again and again; what one of
//! them said counts for a while, so that a server that is gone takes its people with it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_core::SessionId;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;
use uuid::Uuid;

use super::RoomNews;
use crate::clock;
use crate::service::replicas::{Replicas, Word};

/// How long somebody counts as typing after their last letter.
const TYPING_LIFE: SignedDuration = SignedDuration::from_secs(5);

/// People in a room that are told of as typing; further ones type unseen.
pub(super) const MAX_TYPING: usize = 20;

/// People in a room that are told of as being there.
const MAX_PRESENT: usize = 50;

/// How long it counts who is in a room at another server.
const ELSEWHERE_LIFE: SignedDuration = SignedDuration::from_secs(30);

/// Rooms whose people other servers are told of again.
const MAX_ROOMS_TOLD: usize = 256;

/// Who is in which session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rooms {
    rooms: Arc<Mutex<HashMap<SessionId, Room>>>,
    replicas: Replicas,
}

#[derive(Debug, Default)]
pub(super) struct Room {
    /// Wakes those who look at it.
    changed: watch::Sender<()>,
    /// How often each is there.
    present: Vec<(String, usize)>,
    typing: Vec<(String, Timestamp)>,
    /// Who is there at other servers, and until when that counts.
    elsewhere: HashMap<Uuid, (Vec<String>, Timestamp)>,
}

impl Room {
    fn names(&self) -> Vec<String> {
        self.present.iter().take(MAX_PRESENT).map(|(name, _)| name.clone()).collect()
    }
}

impl Rooms {
    /// Rooms here and at other servers.
    pub(crate) fn among(replicas: Replicas) -> Self {
        Self { rooms: Arc::default(), replicas }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, HashMap<SessionId, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn enter(&self, session: SessionId, name: &str) -> watch::Receiver<()> {
        let mut rooms = self.lock();
        let room = rooms.entry(session).or_default();
        match room.present.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => *times += 1,
            None => room.present.push((name.to_owned(), 1)),
        }
        room.changed.send_replace(());
        let (changed, names) = (room.changed.subscribe(), room.names());
        drop(rooms);
        self.replicas.tell(session, &Word::Present { names });
        self.replicas.tell(session, &Word::WhoIsThere);
        changed
    }

    pub(super) fn leave(&self, session: SessionId, name: &str) {
        let mut rooms = self.lock();
        let Some(room) = rooms.get_mut(&session) else { return };
        for (known, times) in &mut room.present {
            if known == name {
                *times -= 1;
            }
        }
        room.present.retain(|(_, times)| *times > 0);
        room.changed.send_replace(());
        let names = room.names();
        // Nobody is left to be told anything.
        if room.present.is_empty() {
            rooms.remove(&session);
        }
        drop(rooms);
        self.replicas.tell(session, &Word::Present { names });
    }

    /// Notes that somebody is typing. Where nobody looks, nobody has to know.
    pub(super) fn types(&self, session: SessionId, name: &str, now: Timestamp) {
        self.note_typing(session, name, now);
        self.replicas.tell(session, &Word::Types { name: name.to_owned() });
    }

    /// The same at another server.
    pub(in crate::service) fn types_elsewhere(&self, session: SessionId, name: &str) {
        self.note_typing(session, name, clock::now());
    }

    fn note_typing(&self, session: SessionId, name: &str, now: Timestamp) {
        let mut rooms = self.lock();
        let Some(room) = rooms.get_mut(&session) else { return };
        room.typing.retain(|(known, until)| known != name && *until > now);
        if room.typing.len() < MAX_TYPING {
            room.typing.push((name.to_owned(), now + TYPING_LIFE));
            room.changed.send_replace(());
        }
    }

    pub(super) fn stops_typing(&self, session: SessionId, name: &str) {
        self.types_no_more_elsewhere(session, name);
        self.replicas.tell(session, &Word::TypesNoMore { name: name.to_owned() });
    }

    /// The same at another server.
    pub(in crate::service) fn types_no_more_elsewhere(&self, session: SessionId, name: &str) {
        if let Some(room) = self.lock().get_mut(&session) {
            room.typing.retain(|(known, _)| known != name);
            room.changed.send_replace(());
        }
    }

    pub(super) fn changed(&self, session: SessionId) {
        self.claims_elsewhere(session);
        self.replicas.tell(session, &Word::Claims);
    }

    /// The same at another server.
    pub(in crate::service) fn claims_elsewhere(&self, session: SessionId) {
        if let Some(room) = self.lock().get(&session) {
            room.changed.send_replace(());
        }
    }

    /// Another server tells who is there.
    pub(in crate::service) fn present_elsewhere(
        &self,
        session: SessionId,
        server: Uuid,
        names: Vec<String>,
    ) {
        let mut rooms = self.lock();
        // Where nobody looks, nobody has to know.
        let Some(room) = rooms.get_mut(&session) else { return };
        let now = clock::now();
        room.elsewhere.retain(|_, (_, until)| *until > now);
        if names.is_empty() {
            room.elsewhere.remove(&server);
        } else {
            room.elsewhere.insert(server, (names, now + ELSEWHERE_LIFE));
        }
        room.changed.send_replace(());
    }

    /// Tells other servers who is there.
    pub(in crate::service) fn tell_who_is_there(&self, session: SessionId) {
        let names = self.lock().get(&session).map(Room::names);
        if let Some(names) = names {
            self.replicas.tell(session, &Word::Present { names });
        }
    }

    /// Tells other servers who is in all rooms.
    pub(in crate::service) fn tell_all(&self) {
        let sessions: Vec<_> = self.lock().keys().take(MAX_ROOMS_TOLD).copied().collect();
        for session in sessions {
            self.tell_who_is_there(session);
        }
    }

    /// Who is there and who types, without claims.
    pub(super) fn look(&self, session: SessionId, now: Timestamp) -> RoomNews {
        let rooms = self.lock();
        let Some(room) = rooms.get(&session) else { return RoomNews::default() };
        let typing = room.typing.iter().filter(|(_, until)| *until > now);
        let typing = typing.map(|(name, _)| name.clone()).collect();
        let mut present = room.names();
        let elsewhere = room.elsewhere.values().filter(|(_, until)| *until > now);
        for name in elsewhere.flat_map(|(names, _)| names) {
            if present.len() < MAX_PRESENT && !present.contains(name) {
                present.push(name.clone());
            }
        }
        RoomNews { claims: Vec::new(), typing, present }
    }
}
