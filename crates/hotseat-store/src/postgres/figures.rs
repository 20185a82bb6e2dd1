//! Sums over everything that is there.

use deadpool_postgres::Client;
use jiff::Timestamp;

use super::failure::Failure;
use super::row;
use crate::{Figures, MinuteUsage, Removal, SessionSize, ToolUsage, Totals};

/// Tools and sessions in the figures: those that matter most.
const LISTED: i64 = 50;

pub(super) async fn figures(client: &Client, since: Timestamp) -> Result<Figures, Failure> {
    let sql = "SELECT COALESCE(sum(prompt_tokens), 0)::bigint, \
               COALESCE(sum(output_tokens), 0)::bigint FROM usage_minutes";
    let tokens = client.query_one(&client.prepare_cached(sql).await?, &[]).await?;
    Ok(Figures {
        totals: totals(client).await?,
        minutes: minutes(client, since).await?,
        tools: tools(client).await?,
        prompt_tokens: row::count(&tokens, 0)?,
        output_tokens: row::count(&tokens, 1)?,
        largest: largest(client).await?,
        removals: removals(client).await?,
    })
}

async fn totals(client: &Client) -> Result<Totals, Failure> {
    let sql = "SELECT count(*), count(*) FILTER (WHERE status = 'active'), \
               COALESCE(sum(message_count), 0)::bigint, COALESCE(sum(event_count), 0)::bigint, \
               COALESCE(sum(last_seq - removed_through), 0)::bigint, \
               COALESCE(sum(bytes), 0)::bigint, pg_database_size(current_database()), \
               (SELECT count(*) FROM session_access WHERE flagged), \
               (SELECT count(*) FROM session_access WHERE warnings <> '[]'), \
               (SELECT COALESCE(sum(failed_attempts), 0)::bigint FROM session_access) \
               FROM sessions";
    let found = client.query_one(&client.prepare_cached(sql).await?, &[]).await?;
    let sum = |column| row::count(&found, column);
    Ok(Totals {
        sessions: sum(0)?,
        active: sum(1)?,
        messages: sum(2)?,
        events: sum(3)?,
        entries: sum(4)?,
        bytes: sum(5)?,
        file_bytes: sum(6)?,
        flagged: sum(7)?,
        warned: sum(8)?,
        failed_attempts: sum(9)?,
    })
}

/// The minutes from `since` on, oldest first; those without events are left out.
async fn minutes(client: &Client, since: Timestamp) -> Result<Vec<MinuteUsage>, Failure> {
    let sql = "SELECT minute, sum(events)::bigint, sum(errors)::bigint, \
               sum(prompt_tokens)::bigint, sum(output_tokens)::bigint FROM usage_minutes \
               WHERE minute >= $1 GROUP BY minute ORDER BY minute";
    let since = since.as_second().div_euclid(60);
    let rows = client.query(&client.prepare_cached(sql).await?, &[&since]).await?;
    let read = rows.iter().map(|found| {
        let minute: i64 = row::get(found, 0)?;
        Ok(MinuteUsage {
            minute: Timestamp::from_second(minute * 60).unwrap_or_default(),
            events: row::count(found, 1)?,
            errors: row::count(found, 2)?,
            prompt_tokens: row::count(found, 3)?,
            output_tokens: row::count(found, 4)?,
        })
    });
    read.collect()
}

/// Tools, most called first.
async fn tools(client: &Client) -> Result<Vec<ToolUsage>, Failure> {
    let sql = "SELECT name, sum(calls)::bigint, sum(errors)::bigint, sum(timed)::bigint, \
               sum(total_ms), max(max_ms) FROM usage_tools GROUP BY name \
               ORDER BY sum(calls) DESC, name LIMIT $1";
    let rows = client.query(&client.prepare_cached(sql).await?, &[&LISTED]).await?;
    let read = rows.iter().map(|found| {
        Ok(ToolUsage {
            name: row::text(found, 0)?,
            calls: row::count(found, 1)?,
            errors: row::count(found, 2)?,
            timed: row::count(found, 3)?,
            total_ms: row::get(found, 4)?,
            max_ms: row::get(found, 5)?,
        })
    });
    read.collect()
}

async fn largest(client: &Client) -> Result<Vec<SessionSize>, Failure> {
    let sql = "SELECT session_id, COALESCE(title, description), last_seq - removed_through, \
               bytes FROM sessions ORDER BY bytes DESC, session_id LIMIT $1";
    let rows = client.query(&client.prepare_cached(sql).await?, &[&LISTED]).await?;
    let read = rows.iter().map(|found| {
        Ok(SessionSize {
            id: row::session_id(found, 0)?,
            title: row::text_if(found, 1)?,
            entries: row::count(found, 2)?,
            bytes: row::count(found, 3)?,
        })
    });
    read.collect()
}

/// All that was ever removed.
pub(super) async fn removals(client: &Client) -> Result<Vec<Removal>, Failure> {
    let sql = "SELECT reason, sum(sessions)::bigint, sum(events)::bigint, max(last_at) \
               FROM removals GROUP BY reason ORDER BY reason";
    let rows = client.query(&client.prepare_cached(sql).await?, &[]).await?;
    let read = rows.iter().map(|found| {
        Ok(Removal {
            reason: row::get::<&str>(found, 0)?.parse().map_err(Failure::corrupt)?,
            sessions: row::count(found, 1)?,
            events: row::count(found, 2)?,
            last_at: row::timestamp(row::get(found, 3)?)?,
        })
    });
    read.collect()
}
