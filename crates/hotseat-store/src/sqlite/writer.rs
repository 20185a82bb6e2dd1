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

use super::tail::{Added, Tail};
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
    /// What this work adds to the sums.
    pub(super) figures: Figures,
    /// The sums that are not written yet.
    pub(super) sums: &'w mut Figures,
    /// Events that are in no index yet.
    pub(super) tail: &'w mut Tail,
    /// Those among them that this work added.
    pub(super) added: Added,
    /// Sessions whose events this work settled, or removed.
    pub(super) settled: Vec<SessionId>,
    wakes: Vec<Wake>,
}

/// Whom to wake once it is committed.
enum Wake {
    Grew(SessionId, Seq),
    Deleted(SessionId, String),
}

impl<'w> Work<'w> {
    /// Work outside the thread, before anybody can be waiting for it.
    pub(super) fn quiet(
        connection: &'w Connection,
        sums: &'w mut Figures,
        tail: &'w mut Tail,
    ) -> Self {
        Self {
            connection,
            figures: Figures::default(),
            sums,
            tail,
            added: Added::default(),
            settled: Vec::new(),
            wakes: Vec::new(),
        }
    }

    pub(super) fn grew(&mut self, session: SessionId, head: Seq) {
        self.wakes.push(Wake::Grew(session, head));
    }

    pub(super) fn deleted(&mut self, session: SessionId, user_id: String) {
        self.wakes.push(Wake::Deleted(session, user_id));
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
            let (mut tail, mut sums) = (Tail::default(), Figures::default());
            let mut batch = Vec::with_capacity(BATCH);
            while let Some(first) = waiting.blocking_recv() {
                batch.push(first);
                while batch.len() < BATCH
                    && let Ok(next) = waiting.try_recv()
                {
                    batch.push(next);
                }
                commit(&mut connection, &hub, &mut tail, &mut sums, &mut batch);
            }
            // The last figures; if they cannot be written, nobody is left to be told.
            let _ = sums.flush(&connection);
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

fn commit(
    connection: &mut Connection,
    hub: &Hub,
    tail: &mut Tail,
    sums: &mut Figures,
    batch: &mut Vec<Job>,
) {
    let mut answers = Vec::with_capacity(batch.len());
    let mut wakes = Vec::new();
    let failure = write(connection, tail, sums, batch, &mut answers, &mut wakes).err();
    let failure = failure.map(|error| error.to_string());
    if failure.is_some() {
        tail.doubt();
    }
    // Work that was not reached is answered by dropping its sender.
    batch.clear();
    if failure.is_none() {
        for wake in wakes {
            match wake {
                Wake::Grew(session, head) => hub.grew(session, head),
                Wake::Deleted(session, user_id) => hub.deleted(session, user_id),
            }
        }
    }
    for answer in answers {
        answer(failure.as_deref());
    }
}

fn write(
    connection: &mut Connection,
    tail: &mut Tail,
    sums: &mut Figures,
    batch: &mut Vec<Job>,
    answers: &mut Vec<Answer>,
    wakes: &mut Vec<Wake>,
) -> rusqlite::Result<()> {
    let mut transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    tail.refresh(&transaction)?;
    for job in batch.drain(..) {
        let mut savepoint = transaction.savepoint()?;
        let mut work = Work::quiet(&savepoint, sums, tail);
        let (stays, answer) = job(&mut work);
        let Work { wakes: woken, added, figures, settled, .. } = work;
        answers.push(answer);
        if stays {
            tail.extend(added);
            sums.merge(figures);
            for session in settled {
                tail.forget(session);
            }
            wakes.extend(woken);
        } else {
            savepoint.rollback()?;
        }
        savepoint.commit()?;
    }
    if tail.is_full() {
        tail.settle(&transaction)?;
    }
    if sums.are_due() {
        sums.flush(&transaction)?;
    }
    transaction.commit()
}
