//! One commit: everything that waited, in one transaction.
//!
//! Work that can be refused half-way runs in a savepoint of its own, so a refused one leaves no
//! trace in the batch. Answers and wake-ups go out only after the commit. Every commit
//! settles its share of the events that wait for it, and a writer with nothing to do settles
//! the rest.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rusqlite::Connection;

use super::checkpoint::Checkpoints;
use super::queue::Found;
use super::tail::Tail;
use super::writer::{Answer, Append, Desk, Job, Reply, Task, Work};
use super::{schema, session_rows};
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

/// What is written with, by one at a time.
pub(super) struct Pen {
    pub(super) connection: Connection,
    pub(super) hub: Hub,
    pub(super) limits: Arc<Limits>,
    pub(super) tail: Tail,
    pub(super) checkpoints: Checkpoints,
    /// Somebody wrote since the thread last looked.
    pub(super) wrote: bool,
    /// The thread waits until it is called: when it last looked, nothing was left to settle.
    pub(super) is_left_alone: bool,
}

/// The thread: commits what comes until nobody is left to send anything.
pub(super) fn run(desk: &Desk) {
    let mut batch = Vec::with_capacity(BATCH);
    let mut patience = None;
    loop {
        let found = desk.queue.take(&mut batch, BATCH, patience);
        // Who fell with the pen in hand may have left anything behind.
        let Ok(mut pen) = desk.pen.lock() else { break };
        let mut quiet = QUIET;
        match found {
            Found::Work => {
                desk.calm.store(batch.len() == 1, Ordering::Relaxed);
                let begun = begin(&pen.connection);
                pen.commit(&mut batch, begun);
            }
            // One slice after the other until there is work: a session whose events wait is
            // slower to read. What fails stays unsettled, and is tried again after a while.
            Found::Quiet if !pen.wrote && pen.settle() => quiet = Duration::ZERO,
            Found::Quiet | Found::Nudge => {}
            Found::End => break,
        }
        let Pen { connection, checkpoints, tail, wrote, is_left_alone, .. } = &mut *pen;
        checkpoints.look_after(connection);
        (*wrote, *is_left_alone) = (false, tail.is_empty());
        patience = (!*is_left_alone).then_some(quiet);
    }
}

impl Pen {
    /// Commits one piece of work, unless another process writes: whoever comes here cannot wait
    /// for that, and gets the work back.
    pub(super) fn commit_at_once(&mut self, job: Job) -> Option<Job> {
        let begun =
            self.connection.busy_timeout(Duration::ZERO).and_then(|()| begin(&self.connection));
        // That a connection is open is all that this needs.
        let _ = self.connection.busy_timeout(schema::BUSY_TIMEOUT);
        if begun.is_err() {
            return Some(job);
        }
        self.commit(&mut vec![job], begun);
        None
    }

    /// Whether the thread has to be called: to settle, or to see to the write-ahead log.
    pub(super) fn needs_thread(&mut self) -> bool {
        let to_settle = !self.tail.is_empty();
        let needed = self.is_left_alone && (to_settle || self.checkpoints.are_due());
        self.is_left_alone &= !needed;
        needed
    }

    /// Settles a slice, and says whether it could.
    fn settle(&mut self) -> bool {
        let begun = begin(&self.connection);
        let settled = in_transaction(&self.connection, begun, |connection| {
            self.tail.refresh(connection)?;
            self.tail.settle_some(connection, SLICE).map(|_| ())
        });
        match &settled {
            Ok(()) => self.tail.show(),
            Err(_) => self.tail.doubt(),
        }
        settled.is_ok()
    }

    fn commit(&mut self, batch: &mut Vec<Job>, begun: rusqlite::Result<()>) {
        self.wrote = true;
        let mut outcome = Outcome::default();
        let failure = self.write(batch, begun, &mut outcome).err().map(|error| error.to_string());
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

    fn write(
        &mut self,
        batch: &mut Vec<Job>,
        begun: rusqlite::Result<()>,
        outcome: &mut Outcome,
    ) -> Result<(), WriteError> {
        let Self { connection, limits, tail, hub, .. } = self;
        in_transaction(connection, begun, |connection| {
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

fn begin(connection: &Connection) -> rusqlite::Result<()> {
    execute(connection, "BEGIN IMMEDIATE")
}

/// Commits what `work` does in a transaction that has begun, or nothing of it.
fn in_transaction<E: From<rusqlite::Error>>(
    connection: &Connection,
    begun: rusqlite::Result<()>,
    work: impl FnOnce(&Connection) -> Result<(), E>,
) -> Result<(), E> {
    begun?;
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
