//! What waits for the writer.
//!
//! A list under a lock, which the writer takes whole: one lock and at most one wake-up for
//! all that arrived while it was busy. It has room for so many, and whoever comes then
//! waits. Once it is closed nothing comes in, and what was in it is dropped.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

/// Pieces of work that may wait; beyond this, callers wait to enqueue.
const ROOM: usize = 4096;

/// Work for one thread.
#[derive(Debug)]
pub(super) struct Queue<J> {
    waiting: Mutex<Waiting<J>>,
    arrived: Condvar,
    room: Semaphore,
}

#[derive(Debug)]
struct Waiting<J> {
    jobs: Vec<J>,
    state: State,
    nudged: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// Nothing more comes, and what is there is still done.
    Ending,
    /// Nobody is left to do anything.
    Closed,
}

/// What the thread finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Something to do.
    Work,
    /// Nothing to do, but something to look after.
    Nudge,
    /// Nothing for as long as it wanted to wait.
    Quiet,
    /// Nothing, for ever.
    End,
}

impl<J> Queue<J> {
    pub(super) fn new() -> Self {
        let waiting = Waiting { jobs: Vec::new(), state: State::Open, nudged: false };
        Self { waiting: Mutex::new(waiting), arrived: Condvar::new(), room: Semaphore::new(ROOM) }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting<J>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds work. Gives it back as an error if nobody will do it.
    pub(super) async fn push(&self, job: J) -> Result<(), J> {
        let Ok(place) = self.room.acquire().await else { return Err(job) };
        let mut waiting = self.lock();
        if waiting.state != State::Open {
            return Err(job);
        }
        place.forget();
        let first = waiting.jobs.is_empty();
        waiting.jobs.push(job);
        drop(waiting);
        if first {
            self.arrived.notify_one();
        }
        Ok(())
    }

    /// Whether it takes work and none waits.
    pub(super) fn is_resting(&self) -> bool {
        let waiting = self.lock();
        waiting.state == State::Open && waiting.jobs.is_empty()
    }

    /// Calls the thread, although there is nothing to take.
    pub(super) fn nudge(&self) {
        self.lock().nudged = true;
        self.arrived.notify_one();
    }

    /// Waits for work, at most for `patience`, and moves up to `most` pieces into `batch`.
    pub(super) fn take(
        &self,
        batch: &mut Vec<J>,
        most: usize,
        patience: Option<Duration>,
    ) -> Found {
        let mut waiting = self.lock();
        while waiting.jobs.is_empty() {
            if waiting.state != State::Open {
                return Found::End;
            }
            if std::mem::take(&mut waiting.nudged) {
                return Found::Nudge;
            }
            waiting = match patience {
                None => self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner),
                Some(patience) => {
                    let woken = self.arrived.wait_timeout(waiting, patience);
                    let (waiting, timeout) = woken.unwrap_or_else(PoisonError::into_inner);
                    if timeout.timed_out() && waiting.jobs.is_empty() {
                        return Found::Quiet;
                    }
                    waiting
                }
            };
        }
        let taken = waiting.jobs.len().min(most);
        batch.extend(waiting.jobs.drain(..taken));
        drop(waiting);
        self.room.add_permits(taken);
        Found::Work
    }

    /// No caller is left.
    pub(super) fn end(&self) {
        let mut waiting = self.lock();
        if waiting.state == State::Open {
            waiting.state = State::Ending;
        }
        drop(waiting);
        self.arrived.notify_one();
    }

    /// The thread is gone. Whoever still waits learns it by the drop of their work.
    pub(super) fn close(&self) {
        let mut waiting = self.lock();
        waiting.state = State::Closed;
        let left = std::mem::take(&mut waiting.jobs);
        drop(waiting);
        self.room.close();
        drop(left);
    }
}
