//! The one thread that writes.
//!
//! SQLite has one writer at a time anyway; giving it one thread turns lock
//! contention into a queue, and lets one disk sync carry every append that
//! arrived while the sync before it ran (group commit). Each operation runs in a
//! savepoint of its own, so a refused one leaves no trace in the batch. Answers
//! and wake-ups go out only after the commit.

use std::path::Path;

use hotseat_core::{NewEvent, Seq, SessionId, TurnId};
use rusqlite::{Connection, OptionalExtension, Savepoint, params};
use tokio::sync::{mpsc, oneshot};

use super::row::{self, number, seq};
use crate::hub::Hub;
use crate::rules::{self, Ledger};
use crate::{AppendError, Appended, Created, Expected, NewSession, Session, StoreError};

/// Operations that may wait for the writer; beyond this, callers wait to enqueue.
pub(super) const QUEUE: usize = 4096;

/// Operations in one commit. More would only make the first one wait longer.
const BATCH: usize = 1024;

/// One thing to write, and where to answer.
pub(super) enum Operation {
    Create(NewSession, oneshot::Sender<Result<Created, StoreError>>),
    Append {
        session: SessionId,
        expected: Expected,
        events: Vec<NewEvent>,
        reply: oneshot::Sender<Result<Appended, AppendError>>,
    },
    Delete(SessionId, oneshot::Sender<Result<bool, StoreError>>),
}

/// An operation that was carried out and waits for the commit.
#[expect(
    clippy::large_enum_variant,
    reason = "lives only until the commit, in a list that is reused"
)]
enum Done {
    Create(Result<Created, StoreError>, oneshot::Sender<Result<Created, StoreError>>),
    Append(
        SessionId,
        Result<Appended, AppendError>,
        oneshot::Sender<Result<Appended, AppendError>>,
    ),
    Delete(SessionId, Result<bool, StoreError>, oneshot::Sender<Result<bool, StoreError>>),
}

/// Starts the thread. It ends when every sender is gone, after the last commit.
pub(super) fn start(
    path: &Path,
    mut connection: Connection,
    hub: Hub,
) -> std::io::Result<mpsc::Sender<Operation>> {
    let (sender, mut receiver) = mpsc::channel(QUEUE);
    let name = format!("writer {}", path.display());
    std::thread::Builder::new().name(name).spawn(move || {
        let mut batch = Vec::with_capacity(BATCH);
        while let Some(first) = receiver.blocking_recv() {
            batch.push(first);
            while batch.len() < BATCH
                && let Ok(next) = receiver.try_recv()
            {
                batch.push(next);
            }
            commit(&mut connection, &hub, &mut batch);
        }
    })?;
    Ok(sender)
}

fn commit(connection: &mut Connection, hub: &Hub, batch: &mut Vec<Operation>) {
    let mut done = Vec::with_capacity(batch.len());
    match write(connection, batch, &mut done) {
        Ok(()) => done.into_iter().for_each(|done| done.answer(hub)),
        Err(error) => {
            let message = error.to_string();
            for done in done {
                done.fail(&message);
            }
            // Operations that were not reached are answered by dropping their senders.
            batch.clear();
        }
    }
}

fn write(
    connection: &mut Connection,
    batch: &mut Vec<Operation>,
    done: &mut Vec<Done>,
) -> rusqlite::Result<()> {
    let mut transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for operation in batch.drain(..) {
        let mut savepoint = transaction.savepoint()?;
        let result = perform(&mut savepoint, operation);
        if result.failed() {
            savepoint.rollback()?;
        }
        savepoint.commit()?;
        done.push(result);
    }
    transaction.commit()
}

fn perform(savepoint: &mut Savepoint<'_>, operation: Operation) -> Done {
    match operation {
        Operation::Create(new, reply) => Done::Create(create(savepoint, new), reply),
        Operation::Append { session, expected, events, reply } => {
            Done::Append(session, append(savepoint, session, expected, &events), reply)
        }
        Operation::Delete(session, reply) => {
            let deleted = savepoint
                .execute("DELETE FROM sessions WHERE id = ?1", [session.to_string()])
                .map(|rows| rows > 0)
                .map_err(StoreError::backend("delete a session"));
            Done::Delete(session, deleted, reply)
        }
    }
}

fn create(savepoint: &Savepoint<'_>, new: NewSession) -> Result<Created, StoreError> {
    if let Some(existing) = find(savepoint, new.id)? {
        return Ok(Created::Existing(existing));
    }
    let session = Session::fresh(new);
    savepoint
        .prepare_cached(
            "INSERT INTO sessions (id, created_at, updated_at, description, agent, app_name, user_id, source) \
             VALUES (?1, ?2, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                session.id.to_string(),
                session.created_at.as_millisecond(),
                session.description,
                session.agent,
                session.app_name,
                session.user_id,
                session.source,
            ])
        })
        .map_err(StoreError::backend("create a session"))?;
    Ok(Created::New(session))
}

fn append(
    savepoint: &Savepoint<'_>,
    id: SessionId,
    expected: Expected,
    events: &[NewEvent],
) -> Result<Appended, AppendError> {
    let mut session = find(savepoint, id)?.ok_or(AppendError::NoSession { session: id })?;
    let mut ledger = SessionLedger { savepoint, session: id, key: id.to_string() };
    let appended = rules::apply(&mut session, expected, events, &mut ledger)?;
    if appended.new > 0 {
        update(savepoint, &session)?;
    }
    Ok(appended)
}

