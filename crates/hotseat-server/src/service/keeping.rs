//! What is done now and then: cleaning up, indexing, noting who read what.
//!
//! A read must not wait for a write, so visits are collected here and written
//! together. Losing a few of them in a crash loses nothing but a last access.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hotseat_core::SessionId;
use hotseat_store::{Sweep, Visit};
use jiff::Timestamp;
use serde::Serialize;

use super::App;
use crate::clock;
use crate::error::causes;

/// How often visits are written and words are indexed.
const TIDY: Duration = Duration::from_secs(5);

/// Visits that may wait to be written. Beyond this, a visit is not noted.
const MAX_VISITS: usize = 10_000;

/// A session with one of its clients: the address and the program.
type Client = (SessionId, Option<String>, Option<String>);

/// What is waiting to be done.
#[derive(Debug, Clone, Default)]
pub(crate) struct Keeping {
    visits: Arc<Mutex<HashMap<Client, Visit>>>,
    cleanup: Arc<Mutex<CleanupStatus>>,
    refused: Arc<AtomicU64>,
}

/// How the clean-up is doing.
#[derive(Debug, Clone, Copy, Default, Serialize, utoipa::ToSchema)]
pub(crate) struct CleanupStatus {
    /// `idle` or `running`.
    state: CleanupState,
    /// When it last ended.
    #[schema(value_type = Option<String>)]
    last_run_at: Option<Timestamp>,
    /// When it is next due.
    #[schema(value_type = Option<String>)]
    next_run_at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
enum CleanupState {
    #[default]
    Idle,
    Running,
}

impl Keeping {
    /// One more event was too large.
    pub(crate) fn refused(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Events that were too large, since the server started.
    pub(crate) fn refusals(&self) -> u64 {
        self.refused.load(Ordering::Relaxed)
    }

    pub(crate) fn visited(&self, visit: Visit) {
        let client = (visit.session, visit.client_ip.clone(), visit.user_agent.clone());
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        if visits.len() < MAX_VISITS || visits.contains_key(&client) {
            visits.insert(client, visit);
        }
    }

    fn take_visits(&self) -> Vec<Visit> {
        let mut visits = self.visits.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken: Vec<_> = visits.drain().map(|(_, visit)| visit).collect();
        drop(visits);
        taken.sort_by_key(|visit| visit.at);
        taken
    }

    pub(crate) fn cleanup_status(&self) -> CleanupStatus {
        *self.cleanup.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_cleanup(&self, change: impl FnOnce(&mut CleanupStatus)) {
        change(&mut self.cleanup.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl App {
    /// Does what is due, until the server closes.
    pub(crate) async fn keep_house(self) {
        let interval = self.config.ledger.cleanup_interval;
        let mut cleanup = tokio::time::interval(interval);
        let mut tidy = tokio::time::interval(TIDY);
        loop {
            tokio::select! {
                _ = cleanup.tick() => self.clean_up().await,
                _ = tidy.tick() => self.tidy_up().await,
                () = self.closed() => break,
            }
        }
        self.tidy_up().await;
    }

    /// Removes what is too old or too much, now.
    pub(crate) async fn clean_up(&self) {
        self.keeping.set_cleanup(|status| status.state = CleanupState::Running);
        let ago = |ttl: Option<Duration>| {
            let ttl = jiff::SignedDuration::try_from(ttl?).ok()?;
            clock::now().checked_sub(ttl).ok()
        };
        self.note_visits().await;
        let sweep = Sweep {
            untouched_since: ago(self.config.ledger.session_ttl),
            empty_since: ago(self.config.ledger.empty_session_ttl),
        };
        loop {
            match self.store.sweep(sweep).await {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) => {
                    tracing::error!(error = %causes(&error), "the clean-up failed");
                    break;
                }
            }
        }
        let next = jiff::SignedDuration::try_from(self.config.ledger.cleanup_interval).ok();
        let now = clock::now();
        self.keeping.set_cleanup(|status| {
            *status = CleanupStatus {
                state: CleanupState::Idle,
                last_run_at: Some(now),
                next_run_at: next.and_then(|next| now.checked_add(next).ok()),
            };
        });
    }

    async fn tidy_up(&self) {
        self.note_visits().await;
        if let Err(error) = self.store.index().await {
            tracing::warn!(error = %causes(&error), "the search index is behind");
        }
    }

    /// Writes the visits that were collected.
    pub(crate) async fn note_visits(&self) {
        let visits = self.keeping.take_visits();
        if visits.is_empty() {
            return;
        }
        if let Err(error) = self.store.visited(visits).await {
            tracing::warn!(error = %causes(&error), "visits were not noted");
        }
    }
}
