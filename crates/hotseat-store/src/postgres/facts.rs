//! Reading what the rules may ask for, for all sessions of a batch at once.
//!
//! The first thing a batch does is to lock the rows of its sessions, in the order of their ids,
//! so that batches of several processes wait for each other and never in a circle. What is read
//! after that is as the transactions before left it. All questions are sent together and
//! answered together.

use std::collections::{BTreeSet, HashMap};

use deadpool_postgres::Client;
use futures_util::future::{BoxFuture, join, join_all};
use hotseat_core::{Account, Kind, Seq, SessionId};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Row, Statement};
use uuid::Uuid;

use super::book::{Book, Removable};
use super::failure::Failure;
use super::text::key;
use super::{leases, row};
use crate::rules::Prepared;
use crate::{Limits, claim_on};

/// Events read at once when many may go.
const PAGE: i64 = 500;

const EVENTS: &str = "SELECT e.session_id, e.event_key, e.seq \
     FROM unnest($1::uuid[], $2::uuid[]) AS n (session_id, event_key) \
     JOIN events e ON e.session_id = n.session_id AND e.event_key = n.event_key";

const TURNS: &str = "SELECT t.session_id, t.turn_id, t.request_seq, t.response_seq \
     FROM unnest($1::uuid[], $2::uuid[]) AS n (session_id, turn_id) \
     JOIN turns t ON t.session_id = n.session_id AND t.turn_id = n.turn_id";

const PENDING: &str = "SELECT session_id, turn_id, request_seq, response_seq FROM turns \
     WHERE session_id = ANY ($1) AND response_seq IS NULL";

const ASKS: &str = "SELECT a.session_id, a.call_key, a.asked_seq, a.answer_seq \
     FROM unnest($1::uuid[], $2::uuid[]) AS n (session_id, call_key) \
     JOIN asks a ON a.session_id = n.session_id AND a.call_key = n.call_key";

const CLAIMS: &str = "SELECT l.session_id, l.subject, l.holder, l.since, l.until \
     FROM unnest($1::uuid[], $2::uuid[]) AS n (session_id, subject_key) \
     JOIN leases l ON l.session_id = n.session_id AND l.subject_key = n.subject_key";

const MESSAGES: &str =
    "SELECT session_id, message_key, seq FROM messages WHERE session_id = ANY ($1)";

const WORKERS: &str =
    "SELECT session_id, worker FROM run_leases WHERE session_id = ANY ($1) AND worker IS NOT NULL";

/// What a batch needs to know.
#[derive(Debug, Default)]
pub(super) struct Needs {
    sessions: BTreeSet<SessionId>,
    events: Pairs,
    turns: Pairs,
    pending: BTreeSet<SessionId>,
    asks: Pairs,
    messages: BTreeSet<SessionId>,
    claims: Pairs,
    workers: BTreeSet<SessionId>,
    /// How many events each session may get.
    coming: HashMap<SessionId, u64>,
}

/// Rows by session and a key within it.
#[derive(Debug, Default)]
struct Pairs {
    sessions: Vec<Uuid>,
    keys: Vec<Uuid>,
}

impl Pairs {
    fn push(&mut self, session: SessionId, key: Uuid) {
        self.sessions.push(session.uuid());
        self.keys.push(key);
    }
}

impl Needs {
    /// All that events may need.
    pub(super) fn events(&mut self, session: SessionId, events: &[Prepared], limits: &Limits) {
        self.sessions.insert(session);
        *self.coming.entry(session).or_default() += events.len() as u64;
        if limits.max_events_per_session.is_some() {
            self.pending.insert(session);
            self.messages.insert(session);
        }
        for Prepared { event, effect, by, worker, .. } in events {
            self.events.push(session, key(&event.event_id));
            if worker.is_some() {
                self.workers.insert(session);
            }
            if let Some(turn) = event.turn_id {
                self.turns.push(session, turn.uuid());
                self.pending.insert(session);
                if by.is_some() {
                    self.claims.push(session, key(&claim_on(turn)));
                }
            }
            for call in effect.asks.iter().chain(&effect.answers) {
                self.asks.push(session, key(call));
            }
            let written =
                event.kind == Kind::Message || matches!(effect.account, Account::Research(..));
            if written {
                self.messages.insert(session);
            }
        }
    }

    /// Whether the rows of the sessions and what is unique are enough to know.
    pub(super) fn only_rows(&self, limits: &Limits) -> bool {
        let pairs = [&self.turns, &self.asks, &self.claims];
        let sessions = [&self.pending, &self.messages, &self.workers];
        limits.max_events_per_session.is_none()
            && pairs.iter().all(|pairs| pairs.sessions.is_empty())
            && sessions.iter().all(|sessions| sessions.is_empty())
    }

    /// The sessions that it is about.
    pub(super) fn sessions(&self) -> impl Iterator<Item = SessionId> {
        self.sessions.iter().copied()
    }

    /// All that removing events may need.
    pub(super) fn removal(&mut self, session: SessionId) {
        self.sessions.insert(session);
        self.messages.insert(session);
    }
}

