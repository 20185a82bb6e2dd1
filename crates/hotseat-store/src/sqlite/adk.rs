//! Sessions as ADK reads them: lists, state, messages.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::Write as _;

use hotseat_core::{Account, Effect, Kind, Message, Seq, SessionId};
use rusqlite::types::Value as Sql;
use rusqlite::{Connection, params, params_from_iter};
use serde_json::{Map, Value};

use super::moment::Moment;
use super::whereabouts::Clue;
use super::{reader, row};
use crate::query::page_size;
use crate::{
    AdkCursor, AdkEventQuery, AdkPage, AdkRead, AdkSessionQuery, AdkStored, EventQuery, Limits,
    Order, SharedState,
};

/// Events read at once when messages are gathered.
const PAGE: usize = 500;

/// The sessions of an app, oldest update first, with their own state.
pub(super) fn sessions(
    connection: &Connection,
    query: &AdkSessionQuery,
) -> rusqlite::Result<AdkPage> {
    const UPDATED: &str = "COALESCE(update_time, created_at / 1000.0)";
    let limit = page_size(query.limit, 500);
    let mut sql = format!("{} WHERE app_name = ?", row::SELECT_SESSIONS);
    let mut values = vec![Sql::Text(query.app_name.clone())];
    if let Some(user) = &query.user_id {
        sql.push_str(" AND user_id = ?");
        values.push(Sql::Text(user.clone()));
    }
    if let Some(after) = &query.after {
        let _ = write!(sql, " AND ({UPDATED}, user_id, id) > (?, ?, ?)");
        values.extend([
            Sql::Real(after.update_time),
            Sql::Text(after.user_id.clone()),
            Sql::Text(after.id.to_string()),
        ]);
    }
    // One more than asked for tells whether there is a next page.
    let _ = write!(sql, " ORDER BY {UPDATED}, user_id, id LIMIT {}", limit + 1);
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(params_from_iter(values), row::session)?;
    let mut sessions = rows.collect::<rusqlite::Result<Vec<_>>>()?;
    let more = sessions.len() > limit;
    sessions.truncate(limit);
    let next = if more { sessions.last().map(AdkCursor::of) } else { None };
    let mut states = states(connection, sessions.iter().map(|session| session.id))?;
    let sessions = sessions
        .into_iter()
        .map(|session| {
            let state = states.remove(&session.id).unwrap_or_default();
            (session, state)
        })
        .collect();
    Ok(AdkPage { sessions, next })
}

fn states(
    connection: &Connection,
    sessions: impl ExactSizeIterator<Item = SessionId>,
) -> rusqlite::Result<HashMap<SessionId, Map<String, Value>>> {
    let marks = vec!["?"; sessions.len()].join(", ");
    let keys = sessions.map(|session| Sql::Text(session.to_string()));
    let sql =
        format!("SELECT session_id, key, value FROM session_state WHERE session_id IN ({marks})");
    let mut statement = connection.prepare(&sql)?;
    let mut rows = statement.query(params_from_iter(keys))?;
    let mut states = HashMap::<SessionId, Map<String, Value>>::new();
    while let Some(found) = rows.next()? {
        let session = row::parsed(found, 0)?;
        states.entry(session).or_default().insert(found.get(1)?, row::json(found, 2)?);
    }
    Ok(states)
}

/// One session with its state and its events; none if it is not there.
pub(super) fn session(
    connection: &Connection,
    id: SessionId,
    clue: &Clue,
    query: &AdkEventQuery,
    limits: &Limits,
) -> rusqlite::Result<Option<AdkRead>> {
    // One transaction, so that state and events are of one moment.
    let moment = Moment::of(connection)?;
    let Some(session) = row::find_session(&moment, id, clue, limits)? else { return Ok(None) };
    let state = session_state(&moment, id)?;
    let shared = if session.shares_state() {
        shared_state(&moment, &session.app_name, Some(&session.user_id))?
    } else {
        SharedState::default()
    };
    let (events, more) = events(&moment, id, clue, query)?;
    Ok(Some(AdkRead { session, state, shared, events, more }))
}

