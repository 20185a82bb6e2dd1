//! The other servers over the same log.
//!
//! Whether there can be any is decided here and nowhere else: a store that one server has for
//! itself has no [`Company`], and then everything below does nothing, costs nothing and writes
//! nothing but who was given which run: workers come back, also from before a restart, and one
//! that was taken for dead must not write of what another has. Where servers share a database, each
//! says every [`BEAT`] that it is there and what it hosts (`replicas/beat.rs`), and a run is
//! worked on by whoever has the lease on it, which ends with its server.
//!
//! Kept true: a server that could not say that it is there for [`SURE_FOR`] writes nothing more
//! of its own runs before it has looked which of them are still its. Others take them no sooner
//! than after [`LIFE`], so two servers do not both go on with a run.

mod beat;
mod questions;
mod words;

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hotseat_core::SessionId;
use hotseat_store::{RunClaim, Shared, Store, TakeOver};
use tokio::sync::watch;
use tokio::time::Instant;
use uuid::Uuid;

use self::questions::Questions;
pub(super) use self::words::{AnswerPiece, Word};
use super::{App, Reserved};
use crate::clock;
use crate::error::causes;

/// How often a server says that it is there, and looks for runs that wait.
const BEAT: Duration = Duration::from_secs(2);

/// How long a server counts as there after it last said so.
const LIFE: Duration = Duration::from_secs(8);

/// How long a server that said so may rely on it. Shorter than [`LIFE`], because clocks and
/// answers take their time.
const SURE_FOR: Duration = Duration::from_secs(6);

/// This server among those over the same log, of which there may be more. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Replicas {
    /// This server.
    name: Uuid,
    company: Option<Arc<Company>>,
}

/// This server among those that share its database.
#[derive(Debug)]
pub(super) struct Company {
    shared: Shared,
    store: Store,
    /// This server.
    name: Uuid,
    /// How many others are there.
    others: AtomicUsize,
    /// Until when it is certain that nobody takes what this server has.
    sure_until: watch::Sender<Instant>,
    /// Since when this server has been there without a gap.
    steady_since: Mutex<Instant>,
    /// The runs that this server has a lease on.
    taken: Mutex<HashMap<String, SessionId>>,
    questions: Questions,
}

impl Replicas {
    /// Those over a store.
    pub(super) fn over(store: &Store) -> Self {
        let name = clock::new_id();
        let company = store.shared().map(|shared| {
            let now = Instant::now();
            Arc::new(Company {
                shared,
                store: store.clone(),
                name,
                others: AtomicUsize::new(0),
                sure_until: watch::Sender::new(now),
                steady_since: Mutex::new(now),
                taken: Mutex::default(),
                questions: Questions::default(),
            })
        });
        Self { name, company }
    }

    /// Whether other servers may work on the same log.
    pub(super) fn possible(&self) -> bool {
        self.company.is_some()
    }

    /// Tells the other servers something about a session. It may be lost, and nothing may
    /// depend on it.
    pub(super) fn tell(&self, session: SessionId, word: &Word) {
        let Some(company) = &self.company else { return };
        if company.others.load(Ordering::Relaxed) == 0 {
            return;
        }
        if let Err(error) = company.store.signal(session, &word.said_by(company.name)) {
            tracing::debug!(%error, "the other servers were not told");
        }
    }

    /// Lets go of a run.
    pub(super) async fn let_go(&self, session: SessionId, run_id: &str) {
        let Some(company) = &self.company else { return };
        company.taken().remove(run_id);
        // A lease that stays is found by the next look at all of them.
        if let Err(error) = company.shared.release_run(session, run_id, company.name).await {
            tracing::debug!(run.id = run_id, error = %causes(&error), "a lease was left");
        }
    }

    /// Whether this server still works on a run, once that is certain.
    pub(super) async fn still_mine(&self, run_id: &str) -> bool {
        let Some(company) = &self.company else { return true };
        let mut sure = company.sure_until.subscribe();
        // The sender lives as long as the company does.
        let _ = sure.wait_for(|until| Instant::now() < *until).await;
        company.taken().contains_key(run_id)
    }
}

impl Company {
    fn taken(&self) -> MutexGuard<'_, HashMap<String, SessionId>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// After a gap of its own a server leaves others the time to say that they are there, too:
    /// when the database was away, all of them look gone.
    fn may_take_over(&self) -> TakeOver {
        let since = *self.steady_since.lock().unwrap_or_else(PoisonError::into_inner);
        if since.elapsed() >= LIFE { TakeOver::OfTheGone } else { TakeOver::OfItsOwn }
    }
}

impl App {
    /// Takes a run for the worker that it is reserved for, or gives the reservation back: if
    /// another server works on it, it has ended, or nobody can tell.
    pub(super) async fn take_run(&self, session: SessionId, reserved: &Reserved) -> bool {
        let (run_id, worker) = (reserved.run_id(), reserved.worker());
        let take_over = match &self.replicas.company {
            Some(company) => company.may_take_over(),
            // What a server works on itself, no other can have.
            None if worker.is_none() => return true,
            None => TakeOver::OfTheGone,
        };
        let taken = self.claim_run(session, run_id, worker, take_over).await;
        if !taken {
            self.workers.run_ended(run_id);
        }
        taken
    }

    /// Takes a run for a worker that works on it already, as it says. `false` if another had it
    /// since, it has ended, or nobody can tell.
    pub(super) async fn take_back(&self, session: SessionId, run_id: &str, worker: &str) -> bool {
        self.claim_run(session, run_id, Some(worker.to_owned()), TakeOver::Nothing).await
    }

    async fn claim_run(
        &self,
        session: SessionId,
        run_id: &str,
        worker: Option<String>,
        take_over: TakeOver,
    ) -> bool {
        let (run_id, server) = (run_id.to_owned(), self.replicas.name);
        let claim = RunClaim { session, run_id, server, worker, take_over };
        let taken = self.store.take_run(&claim).await;
        let RunClaim { run_id, .. } = claim;
        match (taken, &self.replicas.company) {
            (Ok(true), Some(company)) => {
                company.taken().insert(run_id, session);
                true
            }
            (Ok(taken), _) => taken,
            (Err(error), _) => {
                tracing::warn!(run.id = run_id, error = %causes(&error), "a run could not be taken; it waits");
                false
            }
        }
    }
}
