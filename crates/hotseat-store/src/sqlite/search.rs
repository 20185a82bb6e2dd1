//! The words of the log.
//!
//! Appending does not index: it would slow every writer for the few who search. The
//! index is brought up to date now and then, and before every search. The text stays
//! in the events; the index holds only words and the ids of events.

use hotseat_core::{SessionId, search_text, search_text_of, snippet};
use rusqlite::types::Value;
use rusqlite::{Connection, params, params_from_iter};

use super::row;
use super::writer::Work;
use crate::query::page_size;
use crate::words::{SNIPPET, words};
use crate::{SearchHit, SearchPage, SearchQuery, StoreError};

/// Events indexed in one piece of work: every piece costs the index a segment more, and appends
/// must get their turn in between.
const AT_ONCE: i64 = 512;

/// What comes next into the index.
#[derive(Debug)]
pub(super) struct Batch {
    /// How far the index was.
    after: i64,
    through: i64,
    /// Events that have something to find, by their id.
    texts: Vec<(i64, String)>,
}

impl Batch {
    /// How far the index is with it.
    pub(super) fn through(&self) -> i64 {
        self.through
    }
}

/// The last event of the log.
pub(super) fn last_event(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT COALESCE(max(id), 0) FROM events")?
        .query_row([], |row| row.get(0))
}

/// Reads the next events that are not in the index, and what can be found in them. That takes
/// longer than writing it down, so it is not the writer's work.
pub(super) fn next_batch(connection: &Connection) -> rusqlite::Result<Option<Batch>> {
    let after = indexed_through(connection)?;
    let mut select = connection.prepare_cached(
        "SELECT id, kind, payload FROM events WHERE id > ?1 ORDER BY id LIMIT ?2",
    )?;
    let mut rows = select.query(params![after, AT_ONCE])?;
    let mut batch = Batch { after, through: after, texts: Vec::new() };
    while let Some(found) = rows.next()? {
        batch.through = found.get(0)?;
        let text = search_text_of(row::parsed(found, 1)?, &row::payload_text(found, 2)?);
        batch.texts.extend(text.map(|text| (batch.through, text)));
    }
    Ok((batch.through > after).then_some(batch))
}

/// Puts a batch into the index, unless somebody else was faster.
pub(super) fn index(work: &mut Work<'_>, batch: &Batch) -> Result<(), StoreError> {
    write(work.connection, batch).map_err(StoreError::backend("index events"))
}

fn write(connection: &Connection, batch: &Batch) -> rusqlite::Result<()> {
    if indexed_through(connection)? != batch.after {
        return Ok(());
    }
    // Two statements: a statement that could insert several rows has a savepoint of its own, and
    // at every savepoint the index writes what it has gathered.
    let mut there = connection.prepare_cached("SELECT 1 FROM events WHERE id = ?1")?;
    let mut insert =
        connection.prepare_cached("INSERT INTO search (rowid, text) VALUES (?1, ?2)")?;
    for (id, text) in &batch.texts {
        // An event that went since it was read has left nothing to find.
        if there.exists([id])? {
            insert.execute(params![id, text])?;
        }
    }
    connection
        .prepare_cached("UPDATE places SET indexed_through = ?1")?
        .execute([batch.through])?;
    Ok(())
}

fn indexed_through(connection: &Connection) -> rusqlite::Result<i64> {
    connection.prepare_cached("SELECT indexed_through FROM places")?.query_row([], |row| row.get(0))
}

/// The events that hold all words, newest first.
pub(super) fn search(connection: &Connection, query: &SearchQuery) -> rusqlite::Result<SearchPage> {
    let words = words(&query.text);
    if words.is_empty() {
        return Ok(SearchPage::default());
    }
    let limit = page_size(query.limit, 20);
    let mut sql = String::from(
        "SELECT e.session_id, e.seq, e.event_id, e.timestamp, e.kind, e.turn_id, e.agent_name, \
         e.invocation_id, e.author, e.branch, e.parent_call_id, e.payload, e.id, s.title \
         FROM search JOIN events e ON e.id = search.rowid JOIN sessions s ON s.id = e.session_id \
         WHERE search MATCH ?",
    );
    let mut values = vec![Value::Text(match_expression(&words))];
    let mut also = |condition: &str, value: Value| {
        sql.push_str(condition);
        values.push(value);
    };
    if let Some(before) = query.before {
        also(" AND search.rowid < ?", Value::Integer(before));
    }
    if let Some(session) = query.session {
        also(" AND e.session_id = ?", Value::Text(SessionId::to_string(&session)));
    }
    if let Some(user) = &query.user_id {
        also(" AND s.user_id = ?", Value::Text(user.clone()));
    }
    // One more than asked for tells whether there is a next page.
    let wanted = i64::try_from(limit).unwrap_or(i64::MAX).saturating_add(1);
    also(" ORDER BY search.rowid DESC LIMIT ?", Value::Integer(wanted));
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let mut page = SearchPage::default();
    let mut last = 0;
    while let Some(found) = rows.next()? {
        if page.hits.len() == limit {
            page.next = Some(last);
            break;
        }
        last = found.get(12)?;
        let event = row::event(found)?;
        let text = search_text(&event).unwrap_or_default();
        page.hits.push(SearchHit {
            session_id: event.session_id,
            title: found.get(13)?,
            seq: event.seq,
            kind: event.kind.as_str(),
            timestamp: event.timestamp,
            snippet: snippet(&text, &words, SNIPPET),
            author: event.entry.author,
        });
    }
    Ok(page)
}

fn match_expression(words: &[String]) -> String {
    let terms: Vec<_> = words.iter().map(|word| format!("\"{word}\"*")).collect();
    terms.join(" AND ")
}
