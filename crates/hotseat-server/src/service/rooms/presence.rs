//! Who is in a room and who is typing: known to this server while they are, and kept nowhere.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_core::SessionId;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::watch;

use super::RoomNews;

/// How long somebody counts as typing after their last letter.
const TYPING_LIFE: SignedDuration = SignedDuration::from_secs(5);

/// People in a room that are told of as typing; further ones type unseen.
pub(super) const MAX_TYPING: usize = 20;

/// People in a room that are told of as being there.
const MAX_PRESENT: usize = 50;

/// Who is in which session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rooms {
    rooms: Arc<Mutex<HashMap<SessionId, Room>>>,
}

#[derive(Debug, Default)]
pub(super) struct Room {
    /// Wakes those who look at it.
    changed: watch::Sender<()>,
    /// How often each is there.
    present: Vec<(String, usize)>,
    typing: Vec<(String, Timestamp)>,
}

impl Rooms {
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
        room.changed.subscribe()
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
        // Nobody is left to be told anything.
        if room.present.is_empty() {
            rooms.remove(&session);
        }
    }

    /// Notes that somebody is typing. Where nobody looks, nobody has to know.
    pub(super) fn types(&self, session: SessionId, name: &str, now: Timestamp) {
        let mut rooms = self.lock();
        let Some(room) = rooms.get_mut(&session) else { return };
        room.typing.retain(|(known, until)| known != name && *until > now);
        if room.typing.len() < MAX_TYPING {
            room.typing.push((name.to_owned(), now + TYPING_LIFE));
            room.changed.send_replace(());
        }
    }

    pub(super) fn stops_typing(&self, session: SessionId, name: &str) {
        if let Some(room) = self.lock().get_mut(&session) {
            room.typing.retain(|(known, _)| known != name);
            room.changed.send_replace(());
        }
    }

    pub(super) fn changed(&self, session: SessionId) {
        if let Some(room) = self.lock().get(&session) {
            room.changed.send_replace(());
        }
    }

    /// Who is there and who types, without claims.
    pub(super) fn look(&self, session: SessionId, now: Timestamp) -> RoomNews {
        let rooms = self.lock();
        let Some(room) = rooms.get(&session) else { return RoomNews::default() };
        let typing = room.typing.iter().filter(|(_, until)| *until > now);
        let present = room.present.iter().take(MAX_PRESENT);
        RoomNews {
            claims: Vec::new(),
            typing: typing.map(|(name, _)| name.clone()).collect(),
            present: present.map(|(name, _)| name.clone()).collect(),
        }
    }
}
