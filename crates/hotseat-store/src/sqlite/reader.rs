//! Reading, on connections that cannot write.
//!
//! With a write-ahead log, readers never wait for the writer and always see a
//! committed state.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hotseat_core::{Event, SessionId, TurnId};
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, params, params_from_iter};
use tokio::sync::Semaphore;

use super::row::{self, number};
use super::schema;
use super::whereabouts::Clue;
use crate::query::{DEFAULT_EVENTS, MAX_PAGE, Running, Waiting, page_size};
use crate::words::like_pattern;
use crate::written::Writing;
use crate::{
    Counts, Cursor, EventQuery, Order, Owner, Page, Session, SessionQuery, Sort, StoreError, Turn,
    TurnQuery, WrittenEvents,
};

/// Reads that run at once. More would only contend for the same cores and pages.
const CONNECTIONS: usize = 4;

/// A small pool of read connections, opened when first needed.
#[derive(Debug, Clone)]
pub(super) struct Readers {
    pool: Arc<Pool>,
}

#[derive(Debug)]
struct Pool {
    path: PathBuf,
    permits: Semaphore,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    pub(super) fn new(path: &Path) -> Self {
        let pool = Pool {
            path: path.to_owned(),
            permits: Semaphore::new(CONNECTIONS),
            idle: Mutex::default(),
        };
        Self { pool: Arc::new(pool) }
    }

    /// Runs `read` on one of the connections, off the async threads.
    pub(super) async fn read<T, F>(&self, action: &'static str, read: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> rusqlite::Result<T> + Send + 'static,
    {
        tracing::trace!(action, "a read begins");
        let _permit = self.pool.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        let pool = Arc::clone(&self.pool);
        let result = tokio::task::spawn_blocking(move || pool.with_connection(read));
        result.await.map_err(|_| StoreError::Closed)?.map_err(StoreError::backend(action))
    }

    /// Runs a short `read` where it stands: a few rows that are found by their key. To hand
    /// it to another thread and back would take longer than the read itself.
    pub(super) async fn glance<T, F>(&self, action: &'static str, read: F) -> Result<T, StoreError>
    where
        F: FnOnce(&Connection) -> rusqlite::Result<T>,
    {
        tracing::trace!(action, "a read begins");
        let _permit = self.pool.permits.acquire().await.map_err(|_| StoreError::Closed)?;
        self.pool.with_connection(read).map_err(StoreError::backend(action))
    }
}

impl Pool {
    fn with_connection<T>(
        &self,
        read: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> rusqlite::Result<T> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => schema::open_reader(&self.path)?,
        };
        let result = read(&connection);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        result
    }
}

pub(super) fn owner(connection: &Connection, id: SessionId) -> rusqlite::Result<Option<Owner>> {
    connection
        .prepare_cached("SELECT app_name, user_id FROM sessions WHERE id = ?1")?
        .query_row([id.to_string()], |row| {
            Ok(Owner { app_name: row.get(0)?, user_id: row.get(1)? })
        })
        .optional()
}

pub(super) fn sessions(
    connection: &Connection,
    query: &SessionQuery,
) -> rusqlite::Result<Page<Session>> {
    let limit = page_size(query.limit, 50);
    let mut sql = format!("{} WHERE 1", row::SELECT_SESSIONS);
    let mut values = Vec::<Value>::new();
    if let Some(cursor) = query.cursor {
        sql.push_str(" AND (created_at, id) < (?, ?)");
        values.extend([Value::Integer(cursor.created_at), Value::Text(cursor.id.to_string())]);
    }
    if let Some(status) = query.status {
        sql.push_str(" AND status = ?");
        values.push(Value::Text(status.as_str().to_owned()));
    }
    for (column, wanted) in
        [("agent", &query.agent), ("user_id", &query.user_id), ("app_name", &query.app_name)]
    {
        if let Some(wanted) = wanted {
            let _ = write!(sql, " AND {column} = ?");
            values.push(Value::Text(wanted.clone()));
        }
    }
    if query.waiting == Waiting::Only {
        sql.push_str(" AND pending_turns + open_requests > 0");
    }
    if query.running == Running::Only {
        sql.push_str(" AND run_id IS NOT NULL");
    }
    if let Some(text) = &query.text {
        let pattern = like_pattern(text);
        sql.push_str(
            " AND (title LIKE ? ESCAPE '\\' OR description LIKE ? ESCAPE '\\' \
             OR agent LIKE ? ESCAPE '\\' OR id LIKE ? ESCAPE '\\')",
        );
        values.extend(
            [format!("%{pattern}%"), format!("%{pattern}%"), format!("%{pattern}%")]
                .map(Value::Text),
        );
        values.push(Value::Text(format!("{pattern}%")));
    }
    // One more than asked for tells whether there is a next page.
    let _ = write!(sql, " ORDER BY created_at DESC, id DESC LIMIT {}", limit + 1);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), row::session)?;
    let mut items = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(Cursor::of) } else { None };
    Ok(Page { items, next })
}

