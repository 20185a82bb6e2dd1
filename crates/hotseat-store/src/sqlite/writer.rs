//! The way to the one pen.
//!
//! SQLite has one writer at a time anyway. A thread for it turns lock contention into a queue, and
//! lets one disk sync carry everything that arrived while the sync before it ran (group commit).
//! Who comes when nobody writes, and with little, takes the pen and commits where it stands: to
//! hand it to the thread and back would take half as long as the commit. What is done with the pen
//! is in `commit.rs`.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use hotseat_core::{Event, Seq, SessionId};
use rusqlite::{CachedStatement, Connection};
use tokio::sync::oneshot;

use super::checkpoint::Checkpoints;
use super::commit::{self, Pen, unless_failed};
use super::queue::Queue;
use super::tail::Tail;
use super::whereabouts::Whereabouts;
use super::{Durability, identity, row};
use crate::hub::{Hub, Wake};
use crate::rules::Prepared;
use crate::{AppendError, Appended, Expected, Limits, StoreError};

/// What the pieces of work of one transaction write with.
pub(super) struct Work<'w> {
    pub(super) connection: &'w Connection,
    /// Events that are not settled yet.
    pub(super) tail: &'w mut Tail,
    /// Who watches what.
    pub(super) hub: &'w Hub,
    /// Whom the piece of work that is done now wakes.
    pub(super) wakes: Vec<Wake>,
    statements: Statements<'w>,
}

/// What every append needs, held for all of them: the cache of statements looks them up by their
/// words, which takes longer than some of them run.
#[derive(Default)]
struct Statements<'w> {
    insert: Option<CachedStatement<'w>>,
    candidates: Option<CachedStatement<'w>>,
}

impl<'w> Work<'w> {
    pub(super) fn new(connection: &'w Connection, tail: &'w mut Tail, hub: &'w Hub) -> Self {
        Self { connection, tail, hub, wakes: Vec::new(), statements: Statements::default() }
    }

    /// Writes an event.
    pub(super) fn insert_event(&mut self) -> rusqlite::Result<&mut CachedStatement<'w>> {
        held(&mut self.statements.insert, self.connection, row::INSERT_EVENT)
    }

    /// Looks where an event with some hash may be.
    pub(super) fn candidates(&mut self) -> rusqlite::Result<&mut CachedStatement<'w>> {
        held(&mut self.statements.candidates, self.connection, identity::CANDIDATES)
    }

    /// The log of a session was changed in any way.
    pub(super) fn changed(&mut self, session: SessionId, head: Seq) {
        self.wakes.push(Wake::Grew(session, head, Vec::new()));
    }

    /// The log of a session grew by these events, if they were kept, and nothing was removed.
    pub(super) fn grew(&mut self, session: SessionId, head: Seq, brought: Vec<Arc<Event>>) {
        self.wakes.push(Wake::Grew(session, head, brought));
    }

    pub(super) fn deleted(&mut self, session: SessionId, user_id: String) {
        self.wakes.push(Wake::Deleted(session, user_id));
    }
}

fn held<'s, 'w>(
    statement: &'s mut Option<CachedStatement<'w>>,
    connection: &'w Connection,
    sql: &str,
) -> rusqlite::Result<&'s mut CachedStatement<'w>> {
    match statement {
        Some(statement) => Ok(statement),
        None => Ok(statement.insert(connection.prepare_cached(sql)?)),
    }
}

/// Answers a caller once it is known what became of the commit: `None`, or why it failed.
pub(super) type Answer = Box<dyn FnOnce(Option<&str>) + Send>;

/// A piece of work. It says whether it may stay, and how to answer.
pub(super) type Task = Box<dyn FnOnce(&mut Work<'_>) -> (bool, Answer) + Send>;

/// Where an append is answered.
pub(super) type Reply = oneshot::Sender<Result<Appended, AppendError>>;

/// Events for a session.
#[derive(Debug)]
pub(super) struct Append {
    pub(super) session: SessionId,
    pub(super) expected: Expected,
    pub(super) events: Vec<Prepared>,
    pub(super) reply: Reply,
}

/// Something to do.
pub(super) enum Job {
    /// What most of the work is.
    Append(Append),
    /// Everything else.
    Other(Task),
    /// What fails only where the database does, and needs no way back.
    Sure(Task),
}

impl Job {
    /// Whether it is done so soon that whoever asks for it may do it.
    fn is_short(&self) -> bool {
        match self {
            Self::Append(append) => append.events.len() <= FEW,
            Self::Sure(_) => true,
            Self::Other(_) => false,
        }
    }
}

/// Events that are written where the writer stands. More of them are worth another thread.
const FEW: usize = 8;

/// The way to the pen. The thread ends when every handle is gone, after the last commit.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    handle: Arc<Handle>,
}

