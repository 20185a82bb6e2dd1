//! Who holds something of a session for a while, on SQLite.

use hotseat_core::SessionId;
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::writer::Work;
use super::{Sqlite, row};
use crate::leases::MAX_LEASES_PER_SESSION;
use crate::{Lease, LeaseRequest, Leased, StoreError};

const SELECT: &str = "SELECT session_id, subject, holder, since, until FROM leases";

impl Sqlite {
    pub(crate) async fn lease(
        &self,
        request: LeaseRequest,
        from: Option<String>,
    ) -> Result<Leased, StoreError> {
        self.writer.write(move |work| lease(work, &request, from.as_deref())).await
    }

    pub(crate) async fn release(
        &self,
        session: SessionId,
        subject: String,
        holder: String,
    ) -> Result<bool, StoreError> {
        self.writer.write(move |work| release(work, session, &subject, &holder)).await
    }

    pub(crate) async fn leases(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<Lease>, StoreError> {
        // Every reader of a stream asks for them every few seconds, and there are few.
        self.readers.glance("list leases", |connection| of_session(connection, session, now)).await
    }
}

/// Gives a lease, or says who has it. `from` may have it too: then it changes hands.
fn lease(
    work: &mut Work<'_>,
    request: &LeaseRequest,
    from: Option<&str>,
) -> Result<Leased, StoreError> {
    take(work.connection, request, from).map_err(StoreError::backend("lease"))
}

fn take(
    connection: &Connection,
    request: &LeaseRequest,
    from: Option<&str>,
) -> rusqlite::Result<Leased> {
    let key = request.session.to_string();
    let exists =
        connection.prepare_cached("SELECT 1 FROM sessions WHERE id = ?1")?.exists([&key])?;
    if !exists {
        return Ok(Leased::NoSession);
    }
    // What is over goes here, so that a session keeps no more of them than are asked for.
    connection
        .prepare_cached("DELETE FROM leases WHERE session_id = ?1 AND until <= ?2")?
        .execute(params![key, request.now.as_millisecond()])?;
    let current = one(connection, &key, &request.subject)?;
    let before = current.clone();
    let decided = request.decide(current, from);
    let Some(lease) = decided.lease().filter(|lease| before.as_ref() != Some(*lease)) else {
        return Ok(decided);
    };
    connection
        .prepare_cached(
            "INSERT INTO leases (session_id, subject, holder, since, until) \
             VALUES (?1, ?2, ?3, ?4, ?5) \
             ON CONFLICT DO UPDATE SET holder = ?3, since = ?4, until = ?5",
        )?
        .execute(params![
            key,
            lease.subject,
            lease.holder,
            lease.since.as_millisecond(),
            lease.until.as_millisecond(),
        ])?;
    Ok(decided)
}

/// The lease on something, whether it is over or not.
pub(super) fn one(
    connection: &Connection,
    session: &str,
    subject: &str,
) -> rusqlite::Result<Option<Lease>> {
    connection
        .prepare_cached(&format!("{SELECT} WHERE session_id = ?1 AND subject = ?2"))?
        .query_row(params![session, subject], read)
        .optional()
}

/// Ends a lease. `false` if it was not this holder's.
fn release(
    work: &mut Work<'_>,
    session: SessionId,
    subject: &str,
    holder: &str,
) -> Result<bool, StoreError> {
    let sql = "DELETE FROM leases WHERE session_id = ?1 AND subject = ?2 AND holder = ?3";
    work.connection
        .prepare_cached(sql)
        .and_then(|mut statement| statement.execute(params![session.to_string(), subject, holder]))
        .map(|removed| removed > 0)
        .map_err(StoreError::backend("release a lease"))
}

/// The leases of a session that are not over.
fn of_session(
    connection: &Connection,
    session: SessionId,
    now: Timestamp,
) -> rusqlite::Result<Vec<Lease>> {
    connection
        .prepare_cached(&format!(
            "{SELECT} WHERE session_id = ?1 AND until > ?2 ORDER BY subject LIMIT \
             {MAX_LEASES_PER_SESSION}"
        ))?
        .query_map(params![session.to_string(), now.as_millisecond()], read)?
        .collect()
}

fn read(found: &Row<'_>) -> rusqlite::Result<Lease> {
    Ok(Lease {
        session: row::parsed(found, 0)?,
        subject: found.get(1)?,
        holder: found.get(2)?,
        since: row::timestamp(3, found.get(3)?)?,
        until: row::timestamp(4, found.get(4)?)?,
    })
}
