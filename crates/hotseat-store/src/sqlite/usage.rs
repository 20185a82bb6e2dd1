//! Figures about agents and tools.
//!
//! They are summed up over the events that are settled together, and written with them, so
//! that counting costs next to nothing and every event counts once.

use std::collections::BTreeMap;

use hotseat_core::Usage;
use jiff::Timestamp;
use rusqlite::{Connection, params};

use crate::{MinuteUsage, ToolUsage};

/// Sums that are not written yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Figures {
    minutes: BTreeMap<i64, MinuteSums>,
    tools: BTreeMap<String, ToolSums>,
}

#[derive(Debug, Clone, Copy, Default)]
struct MinuteSums {
    events: i64,
    errors: i64,
    prompt_tokens: i64,
    output_tokens: i64,
}

#[derive(Debug, Clone, Copy, Default)]
struct ToolSums {
    calls: i64,
    errors: i64,
    timed: i64,
    total_ms: f64,
    max_ms: f64,
}

impl Figures {
    /// Adds an event that arrived at `arrived`.
    pub(super) fn add(&mut self, arrived: Timestamp, usage: &Usage) {
        let minute = self.minutes.entry(arrived.as_second().div_euclid(60)).or_default();
        minute.events += 1;
        minute.errors += i64::from(usage.failed);
        minute.prompt_tokens += i64::try_from(usage.prompt_tokens).unwrap_or(i64::MAX);
        minute.output_tokens += i64::try_from(usage.output_tokens).unwrap_or(i64::MAX);
        for (name, failed) in &usage.results {
            let tool = self.tools.entry(name.clone()).or_default();
            tool.calls += 1;
            tool.errors += i64::from(*failed);
        }
        if let Some((name, took)) = &usage.took {
            let tool = self.tools.entry(name.clone()).or_default();
            tool.timed += 1;
            tool.total_ms += took;
            tool.max_ms = tool.max_ms.max(*took);
        }
    }

    /// Adds the sums to those in the file.
    pub(super) fn write(&self, connection: &Connection) -> rusqlite::Result<()> {
        for (minute, sums) in &self.minutes {
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
        for (name, sums) in &self.tools {
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
