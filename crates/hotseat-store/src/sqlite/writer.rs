//! The one thread that writes.
//!
//! SQLite has one writer at a time anyway; giving it one thread turns lock
//! contention into a queue, and lets one disk sync carry everything that arrived
//! while the sync before it ran (group commit). Each piece of work runs in a
//! savepoint of its own, so a refused one leaves no trace in the batch. Answers
//! and wake-ups go out only after the commit.

use std::path::Path;

use hotseat_core::{Seq, SessionId};
use rusqlite::Connection;
use tokio::sync::{mpsc, oneshot};

use super::usage::Figures;
use crate::StoreError;
use crate::hub::Hub;

/// Pieces of work that may wait for the writer; beyond this, callers wait to enqueue.
const QUEUE: usize = 4096;

/// Pieces of work in one commit. More would only make the first one wait longer.
const BATCH: usize = 1024;

/// What a piece of work writes with, inside its savepoint.
pub(super) struct Work<'w> {
    pub(super) connection: &'w Connection,
    /// Sums for the whole commit.
    pub(super) figures: &'w mut Figures,
    wakes: Vec<Wake>,
}

/// Whom to wake once it is committed.
enum Wake {
    Grew(SessionId, Seq),
    Deleted(SessionId),
}

impl<'w> Work<'w> {
    /// Work outside the thread, before anybody can be waiting for it.
    pub(super) fn quiet(connection: &'w Connection, figures: &'w mut Figures) -> Self {
        Self { connection, figures, wakes: Vec::new() }
    }

    pub(super) fn grew(&mut self, session: SessionId, head: Seq) {
        self.wakes.push(Wake::Grew(session, head));
    }

    pub(super) fn deleted(&mut self, session: SessionId) {
        self.wakes.push(Wake::Deleted(session));
    }
}

/// Answers a caller once it is known what became of the commit: `None`, or why it failed.
type Answer = Box<dyn FnOnce(Option<&str>) + Send>;

/// A piece of work. It says whether it may stay, and how to answer.
type Job = Box<dyn FnOnce(&mut Work<'_>) -> (bool, Answer) + Send>;

/// The way to the thread. The thread ends when every handle is gone, after the last commit.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    pub(super) fn start(path: &Path, connection: Connection, hub: Hub) -> std::io::Result<Self> {
        let (jobs, mut waiting) = mpsc::channel(QUEUE);
        let name = format!("writer {}", path.display());
        std::thread::Builder::new().name(name).spawn(move || {
            let mut connection = connection;
            let mut batch = Vec::with_capacity(BATCH);
            while let Some(first) = waiting.blocking_recv() {
                batch.push(first);
                while batch.len() < BATCH
                    && let Ok(next) = waiting.try_recv()
                {
                    batch.push(next);
                }
                commit(&mut connection, &hub, &mut batch);
            }
        })?;
        Ok(Self { jobs })
    }

    /// Does `work` on the thread. Durable once this returns `Ok`.
    pub(super) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |writing| {
            let result = work(writing);
            let stays = result.is_ok();
            let answer: Answer = Box::new(move |failure| {
                let result = match (failure, result) {
                    (Some(message), Ok(_)) => Err(commit_failed(message).into()),
                    (_, result) => result,
                };
                // A caller that went away does not matter.
                let _ = reply.send(result);
            });
            (stays, answer)
        });
        self.jobs.send(job).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

fn commit_failed(message: &str) -> StoreError {
    StoreError::Backend { action: "commit", source: message.to_owned().into() }
}

fn commit(connection: &mut Connection, hub: &Hub, batch: &mut Vec<Job>) {
    let mut answers = Vec::with_capacity(batch.len());
    let mut wakes = Vec::new();
    let failure = write(connection, batch, &mut answers, &mut wakes).err();
    let failure = failure.map(|error| error.to_string());
    // Work that was not reached is answered by dropping its sender.
    batch.clear();
    if failure.is_none() {
        for wake in wakes {
            match wake {
                Wake::Grew(session, head) => hub.grew(session, head),
                Wake::Deleted(session) => hub.deleted(session),
            }
        }
    }
    for answer in answers {
        answer(failure.as_deref());
    }
}

fn write(
    connection: &mut Connection,
    batch: &mut Vec<Job>,
    answers: &mut Vec<Answer>,
    wakes: &mut Vec<Wake>,
) -> rusqlite::Result<()> {
    let mut figures = Figures::default();
    let mut transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    for job in batch.drain(..) {
        let before = figures.clone();
        let mut savepoint = transaction.savepoint()?;
        let mut work = Work { connection: &savepoint, figures: &mut figures, wakes: Vec::new() };
        let (stays, answer) = job(&mut work);
        let woken = work.wakes;
        answers.push(answer);
        if stays {
            wakes.extend(woken);
        } else {
            savepoint.rollback()?;
            figures = before;
        }
        savepoint.commit()?;
    }
    figures.write(&transaction)?;
    transaction.commit()
}