/// Begins a transaction, locks the sessions and reads what is needed.
pub(super) async fn load(
    client: &Client,
    needs: &Needs,
    limits: &Limits,
) -> Result<HashMap<SessionId, Book>, Failure> {
    let lock = format!(
        "SELECT {}, s.version FROM sessions s WHERE s.session_id = ANY ($1) \
         ORDER BY s.session_id FOR NO KEY UPDATE",
        row::SESSION
    );
    let sessions = uuids(&needs.sessions);
    let pending = uuids(&needs.pending);
    let messages = uuids(&needs.messages);
    let workers = uuids(&needs.workers);
    let questions: [(&str, Vec<&(dyn ToSql + Sync)>, bool); 8] = [
        (&lock, vec![&sessions], true),
        pairs(EVENTS, &needs.events),
        pairs(TURNS, &needs.turns),
        (PENDING, vec![&pending], !pending.is_empty()),
        pairs(ASKS, &needs.asks),
        (MESSAGES, vec![&messages], !messages.is_empty()),
        pairs(CLAIMS, &needs.claims),
        (WORKERS, vec![&workers], !workers.is_empty()),
    ];
    let answers = ask(client, &questions).await?;
    let mut books: HashMap<SessionId, Book> =
        needs.sessions.iter().map(|id| (*id, Book::new(*id))).collect();
    for (number, rows) in answers.iter().enumerate() {
        for found in rows {
            let Some(book) = books.get_mut(&row::session_id(found, 0)?) else { continue };
            match number {
                0 => {
                    book.session = Some(row::session(found)?);
                    book.version = row::get(found, row::SESSION_COLUMNS)?;
                }
                1 => {
                    book.known.events.insert(row::get(found, 1)?, row::seq(found, 2)?);
                }
                2 | 3 => {
                    let turn = row::turn(found)?;
                    book.known.turns.insert(turn.turn_id, (turn.request, turn.response));
                    if turn.response.is_none() {
                        book.known.pending.insert(turn.request, turn.turn_id);
                    }
                }
                4 => {
                    let places = (row::seq(found, 2)?, row::seq_if(found, 3)?);
                    book.known.asks.insert(row::get(found, 1)?, places);
                }
                5 => {
                    book.known.messages.insert(row::get(found, 1)?, row::seq(found, 2)?);
                }
                6 => {
                    let claim = leases::read(found)?;
                    book.known.claims.insert(claim.subject.clone(), claim);
                }
                _ => book.known.last_worker = Some(row::text(found, 1)?),
            }
        }
    }
    if let Some(keep) = limits.max_events_per_session {
        for (id, coming) in &needs.coming {
            let Some(book) = books.get_mut(id) else { continue };
            let Some(session) = &book.session else { continue };
            let through = (session.last_seq.get() + coming).saturating_sub(keep);
            removable(client, book, Seq::new(through)).await?;
        }
    }
    Ok(books)
}

fn uuids(sessions: &BTreeSet<SessionId>) -> Vec<Uuid> {
    sessions.iter().map(|session| session.uuid()).collect()
}

fn pairs<'p>(
    question: &'static str,
    pairs: &'p Pairs,
) -> (&'static str, Vec<&'p (dyn ToSql + Sync)>, bool) {
    (question, vec![&pairs.sessions, &pairs.keys], !pairs.sessions.is_empty())
}

/// Begins a transaction and asks what has to be asked. A question that need not be asked has no
/// answer.
async fn ask(
    client: &Client,
    questions: &[(&str, Vec<&(dyn ToSql + Sync)>, bool)],
) -> Result<Vec<Vec<Row>>, Failure> {
    let mut statements: Vec<Option<Statement>> = Vec::new();
    for (question, _, needed) in questions {
        statements.push(if *needed { Some(client.prepare_cached(question).await?) } else { None });
    }
    let asked = questions.iter().zip(&statements).map(|((_, parameters, _), statement)| {
        let answer: BoxFuture<'_, Result<Vec<Row>, tokio_postgres::Error>> = match statement {
            Some(statement) => Box::pin(client.query(statement, parameters)),
            None => Box::pin(std::future::ready(Ok(Vec::new()))),
        };
        answer
    });
    let (begun, answers) = join(client.batch_execute("BEGIN"), join_all(asked)).await;
    begun?;
    Ok(answers.into_iter().collect::<Result<_, _>>()?)
}

/// Reads the events up to `through`, which may have to go.
pub(super) async fn removable(
    client: &Client,
    book: &mut Book,
    through: Seq,
) -> Result<(), Failure> {
    let sql = format!(
        "SELECT {} FROM events e WHERE e.session_id = $1 AND e.seq > $2 AND e.seq <= $3 \
         ORDER BY e.seq LIMIT {PAGE}",
        row::EVENT
    );
    let statement = client.prepare_cached(&sql).await?;
    let mut after = Seq::START;
    loop {
        let (id, from, to) = (book.id.uuid(), row::number(after), row::number(through));
        let rows = client.query(&statement, &[&id, &from, &to]).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = row::seq(last, 1)?;
        for found in &rows {
            let event = row::event(found)?;
            book.removable.push(Removable::of(event.seq, &event.entry));
        }
    }
}
