//! Figures about agents and tools: summed up over the events that are settled together, and
//! written with them.

use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::tally::Tally;
use crate::{MinuteUsage, ToolUsage};

/// Adds the sums to those in the file.
pub(super) fn write(tally: &Tally, connection: &Connection) -> rusqlite::Result<()> {
    for (minute, sums) in &tally.minutes {
        connection
            .prepare_cached(
                "INSERT INTO usage_minutes VALUES (?1, ?2, ?3, ?4, ?5) \
                 ON CONFLICT (minute) DO UPDATE SET events = events + ?2, errors = errors + ?3, \
                 prompt_tokens = prompt_tokens + ?4, output_tokens = output_tokens + ?5",
            )?
            .execute(params![
                minute,
                sums.events,
                sums.errors,
                sums.prompt_tokens,
                sums.output_tokens
            ])?;
    }
    for (name, sums) in &tally.tools {
        connection
            .prepare_cached(
                "INSERT INTO usage_tools VALUES (?1, ?2, ?3, ?4, ?5, ?6) \
                 ON CONFLICT (name) DO UPDATE SET calls = calls + ?2, errors = errors + ?3, \
                 timed = timed + ?4, total_ms = total_ms + ?5, max_ms = max(max_ms, ?6)",
            )?
            .execute(params![
                name,
                sums.calls,
                sums.errors,
                sums.timed,
                sums.total_ms,
                sums.max_ms
            ])?;
    }
    Ok(())
}

/// The minutes from `since` on, oldest first; those without events are left out.
pub(super) fn minutes(
    connection: &Connection,
    since: Timestamp,
) -> rusqlite::Result<Vec<MinuteUsage>> {
    connection
        .prepare_cached(
            "SELECT minute, events, errors, prompt_tokens, output_tokens FROM usage_minutes \
             WHERE minute >= ?1 ORDER BY minute",
        )?
        .query_map([since.as_second().div_euclid(60)], |row| {
            let minute: i64 = row.get(0)?;
            Ok(MinuteUsage {
                minute: Timestamp::from_second(minute * 60).unwrap_or_default(),
                events: count(row.get(1)?),
                errors: count(row.get(2)?),
                prompt_tokens: count(row.get(3)?),
                output_tokens: count(row.get(4)?),
            })
        })?
        .collect()
}

/// Tools, most called first.
pub(super) fn tools(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<ToolUsage>> {
    connection
        .prepare_cached(
            "SELECT name, calls, errors, timed, total_ms, max_ms FROM usage_tools \
             ORDER BY calls DESC, name LIMIT ?1",
        )?
        .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            Ok(ToolUsage {
                name: row.get(0)?,
                calls: count(row.get(1)?),
                errors: count(row.get(2)?),
                timed: count(row.get(3)?),
                total_ms: row.get(4)?,
                max_ms: row.get(5)?,
            })
        })?
        .collect()
}

pub(super) fn count(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
