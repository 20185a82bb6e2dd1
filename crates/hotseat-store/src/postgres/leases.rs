//! Who holds something of a session for a while.

use hotseat_core::SessionId;
use jiff::Timestamp;
use tokio_postgres::Row;

use super::failure::{Failure, Patience};
use super::held::Held;
use super::text::{kept, key};
use super::{Postgres, retry, row};
use crate::leases::MAX_LEASES_PER_SESSION;
use crate::{Lease, LeaseRequest, Leased, StoreError};

const SELECT: &str = "SELECT session_id, subject, holder, since, until FROM leases";

impl Postgres {
    pub(crate) async fn lease(
        &self,
        request: LeaseRequest,
        from: Option<String>,
    ) -> Result<Leased, StoreError> {
        retry!(self, Patience::to_write("lease"), |held| {
            take(held, &request, from.as_deref()).await
        })
    }

    pub(crate) async fn release(
        &self,
        session: SessionId,
        subject: String,
        holder: String,
    ) -> Result<bool, StoreError> {
        let sql = "DELETE FROM leases WHERE session_id = $1 AND subject_key = $2 AND holder = $3";
        retry!(self, Patience::to_write("release a lease"), |held| {
            let statement = held.prepare_cached(sql).await?;
            let (subject, holder) = (key(&subject), kept(&holder));
            let removed = held.execute(&statement, &[&session.uuid(), &subject, &holder]).await?;
            Ok(removed > 0)
        })
    }

    pub(crate) async fn leases(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<Lease>, StoreError> {
        let sql = format!(
            "{SELECT} WHERE session_id = $1 AND until > $2 ORDER BY subject LIMIT \
             {MAX_LEASES_PER_SESSION}"
        );
        retry!(self, Patience::to_read("list leases"), |held| {
            let statement = held.prepare_cached(&sql).await?;
            let rows = held.query(&statement, &[&session.uuid(), &now.as_millisecond()]).await?;
            rows.iter().map(read).collect::<Result<Vec<_>, Failure>>()
        })
    }
}

async fn take(
    held: &mut Held,
    request: &LeaseRequest,
    from: Option<&str>,
) -> Result<Leased, Failure> {
    let transaction = held.transaction().await?;
    let id = request.session.uuid();
    // The lock makes two who want it take turns, and keeps the session.
    let sql = "SELECT FROM sessions WHERE session_id = $1 FOR NO KEY UPDATE";
    let statement = transaction.prepare_cached(sql).await?;
    if transaction.query_opt(&statement, &[&id]).await?.is_none() {
        transaction.rollback().await?;
        return Ok(Leased::NoSession);
    }
    // What is over goes here, so that a session keeps no more of them than are asked for.
    let sql = "DELETE FROM leases WHERE session_id = $1 AND until <= $2";
    let statement = transaction.prepare_cached(sql).await?;
    transaction.execute(&statement, &[&id, &request.now.as_millisecond()]).await?;
    let sql = format!("{SELECT} WHERE session_id = $1 AND subject_key = $2");
    let statement = transaction.prepare_cached(&sql).await?;
    let subject = key(&request.subject);
    let current = transaction.query_opt(&statement, &[&id, &subject]).await?;
    let current = current.as_ref().map(read).transpose()?;
    let before = current.clone();
    let decided = request.decide(current, from);
    if let Some(lease) = decided.lease().filter(|lease| before.as_ref() != Some(*lease)) {
        let sql = "INSERT INTO leases (session_id, subject_key, subject, holder, since, until) \
                   VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (session_id, subject_key) \
                   DO UPDATE SET holder = excluded.holder, since = excluded.since, \
                   until = excluded.until";
        let statement = transaction.prepare_cached(sql).await?;
        let (name, holder) = (kept(&lease.subject), kept(&lease.holder));
        let (since, until) = (lease.since.as_millisecond(), lease.until.as_millisecond());
        transaction.execute(&statement, &[&id, &subject, &name, &holder, &since, &until]).await?;
    }
    transaction.commit().await?;
    Ok(decided)
}

pub(super) fn read(found: &Row) -> Result<Lease, Failure> {
    Ok(Lease {
        session: row::session_id(found, 0)?,
        subject: row::text(found, 1)?,
        holder: row::text(found, 2)?,
        since: row::timestamp(row::get(found, 3)?)?,
        until: row::timestamp(row::get(found, 4)?)?,
    })
}
