//! Saying that this server is there, and looking what became of the others.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Duration;

use hotseat_core::SessionId;
use hotseat_store::{Change, HeldRun, ServerCard};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use uuid::Uuid;

use super::{BEAT, Company, LIFE, SURE_FOR, Word};
use crate::error::causes;
use crate::service::{Agent, App, ServiceError};

/// The least time between two looks, however much happens.
const PAUSE: Duration = Duration::from_millis(50);

/// How long the workers of a server that stops have to go on elsewhere with their runs.
const GRACE: Duration = Duration::from_secs(5);

/// How long a worker may be away before its runs are given to another.
const WORKER_RETURNS: Duration = Duration::from_secs(3);

/// How long what runs here may take to stop, and how long others may take to be told of it.
const STOP: Duration = Duration::from_secs(5);

/// Who is in a room is told again every so many beats.
const ROOMS_EVERY: u32 = 5;

/// What one look found, for the next to compare.
#[derive(Debug, Default)]
struct Seen {
    /// The cards of the others, by their edition.
    cards: HashMap<Uuid, (i64, Vec<Agent>)>,
    /// Runs of this server that no worker of its works on or that have ended, and since when.
    unattended: HashMap<String, Instant>,
    beats: u32,
}

impl App {
    /// Keeps this server among those over the same log, until it closes, then leaves them.
    /// Returns at once where there are none.
    pub(crate) async fn keep_company(self) {
        let Some(company) = self.replicas.company.clone() else { return };
        tokio::join!(self.beat(&company), self.hear(&company));
        self.take_leave(&company).await;
    }

    async fn beat(&self, company: &Company) {
        let mut seen = Seen::default();
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut agents, mut changes) = (self.workers.changes(), company.store.changes());
        loop {
            tokio::select! {
                // In this order: which of two comes first decides when the next beat is, and a
                // simulation has to be the same every time.
                biased;
                _ = beats.tick() => {}
                // One that lags looks, too.
                _ = agents.recv() => {}
                () = missed(&mut changes) => {}
                () = self.closed() => return,
            }
            tokio::select! {
                looked = self.look_around(company, &mut seen) => if let Err(error) = looked {
                    tracing::warn!(error = %causes(&error), "the other servers are not known");
                },
                () = self.closed() => return,
            }
            tokio::select! {
                () = sleep(PAUSE) => {}
                () = self.closed() => return,
            }
        }
    }

    async fn look_around(&self, company: &Company, seen: &mut Seen) -> Result<(), ServiceError> {
        let began = Instant::now();
        let others = company.shared.present(&self.card(company), LIFE).await?;
        let gap = *company.sure_until.borrow() <= Instant::now();
        if gap {
            *company.steady_since.lock().unwrap_or_else(PoisonError::into_inner) = began;
            self.find_lost(company).await?;
        }
        company.sure_until.send_replace(began + SURE_FOR);
        self.meet(company, others, seen).await?;
        self.look_after_runs(company, seen).await?;
        seen.beats = seen.beats.wrapping_add(1);
        if seen.beats.is_multiple_of(ROOMS_EVERY) {
            self.rooms.tell_all();
        }
        Ok(())
    }

    /// What this server tells of itself: the agents that it hosts. Where their golden traces go
    /// is for nobody to write to from another machine.
    fn card(&self, company: &Company) -> ServerCard {
        let mut agents = self.workers.hosted_here();
        for agent in &mut agents {
            agent.eval_set_path = None;
        }
        let text = serde_json::to_string(&agents).unwrap_or_default();
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        ServerCard { server: company.name, edition: hasher.finish().cast_signed(), text }
    }

    /// Notes what the other servers host.
    async fn meet(
        &self,
        company: &Company,
        others: Vec<(Uuid, i64)>,
        seen: &mut Seen,
    ) -> Result<(), ServiceError> {
        company.others.store(others.len(), Ordering::Relaxed);
        let there: HashMap<Uuid, i64> = others.into_iter().collect();
        seen.cards.retain(|server, (edition, _)| there.get(server) == Some(edition));
        let unknown: Vec<Uuid> =
            there.keys().filter(|server| !seen.cards.contains_key(server)).copied().collect();
        if !unknown.is_empty() {
            for card in company.shared.cards(unknown).await? {
                // A card that cannot be read is of a version that knows more, or of one that goes.
                let agents = serde_json::from_str(&card.text).unwrap_or_default();
                seen.cards.insert(card.server, (card.edition, agents));
            }
        }
        let agents = seen.cards.iter().map(|(server, (_, agents))| (*server, agents.clone()));
        self.workers.note_elsewhere(agents.collect());
        Ok(())
    }

    /// Finds out which runs another server took while this one was not there.
    async fn find_lost(&self, company: &Company) -> Result<(), ServiceError> {
        let taken: Vec<String> = company.taken().keys().cloned().collect();
        if taken.is_empty() {
            return Ok(());
        }
        let held = company.shared.held_runs(company.name).await?;
        let held: HashSet<String> = held.into_iter().map(|run| run.run_id).collect();
        for run_id in taken.into_iter().filter(|run_id| !held.contains(run_id)) {
            if company.taken().remove(&run_id).is_some() {
                tracing::warn!(run.id = run_id, "another server has taken over a run");
                self.workers.disown(&run_id);
            }
        }
        Ok(())
    }

    /// Ends what ended elsewhere without this server being told, and sees to it that somebody
    /// works on every run that can be worked on here.
    async fn look_after_runs(
        &self,
        company: &Company,
        seen: &mut Seen,
    ) -> Result<(), ServiceError> {
        let mut waiting: Vec<SessionId> = Vec::new();
        let mut unattended = HashMap::new();
        for HeldRun { session, run_id, open } in company.shared.held_runs(company.name).await? {
            if open && self.workers.works_on(&run_id) {
                continue;
            }
            // Its worker may be about to come back, or its end is just being noted.
            let since = seen.unattended.get(&run_id).copied().unwrap_or_else(Instant::now);
            if since.elapsed() < WORKER_RETURNS {
                unattended.insert(run_id, since);
                continue;
            }
            self.workers.cancel(&run_id);
            self.replicas.let_go(session, &run_id).await;
            if open {
                self.replicas.tell(session, &Word::Work);
                waiting.push(session);
            }
        }
        seen.unattended = unattended;
        let agents: Vec<_> =
            self.workers.hosted_here().into_iter().map(|agent| agent.name).collect();
        if !agents.is_empty() {
            waiting.extend(company.shared.waiting_runs(agents).await?);
        }
        for session in waiting {
            self.look_at_run(session).await;
        }
        Ok(())
    }

    /// Goes, once nothing runs here any more, so that others go on at once.
    async fn take_leave(&self, company: &Company) {
        // What does not stop is taken over when this server is not there any more.
        if tokio::time::timeout(STOP, self.workers.no_native()).await.is_err() {
            tracing::warn!("an agent did not stop in time; its runs wait for a while");
            return;
        }
        match tokio::time::timeout(STOP, company.shared.leave(company.name, GRACE)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(error = %causes(&error), "the other servers were not told of the end");
            }
            Err(_) => tracing::warn!("the other servers could not be told of the end in time"),
        }
    }
}

/// Resolves when something may have happened that nobody told of.
async fn missed(changes: &mut Receiver<Change>) {
    loop {
        match changes.recv().await {
            Ok(Change::Missed) => return,
            // A listener that lags is a busy server's; the next beat looks anyway.
            Ok(Change::Grew(_) | Change::Deleted { .. }) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
