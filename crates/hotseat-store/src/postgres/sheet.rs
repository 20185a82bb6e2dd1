//! Writing what a batch changed, many rows with each statement.
//!
//! A [`Sheet`] gathers the rows of all sessions by table. Its statements are sent together, with
//! the commit behind them, so that a batch of any size takes one way to the database and back.
//! Rows that several writers may change are written in the order of their keys, so that writers
//! wait for each other and never in a circle.

use deadpool_postgres::Client;
use futures_util::future::{join, join_all};
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::book::Book;
use super::failure::Failure;
use super::row::{number, signed};
use super::text::{kept, kept_if, key};
use crate::tally::Tally;
use crate::{RemovalReason, Session};

/// Characters of a tool's name in the figures.
const TOOL_NAME: usize = 200;

/// A value of a column.
type Values<'b> = Box<dyn ToSql + Sync + Send + 'b>;

/// What has to be written.
pub(super) struct Sheet<'b> {
    statements: Vec<(&'static str, Vec<Values<'b>>)>,
}

/// Makes the columns of a statement from rows, with one expression for each column.
macro_rules! columns {
    ($rows:expr, |$row:pat_param| $($column:expr),+ $(,)?) => {
        vec![$(Box::new($rows.iter().map(|$row| $column).collect::<Vec<_>>()) as Values<'_>),+]
    };
}

const CREATE: &str = "INSERT INTO sessions (session_id, created_at, description, status, agent, \
     app_name, user_id, source, adk_id, incarnation, updated_at, last_seq, pending_turns, \
     removed_through, open_requests, event_head, event_count, message_count, bytes) \
     SELECT *, 0, 0, 0, 0, 0, 0, 0, 0 FROM unnest($1::uuid[], $2::bigint[], $3::text[], \
     $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], \
     $11::bigint[])";

const SUMMARISE: &str = "UPDATE sessions s SET updated_at = n.updated_at, title = n.title, \
     status = n.status, last_seq = n.last_seq, pending_turns = n.pending_turns, \
     run_id = n.run_id, run_status = n.run_status, run_since = n.run_since, \
     removed_through = n.removed_through, open_requests = n.open_requests, \
     event_head = n.event_head, update_time = n.update_time, event_count = n.event_count, \
     message_count = n.message_count, bytes = n.bytes, record_status = n.record_status, \
     progress = n.progress, current_phase = n.current_phase, final_report = n.final_report, \
     error = n.error \
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::integer[], \
     $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::integer[], $12::bigint[], \
     $13::double precision[], $14::bigint[], $15::bigint[], $16::bigint[], $17::text[], \
     $18::double precision[], $19::text[], $20::text[], $21::text[]) \
     AS n (session_id, updated_at, title, status, last_seq, pending_turns, run_id, run_status, \
     run_since, removed_through, open_requests, event_head, update_time, event_count, \
     message_count, bytes, record_status, progress, current_phase, final_report, error) \
     WHERE s.session_id = n.session_id";

const EVENTS: &str = "INSERT INTO events (session_id, seq, event_id, event_key, timestamp, time, \
     kind, turn_id, agent_name, invocation_id, author, branch, parent_call_id, size, packed, \
     payload) SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::uuid[], \
     $5::bigint[], $6::double precision[], $7::text[], $8::uuid[], $9::text[], $10::text[], \
     $11::text[], $12::text[], $13::text[], $14::bigint[], $15::boolean[], $16::bytea[])";

const TURNS: &str = "INSERT INTO turns (session_id, turn_id, request_seq, requested_at, \
     response_seq) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], \
     $5::bigint[]) ON CONFLICT (session_id, turn_id) \
     DO UPDATE SET response_seq = excluded.response_seq";

const ASKS: &str = "INSERT INTO asks (session_id, call_key, call_id, asked_seq, answer_seq) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[]) \
     ON CONFLICT (session_id, call_key) DO UPDATE SET answer_seq = excluded.answer_seq";

const STATE: &str = "INSERT INTO session_state (session_id, state_key, name, value) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) \
     ON CONFLICT (session_id, state_key) DO UPDATE SET value = excluded.value";

const SHARED: &str = "INSERT INTO shared_state (app_name, user_id, state_key, name, value) \
     SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[]) \
     ON CONFLICT (app_name, user_id, state_key) DO UPDATE SET value = excluded.value";

const FORGET: &str = "DELETE FROM messages m USING unnest($1::uuid[], $2::uuid[]) \
     AS n (session_id, message_key) \
     WHERE m.session_id = n.session_id AND m.message_key = n.message_key";

const MESSAGES: &str = "INSERT INTO messages (session_id, message_key, message_id, seq, role, \
     content, timestamp, metadata) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], \
     $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::text[]) \
     ON CONFLICT (session_id, message_key) DO UPDATE SET content = excluded.content, \
     timestamp = excluded.timestamp, metadata = COALESCE(excluded.metadata, messages.metadata)";

const REMOVE: [&str; 3] = [
    "DELETE FROM events e USING unnest($1::uuid[], $2::bigint[]) AS n (session_id, through) \
     WHERE e.session_id = n.session_id AND e.seq <= n.through",
    "DELETE FROM search e USING unnest($1::uuid[], $2::bigint[]) AS n (session_id, through) \
     WHERE e.session_id = n.session_id AND e.seq <= n.through",
    "DELETE FROM turns t USING unnest($1::uuid[], $2::bigint[]) AS n (session_id, through) \
     WHERE t.session_id = n.session_id AND t.request_seq <= n.through \
     AND t.response_seq IS NOT NULL",
];

const MINUTES: &str = "INSERT INTO usage_minutes (minute, slot, events, errors, prompt_tokens, \
     output_tokens) SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], \
     $4::bigint[], $5::bigint[], $6::bigint[]) ON CONFLICT (minute, slot) DO UPDATE SET \
     events = usage_minutes.events + excluded.events, \
     errors = usage_minutes.errors + excluded.errors, \
     prompt_tokens = usage_minutes.prompt_tokens + excluded.prompt_tokens, \
     output_tokens = usage_minutes.output_tokens + excluded.output_tokens";

const TOOLS: &str = "INSERT INTO usage_tools (name, slot, calls, errors, timed, total_ms, max_ms) \
     SELECT * FROM unnest($1::text[], $2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], \
     $6::double precision[], $7::double precision[]) ON CONFLICT (name, slot) DO UPDATE SET \
     calls = usage_tools.calls + excluded.calls, errors = usage_tools.errors + excluded.errors, \
     timed = usage_tools.timed + excluded.timed, \
     total_ms = usage_tools.total_ms + excluded.total_ms, \
     max_ms = GREATEST(usage_tools.max_ms, excluded.max_ms)";

/// Counts what was removed.
pub(super) const REMOVALS: &str = "INSERT INTO removals (reason, slot, sessions, events, last_at) \
     VALUES ($1, $2, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) \
     ON CONFLICT (reason, slot) DO UPDATE SET sessions = removals.sessions + excluded.sessions, \
     events = removals.events + excluded.events, last_at = excluded.last_at";

const UNINDEXED: &str = "INSERT INTO unindexed (sessions) VALUES ($1)";

#[expect(unused_variables, reason = "every column is made from some of a row's values")]
impl<'b> Sheet<'b> {
    /// All that `books` changed, in the order of their sessions.
    pub(super) fn of(books: &'b [Book], slot: i16) -> Self {
        let mut sheet = Self { statements: Vec::new() };
        sheet.sessions(books);
        sheet.events(books);
        sheet.derived(books);
        sheet.figures(books, slot);
        sheet
    }

    fn add(&mut self, statement: &'static str, rows: usize, columns: Vec<Values<'b>>) {
        if rows > 0 {
            self.statements.push((statement, columns));
        }
    }

    fn sessions(&mut self, books: &'b [Book]) {
        let new: Vec<&Session> =
            books.iter().filter(|book| book.created).filter_map(|b| b.session.as_ref()).collect();
        let columns = columns!(
            new,
            |s| s.id.uuid(),
            s.created_at.as_millisecond(),
            kept_if(s.description.as_ref()),
            s.status.as_str(),
            kept_if(s.agent.as_ref()),
            kept(&s.app_name),
            kept(&s.user_id),
            kept(&s.source),
            kept_if(s.adk_id.as_ref()),
            s.incarnation,
            s.updated_at.as_millisecond()
        );
        self.add(CREATE, new.len(), columns);
        let touched: Vec<&Session> =
            books.iter().filter(|book| book.touched).filter_map(|b| b.session.as_ref()).collect();
        let columns = columns!(
            touched,
            |s| s.id.uuid(),
            s.updated_at.as_millisecond(),
            kept_if(s.title.as_ref()),
            s.status.as_str(),
            number(s.last_seq),
            small(s.pending_turns),
            s.run.as_ref().map(|run| kept(&run.run_id)),
            s.run.as_ref().map(|run| kept(&run.status)),
            s.run.as_ref().map(|run| run.since.as_millisecond()),
            number(s.removed_through),
            small(s.open_requests),
            number(s.event_head),
            s.update_time,
            signed(s.event_count),
            signed(s.message_count),
            signed(s.bytes),
            kept_if(s.record.status.as_ref()),
            s.record.progress,
            kept_if(s.record.current_phase.as_ref()),
            kept_if(s.record.final_report.as_ref()),
            kept_if(s.record.error.as_ref())
        );
        self.add(SUMMARISE, touched.len(), columns);
    }

    fn events(&mut self, books: &'b [Book]) {
        let rows: Vec<_> = books.iter().flat_map(Book::lasting).collect();
        let columns = columns!(
            rows,
            |(id, seq, event)| id.uuid(),
            number(*seq),
            kept(&event.event.event_id),
            key(&event.event.event_id),
            event.event.timestamp.as_millisecond(),
            event.time(),
            event.event.kind.as_str(),
            event.event.turn_id.map(|turn| turn.uuid()),
            kept(&event.event.agent_name),
            kept_if(event.event.invocation_id.as_ref()),
            kept(&event.event.author),
            kept_if(event.event.branch.as_ref()),
            kept_if(event.event.parent_call_id.as_ref()),
            signed(event.event.payload.get().len() as u64),
            event.compressed.is_some(),
            event.compressed.as_deref().unwrap_or(event.event.payload.get().as_bytes())
        );
        self.add(EVENTS, rows.len(), columns);
        let written: Vec<Uuid> =
            books.iter().filter(|book| !book.events.is_empty()).map(|b| b.id.uuid()).collect();
        self.add(UNINDEXED, written.len(), vec![Box::new(written)]);
        let cut: Vec<_> =
            books.iter().filter_map(|b| Some((b.id.uuid(), b.changes.removed_through?))).collect();
        for statement in REMOVE {
            // Turns are written before, and those that are answered go here again.
            let columns = columns!(cut, |(id, through)| *id, number(*through));
            self.add(statement, cut.len(), columns);
        }
    }

    fn derived(&mut self, books: &'b [Book]) {
        let each = || books.iter().map(|book| (book.id.uuid(), &book.changes));
        let turns: Vec<_> =
            each().flat_map(|(id, c)| c.turns.iter().map(move |t| (id, t))).collect();
        let columns = columns!(
            turns,
            |(id, (turn, row))| *id,
            turn.uuid(),
            number(row.request),
            row.requested_at,
            row.response.map(number)
        );
        // Before anything that removes turns.
        if !turns.is_empty() {
            self.statements.insert(0, (TURNS, columns));
        }
        let asks: Vec<_> = each().flat_map(|(id, c)| c.asks.iter().map(move |a| (id, a))).collect();
        let columns = columns!(
            asks,
            |(id, (key, row))| *id,
            **key,
            kept(&row.call_id),
            number(row.asked),
            row.answered.map(number)
        );
        self.add(ASKS, asks.len(), columns);
        let state: Vec<_> =
            each().flat_map(|(id, c)| c.state.iter().map(move |s| (id, s))).collect();
        let columns =
            columns!(state, |(id, (name, value))| *id, key(name), kept(name), value.as_str());
        self.add(STATE, state.len(), columns);
        let mut shared = std::collections::BTreeMap::new();
        // Of what several sessions say, the last stays.
        shared.extend(each().flat_map(|(_, changes)| &changes.shared));
        let shared: Vec<_> = shared.into_iter().collect();
        let columns = columns!(
            shared,
            |((app, user, name), value)| kept(app),
            kept(user),
            key(name),
            kept(name),
            value.as_str()
        );
        self.add(SHARED, shared.len(), columns);
        let gone: Vec<_> =
            each().flat_map(|(id, c)| c.forgotten.iter().map(move |key| (id, *key))).collect();
        let columns = columns!(gone, |(id, key)| *id, *key);
        self.add(FORGET, gone.len(), columns);
        let messages: Vec<_> =
            each().flat_map(|(id, c)| c.messages.iter().map(move |m| (id, m))).collect();
        let columns = columns!(
            messages,
            |(id, (key, (seq, message)))| *id,
            **key,
            kept(&message.id),
            number(*seq),
            kept(&message.role),
            kept(&message.content),
            message.timestamp.as_millisecond(),
            message.metadata.as_ref().and_then(|metadata| serde_json::to_string(metadata).ok())
        );
        self.add(MESSAGES, messages.len(), columns);
    }

    fn figures(&mut self, books: &'b [Book], slot: i16) {
        let mut tally = Tally::default();
        for (_, event) in books.iter().flat_map(|book| &book.events) {
            tally.add(event.event.timestamp, &event.effect.usage);
        }
        let minutes: Vec<_> = tally.minutes.into_iter().collect();
        let columns = columns!(
            minutes,
            |(minute, sums)| *minute,
            slot,
            sums.events,
            sums.errors,
            sums.prompt_tokens,
            sums.output_tokens
        );
        self.add(MINUTES, minutes.len(), columns);
        let mut tools = std::collections::BTreeMap::<String, crate::tally::ToolSums>::new();
        for (name, sums) in tally.tools {
            let name = kept(&name).chars().take(TOOL_NAME).collect();
            tools.entry(name).or_default().merge(&sums);
        }
        let tools: Vec<_> = tools.into_iter().collect();
        let columns = columns!(
            tools,
            |(name, sums)| name.clone(),
            slot,
            sums.calls,
            sums.errors,
            sums.timed,
            sums.total_ms,
            sums.max_ms
        );
        self.add(TOOLS, tools.len(), columns);
        let trimmed: u64 = books.iter().map(|book| book.trimmed).sum();
        if trimmed > 0 {
            self.removal(RemovalReason::TooManyEvents, slot, 0, trimmed);
        }
    }

    /// Counts what was removed.
    pub(super) fn removal(&mut self, why: RemovalReason, slot: i16, sessions: u64, events: u64) {
        let columns: Vec<Values<'b>> = vec![
            Box::new(why.as_str()),
            Box::new(slot),
            Box::new(signed(sessions)),
            Box::new(signed(events)),
        ];
        self.add(REMOVALS, 1, columns);
    }

    /// Writes everything and commits. If it fails, it is not known whether it was committed.
    pub(super) async fn commit(self, client: &Client) -> Result<(), Failure> {
        let mut prepared = Vec::with_capacity(self.statements.len());
        for (sql, _) in &self.statements {
            prepared.push(client.prepare_cached(sql).await?);
        }
        let written = self.statements.iter().zip(&prepared).map(|((_, columns), statement)| {
            client.execute_raw(
                statement,
                columns.iter().map(|column| &**column as &(dyn ToSql + Sync)),
            )
        });
        // If one fails, the server makes the commit an undoing.
        let (written, committed) = join(join_all(written), client.batch_execute("COMMIT")).await;
        for result in written {
            result?;
        }
        Ok(committed?)
    }
}

fn small(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}
