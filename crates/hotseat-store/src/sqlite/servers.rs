//! Which servers are over one file, and which runs they work on.
//!
//! A file has one process, so who is there is known in memory; who works on a run, or was the
//! last to, is in the file, because a worker outlives the server. A server that has its log for
//! itself only takes runs here: every lease of another server is of a process that is gone.
//! Several are over one file in a simulation (`gate.rs`), by the clock of that.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hotseat_core::SessionId;
use rusqlite::{Connection, OptionalExtension, params};
use tokio::time::Instant;
use uuid::Uuid;

use super::writer::Work;
use super::{Sqlite, row, session_rows};
use crate::StoreError;
use crate::shared::{HeldRun, MAX_RUNS_TOLD, NOBODY, RunClaim, RunLease, ServerCard};

/// How long a server that is gone is remembered.
const FORGET_AFTER: Duration = Duration::from_hours(1);

/// The servers over one file and their questions. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Roster(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    servers: HashMap<Uuid, (Instant, ServerCard)>,
    questions: HashMap<Uuid, Question>,
}

#[derive(Debug)]
struct Question {
    until: Instant,
    /// None once somebody has it.
    asked: Option<Vec<u8>>,
    answer: Option<Vec<u8>>,
}

impl Roster {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn there(&self) -> HashSet<Uuid> {
        let now = Instant::now();
        let known = self.known();
        known.servers.iter().filter(|(_, (until, _))| *until > now).map(|(name, _)| *name).collect()
    }
}

#[expect(clippy::unused_async, reason = "both databases are asked the same way")]
impl Sqlite {
    pub(crate) async fn present(
        &self,
        card: &ServerCard,
        life: Duration,
    ) -> Result<Vec<(Uuid, i64)>, StoreError> {
        let now = Instant::now();
        let mut known = self.roster.known();
        known.servers.retain(|_, (until, _)| *until + FORGET_AFTER > now);
        known.servers.insert(card.server, (now + life, card.clone()));
        let others = known.servers.iter().filter(|(name, _)| **name != card.server);
        let others = others.filter(|(_, (until, _))| *until > now);
        Ok(others.map(|(name, (_, card))| (*name, card.edition)).collect())
    }

    pub(crate) async fn cards(&self, servers: Vec<Uuid>) -> Result<Vec<ServerCard>, StoreError> {
        let known = self.roster.known();
        let cards = servers.iter().filter_map(|server| known.servers.get(server));
        Ok(cards.map(|(_, card)| card.clone()).collect())
    }

