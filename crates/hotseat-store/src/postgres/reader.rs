//! Reading sessions, events and turns.

use std::fmt::Write as _;

use deadpool_postgres::Client;
use futures_util::{TryStreamExt, pin_mut};
use hotseat_core::{Event, SessionId, TurnId};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

use super::failure::Failure;
use super::row;
use super::text::{kept, key};
use crate::query::{DEFAULT_EVENTS, MAX_PAGE, page_size};
use crate::words::like_pattern;
use crate::{
    Counts, Cursor, EventQuery, Order, Owner, Page, Running, Session, SessionQuery, Sort, Turn,
    TurnQuery, Waiting,
};

/// A query that is put together from conditions. Its text holds no value, so that queries of one
/// shape are prepared once.
#[derive(Default)]
pub(super) struct Question {
    pub(super) sql: String,
    values: Vec<Box<dyn ToSql + Sync + Send>>,
}

impl Question {
    pub(super) fn new(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), values: Vec::new() }
    }

    /// Adds SQL in which every `?` is the next of `values`.
    pub(super) fn add<const N: usize>(
        &mut self,
        sql: &str,
        values: [Box<dyn ToSql + Sync + Send>; N],
    ) {
        let mut values = values.into_iter();
        for part in sql.split_inclusive('?') {
            self.sql.push_str(part.trim_end_matches('?'));
            if part.ends_with('?')
                && let Some(value) = values.next()
            {
                self.values.push(value);
                let _ = write!(self.sql, "${}", self.values.len());
            }
        }
    }

    pub(super) async fn ask(&self, client: &Client) -> Result<Vec<Row>, Failure> {
        let statement = client.prepare_cached(&self.sql).await?;
        let rows = client.query_raw(&statement, self.parameters()).await?;
        Ok(rows.try_collect().await?)
    }

    fn parameters(&self) -> impl ExactSizeIterator<Item = &(dyn ToSql + Sync)> {
        self.values.iter().map(|value| &**value as &(dyn ToSql + Sync))
    }
}

/// A value for a [`Question`].
pub(super) fn value(value: impl ToSql + Sync + Send + 'static) -> Box<dyn ToSql + Sync + Send> {
    Box::new(value)
}

/// Text for a [`Question`].
pub(super) fn words(text: &str) -> Box<dyn ToSql + Sync + Send> {
    value(kept(text).into_owned())
}

pub(super) async fn session(client: &Client, id: SessionId) -> Result<Option<Session>, Failure> {
    let sql = format!("SELECT {} FROM sessions s WHERE s.session_id = $1", row::SESSION);
    let statement = client.prepare_cached(&sql).await?;
    let found = client.query_opt(&statement, &[&id.uuid()]).await?;
    found.as_ref().map(row::session).transpose()
}

pub(super) async fn owner(client: &Client, id: SessionId) -> Result<Option<Owner>, Failure> {
    let sql = "SELECT app_name, user_id FROM sessions WHERE session_id = $1";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query_opt(&statement, &[&id.uuid()]).await?;
    let found = found.as_ref();
    found.map(|f| Ok(Owner { app_name: row::text(f, 0)?, user_id: row::text(f, 1)? })).transpose()
}

pub(super) async fn sessions(
    client: &Client,
    query: &SessionQuery,
) -> Result<Page<Session>, Failure> {
    let limit = page_size(query.limit, 50);
    let mut question = Question::new(format!("SELECT {} FROM sessions s WHERE true", row::SESSION));
    if let Some(cursor) = query.cursor {
        let values = [value(cursor.created_at), value(cursor.id.uuid())];
        question.add(" AND (s.created_at, s.session_id) < (?, ?)", values);
    }
    if let Some(status) = query.status {
        question.add(" AND s.status = ?", [value(status.as_str())]);
    }
    for (condition, wanted) in [
        (" AND s.agent = ?", &query.agent),
        (" AND s.user_id = ?", &query.user_id),
        (" AND s.app_name = ?", &query.app_name),
    ] {
        if let Some(wanted) = wanted {
            question.add(condition, [words(wanted)]);
        }
    }
    if query.waiting == Waiting::Only {
        question.add(" AND s.pending_turns + s.open_requests > 0", []);
    }
    if query.running == Running::Only {
        question.add(" AND s.run_id IS NOT NULL", []);
    }
    if let Some(text) = &query.text {
        let pattern = like_pattern(text);
        let within = || words(&format!("%{pattern}%"));
        question.add(
            " AND (s.title ILIKE ? OR s.description ILIKE ? OR s.agent ILIKE ? \
             OR s.session_id::text ILIKE ?)",
            [within(), within(), within(), words(&format!("{pattern}%"))],
        );
    }
    // One more than asked for tells whether there is a next page.
    let wanted = [value(row::signed(limit as u64 + 1))];
    question.add(" ORDER BY s.created_at DESC, s.session_id DESC LIMIT ?", wanted);
    let rows = question.ask(client).await?;
    let mut items = rows.iter().map(row::session).collect::<Result<Vec<_>, _>>()?;
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(Cursor::of) } else { None };
    Ok(Page { items, next })
}

