//! Rows as they are carried from one store to another.

use deadpool_postgres::Client;
use hotseat_core::{Seq, SessionId};
use jiff::Timestamp;
use tokio_postgres::types::ToSql;

use super::book::{AskRow, Book, TurnRow};
use super::failure::Failure;
use super::held::Held;
use super::sheet::{Sheet, Values};
use super::text::{kept, kept_if, key};
use super::{access, adk, figures, people, reader, row};
use crate::copy::{AskPart, Common, EVENTS_AT_ONCE, Parts, Placed, TokenPart, TurnPart};
use crate::rules::Prepared;
use crate::tally::{MinuteSums, ToolSums};
use crate::{AuditEntry, Limits, warnings};

/// All that is kept of a session besides its events.
pub(super) async fn parts(client: &Client, id: SessionId) -> Result<Option<Parts>, Failure> {
    let Some(session) = reader::session(client, id).await? else { return Ok(None) };
    let turns = rows_of(client, "turn_id, request_seq, requested_at, response_seq FROM turns", id);
    let turns = turns.await?;
    let turns = turns.iter().map(|found| {
        Ok(TurnPart {
            turn: hotseat_core::TurnId::new(row::get(found, 0)?),
            request: row::seq(found, 1)?,
            requested_at: row::get(found, 2)?,
            response: row::seq_if(found, 3)?,
        })
    });
    let turns = turns.collect::<Result<_, Failure>>()?;
    let asks = rows_of(client, "call_id, asked_seq, answer_seq FROM asks", id).await?;
    let asks = asks.iter().map(|found| {
        Ok(AskPart {
            call_id: row::text(found, 0)?,
            asked: row::seq(found, 1)?,
            answered: row::seq_if(found, 2)?,
        })
    });
    let asks = asks.collect::<Result<_, Failure>>()?;
    let state = rows_of(client, "name, value FROM session_state", id).await?;
    let state = state.iter().map(|found| Ok((row::text(found, 0)?, row::get(found, 1)?)));
    let state = state.collect::<Result<_, Failure>>()?;
    let messages = adk::written(client, id).await?.into_iter().collect();
    let access = access::of_sessions(client, &[id]).await?.remove(&id);
    Ok(Some(Parts { session, turns, asks, state, messages, access }))
}

async fn rows_of(
    client: &Client,
    what: &str,
    id: SessionId,
) -> Result<Vec<tokio_postgres::Row>, Failure> {
    let sql = format!("SELECT {what} WHERE session_id = $1");
    let statement = client.prepare_cached(&sql).await?;
    Ok(client.query(&statement, &[&id.uuid()]).await?)
}

/// The next events of a session.
pub(super) async fn events(
    client: &Client,
    id: SessionId,
    after: Seq,
) -> Result<Vec<Placed>, Failure> {
    let sql = format!(
        "SELECT {}, e.place FROM events e WHERE e.session_id = $1 AND e.seq > $2 \
         ORDER BY e.seq LIMIT {EVENTS_AT_ONCE}",
        row::EVENT
    );
    let statement = client.prepare_cached(&sql).await?;
    let rows = client.query(&statement, &[&id.uuid(), &row::number(after)]).await?;
    let read = rows
        .iter()
        .map(|found| Ok(Placed { place: row::get(found, 13)?, event: row::event(found)? }));
    read.collect()
}