struct Handle {
    desk: Arc<Desk>,
}

/// Where it is written, and what waits to be.
pub(super) struct Desk {
    pub(super) queue: Queue<Job>,
    pub(super) pen: Mutex<Pen>,
    /// The last commit had one piece of work, and nothing came while it ran. Where several write,
    /// the thread brings their work together, and nobody else takes the pen.
    pub(super) calm: AtomicBool,
    /// There are limits that any write may go beyond. What has to be removed then may be much, so
    /// all work is the thread's.
    removes: bool,
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.desk.queue.end();
    }
}

/// Tells callers that the thread is gone, however it went.
struct Closing(Arc<Desk>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.queue.close();
    }
}

impl Desk {
    /// Does a piece of work where it stands, or leaves it to the thread. Gives it back as an error
    /// if nobody will do it.
    async fn hand_in(&self, job: Job) -> Result<(), Job> {
        // Who writes one after the other waits for nobody, and still lets others have their turn.
        tokio::task::consume_budget().await;
        let may_do_here = self.calm.load(Ordering::Relaxed) && !self.removes && job.is_short();
        let left = if may_do_here { self.do_here(job) } else { Some(job) };
        match left {
            Some(job) => self.queue.push(job).await,
            None => Ok(()),
        }
    }

    /// Does the work if nobody has the pen or waits for it. Gives it back otherwise.
    fn do_here(&self, job: Job) -> Option<Job> {
        let Ok(mut pen) = self.pen.try_lock() else { return Some(job) };
        if !self.queue.is_resting() {
            return Some(job);
        }
        let left = pen.commit_at_once(job);
        let needs_thread = pen.needs_thread();
        drop(pen);
        if !self.queue.is_resting() {
            self.calm.store(false, Ordering::Relaxed);
        }
        if needs_thread {
            self.queue.nudge();
        }
        left
    }
}

impl Writer {
    pub(super) fn start(
        path: &Path,
        mut connection: Connection,
        hub: Hub,
        limits: Arc<Limits>,
        whereabouts: Whereabouts,
        durability: Durability,
    ) -> std::io::Result<Self> {
        let checkpoints = Checkpoints::start(path, &mut connection, durability)?;
        let name = format!("writer {}", path.display());
        let tail = Tail::new(Arc::clone(&limits), whereabouts);
        let removes = limits.max_sessions.is_some() || limits.max_events_per_session.is_some();
        let pen = Mutex::new(Pen {
            connection,
            hub,
            limits,
            tail,
            checkpoints,
            wrote: false,
            is_left_alone: true,
        });
        let desk =
            Arc::new(Desk { queue: Queue::new(), pen, calm: AtomicBool::new(true), removes });
        let closing = Closing(Arc::clone(&desk));
        std::thread::Builder::new().name(name).spawn(move || commit::run(&closing.0))?;
        Ok(Self { handle: Arc::new(Handle { desk }) })
    }

    /// Does `work`. Durable once this returns `Ok`.
    pub(super) async fn write<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    {
        let (task, answer) = task(work);
        self.handle.desk.hand_in(Job::Other(task)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// The same for `work` that fails only where the database does.
    pub(super) async fn write_surely<T, E, F>(&self, work: F) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
        F: FnOnce(&mut Work<'_>) -> Result<T, E> + Send + 'static,
    {
        let (task, answer) = task(work);
        self.handle.desk.hand_in(Job::Sure(task)).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Appends. Durable once this returns `Ok`.
    pub(super) async fn append(
        &self,
        session: SessionId,
        expected: Expected,
        events: Vec<Prepared>,
    ) -> Result<Appended, AppendError> {
        let (reply, answer) = oneshot::channel();
        let append = Job::Append(Append { session, expected, events, reply });
        self.handle.desk.hand_in(append).await.map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }
}

/// A piece of work, and where its answer comes.
fn task<T, E, F>(work: F) -> (Task, oneshot::Receiver<Result<T, E>>)
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
    F: FnOnce(&mut Work<'_>) -> Result<T, E> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let task: Task = Box::new(move |writing| {
        let result = work(writing);
        let stays = result.is_ok();
        let answer: Answer = Box::new(move |failure| {
            // A caller that went away does not matter.
            let _ = reply.send(unless_failed(result, failure));
        });
        (stays, answer)
    });
    (task, answer)
}
