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
        let settled = in_transaction(&self.connection, |connection| {
            self.tail.refresh(connection)?;
            self.tail.settle_some(connection, SLICE).map(|_| ())
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
        in_transaction(connection, |connection| {
            tail.refresh(connection)?;
            let mut work = Work::new(connection, tail, hub);
            for job in batch.drain(..) {
                match job {
                    Job::Append(append) => do_append(&mut work, limits, append, outcome)?,
                    Job::Other(task) => do_task(&mut work, task, Refusal::IsUndone, outcome)?,
                    Job::Sure(task) => do_task(&mut work, task, Refusal::IsFailure, outcome)?,
                }
            }
            drop(work);
            Ok(tail.settle_excess(connection)?)
        })
    }
}

/// What becomes of a piece of work that may not stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    /// What it wrote is taken back.
    IsUndone,
    /// It fails only where the database does, and all else with it.
    IsFailure,
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

/// Commits what `work` does, or nothing of it.
fn in_transaction<E: From<rusqlite::Error>>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<(), E>,
) -> Result<(), E> {
    execute(connection, "BEGIN IMMEDIATE")?;
    let done = work(connection).and_then(|()| Ok(execute(connection, "COMMIT")?));
    // Some failures end a transaction by themselves. Where it cannot be ended, the next one
    // cannot begin, and says so.
    if done.is_err() && !connection.is_autocommit() {
        let _ = execute(connection, "ROLLBACK");
    }
    done
}

fn execute(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.execute([]).map(|_| ())
}

fn do_append(
    work: &mut Work<'_>,
    limits: &Limits,
    append: Append,
    outcome: &mut Outcome,
) -> Result<(), WriteError> {
    let Append { session, expected, events, reply } = append;
    let may_break_off = rules::may_break_off(&events);
    if may_break_off {
        execute(work.connection, "SAVEPOINT append")?;
    }
    let before = work.tail.changes();
    let result = session_rows::append(work, limits, session, expected, events);
    match &result {
        Ok(_) => outcome.wakes.append(&mut work.wakes),
        Err(_) if may_break_off => {
            execute(work.connection, "ROLLBACK TO append")?;
            undo(work, before)?;
        }
        Err(AppendError::Store(error)) => {
            let cause = std::error::Error::source(error).map(ToString::to_string);
            let text = format!("{error}: {}", cause.unwrap_or_default());
            outcome.appends.push((reply, result));
            return Err(WriteError::HalfWritten(text));
        }
        // It was refused before it wrote anything.
        Err(_) => work.wakes.clear(),
    }
    if may_break_off {
        execute(work.connection, "RELEASE append")?;
    }
    outcome.appends.push((reply, result));
    Ok(())
}

fn do_task(
    work: &mut Work<'_>,
    task: Task,
    refusal: Refusal,
    outcome: &mut Outcome,
) -> Result<(), WriteError> {
    if refusal == Refusal::IsUndone {
        execute(work.connection, "SAVEPOINT task")?;
    }
    let before = work.tail.changes();
    let (stays, answer) = task(work);
    outcome.others.push(answer);
    match (stays, refusal) {
        (true, _) => outcome.wakes.append(&mut work.wakes),
        (false, Refusal::IsUndone) => {
            execute(work.connection, "ROLLBACK TO task")?;
            undo(work, before)?;
        }
        (false, Refusal::IsFailure) => {
            return Err(WriteError::HalfWritten("a write failed".to_owned()));
        }
    }
    if refusal == Refusal::IsUndone {
        execute(work.connection, "RELEASE task")?;
    }
    Ok(())
}

/// After a rollback: what is remembered must be what is there.
fn undo(work: &mut Work<'_>, before: u64) -> rusqlite::Result<()> {
    work.wakes.clear();
    if work.tail.changes() == before {
        return Ok(());
    }
    work.tail.doubt();
    work.tail.refresh(work.connection)
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