/// Events of a session. Where it may have unsettled ones, within a transaction.
pub(super) fn events(
    connection: &Connection,
    session: SessionId,
    clue: &Clue,
    query: &EventQuery,
) -> rusqlite::Result<Vec<Event>> {
    let limit = page_size(query.limit, DEFAULT_EVENTS);
    let columns = row::EVENT_COLUMNS;
    let (sql, values) = events_question(connection, columns, session, clue, query, limit)?;
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut events, mut bytes) = (Vec::new(), 0);
    while let Some(found) = rows.next()? {
        let event = row::event(found)?;
        bytes += event.payload.get().len();
        events.push(event);
        if query.max_bytes > 0 && bytes > query.max_bytes {
            break;
        }
    }
    Ok(events)
}

/// The same, each written as it is read.
pub(super) fn write_events(
    connection: &Connection,
    session: SessionId,
    clue: &Clue,
    query: &EventQuery,
    mut writing: Writing,
) -> rusqlite::Result<WrittenEvents> {
    // One more than there is room for tells whether there are more.
    let limit = query.limit + 1;
    // Whose events they are is known, and need not be read with each.
    let columns = row::EVENT_COLUMNS.replace("e.session_id", "NULL");
    let (sql, values) = events_question(connection, &columns, session, clue, query, limit)?;
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(found) = rows.next()? {
        let payload = row::payload_text(found, row::PAYLOAD)?;
        if !writing.add(&row::event_ref(found, session, &payload)?) {
            break;
        }
    }
    Ok(writing.finish())
}

fn events_question(
    connection: &Connection,
    columns: &str,
    session: SessionId,
    clue: &Clue,
    query: &EventQuery,
    limit: usize,
) -> rusqlite::Result<(String, Vec<Value>)> {
    // What is settled is chosen and sorted by a table of its own, `p`; of what is not, the
    // rows of the log are their own `p`.
    let (table, chosen, index) = match query.sort {
        Sort::Arrival => ("event_places", "p", "events_type_place"),
        Sort::Time => ("event_times", "e", "events_type_time"),
    };
    let order = match (query.sort, query.order) {
        (Sort::Arrival, Order::Ascending) => "2",
        (Sort::Arrival, Order::Descending) => "2 DESC",
        (Sort::Time, Order::Ascending) => "13, 2",
        (Sort::Time, Order::Descending) => "13 DESC, 2 DESC",
    };
    let (conditions, mut values) = conditions(session, query, chosen);
    let of_log = conditions.replace(" p.", " e.");
    // A time is read where it is what they are sorted by.
    let time = if query.sort == Sort::Time { ", e.time" } else { "" };
    let mut sql = if query.event_type.is_some() {
        // The log itself is in the order of types, settled or not.
        format!("{columns}{time} FROM events e INDEXED BY {index} WHERE e.session_id = ?1{of_log}")
    } else {
        format!(
            "{}{} FROM {table} p JOIN events e ON e.id = p.id \
             WHERE p.session = (SELECT number FROM sessions WHERE id = ?1){conditions}",
            columns.replace("e.seq", "p.seq"),
            time.replace("e.", "p."),
        )
    };
    if query.event_type.is_none()
        && let Some(unsettled) = clue.rows(connection, &mut values)?
    {
        let _ = write!(sql, " UNION ALL {columns}{time} {unsettled}{of_log}");
    }
    let _ = write!(sql, " ORDER BY {order} LIMIT {limit}");
    Ok((sql, values))
}

