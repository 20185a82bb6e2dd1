//! Sessions as ADK reads them: lists, state, messages.

use std::collections::{BTreeMap, HashMap, HashSet};

use deadpool_postgres::Client;
use hotseat_core::{Account, Effect, Kind, Message, Seq, SessionId};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::failure::Failure;
use super::reader::{self, Question, value, words};
use super::row;
use super::text::kept;
use crate::query::page_size;
use crate::{
    AdkCursor, AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AdkStored, EventQuery, Order,
    SharedState,
};

/// Events read at once when messages are gathered.
const PAGE: usize = 500;

/// Reads everything that follows as it is at this moment, until [`MOMENT_OVER`].
const MOMENT: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

const MOMENT_OVER: &str = "COMMIT";

/// The sessions of an app, oldest update first, with their own state.
pub(super) async fn sessions(client: &Client, query: &AdkSessionQuery) -> Result<AdkPage, Failure> {
    // In no index: it changes with every event.
    const UPDATED: &str = "COALESCE(s.update_time, s.created_at / 1000.0)";
    let limit = page_size(query.limit, 500);
    let mut question = Question::new(format!("SELECT {} FROM sessions s", row::SESSION));
    question.add(" WHERE s.app_name = ?", [words(&query.app_name)]);
    if let Some(user) = &query.user_id {
        question.add(" AND s.user_id = ?", [words(user)]);
    }
    if let Some(after) = &query.after {
        let sql = format!(" AND ({UPDATED}, s.user_id, s.session_id) > (?, ?, ?)");
        let values = [value(after.update_time), words(&after.user_id), value(after.id.uuid())];
        question.add(&sql, values);
    }
    // One more than asked for tells whether there is a next page.
    let sql = format!(" ORDER BY {UPDATED}, s.user_id, s.session_id LIMIT ?");
    question.add(&sql, [value(row::signed(limit as u64 + 1))]);
    let rows = question.ask(client).await?;
    let mut sessions = rows.iter().map(row::session).collect::<Result<Vec<_>, _>>()?;
    let more = sessions.len() > limit;
    sessions.truncate(limit);
    let next = if more { sessions.last().map(AdkCursor::of) } else { None };
    let mut states = states(client, sessions.iter().map(|session| session.id.uuid())).await?;
    let sessions = sessions.into_iter().map(|session| {
        let state = states.remove(&session.id).unwrap_or_default();
        (session, state)
    });
    Ok(AdkPage { sessions: sessions.collect(), next })
}

async fn states(
    client: &Client,
    sessions: impl Iterator<Item = Uuid>,
) -> Result<HashMap<SessionId, Map<String, Value>>, Failure> {
    // In the order of the names, as SQLite has them: whoever reads a state twice sees one text.
    let sql = "SELECT session_id, name, value FROM session_state WHERE session_id = ANY ($1) \
               ORDER BY name COLLATE \"C\"";
    let statement = client.prepare_cached(sql).await?;
    let sessions: Vec<Uuid> = sessions.collect();
    let mut states = HashMap::<SessionId, Map<String, Value>>::new();
    for found in client.query(&statement, &[&sessions]).await? {
        let state = states.entry(row::session_id(&found, 0)?).or_default();
        state.insert(row::text(&found, 1)?, row::json(&found, 2)?);
    }
    Ok(states)
}

/// One session with its state and its events; none if it is not there.
pub(super) async fn session(
    client: &Client,
    id: SessionId,
    query: &AdkEventQuery,
) -> Result<Option<AdkRead>, Failure> {
    client.batch_execute(MOMENT).await?;
    let read = session_now(client, id, query).await?;
    client.batch_execute(MOMENT_OVER).await?;
    Ok(read)
}

async fn session_now(
    client: &Client,
    id: SessionId,
    query: &AdkEventQuery,
) -> Result<Option<AdkRead>, Failure> {
    let Some(session) = reader::session(client, id).await? else { return Ok(None) };
    let state = session_state(client, id).await?;
    let shared = if session.shares_state() {
        shared_state(client, &session.app_name, Some(&session.user_id)).await?
    } else {
        SharedState::default()
    };
    let (events, more) = events(client, id, query).await?;
    Ok(Some(AdkRead { session, state, shared, events, more }))
}

/// Raw ADK events of the session's own level. `more` if the answer was cut.
async fn events(
    client: &Client,
    id: SessionId,
    query: &AdkEventQuery,
) -> Result<(Vec<AdkStored>, bool), Failure> {
    if query.recent == Some(0) {
        return Ok((Vec::new(), false));
    }
    let by_time = query.recent.is_some() || query.not_before.is_some();
    let (mut stored, mut bytes) = (Vec::new(), 0);
    let mut after = query.after;
    loop {
        let rows = events_question(id, query, after, by_time).ask(client).await?;
        for found in &rows {
            if !by_time && !stored.is_empty() && bytes > query.max_bytes {
                return Ok((stored, true));
            }
            let payload = row::payload(found, 2)?;
            bytes += payload.len();
            after = row::seq(found, 0)?;
            stored.push(AdkStored { seq: after, time: row::get(found, 1)?, payload });
        }
        if by_time {
            stored.reverse();
            return Ok((stored, false));
        }
        if rows.len() < PAGE {
            return Ok((stored, false));
        }
    }
}

