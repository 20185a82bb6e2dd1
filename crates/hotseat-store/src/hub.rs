//! Wakes readers when a session's log grows.
//!
//! A wake-up carries only the new head, never an event: readers read the log
//! from where they are. A missed or doubled wake-up therefore costs time, never
//! an event, and nothing here has to be exact except that a wake-up follows the
//! commit it tells of.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hotseat_core::{Seq, SessionId};
use tokio::sync::{broadcast, watch};

/// How many changes a slow listener may be behind before it has to look again.
const CHANGES_KEPT: usize = 1024;

/// How often dropped watchers are looked for, in new watchers.
const SWEEP_EVERY: usize = 256;

/// Something happened to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// It is new, or its log grew.
    Grew(SessionId),
    /// It was deleted. Nobody can look up any more whose it was.
    Deleted {
        /// The session.
        session: SessionId,
        /// Whose it was.
        user_id: String,
    },
    /// Something may have happened that nobody told of: look at everything again.
    Missed,
}

/// Bytes of a signal, so that several of them fit in what a database passes on.
pub const MAX_SIGNAL_BYTES: usize = 4096;

/// Signals that a slow listener may be behind before it loses some.
const SIGNALS_KEPT: usize = 1024;

/// Something that happens now and is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// The session it is about.
    pub session: SessionId,
    /// What only sender and listener understand.
    pub bytes: Arc<[u8]>,
}

/// A signal that is too large to be passed on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a signal of {0} bytes is too large: {MAX_SIGNAL_BYTES} is the most")]
pub struct SignalTooLarge(pub usize);

/// Whom to wake once a change is committed.
#[derive(Debug)]
pub(crate) enum Wake {
    /// The log of a session grew to this place.
    Grew(SessionId, Seq),
    /// A session of this user was deleted.
    Deleted(SessionId, String),
}

/// The wake-ups of one store.
#[derive(Debug, Clone)]
pub(crate) struct Hub {
    heads: Arc<Mutex<Heads>>,
    changes: broadcast::Sender<Change>,
    signals: broadcast::Sender<Signal>,
}

#[derive(Debug, Default)]
struct Heads {
    by_session: HashMap<SessionId, watch::Sender<Seq>>,
    since_sweep: usize,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            heads: Arc::default(),
            changes: broadcast::Sender::new(CHANGES_KEPT),
            signals: broadcast::Sender::new(SIGNALS_KEPT),
        }
    }

    /// A receiver that changes whenever the session's log grows.
    pub(crate) fn watch(&self, session: SessionId) -> watch::Receiver<Seq> {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.since_sweep += 1;
        if heads.since_sweep >= SWEEP_EVERY {
            heads.since_sweep = 0;
            heads.by_session.retain(|_, sender| sender.receiver_count() > 0);
        }
        heads
            .by_session
            .entry(session)
            .or_insert_with(|| watch::Sender::new(Seq::START))
            .subscribe()
    }

    /// Every change of every session.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Tells of everything that one commit did, in its order.
    pub(crate) fn wake(&self, wakes: Vec<Wake>) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        for wake in &wakes {
            match wake {
                Wake::Grew(session, head) => {
                    if let Some(sender) = heads.by_session.get(session) {
                        sender.send_replace(*head);
                    }
                }
                // Dropping the sender ends every stream of the session.
                Wake::Deleted(session, _) => {
                    heads.by_session.remove(session);
                }
            }
        }
        drop(heads);
        // Nobody listening is fine.
        if self.changes.receiver_count() == 0 {
            return;
        }
        for wake in wakes {
            let _ = self.changes.send(match wake {
                Wake::Grew(session, _) => Change::Grew(session),
                Wake::Deleted(session, user_id) => Change::Deleted { session, user_id },
            });
        }
    }

    /// Every signal.
    pub(crate) fn signals(&self) -> broadcast::Receiver<Signal> {
        self.signals.subscribe()
    }

    /// Passes a signal on to whoever listens in this process.
    pub(crate) fn signal(&self, signal: Signal) {
        // Nobody listening is fine.
        let _ = self.signals.send(signal);
    }

    /// What somebody watches, and what they were last told.
    pub(crate) fn watched(&self) -> HashMap<SessionId, Seq> {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = heads.by_session.iter().filter(|(_, sender)| sender.receiver_count() > 0);
        watched.map(|(session, sender)| (*session, *sender.borrow())).collect()
    }

    /// Tells that changes may have been missed.
    pub(crate) fn missed(&self) {
        let _ = self.changes.send(Change::Missed);
    }

    /// Ends the streams of sessions that are gone without anybody having told of it.
    pub(crate) fn gone<'s>(&self, sessions: impl Iterator<Item = &'s SessionId>) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let mut any = false;
        for session in sessions {
            any |= heads.by_session.remove(session).is_some();
        }
        drop(heads);
        if any {
            self.missed();
        }
    }
}
