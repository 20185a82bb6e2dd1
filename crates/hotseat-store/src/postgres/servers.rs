//! Which servers are there, and which runs they work on.
//!
//! A run is taken in one statement that locks the row of its session. Whoever ends a run changes
//! that row and lets go of the lease afterwards, so nobody takes a run that has ended, however
//! old what they knew of it.

use std::time::Duration;

use hotseat_core::SessionId;
use uuid::Uuid;

use super::failure::{Failure, Patience};
use super::held::Held;
use super::herald::tell_to_look;
use super::text::kept;
use super::{Postgres, retry, row};
use crate::StoreError;
use crate::shared::{HeldRun, MAX_RUNS_TOLD, NOBODY, RunClaim, ServerCard, TakeOver};

/// The time of the database in milliseconds.
pub(super) const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// How long a server that is gone is remembered, in milliseconds.
const FORGET_AFTER: i64 = 3_600_000;

/// Runs read at once.
const PAGE: usize = 1_000;

impl Postgres {
    pub(crate) async fn present(
        &self,
        card: &ServerCard,
        life: Duration,
    ) -> Result<Vec<(Uuid, i64)>, StoreError> {
        let renew =
            format!("UPDATE servers SET until = {NOW} + $2 WHERE server_id = $1 AND edition = $3");
        let put = format!(
            "INSERT INTO servers (server_id, until, edition, card) VALUES ($1, {NOW} + $2, $3, $4) \
             ON CONFLICT (server_id) DO UPDATE SET until = excluded.until, \
             edition = excluded.edition, card = excluded.card"
        );
        let forget = format!("DELETE FROM servers WHERE until < {NOW} - {FORGET_AFTER}");
        let others = format!(
            "SELECT server_id, edition FROM servers WHERE server_id <> $1 AND until > {NOW}"
        );
        let life = millis(life);
        retry!(self, Patience::to_write("tell that this server is there"), |held| {
            let renew = held.prepare_cached(&renew).await?;
            if held.execute(&renew, &[&card.server, &life, &card.edition]).await? == 0 {
                let put = held.prepare_cached(&put).await?;
                let text = kept(&card.text);
                held.execute(&put, &[&card.server, &life, &card.edition, &text]).await?;
                held.execute(&forget, &[]).await?;
                tell_to_look(held).await?;
            }
            let others = held.prepare_cached(&others).await?;
            let found = held.query(&others, &[&card.server]).await?;
            let read = |row: &_| Ok((row::get(row, 0)?, row::get(row, 1)?));
            found.iter().map(read).collect::<Result<Vec<_>, Failure>>()
        })
    }

    pub(crate) async fn cards(&self, servers: Vec<Uuid>) -> Result<Vec<ServerCard>, StoreError> {
        let sql = "SELECT server_id, edition, card FROM servers WHERE server_id = ANY ($1)";
        retry!(self, Patience::to_read("read what servers tell"), |held| {
            let statement = held.prepare_cached(sql).await?;
            let found = held.query(&statement, &[&servers]).await?;
            let read = |row: &_| {
                let (server, edition) = (row::get(row, 0)?, row::get(row, 1)?);
                Ok(ServerCard { server, edition, text: row::text(row, 2)? })
            };
            found.iter().map(read).collect::<Result<Vec<_>, Failure>>()
        })
    }