/// What belongs to no session.
pub(super) async fn common(client: &Client) -> Result<Common, Failure> {
    let mut common = Common { removals: figures::removals(client).await?, ..Common::default() };
    let shared = client.query("SELECT app_name, user_id, name, value FROM shared_state", &[]);
    for found in shared.await? {
        let (app, user) = (row::text(&found, 0)?, row::text(&found, 1)?);
        common.shared.push((app, user, row::text(&found, 2)?, row::get(&found, 3)?));
    }
    let minutes = client.query(
        "SELECT minute, sum(events)::bigint, sum(errors)::bigint, sum(prompt_tokens)::bigint, \
         sum(output_tokens)::bigint FROM usage_minutes GROUP BY minute",
        &[],
    );
    for found in minutes.await? {
        let sums = MinuteSums {
            events: row::get(&found, 1)?,
            errors: row::get(&found, 2)?,
            prompt_tokens: row::get(&found, 3)?,
            output_tokens: row::get(&found, 4)?,
        };
        common.tally.minutes.insert(row::get(&found, 0)?, sums);
    }
    let tools = client.query(
        "SELECT name, sum(calls)::bigint, sum(errors)::bigint, sum(timed)::bigint, \
         sum(total_ms), max(max_ms) FROM usage_tools GROUP BY name",
        &[],
    );
    for found in tools.await? {
        let sums = ToolSums {
            calls: row::get(&found, 1)?,
            errors: row::get(&found, 2)?,
            timed: row::get(&found, 3)?,
            total_ms: row::get(&found, 4)?,
            max_ms: row::get(&found, 5)?,
        };
        common.tally.tools.insert(row::text(&found, 0)?, sums);
    }
    for found in client.query(people::USERS, &[]).await? {
        common.users.push(people::user_at(&found, 0)?);
    }
    let sql = people::TOKENS.replace(" FROM", ", t.user_id, t.hash FROM");
    for found in client.query(&sql, &[]).await? {
        let (user_id, hash) = (row::get(&found, 8)?, row::get(&found, 9)?);
        common.tokens.push(TokenPart { token: people::token(&found)?, user_id, hash });
    }
    Ok(common)
}

pub(super) async fn put_parts(held: &Held, parts: &Parts) -> Result<(), Failure> {
    let mut book = Book::new(parts.session.id);
    book.session = Some(parts.session.clone());
    (book.created, book.touched) = (true, true);
    for turn in &parts.turns {
        let TurnPart { request, requested_at, response, .. } = *turn;
        book.changes.turns.insert(turn.turn, TurnRow { request, requested_at, response });
    }
    for AskPart { call_id, asked, answered } in &parts.asks {
        let row = AskRow { call_id: call_id.clone(), asked: *asked, answered: *answered };
        book.changes.asks.insert(key(call_id), row);
    }
    book.changes.state.extend(parts.state.iter().cloned());
    for (seq, message) in &parts.messages {
        book.changes.messages.insert(key(&message.id), (*seq, message.clone()));
    }
    held.batch_execute("BEGIN").await?;
    if let Some(access) = &parts.access {
        let sql = "INSERT INTO session_access (session_id, last_access_at, client_ip, user_agent, \
                   failed_attempts, flagged, warnings) VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let statement = held.prepare_cached(sql).await?;
        let at = access.last_access_at.map_or(0, Timestamp::as_millisecond);
        let (ip, agent) = (kept_if(access.client_ip.as_ref()), kept_if(access.user_agent.as_ref()));
        let attempts = row::signed(access.failed_attempts);
        let warnings = warnings::text(&access.warnings);
        let values: [&(dyn ToSql + Sync); 7] =
            [&parts.session.id.uuid(), &at, &ip, &agent, &attempts, &access.flagged, &warnings];
        held.execute(&statement, &values).await?;
    }
    Sheet::of_sessions(&[book]).commit(held).await
}

/// Writes the next events of a session, which are not counted again.
pub(super) async fn put_events(
    held: &Held,
    limits: &Limits,
    events: &[Placed],
) -> Result<(), Failure> {
    let Some(id) = events.first().map(|placed| placed.event.session_id) else { return Ok(()) };
    let mut book = Book::new(id);
    let places: Vec<i64> = events.iter().map(|placed| placed.place).collect();
    for Placed { event, .. } in events {
        book.events.push((event.seq, Prepared::new(event.entry.clone(), limits)));
    }
    held.batch_execute("BEGIN").await?;
    Sheet::of_events(&[book], places).commit(held).await
}

