//! Sums over everything that is there.

use jiff::Timestamp;
use rusqlite::Connection;

use super::usage::{self, count};
use super::{retention, row};
use crate::{Figures, SessionSize, Totals};

/// Tools and sessions in the figures: those that matter most.
const LISTED: usize = 50;

pub(super) fn figures(connection: &Connection, since: Timestamp) -> rusqlite::Result<Figures> {
    let (prompt_tokens, output_tokens) = connection
        .prepare_cached(
            "SELECT COALESCE(sum(prompt_tokens), 0), COALESCE(sum(output_tokens), 0) \
             FROM usage_minutes",
        )?
        .query_row([], |row| Ok((count(row.get(0)?), count(row.get(1)?))))?;
    Ok(Figures {
        totals: totals(connection)?,
        minutes: usage::minutes(connection, since)?,
        tools: usage::tools(connection, LISTED)?,
        prompt_tokens,
        output_tokens,
        largest: largest(connection)?,
        removals: retention::removals(connection)?,
    })
}

fn totals(connection: &Connection) -> rusqlite::Result<Totals> {
    let mut statement = connection.prepare_cached(
        "SELECT count(*), COALESCE(sum(status = 'active'), 0), COALESCE(sum(message_count), 0), \
         COALESCE(sum(event_count), 0), COALESCE(sum(last_seq - removed_through), 0), \
         COALESCE(sum(bytes), 0), \
         (SELECT COALESCE(sum(flagged), 0) FROM session_access), \
         (SELECT count(*) FROM session_access WHERE warnings <> '[]'), \
         (SELECT COALESCE(sum(failed_attempts), 0) FROM session_access) FROM sessions",
    )?;
    let mut totals = statement.query_row([], |row| {
        let sum = |index| row.get(index).map(count);
        Ok(Totals {
            sessions: sum(0)?,
            active: sum(1)?,
            messages: sum(2)?,
            events: sum(3)?,
            entries: sum(4)?,
            bytes: sum(5)?,
            file_bytes: 0,
            flagged: sum(6)?,
            warned: sum(7)?,
            failed_attempts: sum(8)?,
        })
    })?;
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get(0).map(count));
    totals.file_bytes = pragma("page_count")? * pragma("page_size")?;
    Ok(totals)
}

fn largest(connection: &Connection) -> rusqlite::Result<Vec<SessionSize>> {
    connection
        .prepare_cached(
            "SELECT id, COALESCE(title, description), last_seq - removed_through, bytes \
             FROM sessions ORDER BY bytes DESC, id LIMIT ?1",
        )?
        .query_map([i64::try_from(LISTED).unwrap_or(i64::MAX)], |found| {
            Ok(SessionSize {
                id: row::parsed(found, 0)?,
                title: found.get(1)?,
                entries: count(found.get(2)?),
                bytes: count(found.get(3)?),
            })
        })?
        .collect()
}
