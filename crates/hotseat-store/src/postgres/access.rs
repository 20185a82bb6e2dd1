//! What readers did: visits, and attempts of those who may not.

use std::collections::HashMap;

use deadpool_postgres::{Client, Transaction};
use hotseat_core::SessionId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::failure::Failure;
use super::held::Held;
use super::row;
use super::text::kept_if;
use crate::warnings::{change_of_client, push, text};
use crate::{Access, Intrusion, Visit};

const SELECT: &str = "SELECT session_id, last_access_at, client_ip, user_agent, failed_attempts, \
                      flagged, warnings FROM session_access";

/// Notes visits. A session that is gone by now has none.
pub(super) async fn visited(held: &mut Held, visits: &[Visit]) -> Result<(), Failure> {
    for visit in visits {
        let transaction = held.transaction().await?;
        come_in(&transaction, visit).await?;
        transaction.commit().await?;
    }
    Ok(())
}

async fn come_in(transaction: &Transaction<'_>, visit: &Visit) -> Result<(), Failure> {
    let id = visit.session.uuid();
    if visit.watched
        && let Some(mut before) = one(transaction, visit.session).await?
        && let Some(message) = change_of_client(&before, visit)
    {
        push(&mut before.warnings, "client_changed", visit.at, message.to_owned());
        let sql = "UPDATE session_access SET warnings = $2 WHERE session_id = $1";
        let statement = transaction.prepare_cached(sql).await?;
        transaction.execute(&statement, &[&id, &text(&before.warnings)]).await?;
    }
    let sql = "INSERT INTO session_access AS a (session_id, last_access_at, client_ip, user_agent) \
               SELECT session_id, $2, $3, $4 FROM sessions WHERE session_id = $1 \
               ON CONFLICT (session_id) DO UPDATE SET \
               last_access_at = GREATEST(a.last_access_at, excluded.last_access_at), \
               client_ip = COALESCE(excluded.client_ip, a.client_ip), \
               user_agent = COALESCE(excluded.user_agent, a.user_agent)";
    let statement = transaction.prepare_cached(sql).await?;
    let (ip, agent) = (kept_if(visit.client_ip.as_ref()), kept_if(visit.user_agent.as_ref()));
    transaction.execute(&statement, &[&id, &visit.at.as_millisecond(), &ip, &agent]).await?;
    Ok(())
}

/// Notes an attempt to get into the session of another, and flags it after too many.
pub(super) async fn intruded(held: &mut Held, intrusion: &Intrusion) -> Result<(), Failure> {
    let transaction = held.transaction().await?;
    let id = intrusion.session.uuid();
    // The lock keeps two attempts from counting as one.
    let sql = "SELECT FROM sessions WHERE session_id = $1 FOR NO KEY UPDATE";
    let statement = transaction.prepare_cached(sql).await?;
    if transaction.query_opt(&statement, &[&id]).await?.is_none() {
        return Ok(transaction.rollback().await?);
    }
    let before = one(&transaction, intrusion.session).await?;
    let attempts = before.as_ref().map_or(0, |access| access.failed_attempts) + 1;
    let mut warnings = before.map(|access| access.warnings).unwrap_or_default();
    push(&mut warnings, "failed_access", intrusion.at, intrusion.message.clone());
    let sql = "INSERT INTO session_access AS a (session_id, last_access_at, failed_attempts, \
               flagged, warnings) VALUES ($1, 0, $2, $3, $4) ON CONFLICT (session_id) DO UPDATE \
               SET failed_attempts = excluded.failed_attempts, \
               flagged = a.flagged OR excluded.flagged, warnings = excluded.warnings";
    let statement = transaction.prepare_cached(sql).await?;
    let flagged = attempts >= intrusion.flag_after;
    let values: (i64, String) = (row::signed(attempts), text(&warnings));
    transaction.execute(&statement, &[&id, &values.0, &flagged, &values.1]).await?;
    Ok(transaction.commit().await?)
}

async fn one(transaction: &Transaction<'_>, session: SessionId) -> Result<Option<Access>, Failure> {
    let sql = format!("{SELECT} WHERE session_id = $1 FOR UPDATE");
    let statement = transaction.prepare_cached(&sql).await?;
    let found = transaction.query_opt(&statement, &[&session.uuid()]).await?;
    Ok(found.as_ref().map(read).transpose()?.map(|(_, access)| access))
}

/// What readers did to these sessions; those that nobody came to are left out.
pub(super) async fn of_sessions(
    client: &Client,
    sessions: &[SessionId],
) -> Result<HashMap<SessionId, Access>, Failure> {
    let sql = format!("{SELECT} WHERE session_id = ANY ($1)");
    let statement = client.prepare_cached(&sql).await?;
    let ids: Vec<Uuid> = sessions.iter().map(|session| session.uuid()).collect();
    client.query(&statement, &[&ids]).await?.iter().map(read).collect()
}

fn read(found: &Row) -> Result<(SessionId, Access), Failure> {
    let warnings: &str = row::get(found, 6)?;
    let access = Access {
        last_access_at: match row::get(found, 1)? {
            0 => None,
            at => Some(row::timestamp(at)?),
        },
        client_ip: row::text_if(found, 2)?,
        user_agent: row::text_if(found, 3)?,
        failed_attempts: row::count(found, 4)?,
        flagged: row::get(found, 5)?,
        warnings: serde_json::from_str(warnings).unwrap_or_default(),
    };
    Ok((row::session_id(found, 0)?, access))
}
