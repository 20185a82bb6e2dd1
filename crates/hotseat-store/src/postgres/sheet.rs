//! Writing what a batch changed, many rows with each statement.
//!
//! A [`Sheet`] gathers the rows of all sessions by table. Its statements are sent together, with
//! the commit behind them, so that a batch of any size takes one way to the database and back.
//! Rows that several writers may change are written in the order of their keys, so that writers
//! wait for each other and never in a circle.

mod statements;

use deadpool_postgres::Client;
use futures_util::future::{join_all, join3};
use hotseat_core::SessionId;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::book::Book;
use super::failure::Failure;
use super::row::{number, signed};
use super::text::{kept, kept_if, key};
use crate::tally::Tally;
use crate::{RemovalReason, Session};
pub(super) use statements::REMOVALS;
use statements::{
    ASKS, AUDIT, CREATE, EVENTS, FORGET, MESSAGES, MINUTES, PLACED_EVENTS, REMOVE, SHARED, STATE,
    SUMMARISE, TOOLS, TURNS, UNINDEXED,
};

/// Characters of a tool's name in the figures.
const TOOL_NAME: usize = 200;

/// A value of a column.
pub(super) type Values<'b> = Box<dyn ToSql + Sync + Send + 'b>;

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

#[expect(unused_variables, reason = "every column is made from some of a row's values")]
impl<'b> Sheet<'b> {
    /// All that `books` changed, in the order of their sessions.
    pub(super) fn of(books: &'b [Book], slot: i16) -> Self {
        let mut sheet = Self::of_sessions(books);
        let (rows, columns) = event_columns(books);
        sheet.add(EVENTS, rows, columns);
        sheet.unindexed(books);
        sheet.removed(books);
        sheet.acts(books);
        let mut tally = Tally::default();
        for (_, event) in books.iter().flat_map(|book| &book.events) {
            tally.add(event.event.timestamp, &event.effect.usage);
        }
        sheet.figures(&tally, slot);
        let trimmed: u64 = books.iter().map(|book| book.trimmed).sum();
        if trimmed > 0 {
            sheet.removal(RemovalReason::TooManyEvents, slot, 0, trimmed);
        }
        sheet
    }

    /// Sessions and what is derived from their events.
    pub(super) fn of_sessions(books: &'b [Book]) -> Self {
        let mut sheet = Self { statements: Vec::new() };
        sheet.sessions(books);
        sheet.derived(books);
        sheet
    }

    /// Events that have their places.
    pub(super) fn of_events(books: &'b [Book], places: Vec<i64>) -> Self {
        let mut sheet = Self { statements: Vec::new() };
        let (rows, mut columns) = event_columns(books);
        columns.push(Box::new(places));
        sheet.add(PLACED_EVENTS, rows, columns);
        sheet.unindexed(books);
        sheet
    }

    /// Figures.
    pub(super) fn of_figures(tally: &Tally, slot: i16) -> Self {
        let mut sheet = Self { statements: Vec::new() };
        sheet.figures(tally, slot);
        sheet
    }

    /// State that sessions share.
    pub(super) fn shared(&mut self, rows: usize, columns: Vec<Values<'b>>) {
        self.add(SHARED, rows, columns);
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
        let touched: Vec<(&Session, i64)> = books
            .iter()
            .filter(|book| book.touched)
            .filter_map(|book| Some((book.session.as_ref()?, book.version)))
            .collect();
        let columns = columns!(
            touched,
            |(s, version)| s.id.uuid(),
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
            kept_if(s.record.error.as_ref()),
            s.incarnation,
            *version
        );
        self.add(SUMMARISE, touched.len(), columns);
    }

    fn unindexed(&mut self, books: &'b [Book]) {
        let written: Vec<Uuid> =
            books.iter().filter(|book| !book.events.is_empty()).map(|b| b.id.uuid()).collect();
        self.add(UNINDEXED, written.len(), vec![Box::new(written)]);
    }