/// What events must satisfy, with numbered parameters, because it is said twice: for those
/// that are settled and for those that are not. `chosen` is what has authors and the like.
fn conditions(session: SessionId, query: &EventQuery, chosen: &str) -> (String, Vec<Value>) {
    let mut sql = String::new();
    let mut values = vec![Value::Text(session.to_string())];
    let mut also = |condition: std::fmt::Arguments<'_>, value: Value| {
        values.push(value);
        let _ = write!(sql, " AND {condition} ?{}", values.len());
    };
    if query.after.get() > 0 {
        let comparison = match query.order {
            Order::Ascending => ">",
            Order::Descending => "<",
        };
        also(format_args!("p.seq {comparison}"), Value::Integer(number(query.after)));
    }
    for (comparison, bound) in [(">", query.later_than), (">=", query.not_before)] {
        if let Some(bound) = bound {
            also(format_args!("p.time {comparison}"), Value::Real(bound));
        }
    }
    for (column, wanted) in [
        ("invocation_id", &query.invocation_id),
        ("author", &query.author),
        ("branch", &query.branch),
    ] {
        if let Some(wanted) = wanted {
            also(format_args!("{chosen}.{column} ="), Value::Text(wanted.clone()));
        }
    }
    if let Some(event_type) = &query.event_type {
        also(format_args!("e.type ="), Value::Text(event_type.clone()));
    }
    if !query.kinds.is_empty() {
        // The words come from our own enum, never from a caller.
        let kinds: Vec<_> = query.kinds.iter().map(|kind| format!("'{kind}'")).collect();
        let _ = write!(sql, " AND {chosen}.kind IN ({})", kinds.join(", "));
    }
    (sql, values)
}

pub(super) fn turns(connection: &Connection, query: TurnQuery) -> rusqlite::Result<Vec<Turn>> {
    let mut sql =
        String::from("SELECT session_id, turn_id, request_seq, response_seq FROM turns WHERE 1");
    let mut values = Vec::<Value>::new();
    if let Some(session) = query.session {
        sql.push_str(" AND session_id = ?");
        values.push(Value::Text(session.to_string()));
    }
    if let Some(user) = query.user_id {
        sql.push_str(" AND (SELECT s.user_id FROM sessions s WHERE s.id = turns.session_id) = ?");
        values.push(Value::Text(user));
    }
    if !query.answered {
        sql.push_str(" AND response_seq IS NULL");
    }
    // Within a session the log decides, whatever the clock said.
    let order = if query.session.is_some() { "" } else { "requested_at, session_id, " };
    let _ = write!(sql, " ORDER BY {order}request_seq LIMIT {MAX_PAGE}");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), row::turn)?;
    rows.collect()
}

pub(super) fn turn(
    connection: &Connection,
    session: SessionId,
    turn: TurnId,
) -> rusqlite::Result<Option<Turn>> {
    connection
        .prepare_cached(
            "SELECT session_id, turn_id, request_seq, response_seq FROM turns \
             WHERE session_id = ?1 AND turn_id = ?2",
        )?
        .query_row(params![session.to_string(), turn.to_string()], row::turn)
        .optional()
}

pub(super) fn counts(connection: &Connection) -> rusqlite::Result<Counts> {
    let mut statement = connection.prepare_cached(
        "SELECT (SELECT count(*) FROM sessions), \
         (SELECT count(*) FROM turns WHERE response_seq IS NULL)",
    )?;
    statement.query_row([], |row| {
        let count = |index| row.get::<_, i64>(index).map(|n| u64::try_from(n).unwrap_or(0));
        Ok(Counts { sessions: count(0)?, pending_turns: count(1)? })
    })
}
