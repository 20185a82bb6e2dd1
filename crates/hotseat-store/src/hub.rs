//! Wakes readers when a session's log grows.
//!
//! A wake-up carries only the new head, never an event: readers read the log
//! from where they are. A missed or doubled wake-up therefore costs time, never
//! an event, and nothing here has to be exact except that a wake-up follows the
//! commit it tells of. What it brought is kept for those who were woken (`recent.rs`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use hotseat_core::{Event, Seq, SessionId};
use tokio::sync::{broadcast, watch};

use crate::EventQuery;
use crate::recent::Recent;

/// How many changes a slow listener may be behind before it has to look again.
const CHANGES_KEPT: usize = 1024;

/// How often dropped watchers are looked for, in new watchers.
const SWEEP_EVERY: usize = 256;

/// Bytes of payloads that are kept of all watched sessions together.
const RECENT_BYTES: usize = 16 * 1024 * 1024;

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
    /// The log of a session grew to this place, or was changed otherwise. With the events it
    /// grew by, where somebody watches and nothing else happened to it.
    Grew(SessionId, Seq, Vec<Arc<Event>>),
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
    by_session: HashMap<SessionId, Watched>,
    since_sweep: usize,
    /// Bytes of all that is kept as recent.
    recent_bytes: usize,
}

/// A session that somebody watches, or did until a moment ago.
#[derive(Debug)]
struct Watched {
    head: watch::Sender<Seq>,
    recent: Recent,
}

impl Watched {
    fn new() -> Self {
        Self { head: watch::Sender::new(Seq::START), recent: Recent::default() }
    }
}

impl Heads {
    fn grew(&mut self, session: SessionId, head: Seq, brought: Vec<Arc<Event>>) {
        let Some(watched) = self.by_session.get_mut(&session) else { return };
        let before = watched.recent.bytes();
        watched.recent.add(brought);
        self.recent_bytes = self.recent_bytes + watched.recent.bytes() - before;
        // Of two commits, the later one may be told of first.
        watched.head.send_modify(|known| *known = head.max(*known));
        if self.recent_bytes > RECENT_BYTES {
            self.by_session.values_mut().for_each(|watched| watched.recent.forget());
            self.recent_bytes = 0;
        }
    }

    fn remove(&mut self, session: SessionId) -> bool {
        let removed = self.by_session.remove(&session);
        self.recent_bytes -= removed.as_ref().map_or(0, |watched| watched.recent.bytes());
        removed.is_some()
    }

    /// Forgets sessions that nobody watches any more.
    fn sweep(&mut self) {
        self.by_session.retain(|_, watched| watched.head.receiver_count() > 0);
        self.recent_bytes = self.by_session.values().map(|watched| watched.recent.bytes()).sum();
    }
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
            heads.sweep();
        }
        heads.by_session.entry(session).or_insert_with(Watched::new).head.subscribe()
    }

    /// Whether somebody watches a session.
    pub(crate) fn is_watched(&self, session: SessionId) -> bool {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.by_session.get(&session).is_some_and(|watched| watched.head.receiver_count() > 0)
    }

    /// What the log would answer, if it is known without reading it.
    pub(crate) fn recent(&self, session: SessionId, query: &EventQuery) -> Option<Vec<Arc<Event>>> {
        let heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        heads.by_session.get(&session)?.recent.find(query)
    }

    /// Every change of every session.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Tells of everything that one commit did, in its order.
    pub(crate) fn wake(&self, wakes: Vec<Wake>) {
        let mut heads = self.heads.lock().unwrap_or_else(PoisonError::into_inner);
        let told = wakes.into_iter().map(|wake| match wake {
            Wake::Grew(session, head, brought) => {
                heads.grew(session, head, brought);
                Change::Grew(session)
            }
            Wake::Deleted(session, user_id) => {
                // Dropping the sender ends every stream of the session.
                heads.remove(session);
                Change::Deleted { session, user_id }
            }
        });
        let told: Vec<_> = told.collect();
        drop(heads);
        // Nobody listening is fine.
        if self.changes.receiver_count() == 0 {
            return;
        }
        for change in told {
            let _ = self.changes.send(change);
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
        let watched = heads.by_session.iter().map(|(session, watched)| (*session, &watched.head));
        let watched = watched.filter(|(_, head)| head.receiver_count() > 0);
        watched.map(|(session, head)| (session, *head.borrow())).collect()
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
            any |= heads.remove(*session);
        }
        drop(heads);
        if any {
            self.missed();
        }
    }
}
