//! Removing what is too old or too much, and saying so.
//!
//! Who may go is looked up without a lock, and looked at again when it goes: a session that
//! somebody began to wait for meanwhile stays.

use deadpool_postgres::{Client, Transaction};
use hotseat_core::SessionId;

use super::changes::delete;
use super::failure::Failure;
use super::held::Held;
use super::reader::{Question, value};
use super::row;
use crate::hub::Wake;
use crate::{Limits, RemovalReason, Sweep};

/// Sessions removed in one transaction.
const AT_ONCE: u64 = 100;

/// The sessions that may go: nothing waits in them.
const IDLE: &str = "s.run_id IS NULL AND s.pending_turns = 0 AND s.open_requests = 0";

/// The sessions in which nothing was ever said. ADK's may begin with a state.
const EMPTY: &str = "(s.last_seq = 0 OR (s.source IN ('adk', 'ag-ui') AND s.event_head = 0 \
                     AND s.message_count = 0))";

/// When a session was last touched, by a reader or a writer.
const TOUCHED: &str = "GREATEST(s.updated_at, COALESCE(a.last_access_at, 0))";

/// Who goes, and why.
struct Victims {
    reason: RemovalReason,
    /// What must still be so when they go.
    condition: &'static str,
    ids: Vec<SessionId>,
}

/// Makes room for one more session, if there is a limit.
pub(super) async fn make_room(
    held: &mut Held,
    limits: &Limits,
    slot: i16,
) -> Result<Vec<Wake>, Failure> {
    let Some(max) = limits.max_sessions else { return Ok(Vec::new()) };
    let excess = sessions(held).await?.saturating_add(1).saturating_sub(max);
    if excess == 0 {
        return Ok(Vec::new());
    }
    let ids = least_recent(held, excess).await?;
    let victims = Victims { reason: RemovalReason::TooManySessions, condition: IDLE, ids };
    remove(held, &victims, slot).await
}

/// One step of a clean-up. Tells what went; nothing, if there is nothing more to do.
pub(super) async fn sweep(
    held: &mut Held,
    limits: &Limits,
    sweep: &Sweep,
    slot: i16,
) -> Result<Vec<Wake>, Failure> {
    let mut wakes = Vec::new();
    if let Some(before) = sweep.untouched_since {
        let mut question = select(IDLE);
        question.add(&format!(" AND {TOUCHED} < ?"), [value(before.as_millisecond())]);
        let ids = chosen(held, question, TOUCHED, AT_ONCE).await?;
        let victims = Victims { reason: RemovalReason::Expired, condition: IDLE, ids };
        wakes.extend(remove(held, &victims, slot).await?);
    }
    if let Some(before) = sweep.empty_since {
        let mut question = select(EMPTY);
        question.add(" AND s.created_at < ?", [value(before.as_millisecond())]);
        let ids = chosen(held, question, "s.created_at", AT_ONCE).await?;
        let victims = Victims { reason: RemovalReason::Empty, condition: EMPTY, ids };
        wakes.extend(remove(held, &victims, slot).await?);
    }
    if let Some(max) = limits.max_sessions {
        let excess = sessions(held).await?.saturating_sub(max).min(AT_ONCE);
        let ids = if excess > 0 { least_recent(held, excess).await? } else { Vec::new() };
        let victims = Victims { reason: RemovalReason::TooManySessions, condition: IDLE, ids };
        wakes.extend(remove(held, &victims, slot).await?);
    }
    if let Some(max) = limits.max_store_bytes {
        let ids = too_many_bytes(held, max).await?;
        let victims = Victims { reason: RemovalReason::TooManyBytes, condition: IDLE, ids };
        wakes.extend(remove(held, &victims, slot).await?);
    }
    Ok(wakes)
}

async fn sessions(client: &Client) -> Result<u64, Failure> {
    let statement = client.prepare_cached("SELECT count(*) FROM sessions").await?;
    row::count(&client.query_one(&statement, &[]).await?, 0)
}

/// The sessions that `condition` is true of, with their sizes.
fn select(condition: &str) -> Question {
    Question::new(format!(
        "SELECT s.session_id, s.bytes FROM sessions s \
         LEFT JOIN session_access a ON a.session_id = s.session_id WHERE {condition}"
    ))
}

async fn chosen(
    client: &Client,
    mut question: Question,
    order: &str,
    limit: u64,
) -> Result<Vec<SessionId>, Failure> {
    question.add(&format!(" ORDER BY {order}, s.session_id LIMIT ?"), [value(row::signed(limit))]);
    question.ask(client).await?.iter().map(|found| row::session_id(found, 0)).collect()
}

async fn least_recent(client: &Client, limit: u64) -> Result<Vec<SessionId>, Failure> {
    chosen(client, select(IDLE), TOUCHED, limit).await
}

async fn too_many_bytes(client: &Client, max: u64) -> Result<Vec<SessionId>, Failure> {
    let sql = "SELECT COALESCE(sum(bytes), 0)::bigint FROM sessions";
    let statement = client.prepare_cached(sql).await?;
    let mut there = row::count(&client.query_one(&statement, &[]).await?, 0)?;
    if there <= max {
        return Ok(Vec::new());
    }
    let mut question = select(IDLE);
    question.add(&format!(" ORDER BY {TOUCHED}, s.session_id LIMIT {AT_ONCE}"), []);
    let mut victims = Vec::new();
    for found in question.ask(client).await? {
        if there <= max {
            break;
        }
        there = there.saturating_sub(row::count(&found, 1)?);
        victims.push(row::session_id(&found, 0)?);
    }
    Ok(victims)
}

async fn remove(held: &mut Held, victims: &Victims, slot: i16) -> Result<Vec<Wake>, Failure> {
    let (mut wakes, mut entries) = (Vec::new(), 0);
    if victims.ids.is_empty() {
        return Ok(wakes);
    }
    // In the order in which everybody locks sessions.
    let mut ids = victims.ids.clone();
    ids.sort_unstable();
    let transaction = held.transaction().await?;
    for id in ids {
        if let Some(deleted) = delete(&transaction, id, victims.condition).await? {
            entries += deleted.entries;
            wakes.push(Wake::Deleted(id, deleted.user_id));
        }
    }
    if !wakes.is_empty() {
        note(&transaction, victims.reason, slot, wakes.len() as u64, entries).await?;
    }
    transaction.commit().await?;
    Ok(wakes)
}

async fn note(
    transaction: &Transaction<'_>,
    reason: RemovalReason,
    slot: i16,
    sessions: u64,
    events: u64,
) -> Result<(), Failure> {
    let statement = transaction.prepare_cached(super::sheet::REMOVALS).await?;
    let (sessions, events) = (row::signed(sessions), row::signed(events));
    transaction.execute(&statement, &[&reason.as_str(), &slot, &sessions, &events]).await?;
    Ok(())
}
