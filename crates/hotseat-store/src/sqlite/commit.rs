//! One commit: everything that waited, in one transaction.
//!
//! Work that can be refused half-way runs in a savepoint of its own, so a refused one leaves no
//! trace in the batch. Answers and wake-ups go out only after the commit. Every commit
//! settles its share of the events that wait for it, and a writer with nothing to do settles
//! the rest.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;

use super::checkpoint::Checkpoints;
use super::queue::{Found, Queue};
use super::session_rows;
use super::tail::Tail;
use super::writer::{Answer, Append, Job, Reply, Task, Work};
use crate::hub::{Hub, Wake};
use crate::rules;
use crate::{AppendError, Appended, Limits, StoreError};

/// Pieces of work in one commit. More would only make the first one wait longer.
const BATCH: usize = 1024;

/// How long nothing comes before the writer settles what waits.
const QUIET: Duration = Duration::from_millis(100);

/// Events settled in one commit when nothing else is to be done: an append that comes then
/// waits for a few milliseconds.
pub(super) const SLICE: usize = 256;

/// What is to be said after the commit.
#[derive(Default)]
struct Outcome {
    appends: Vec<(Reply, Result<Appended, AppendError>)>,
    others: Vec<Answer>,
    wakes: Vec<Wake>,
}

/// What the writer's thread works with.
pub(super) struct Thread {
    pub(super) connection: Connection,
    pub(super) hub: Hub,
    pub(super) limits: Arc<Limits>,
    pub(super) tail: Tail,
    pub(super) checkpoints: Checkpoints,
}

impl Thread {
    /// Commits what comes until nobody is left to send anything.
    pub(super) fn run(mut self, queue: &Queue<Job>) {
        let mut batch = Vec::with_capacity(BATCH);
        let mut quiet = QUIET;
        loop {
            let patience = (!self.tail.is_empty()).then_some(quiet);
            match queue.take(&mut batch, BATCH, patience) {
                Found::Work => {
                    self.commit(&mut batch);
                    quiet = QUIET;
                }
                // One slice after the other until there is work: a session whose events wait is
                // slower to read. What fails stays unsettled, and is tried again after a while.
                Found::Quiet => quiet = if self.settle() { Duration::ZERO } else { QUIET },
                Found::End => break,
            }
            self.checkpoints.look_after(&self.connection);
        }
    }

    /// Settles a slice, and says whether it could.
    fn settle(&mut self) -> bool {
        let settled = in_transaction(&mut self.connection, |transaction| {
            self.tail.refresh(transaction)?;
            self.tail.settle_some(transaction, SLICE).map(|_| ())
        });
        match &settled {
            Ok(()) => self.tail.show(),
            Err(_) => self.tail.doubt(),
        }
        settled.is_ok()
    }

    fn commit(&mut self, batch: &mut Vec<Job>) {
        let mut outcome = Outcome::default();
        let failure = self.write(batch, &mut outcome).err().map(|error| error.to_string());
        match failure {
            None => self.tail.show(),
            Some(_) => self.tail.doubt(),
        }
        // Work that was not reached is answered by dropping its sender.
        batch.clear();
        if failure.is_none() {
            self.hub.wake(outcome.wakes);
        }
        for (reply, result) in outcome.appends {
            // A caller that went away does not matter.
            let _ = reply.send(unless_failed(result, failure.as_deref()));
        }
        for answer in outcome.others {
            answer(failure.as_deref());
        }
    }

    fn write(&mut self, batch: &mut Vec<Job>, outcome: &mut Outcome) -> Result<(), WriteError> {
        let Self { connection, limits, tail, hub, .. } = self;
        let transaction =
            connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        tail.refresh(&transaction)?;
        for job in batch.drain(..) {
            match job {
                Job::Append(append) => do_append(&transaction, limits, tail, hub, append, outcome)?,
                Job::Other(task) => do_other(&transaction, tail, hub, task, outcome)?,
                Job::Sure(task) => do_surely(&transaction, tail, hub, task, outcome)?,
            }
        }
        tail.settle_excess(&transaction)?;
        Ok(transaction.commit()?)
    }
}

/// Why a commit did not come about.
#[derive(Debug, thiserror::Error)]
enum WriteError {
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// Something that needs no savepoint failed after it had begun to write.
    #[error("{0}")]
    HalfWritten(String),
}

fn in_transaction(
    connection: &mut Connection,
    work: impl FnOnce(&Connection) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    work(&transaction)?;
    transaction.commit()
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

fn do_append(
    connection: &Connection,
    limits: &Limits,
    tail: &mut Tail,
    hub: &Hub,
    append: Append,
    outcome: &mut Outcome,
) -> Result<(), WriteError> {
    let Append { session, expected, events, reply } = append;
    let may_break_off = rules::may_break_off(&events);
    if may_break_off {
        execute(connection, "SAVEPOINT append")?;
    }
    let before = tail.changes();
    let mut work = Work::new(connection, tail, hub);
    let result = session_rows::append(&mut work, limits, session, expected, events);
    let wakes = work.wakes;
    match &result {
        Ok(_) => outcome.wakes.extend(wakes),
        Err(_) if may_break_off => {
            execute(connection, "ROLLBACK TO append")?;
            undo(connection, tail, before)?;
        }
        Err(AppendError::Store(error)) => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let text = format!("{error}: {}", cause.unwrap_or_default());
            outcome.appends.push((reply, result));
            return Err(WriteError::HalfWritten(text));
        }
        Err(_) => {}
    }
    if may_break_off {
        execute(connection, "RELEASE append")?;
    }
    outcome.appends.push((reply, result));
    Ok(())
}

fn do_other(
    connection: &Connection,
    tail: &mut Tail,
    hub: &Hub,
    task: Task,
    outcome: &mut Outcome,
) -> Result<(), WriteError> {
    execute(connection, "SAVEPOINT task")?;
    let before = tail.changes();
    let mut work = Work::new(connection, tail, hub);
    let (stays, answer) = task(&mut work);
    let wakes = work.wakes;
    outcome.others.push(answer);
    if stays {
        outcome.wakes.extend(wakes);
    } else {
        execute(connection, "ROLLBACK TO task")?;
        undo(connection, tail, before)?;
    }
    Ok(execute(connection, "RELEASE task")?)
}

fn do_surely(
    connection: &Connection,
    tail: &mut Tail,
    hub: &Hub,
    task: Task,
    outcome: &mut Outcome,
) -> Result<(), WriteError> {
    let mut work = Work::new(connection, tail, hub);
    let (stays, answer) = task(&mut work);
    outcome.wakes.append(&mut work.wakes);
    outcome.others.push(answer);
    if stays { Ok(()) } else { Err(WriteError::HalfWritten("a write failed".to_owned())) }
}

/// After a rollback: what is remembered must be what is there.
fn undo(connection: &Connection, tail: &mut Tail, before: u64) -> rusqlite::Result<()> {
    if tail.changes() == before {
        return Ok(());
    }
    tail.doubt();
    tail.refresh(connection)
}

/// The answer, unless the commit failed that it depended on.
pub(super) fn unless_failed<T, E: From<StoreError>>(
    result: Result<T, E>,
    failure: Option<&str>,
) -> Result<T, E> {
    match (failure, result) {
        (Some(message), Ok(_)) => {
            let source = message.to_owned().into();
            Err(StoreError::Backend { action: "commit", source }.into())
        }
        (_, result) => result,
    }
}
