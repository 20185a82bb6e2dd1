//! What is done to one session as a whole: deleting, clearing, computing anew.

use deadpool_postgres::Transaction;
use hotseat_core::{Seq, SessionId};

use super::book::Book;
use super::facts::{self, Needs};
use super::failure::Failure;
use super::held::Held;
use super::reader;
use super::row;
use super::sheet::Sheet;
use super::text::Text;
use crate::rules::before_refold;
use crate::{AppendError, EventQuery, Limits, RemovalReason};

/// Events read at once.
const PAGE: usize = 500;

/// The tables of a session, its row last.
const TABLES: [&str; 10] = [
    "events",
    "turns",
    "asks",
    "session_state",
    "messages",
    "session_access",
    "leases",
    "run_leases",
    "search",
    "sessions",
];

/// A session that was removed.
#[derive(Debug)]
pub(super) struct Deleted {
    pub(super) user_id: String,
    pub(super) entries: u64,
}

/// Removes a session with all that belongs to it, if it still is as `condition` wants it. None
/// if it was not there.
pub(super) async fn delete(
    transaction: &Transaction<'_>,
    id: SessionId,
    condition: &str,
) -> Result<Option<Deleted>, Failure> {
    let sql = format!(
        "SELECT user_id, last_seq - removed_through FROM sessions s WHERE s.session_id = $1 \
         AND {condition} FOR UPDATE"
    );
    let lock = transaction.prepare_cached(&sql).await?;
    let Some(found) = transaction.query_opt(&lock, &[&id.uuid()]).await? else { return Ok(None) };
    for table in TABLES {
        let sql = format!("DELETE FROM {table} WHERE session_id = $1");
        let statement = transaction.prepare_cached(&sql).await?;
        transaction.execute(&statement, &[&id.uuid()]).await?;
    }
    let Text(user_id) = row::get(&found, 0)?;
    Ok(Some(Deleted { user_id, entries: row::count(&found, 1)? }))
}

/// Removes the events of a session and leaves what was derived from them. Says how many went,
/// and where the log stands.
pub(super) async fn clear(
    held: &Held,
    limits: &Limits,
    id: SessionId,
    slot: i16,
) -> Result<Result<(u64, Seq), AppendError>, Failure> {
    let mut needs = Needs::default();
    needs.removal(id);
    // Nothing is coming, so the limits ask for nothing.
    let books = facts::load(held, &needs, limits).await?;
    let mut book = books.into_values().next().unwrap_or_else(|| Book::new(id));
    let last = book.session.as_ref().map_or(Seq::START, |session| session.last_seq);
    facts::removable(held, &mut book, last).await?;
    let removed = match book.clear(limits) {
        Ok(removed) => removed,
        Err(refusal) => {
            held.batch_execute("ROLLBACK").await?;
            return Ok(Err(refusal));
        }
    };
    let books = [book];
    let mut sheet = Sheet::of(&books, slot);
    sheet.removal(RemovalReason::Cleared, slot, 0, removed.entries);
    sheet.commit(held).await?;
    Ok(Ok((removed.entries, last)))
}

/// Folds the log of a session again: title, state, requests, record and messages. What only
/// removed events said stays as it is. Says where the log stands.
pub(super) async fn rebuild(
    held: &Held,
    limits: &Limits,
    id: SessionId,
    slot: i16,
) -> Result<Result<Seq, AppendError>, Failure> {
    let mut needs = Needs::default();
    needs.removal(id);
    let books = facts::load(held, &needs, limits).await?;
    let mut book = books.into_values().next().unwrap_or_else(|| Book::new(id));
    let Some(mut session) = book.session.take() else {
        held.batch_execute("ROLLBACK").await?;
        return Ok(Err(AppendError::NoSession { session: id }));
    };
    forget(held, id, session.removed_through).await?;
    book.known.messages.retain(|_, seq| *seq <= session.removed_through);
    before_refold(&mut session);
    session.message_count = book.known.messages.len() as u64;
    let mut after = Seq::START;
    loop {
        let query = EventQuery { after, limit: PAGE, ..EventQuery::default() };
        let page = reader::events(held, id, &query).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for event in page {
            if let Err(refusal) = book.refold(&mut session, event, limits) {
                return Err(Failure::corrupt(refusal));
            }
        }
    }
    let last = session.last_seq;
    book.session = Some(session);
    book.touched = true;
    Sheet::of(&[book], slot).commit(held).await?;
    Ok(Ok(last))
}

async fn forget(held: &Held, id: SessionId, removed: Seq) -> Result<(), Failure> {
    let sql = "DELETE FROM messages WHERE session_id = $1 AND seq > $2";
    held.execute(&held.prepare_cached(sql).await?, &[&id.uuid(), &row::number(removed)]).await?;
    if removed == Seq::START {
        let sql = "DELETE FROM session_state WHERE session_id = $1";
        held.execute(&held.prepare_cached(sql).await?, &[&id.uuid()]).await?;
    }
    let sql = "DELETE FROM asks WHERE session_id = $1";
    held.execute(&held.prepare_cached(sql).await?, &[&id.uuid()]).await?;
    Ok(())
}
