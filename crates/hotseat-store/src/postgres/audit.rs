//! What was done by whom.

use deadpool_postgres::Transaction;
use uuid::Uuid;

use super::failure::{Failure, Patience};
use super::held::Held;
use super::reader::{Question, value, words};
use super::text::kept;
use super::{Postgres, retry, row};
use crate::query::page_size;
use crate::{AuditEntry, AuditQuery, NewAuditEntry, Order, StoreError};

/// Entries of a page for whoever names no limit.
const DEFAULT_ENTRIES: usize = 100;

impl Postgres {
    pub(crate) async fn audit(&self, entry: NewAuditEntry) -> Result<(), StoreError> {
        // Written again after a connection was lost, it is still one.
        let key = Uuid::new_v4();
        retry!(self, Patience::to_write("write the audit"), |held| {
            let transaction = held.transaction().await?;
            insert(&transaction, key, &entry).await?;
            Ok(transaction.commit().await?)
        })
    }

    pub(crate) async fn audit_entries(
        &self,
        query: AuditQuery,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        retry!(self, Patience::to_read("read the audit"), |held| list(held, &query).await)
    }
}

pub(super) async fn insert(
    transaction: &Transaction<'_>,
    key: Uuid,
    entry: &NewAuditEntry,
) -> Result<(), Failure> {
    let sql = "INSERT INTO audit (entry_key, at, actor, action, subject, session_id, detail) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (entry_key) DO NOTHING";
    let statement = transaction.prepare_cached(sql).await?;
    let (at, actor, subject) =
        (entry.at.as_millisecond(), kept(&entry.actor), kept(&entry.subject));
    let (action, session) =
        (entry.action.as_str(), entry.session.map(hotseat_core::SessionId::uuid));
    let detail = entry.detail.to_string();
    let values: [&(dyn tokio_postgres::types::ToSql + Sync); 7] =
        [&key, &at, &actor, &action, &subject, &session, &detail];
    transaction.execute(&statement, &values).await?;
    Ok(())
}

async fn list(held: &Held, query: &AuditQuery) -> Result<Vec<AuditEntry>, Failure> {
    let mut question = Question::new(
        "SELECT seq, at, actor, action, subject, session_id, detail FROM audit WHERE true",
    );
    let (beyond, direction) = match query.order {
        Order::Ascending => (" AND seq > ?", "ASC"),
        Order::Descending => (" AND seq < ?", "DESC"),
    };
    if let Some(after) = query.after {
        question.add(beyond, [value(row::signed(after))]);
    }
    if let Some(actor) = &query.actor {
        // The index holds the beginnings of names.
        question.add(" AND left(actor, 64) = left(?, 64)", [words(actor)]);
        question.add(" AND actor = ?", [words(actor)]);
    }
    if let Some(action) = &query.action {
        question.add(" AND action = ?", [words(action)]);
    }
    if let Some(session) = query.session {
        question.add(" AND session_id = ?", [value(session.uuid())]);
    }
    let limit = row::signed(page_size(query.limit, DEFAULT_ENTRIES) as u64);
    question.add(&format!(" ORDER BY seq {direction} LIMIT ?"), [value(limit)]);
    let rows = question.ask(held).await?;
    let read = rows.iter().map(|found| {
        Ok(AuditEntry {
            seq: row::count(found, 0)?,
            at: row::timestamp(row::get(found, 1)?)?,
            actor: row::text(found, 2)?,
            action: row::text(found, 3)?,
            subject: row::text(found, 4)?,
            session: row::get::<Option<Uuid>>(found, 5)?.map(hotseat_core::SessionId::new),
            detail: row::json(found, 6)?,
        })
    });
    read.collect()
}