    /// What the audit says of answers. Each is known by its answer.
    fn acts(&mut self, books: &'b [Book]) {
        let answers = books.iter().flat_map(|book| {
            book.events.iter().filter_map(move |(seq, answer)| {
                Some((key(&answer.event.event_id), answer.audit_entry(book.id, *seq)?))
            })
        });
        let acts: Vec<_> = answers.collect();
        let columns: Vec<Values<'b>> = vec![
            Box::new(acts.iter().map(|(key, _)| *key).collect::<Vec<_>>()),
            Box::new(acts.iter().map(|(_, act)| act.at.as_millisecond()).collect::<Vec<_>>()),
            Box::new(acts.iter().map(|(_, act)| kept(&act.actor).into_owned()).collect::<Vec<_>>()),
            Box::new(acts.iter().map(|(_, act)| act.action.as_str()).collect::<Vec<_>>()),
            Box::new(acts.iter().map(|(_, act)| act.subject.clone()).collect::<Vec<_>>()),
            Box::new(
                acts.iter().map(|(_, act)| act.session.map(SessionId::uuid)).collect::<Vec<_>>(),
            ),
            Box::new(acts.iter().map(|(_, act)| act.detail.to_string()).collect::<Vec<_>>()),
        ];
        self.add(AUDIT, acts.len(), columns);
    }

    /// Events that limits removed. Turns are written before, and those that are answered go
    /// here again.
    fn removed(&mut self, books: &'b [Book]) {
        let cut: Vec<_> =
            books.iter().filter_map(|b| Some((b.id.uuid(), b.changes.removed_through?))).collect();
        for statement in REMOVE {
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
        self.add(TURNS, turns.len(), columns);
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

    fn figures(&mut self, tally: &Tally, slot: i16) {
        let minutes: Vec<_> = tally.minutes.iter().collect();
        let columns = columns!(
            minutes,
            |(minute, sums)| **minute,
            slot,
            sums.events,
            sums.errors,
            sums.prompt_tokens,
            sums.output_tokens
        );
        self.add(MINUTES, minutes.len(), columns);
        let mut tools = std::collections::BTreeMap::<String, crate::tally::ToolSums>::new();
        for (name, sums) in &tally.tools {
            let name: String = name.chars().take(TOOL_NAME).collect();
            tools.entry(kept(&name).into_owned()).or_default().merge(sums);
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

    /// Writes everything and commits, in a transaction that has begun. If it fails, it is not
    /// known whether it was committed.
    pub(super) async fn commit(self, client: &Client) -> Result<(), Failure> {
        self.send(client, std::future::ready(Ok(()))).await
    }

    /// The same in a transaction of its own, with one way to the database and back.
    pub(super) async fn transact(self, client: &Client) -> Result<(), Failure> {
        self.send(client, client.batch_execute("BEGIN")).await
    }

    async fn send(
        self,
        client: &Client,
        opening: impl Future<Output = Result<(), tokio_postgres::Error>>,
    ) -> Result<(), Failure> {
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
        let (begun, written, committed) =
            join3(opening, join_all(written), client.batch_execute("COMMIT")).await;
        begun?;
        for result in written {
            result?;
        }
        Ok(committed?)
    }
}

fn small(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

/// The columns of events, with how many rows they have.
#[expect(unused_variables, reason = "every column is made from some of a row's values")]
fn event_columns(books: &[Book]) -> (usize, Vec<Values<'_>>) {
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
        event.event.turn_id.map(hotseat_core::TurnId::uuid),
        kept(&event.event.agent_name),
        kept_if(event.event.invocation_id.as_ref()),
        kept(&event.event.author),
        kept_if(event.event.branch.as_ref()),
        kept_if(event.event.parent_call_id.as_ref()),
        signed(event.event.payload.get().len() as u64),
        event.compressed.is_some(),
        event.compressed.as_deref().unwrap_or(event.event.payload.get().as_bytes()),
        event.effect.event_type.as_deref().map(key)
    );
    (rows.len(), columns)
}