    pub(crate) async fn take_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        let (claim, there) = (claim.clone(), self.roster.there());
        self.writer.write(move |work| take(work, &claim, &there)).await
    }

    pub(crate) async fn release_run(
        &self,
        session: SessionId,
        run_id: &str,
        server: Uuid,
    ) -> Result<(), StoreError> {
        // The worker that had it stays known: nobody else may write of the session's runs before
        // the next has one.
        let sql = "UPDATE run_leases SET server_id = ?4 \
                   WHERE session_id = ?1 AND run_id = ?2 AND server_id = ?3";
        let run_id = run_id.to_owned();
        self.writer
            .write(move |work| {
                let (session, server) = (session.to_string(), server.to_string());
                work.connection
                    .prepare_cached(sql)
                    .and_then(|mut statement| {
                        statement.execute(params![session, run_id, server, NOBODY.to_string()])
                    })
                    .map(|_| ())
                    .map_err(StoreError::backend("let go of a run"))
            })
            .await
    }

    pub(crate) async fn waiting_runs(
        &self,
        agents: Vec<String>,
    ) -> Result<Vec<SessionId>, StoreError> {
        self.settle().await?;
        let sql = format!(
            "SELECT s.id FROM sessions s LEFT JOIN run_leases l \
             ON l.session_id = s.id AND l.run_id = s.run_id \
             WHERE s.run_id IS NOT NULL AND s.source <> 'plugin' \
             AND s.agent IN (SELECT value FROM json_each(?1)) \
             AND COALESCE(l.server_id, '') NOT IN (SELECT value FROM json_each(?2)) \
             ORDER BY s.created_at, s.id LIMIT {MAX_RUNS_TOLD}"
        );
        let there: Vec<String> = self.roster.there().iter().map(Uuid::to_string).collect();
        let (agents, there) = (serde_json::json!(agents), serde_json::json!(there));
        self.readers
            .read("look for runs that wait", move |connection| {
                connection
                    .prepare_cached(&sql)?
                    .query_map(params![agents.to_string(), there.to_string()], |found| {
                        row::parsed(found, 0)
                    })?
                    .collect()
            })
            .await
    }

    pub(crate) async fn held_runs(&self, server: Uuid) -> Result<Vec<HeldRun>, StoreError> {
        self.settle().await?;
        let sql = "SELECT l.session_id, l.run_id, s.run_id IS l.run_id \
                   FROM run_leases l JOIN sessions s ON s.id = l.session_id \
                   WHERE l.server_id = ?1 ORDER BY l.session_id";
        self.readers
            .read("look at the runs of a server", move |connection| {
                connection
                    .prepare_cached(sql)?
                    .query_map([server.to_string()], |found| {
                        let session = row::parsed(found, 0)?;
                        Ok(HeldRun { session, run_id: found.get(1)?, open: found.get(2)? })
                    })?
                    .collect()
            })
            .await
    }

    pub(crate) async fn leave(&self, server: Uuid, grace: Duration) -> Result<(), StoreError> {
        let sql = "DELETE FROM run_leases WHERE server_id = ?1 AND worker IS NULL";
        self.writer
            .write(move |work| {
                work.connection
                    .execute(sql, [server.to_string()])
                    .map(|_| ())
                    .map_err(StoreError::backend("leave the runs of a server"))
            })
            .await?;
        if let Some((until, card)) = self.roster.known().servers.get_mut(&server) {
            *until = (*until).min(Instant::now() + grace);
            (card.edition, card.text) = (card.edition.wrapping_add(1), String::new());
        }
        Ok(())
    }

    pub(crate) async fn put_question(
        &self,
        id: Uuid,
        question: &[u8],
        life: Duration,
    ) -> Result<(), StoreError> {
        let now = Instant::now();
        let mut known = self.roster.known();
        known.questions.retain(|_, question| question.until > now);
        let question = Question { until: now + life, asked: Some(question.into()), answer: None };
        known.questions.insert(id, question);
        Ok(())
    }

    pub(crate) async fn take_question(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.roster.known().questions.get_mut(&id).and_then(|question| question.asked.take()))
    }

    pub(crate) async fn answer_question(&self, id: Uuid, answer: &[u8]) -> Result<(), StoreError> {
        if let Some(question) = self.roster.known().questions.get_mut(&id) {
            question.answer = Some(answer.into());
        }
        Ok(())
    }

    pub(crate) async fn question_answer(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.roster.known().questions.get(&id).and_then(|question| question.answer.clone()))
    }

    pub(crate) async fn drop_question(&self, id: Uuid) -> Result<(), StoreError> {
        self.roster.known().questions.remove(&id);
        Ok(())
    }
}

/// Takes a run, if it is open and nobody is in the way.
fn take(work: &Work<'_>, claim: &RunClaim, there: &HashSet<Uuid>) -> Result<bool, StoreError> {
    let session = session_rows::find(work, claim.session)?;
    let open =
        session.and_then(|session| session.run).is_some_and(|run| run.run_id == claim.run_id);
    if !open {
        return Ok(false);
    }
    let failed = StoreError::backend("take a run");
    let key = claim.session.to_string();
    let taken = lease(work.connection, &key).and_then(|lease| {
        let RunClaim { run_id, server, worker, .. } = claim.clone();
        let wanted = RunLease { run_id, server, worker };
        match lease {
            Some(lease) if lease == wanted => Ok(true),
            Some(lease) if !claim.succeeds(&lease, |server| there.contains(&server)) => Ok(false),
            Some(_) | None => put(work.connection, &key, &wanted).map(|()| true),
        }
    });
    taken.map_err(failed)
}

/// Who works on a run of a session, or was the last to.
pub(super) fn lease(connection: &Connection, session: &str) -> rusqlite::Result<Option<RunLease>> {
    let sql = "SELECT run_id, server_id, worker FROM run_leases WHERE session_id = ?1";
    connection
        .prepare_cached(sql)?
        .query_row([session], |found| {
            let (run_id, server) = (found.get(0)?, row::parsed(found, 1)?);
            Ok(RunLease { run_id, server, worker: found.get(2)? })
        })
        .optional()
}

fn put(connection: &Connection, session: &str, lease: &RunLease) -> rusqlite::Result<()> {
    let sql = "INSERT INTO run_leases (session_id, run_id, server_id, worker) \
               VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT DO UPDATE SET run_id = ?2, server_id = ?3, worker = ?4";
    let RunLease { run_id, server, worker } = lease;
    connection
        .prepare_cached(sql)?
        .execute(params![session, run_id, server.to_string(), worker])
        .map(|_| ())
}