/// By time all at once, as there was a limit or a bound; by arrival a page at a time.
fn events_question(id: SessionId, query: &AdkEventQuery, after: Seq, by_time: bool) -> Question {
    let mut question = Question::new("SELECT e.seq, e.time, e.packed, e.payload FROM events e");
    question.add(
        " WHERE e.session_id = ? AND e.kind = 'event' AND e.parent_call_id IS NULL AND e.seq > ?",
        [value(id.uuid()), value(row::number(after))],
    );
    if let Some(bound) = query.not_before {
        question.add(" AND e.time >= ?", [value(bound)]);
    }
    if by_time {
        question.add(" ORDER BY e.time DESC, e.seq DESC", []);
        if let Some(recent) = query.recent {
            question.add(" LIMIT ?", [value(i64::from(recent))]);
        }
    } else {
        question.add(&format!(" ORDER BY e.seq LIMIT {PAGE}"), []);
    }
    question
}

/// The state of one session, without what it shares.
pub(super) async fn session_state(
    client: &Client,
    id: SessionId,
) -> Result<Map<String, Value>, Failure> {
    Ok(states(client, std::iter::once(id.uuid())).await?.remove(&id).unwrap_or_default())
}

/// What the sessions of an app and a user share.
pub(super) async fn shared_state(
    client: &Client,
    app_name: &str,
    user_id: Option<&str>,
) -> Result<SharedState, Failure> {
    let sql = "SELECT user_id, name, value FROM shared_state WHERE app_name = $1 \
               AND ($2::text IS NULL OR user_id IN ('', $2))";
    let statement = client.prepare_cached(sql).await?;
    let (app, user) = (kept(app_name), user_id.map(kept));
    let mut shared = SharedState::default();
    for found in client.query(&statement, &[&app, &user]).await? {
        let user = row::text(&found, 0)?;
        let state =
            if user.is_empty() { &mut shared.app } else { shared.users.entry(user).or_default() };
        state.insert(row::text(&found, 1)?, row::json(&found, 2)?);
    }
    Ok(shared)
}

/// The names of apps that have sessions.
pub(super) async fn app_names(client: &Client) -> Result<Vec<String>, Failure> {
    // Steps from name to name in the index, however many sessions each has.
    let sql = "WITH RECURSIVE names (name) AS (SELECT min(app_name) FROM sessions UNION ALL \
               SELECT (SELECT min(app_name) FROM sessions WHERE app_name > name) FROM names \
               WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL LIMIT 1000";
    let statement = client.prepare_cached(sql).await?;
    client.query(&statement, &[]).await?.iter().map(|found| row::text(found, 0)).collect()
}

/// The last `limit` messages of a session, oldest first: what events tell, and what was
/// written down. Of two with one id, the one that was written down.
pub(super) async fn messages(
    client: &Client,
    session: SessionId,
    limit: usize,
) -> Result<Vec<Message>, Failure> {
    client.batch_execute(MOMENT).await?;
    let mut messages = written(client, session).await?;
    let known: HashSet<String> = messages.values().map(|message| message.id.clone()).collect();
    let (mut before, mut said) = (Seq::START, 0);
    while said < limit {
        let query = EventQuery {
            after: before,
            kinds: vec![Kind::Event],
            order: Order::Descending,
            limit: PAGE,
            ..EventQuery::default()
        };
        let page = reader::events(client, session, &query).await?;
        let Some(last) = page.last() else { break };
        before = last.seq;
        for event in page {
            if let Account::Said(message) = Effect::of(&event.entry).account
                && !known.contains(&message.id)
            {
                messages.insert(event.seq, message);
                said += 1;
            }
        }
    }
    client.batch_execute(MOMENT_OVER).await?;
    let excess = messages.len().saturating_sub(limit);
    Ok(messages.into_values().skip(excess).collect())
}

/// The messages that were written down, by the entry that made them.
pub(super) async fn written(
    client: &Client,
    session: SessionId,
) -> Result<BTreeMap<Seq, Message>, Failure> {
    let sql = "SELECT message_id, role, content, timestamp, metadata, seq FROM messages \
               WHERE session_id = $1";
    let statement = client.prepare_cached(sql).await?;
    let rows = client.query(&statement, &[&session.uuid()]).await?;
    let read = rows.iter().map(|found| {
        let metadata: Option<&str> = row::get(found, 4)?;
        let message = Message {
            id: row::text(found, 0)?,
            role: row::text(found, 1)?,
            content: row::text(found, 2)?,
            timestamp: row::timestamp(row::get(found, 3)?)?,
            metadata: metadata.and_then(|text| serde_json::from_str(text).ok()),
        };
        Ok((row::seq(found, 5)?, message))
    });
    read.collect()
}