    pub(crate) async fn take_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        let sql = format!(
            "WITH open AS (SELECT session_id FROM sessions \
             WHERE session_id = $1 AND run_id = $2 FOR SHARE) \
             INSERT INTO run_leases AS l (session_id, run_id, server_id, worker) \
             SELECT session_id, $2, $3, $4 FROM open \
             ON CONFLICT (session_id) DO UPDATE SET run_id = excluded.run_id, \
             server_id = excluded.server_id, worker = excluded.worker \
             WHERE l.run_id <> excluded.run_id OR l.worker = excluded.worker \
             OR ($5 AND l.server_id IN (excluded.server_id, '{NOBODY}')) \
             OR ($6 AND NOT EXISTS \
             (SELECT FROM servers v WHERE v.server_id = l.server_id AND v.until > {NOW}))"
        );
        // `RunClaim::succeeds` in a statement.
        let (own, gone) = match claim.take_over {
            TakeOver::Nothing => (false, false),
            TakeOver::OfItsOwn => (true, false),
            TakeOver::OfTheGone => (true, true),
        };
        retry!(self, Patience::to_write("take a run"), |held| {
            let statement = held.prepare_cached(&sql).await?;
            let worker = claim.worker.as_deref().map(kept);
            let id = claim.session.uuid();
            let RunClaim { run_id, server, .. } = claim;
            let taken =
                held.execute(&statement, &[&id, run_id, server, &worker, &own, &gone]).await?;
            Ok(taken > 0)
        })
    }

    pub(crate) async fn release_run(
        &self,
        session: SessionId,
        run_id: &str,
        server: Uuid,
    ) -> Result<(), StoreError> {
        // The worker that had it stays known: nobody else may write of the session's runs before
        // the next has one.
        let sql = format!(
            "UPDATE run_leases SET server_id = '{NOBODY}' \
             WHERE session_id = $1 AND run_id = $2 AND server_id = $3"
        );
        retry!(self, Patience::to_write("let go of a run"), |held| {
            let statement = held.prepare_cached(&sql).await?;
            held.execute(&statement, &[&session.uuid(), &run_id, &server]).await?;
            Ok(())
        })
    }

    pub(crate) async fn waiting_runs(
        &self,
        agents: Vec<String>,
    ) -> Result<Vec<SessionId>, StoreError> {
        let sql = format!(
            "SELECT s.session_id FROM sessions s LEFT JOIN run_leases l \
             ON l.session_id = s.session_id AND l.run_id = s.run_id \
             WHERE s.run_id IS NOT NULL AND s.source <> 'plugin' AND s.agent = ANY ($1) \
             AND NOT EXISTS (SELECT FROM servers v \
             WHERE v.server_id = l.server_id AND v.until > {NOW}) \
             ORDER BY s.created_at, s.session_id LIMIT {MAX_RUNS_TOLD}"
        );
        retry!(self, Patience::to_read("look for runs that wait"), |held| {
            let statement = held.prepare_cached(&sql).await?;
            let found = held.query(&statement, &[&agents]).await?;
            found.iter().map(|row| row::session_id(row, 0)).collect::<Result<Vec<_>, Failure>>()
        })
    }

    pub(crate) async fn held_runs(&self, server: Uuid) -> Result<Vec<HeldRun>, StoreError> {
        let sql = format!(
            "SELECT l.session_id, l.run_id, s.session_id IS NOT NULL FROM run_leases l \
             LEFT JOIN sessions s ON s.session_id = l.session_id AND s.run_id = l.run_id \
             WHERE l.server_id = $1 AND l.session_id > $2 ORDER BY l.session_id LIMIT {PAGE}"
        );
        let mut all = Vec::new();
        loop {
            let after = all.last().map_or(Uuid::nil(), |run: &HeldRun| run.session.uuid());
            let page = retry!(self, Patience::to_read("look at the runs of a server"), |held| {
                let statement = held.prepare_cached(&sql).await?;
                let found = held.query(&statement, &[&server, &after]).await?;
                let read = |row: &_| {
                    let session = row::session_id(row, 0)?;
                    Ok(HeldRun { session, run_id: row::text(row, 1)?, open: row::get(row, 2)? })
                };
                found.iter().map(read).collect::<Result<Vec<_>, Failure>>()
            })?;
            let more = page.len() == PAGE;
            all.extend(page);
            if !more {
                return Ok(all);
            }
        }
    }

    pub(crate) async fn leave(&self, server: Uuid, grace: Duration) -> Result<(), StoreError> {
        // What is on its way into the log is part of what others go on from.
        self.lanes.settled().await;
        let own = "DELETE FROM run_leases WHERE server_id = $1 AND worker IS NULL";
        let go = format!(
            "UPDATE servers SET until = least(until, {NOW} + $2), edition = edition + 1, \
             card = '' WHERE server_id = $1"
        );
        let grace = millis(grace);
        retry!(self, Patience::to_write("tell that this server goes"), |held| {
            held.execute(own, &[&server]).await?;
            held.execute(&go, &[&server, &grace]).await?;
            tell_to_look(held).await
        })
    }
}

pub(super) fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