/// Raw ADK events of the session's own level. `more` if the answer was cut.
fn events(
    connection: &Connection,
    id: SessionId,
    clue: &Clue,
    query: &AdkEventQuery,
) -> rusqlite::Result<(Vec<AdkStored>, bool)> {
    if query.recent == Some(0) {
        return Ok((Vec::new(), false));
    }
    let by_time = query.recent.is_some() || query.not_before.is_some();
    let mut values = vec![Sql::Text(id.to_string())];
    let kind = if by_time { "e" } else { "p" };
    let mut conditions = format!(" AND {kind}.kind = 'event' AND e.parent_call_id IS NULL");
    let mut also = |condition: &str, value: Sql| {
        values.push(value);
        let _ = write!(conditions, " AND {condition} ?{}", values.len());
    };
    if query.after.get() > 0 {
        also("p.seq >", Sql::Integer(row::number(query.after)));
    }
    if let Some(bound) = query.not_before {
        also("p.time >=", Sql::Real(bound));
    }
    let (table, order) =
        if by_time { ("event_times", "2 DESC, 1 DESC") } else { ("event_places", "1") };
    let mut sql = format!(
        "SELECT p.seq, p.time, e.payload FROM {table} p JOIN events e ON e.id = p.id \
         WHERE p.session = (SELECT number FROM sessions WHERE id = ?1){conditions}"
    );
    if let Some(unsettled) = clue.rows(connection, &mut values)? {
        let conditions = conditions.replace(" p.", " e.");
        let _ = write!(sql, " UNION ALL SELECT e.seq, e.time, e.payload {unsettled}{conditions}");
    }
    let _ = write!(sql, " ORDER BY {order}");
    if let Some(recent) = query.recent {
        let _ = write!(sql, " LIMIT {recent}");
    }
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    let (mut stored, mut bytes, mut more) = (Vec::new(), 0, false);
    while let Some(found) = rows.next()? {
        if !by_time && !stored.is_empty() && bytes > query.max_bytes {
            more = true;
            break;
        }
        let payload = row::payload_text(found, 2)?.into_owned();
        bytes += payload.len();
        stored.push(AdkStored { seq: row::seq(found.get(0)?), time: found.get(1)?, payload });
    }
    if by_time {
        stored.reverse();
    }
    Ok((stored, more))
}

/// The state of one session, without what it shares.
pub(super) fn session_state(
    connection: &Connection,
    session: SessionId,
) -> rusqlite::Result<Map<String, Value>> {
    let mut statement =
        connection.prepare_cached("SELECT key, value FROM session_state WHERE session_id = ?1")?;
    let rows = statement
        .query_map([session.to_string()], |found| Ok((found.get(0)?, row::json(found, 1)?)))?;
    rows.collect()
}

/// What the sessions of an app and a user share.
pub(super) fn shared_state(
    connection: &Connection,
    app_name: &str,
    user_id: Option<&str>,
) -> rusqlite::Result<SharedState> {
    let mut statement = connection.prepare_cached(
        "SELECT user_id, key, value FROM shared_state WHERE app_name = ?1 \
         AND (?2 IS NULL OR user_id IN ('', ?2))",
    )?;
    let mut rows = statement.query(params![app_name, user_id])?;
    let mut shared = SharedState::default();
    while let Some(found) = rows.next()? {
        let user: String = found.get(0)?;
        let state =
            if user.is_empty() { &mut shared.app } else { shared.users.entry(user).or_default() };
        state.insert(found.get(1)?, row::json(found, 2)?);
    }
    Ok(shared)
}

/// The names of apps that have sessions.
pub(super) fn app_names(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    // Steps from name to name in the index, however many sessions each has.
    connection
        .prepare_cached(
            "WITH RECURSIVE names (name) AS (SELECT min(app_name) FROM sessions UNION ALL \
             SELECT (SELECT min(app_name) FROM sessions WHERE app_name > name) FROM names \
             WHERE name IS NOT NULL) SELECT name FROM names WHERE name IS NOT NULL LIMIT 1000",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// The last `limit` messages of a session, oldest first: what events tell, and what was
/// written down. Of two with one id, the one that was written down.
pub(super) fn messages(
    connection: &Connection,
    session: SessionId,
    clue: &Clue,
    limit: usize,
) -> rusqlite::Result<Vec<Message>> {
    let moment = Moment::of(connection)?;
    let mut messages = written(&moment, session)?;
    let known: HashSet<String> =
        messages.values().map(|message: &Message| message.id.clone()).collect();
    let mut before = Seq::START;
    let mut said = 0;
    while said < limit {
        let query = EventQuery {
            after: before,
            kinds: vec![Kind::Event],
            order: Order::Descending,
            limit: PAGE,
            ..EventQuery::default()
        };
        let page = reader::events(&moment, session, clue, &query)?;
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
    let excess = messages.len().saturating_sub(limit);
    Ok(messages.into_values().skip(excess).collect())
}

/// The messages that were written down, by the entry that made them.
pub(super) fn written(
    connection: &Connection,
    session: SessionId,
) -> rusqlite::Result<BTreeMap<Seq, Message>> {
    connection
        .prepare_cached(
            "SELECT message_id, role, content, timestamp, metadata, seq FROM messages \
             WHERE session_id = ?1",
        )?
        .query_map([session.to_string()], |found| {
            let metadata: Option<String> = found.get(4)?;
            let message = Message {
                id: found.get(0)?,
                role: found.get(1)?,
                content: found.get(2)?,
                timestamp: row::timestamp(3, found.get(3)?)?,
                metadata: metadata.and_then(|text| serde_json::from_str(&text).ok()),
            };
            Ok((row::seq(found.get(5)?), message))
        })?
        .collect()
}