fn find(savepoint: &Savepoint<'_>, id: SessionId) -> Result<Option<Session>, StoreError> {
    row::find_session(savepoint, id).map_err(StoreError::backend("read a session"))
}

fn update(savepoint: &Savepoint<'_>, session: &Session) -> Result<(), StoreError> {
    savepoint
        .prepare_cached(
            "UPDATE sessions SET updated_at = ?2, title = ?3, status = ?4, last_seq = ?5, \
             pending_turns = ?6, run_id = ?7, run_status = ?8, run_since = ?9 WHERE id = ?1",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                session.id.to_string(),
                session.updated_at.as_millisecond(),
                session.title,
                session.status.as_str(),
                number(session.last_seq),
                session.pending_turns,
                session.run.as_ref().map(|run| &run.run_id),
                session.run.as_ref().map(|run| &run.status),
                session.run.as_ref().map(|run| run.since.as_millisecond()),
            ])
        })
        .map(|_| ())
        .map_err(StoreError::backend("update a session's summary"))
}

/// One session's rows, within the savepoint of one append.
struct SessionLedger<'s, 'c> {
    savepoint: &'s Savepoint<'c>,
    session: SessionId,
    key: String,
}

impl Ledger for SessionLedger<'_, '_> {
    fn seq_of(&mut self, event_id: &str) -> Result<Option<Seq>, StoreError> {
        self.savepoint
            .prepare_cached("SELECT seq FROM events WHERE session_id = ?1 AND event_id = ?2")
            .and_then(|mut statement| {
                statement
                    .query_row(params![self.key, event_id], |row| row.get(0).map(seq))
                    .optional()
            })
            .map_err(StoreError::backend("look for an event"))
    }

    fn turn(&mut self, turn: TurnId) -> Result<Option<(Seq, Option<Seq>)>, StoreError> {
        self.savepoint
            .prepare_cached(
                "SELECT request_seq, response_seq FROM turns WHERE session_id = ?1 AND turn_id = ?2",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![self.key, turn.to_string()], |row| {
                        Ok((seq(row.get(0)?), row.get::<_, Option<i64>>(1)?.map(seq)))
                    })
                    .optional()
            })
            .map_err(StoreError::backend("look for a turn"))
    }

    fn head(&mut self) -> Result<Option<TurnId>, StoreError> {
        let head: Option<String> = self
            .savepoint
            .prepare_cached(
                "SELECT turn_id FROM turns WHERE session_id = ?1 AND response_seq IS NULL \
                 ORDER BY request_seq LIMIT 1",
            )
            .and_then(|mut statement| statement.query_row([&self.key], |row| row.get(0)).optional())
            .map_err(StoreError::backend("find the head of a queue"))?;
        Ok(head.and_then(|head| head.parse().ok()))
    }

    fn insert(&mut self, seq: Seq, event: &NewEvent) -> Result<(), StoreError> {
        self.savepoint
            .prepare_cached(row::INSERT_EVENT)
            .and_then(|mut statement| row::insert_event(&mut statement, self.session, seq, event))
            .map(|_| ())
            .map_err(StoreError::backend("insert an event"))
    }

    fn open_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError> {
        self.savepoint
            .prepare_cached(
                "INSERT INTO turns (session_id, turn_id, request_seq) VALUES (?1, ?2, ?3)",
            )
            .and_then(|mut statement| {
                statement.execute(params![self.key, turn.to_string(), number(seq)])
            })
            .map(|_| ())
            .map_err(StoreError::backend("open a turn"))
    }

    fn close_turn(&mut self, turn: TurnId, seq: Seq) -> Result<(), StoreError> {
        self.savepoint
            .prepare_cached(
                "UPDATE turns SET response_seq = ?3 WHERE session_id = ?1 AND turn_id = ?2",
            )
            .and_then(|mut statement| {
                statement.execute(params![self.key, turn.to_string(), number(seq)])
            })
            .map(|_| ())
            .map_err(StoreError::backend("close a turn"))
    }
}

impl Done {
    fn failed(&self) -> bool {
        match self {
            Self::Create(result, _) => result.is_err(),
            Self::Append(_, result, _) => result.is_err(),
            Self::Delete(_, result, _) => result.is_err(),
        }
    }

    /// Answers after the commit. A caller that went away does not matter.
    fn answer(self, hub: &Hub) {
        match self {
            Self::Create(result, reply) => {
                if let Ok(Created::New(session)) = &result {
                    hub.grew(session.id, Seq::START);
                }
                let _ = reply.send(result);
            }
            Self::Append(session, result, reply) => {
                if let Ok(appended) = &result
                    && appended.new > 0
                {
                    hub.grew(session, appended.last_seq);
                }
                let _ = reply.send(result);
            }
            Self::Delete(session, result, reply) => {
                if matches!(result, Ok(true)) {
                    hub.deleted(session);
                }
                let _ = reply.send(result);
            }
        }
    }

    /// Answers when the commit failed, and with it every operation of the batch.
    fn fail(self, message: &str) {
        let error = || StoreError::Backend { action: "commit", source: message.to_owned().into() };
        match self {
            Self::Create(_, reply) => drop(reply.send(Err(error()))),
            Self::Append(_, _, reply) => drop(reply.send(Err(error().into()))),
            Self::Delete(_, _, reply) => drop(reply.send(Err(error()))),
        }
    }
}
