//! What was done by whom, on SQLite.

use std::fmt::Write as _;

use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::usage::count;
use super::writer::Work;
use super::{Sqlite, row};
use crate::query::page_size;
use crate::{AuditEntry, AuditQuery, NewAuditEntry, Order, StoreError};

/// Entries of a page for whoever names no limit.
const DEFAULT_ENTRIES: usize = 100;

impl Sqlite {
    pub(crate) async fn audit(&self, entry: NewAuditEntry) -> Result<(), StoreError> {
        self.writer.write(move |work| add(work, &entry)).await
    }

    pub(crate) async fn audit_entries(
        &self,
        query: AuditQuery,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        self.readers.read("read the audit", move |connection| list(connection, &query)).await
    }
}

/// Writes one entry.
fn add(work: &mut Work<'_>, entry: &NewAuditEntry) -> Result<(), StoreError> {
    insert(work.connection, entry).map_err(StoreError::backend("write the audit"))
}

pub(super) fn insert(connection: &Connection, entry: &NewAuditEntry) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO audit (at, actor, action, subject, session_id, detail) \
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )?
        .execute(params![
            entry.at.as_millisecond(),
            entry.actor,
            entry.action.as_str(),
            entry.subject,
            entry.session.map(|session| session.to_string()),
            entry.detail.to_string(),
        ])?;
    Ok(())
}

/// The entries that were asked for.
fn list(connection: &Connection, query: &AuditQuery) -> rusqlite::Result<Vec<AuditEntry>> {
    let mut sql =
        "SELECT seq, at, actor, action, subject, session_id, detail FROM audit WHERE 1".to_owned();
    let mut values = Vec::<Value>::new();
    let (beyond, direction) = match query.order {
        Order::Ascending => (" AND seq > ?", "ASC"),
        Order::Descending => (" AND seq < ?", "DESC"),
    };
    let after = query.after.map(|seq| Value::Integer(i64::try_from(seq).unwrap_or(i64::MAX)));
    let session = query.session.map(|session| Value::Text(session.to_string()));
    for (condition, value) in [
        (beyond, after),
        (" AND actor = ?", query.actor.clone().map(Value::Text)),
        (" AND action = ?", query.action.clone().map(Value::Text)),
        (" AND session_id = ?", session),
    ] {
        if let Some(value) = value {
            sql.push_str(condition);
            values.push(value);
        }
    }
    let limit = page_size(query.limit, DEFAULT_ENTRIES);
    let _ = write!(sql, " ORDER BY seq {direction} LIMIT {limit}");
    connection
        .prepare_cached(&sql)?
        .query_map(params_from_iter(values), |found| {
            Ok(AuditEntry {
                seq: count(found.get(0)?),
                at: row::timestamp(1, found.get(1)?)?,
                actor: found.get(2)?,
                action: found.get(3)?,
                subject: found.get(4)?,
                session: found.get::<_, Option<String>>(5)?.and_then(|id| id.parse().ok()),
                detail: row::json(found, 6)?,
            })
        })?
        .collect()
}