pub(super) async fn events(
    client: &Client,
    session: SessionId,
    query: &EventQuery,
) -> Result<Vec<Event>, Failure> {
    let question = events_question(session, query);
    let statement = client.prepare_cached(&question.sql).await?;
    let rows = client.query_raw(&statement, question.parameters()).await?;
    pin_mut!(rows);
    let (mut events, mut bytes) = (Vec::new(), 0);
    while let Some(found) = rows.try_next().await? {
        let event = row::event(&found)?;
        bytes += event.payload.get().len();
        events.push(event);
        if query.max_bytes > 0 && bytes > query.max_bytes {
            break;
        }
    }
    Ok(events)
}

fn events_question(session: SessionId, query: &EventQuery) -> Question {
    let mut question = Question::new(format!("SELECT {} FROM events e", row::EVENT));
    question.add(" WHERE e.session_id = ?", [value(session.uuid())]);
    if query.after.get() > 0 {
        let condition = match query.order {
            Order::Ascending => " AND e.seq > ?",
            Order::Descending => " AND e.seq < ?",
        };
        question.add(condition, [value(row::number(query.after))]);
    }
    for (condition, bound) in
        [(" AND e.time > ?", query.later_than), (" AND e.time >= ?", query.not_before)]
    {
        if let Some(bound) = bound {
            question.add(condition, [value(bound)]);
        }
    }
    for (condition, wanted) in [
        (" AND e.invocation_id = ?", &query.invocation_id),
        (" AND e.author = ?", &query.author),
        (" AND e.branch = ?", &query.branch),
    ] {
        if let Some(wanted) = wanted {
            question.add(condition, [words(wanted)]);
        }
    }
    if let Some(event_type) = &query.event_type {
        question.add(" AND e.type_key = ?", [value(key(event_type))]);
    }
    if !query.kinds.is_empty() {
        let kinds: Vec<&str> = query.kinds.iter().map(|kind| kind.as_str()).collect();
        question.add(" AND e.kind = ANY (?)", [value(kinds)]);
    }
    let order = match (query.sort, query.order) {
        (Sort::Arrival, Order::Ascending) => "e.seq",
        (Sort::Arrival, Order::Descending) => "e.seq DESC",
        (Sort::Time, Order::Ascending) => "e.time, e.seq",
        (Sort::Time, Order::Descending) => "e.time DESC, e.seq DESC",
    };
    let limit = row::signed(page_size(query.limit, DEFAULT_EVENTS) as u64);
    question.add(&format!(" ORDER BY {order} LIMIT ?"), [value(limit)]);
    question
}

pub(super) async fn turns(client: &Client, query: &TurnQuery) -> Result<Vec<Turn>, Failure> {
    let mut question = Question::new(
        "SELECT t.session_id, t.turn_id, t.request_seq, t.response_seq FROM turns t WHERE true",
    );
    if let Some(session) = query.session {
        question.add(" AND t.session_id = ?", [value(session.uuid())]);
    }
    if let Some(user) = &query.user_id {
        question.add(
            " AND (SELECT s.user_id FROM sessions s WHERE s.session_id = t.session_id) = ?",
            [words(user)],
        );
    }
    if !query.answered {
        question.add(" AND t.response_seq IS NULL", []);
    }
    // Within a session the log decides, whatever the clock said.
    let order = if query.session.is_some() { "" } else { "t.requested_at, t.session_id, " };
    question.add(&format!(" ORDER BY {order}t.request_seq LIMIT {MAX_PAGE}"), []);
    question.ask(client).await?.iter().map(row::turn).collect()
}

pub(super) async fn turn(
    client: &Client,
    session: SessionId,
    turn: TurnId,
) -> Result<Option<Turn>, Failure> {
    let sql = "SELECT session_id, turn_id, request_seq, response_seq FROM turns \
               WHERE session_id = $1 AND turn_id = $2";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query_opt(&statement, &[&session.uuid(), &turn.uuid()]).await?;
    found.as_ref().map(row::turn).transpose()
}

pub(super) async fn counts(client: &Client) -> Result<Counts, Failure> {
    let sql = "SELECT (SELECT count(*) FROM sessions), \
               (SELECT count(*) FROM turns WHERE response_seq IS NULL)";
    let statement = client.prepare_cached(sql).await?;
    let found = client.query_one(&statement, &[]).await?;
    Ok(Counts { sessions: row::count(&found, 0)?, pending_turns: row::count(&found, 1)? })
}