pub(super) async fn put_common(held: &Held, common: &Common, slot: i16) -> Result<(), Failure> {
    let mut sheet = Sheet::of_figures(&common.tally, slot);
    let columns: Vec<Values<'_>> = vec![
        Box::new(common.shared.iter().map(|row| kept(&row.0)).collect::<Vec<_>>()),
        Box::new(common.shared.iter().map(|row| kept(&row.1)).collect::<Vec<_>>()),
        Box::new(common.shared.iter().map(|row| key(&row.2)).collect::<Vec<_>>()),
        Box::new(common.shared.iter().map(|row| kept(&row.2)).collect::<Vec<_>>()),
        Box::new(common.shared.iter().map(|row| row.3.as_str()).collect::<Vec<_>>()),
    ];
    sheet.shared(common.shared.len(), columns);
    held.batch_execute("BEGIN").await?;
    for removal in &common.removals {
        let sql = "INSERT INTO removals (reason, slot, sessions, events, last_at) \
                   VALUES ($1, $2, $3, $4, $5)";
        let statement = held.prepare_cached(sql).await?;
        let (sessions, events) = (row::signed(removal.sessions), row::signed(removal.events));
        let at = removal.last_at.as_millisecond();
        let reason = removal.reason.as_str();
        held.execute(&statement, &[&reason, &slot, &sessions, &events, &at]).await?;
    }
    put_people(held, common).await?;
    // What is appended from now on comes after what was copied.
    held.batch_execute(
        "SELECT setval('event_places', GREATEST((SELECT last_value FROM event_places), \
         (SELECT COALESCE(max(place), 1) FROM events)))",
    )
    .await?;
    sheet.commit(held).await
}

async fn put_people(held: &Held, common: &Common) -> Result<(), Failure> {
    let time = |time: Option<Timestamp>| time.map(Timestamp::as_millisecond);
    for user in &common.users {
        let sql = "INSERT INTO users (id, name, role, created_at, revoked_at) \
                   VALUES ($1, $2, $3, $4, $5)";
        let statement = held.prepare_cached(sql).await?;
        let (made, revoked) = (user.created_at.as_millisecond(), time(user.revoked_at));
        let (name, role) = (user.name.as_str(), user.role.as_str());
        held.execute(&statement, &[&user.id, &name, &role, &made, &revoked]).await?;
    }
    for TokenPart { token, user_id, hash } in &common.tokens {
        let sql = "INSERT INTO user_tokens (id, user_id, hash, prefix, label, created_at, \
                   last_used_at, expires_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";
        let statement = held.prepare_cached(sql).await?;
        let (prefix, label) = (kept(&token.prefix), kept(&token.label));
        let (made, used) = (token.created_at.as_millisecond(), time(token.last_used_at));
        let (end, revoked) = (time(token.expires_at), time(token.revoked_at));
        let values: [&(dyn ToSql + Sync); 9] =
            [&token.id, user_id, hash, &prefix, &label, &made, &used, &end, &revoked];
        held.execute(&statement, &values).await?;
    }
    Ok(())
}

/// Writes entries of the audit in their places.
pub(super) async fn put_audit(held: &mut Held, entries: &[AuditEntry]) -> Result<(), Failure> {
    let transaction = held.transaction().await?;
    let sql = "INSERT INTO audit (seq, entry_key, at, actor, action, subject, session_id, detail) \
               VALUES ($1, gen_random_uuid(), $2, $3, $4, $5, $6, $7)";
    let statement = transaction.prepare_cached(sql).await?;
    for entry in entries {
        let (seq, at) = (row::signed(entry.seq), entry.at.as_millisecond());
        let (actor, subject) = (kept(&entry.actor), kept(&entry.subject));
        let (action, detail) = (kept(&entry.action), entry.detail.to_string());
        let session = entry.session.map(SessionId::uuid);
        let values: [&(dyn ToSql + Sync); 7] =
            [&seq, &at, &actor, &action, &subject, &session, &detail];
        transaction.execute(&statement, &values).await?;
    }
    // What is written down from now on comes after it.
    let sql = "SELECT setval(pg_get_serial_sequence('audit', 'seq'), (SELECT max(seq) FROM audit))";
    transaction.batch_execute(sql).await?;
    Ok(transaction.commit().await?)
}
