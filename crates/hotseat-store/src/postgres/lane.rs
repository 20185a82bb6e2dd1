//! The lanes that appends and new sessions go through.
//!
//! A session always has the same lane, so that its events keep their order, and what arrives
//! while a lane waits for the database goes into its next transaction (group commit).
//!
//! A batch locks its sessions and reads what the rules may ask for, and then writes. Where a lane
//! remembers all of that (`remembered.rs`), it only writes, and the database tells if it was wrong.
//!
//! When the connection is lost while a transaction is being committed, nobody knows whether it
//! was. The lane then begins again: it locks the same sessions, which waits for the end of the
//! transaction that was lost, and looks whether its events are there, each in its place. If so,
//! it gives the answers that it had ready; if not, the rules decide anew.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use deadpool_postgres::Pool;
use hotseat_core::{Seq, SessionId};
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout_at;
use uuid::Uuid;

use super::book::Book;
use super::facts::{self, Needs};
use super::failure::{Failure, Patience};
use super::held::Held;
use super::herald::Outbox;
use super::remembered::Remembered;
use super::sheet::Sheet;
use super::text::key;
use crate::hub::Wake;
use crate::rules::Prepared;
use crate::{AppendError, Appended, Created, Expected, Limits, Session, StoreError};

/// Lanes of one process. More would make smaller transactions.
const LANES: usize = 2;

/// Pieces of work that wait for a lane; beyond it, callers wait to be let in.
const WAITING: usize = 4096;

/// Pieces of work in one transaction.
const MOST_JOBS: usize = 512;

/// Bytes of payloads in one transaction, unless a single piece of work has more.
const MOST_BYTES: usize = 8 << 20;

/// Rows that writers add figures to. Two lanes that share one only wait for each other.
const SLOTS: u64 = 64;

type Reply<T> = oneshot::Sender<Result<T, AppendError>>;

/// A piece of work.
#[derive(Debug)]
struct Job {
    session: SessionId,
    events: Vec<Prepared>,
    wish: Wish,
}

#[derive(Debug)]
enum Wish {
    Create(Box<Session>, Reply<Created>),
    Append(Expected, Reply<Appended>),
}

/// What is told to whoever wished it.
#[derive(Debug)]
enum Answer {
    Created(Box<Result<Created, AppendError>>),
    Appended(Result<Appended, AppendError>),
}

impl Job {
    fn bytes(&self) -> usize {
        self.events.iter().map(|event| event.event.payload.get().len()).sum()
    }

    fn answer(self, answer: Answer) {
        // A caller that went away does not matter.
        match (self.wish, answer) {
            (Wish::Create(_, reply), Answer::Created(answer)) => drop(reply.send(*answer)),
            (Wish::Append(_, reply), Answer::Appended(answer)) => drop(reply.send(answer)),
            (Wish::Create(..), Answer::Appended(_)) | (Wish::Append(..), Answer::Created(_)) => {}
        }
    }

    fn fail(self, error: AppendError) {
        match self.wish {
            Wish::Create(_, reply) => drop(reply.send(Err(error))),
            Wish::Append(_, reply) => drop(reply.send(Err(error))),
        }
    }
}

/// The way to the lanes, which end when every handle is gone.
#[derive(Debug, Clone)]
pub(super) struct Lanes {
    lanes: Arc<[mpsc::Sender<Job>]>,
}

impl Lanes {
    pub(super) fn start(pool: &Pool, limits: &Arc<Limits>, outbox: &Outbox) -> Self {
        let lanes = (0..LANES).map(|_| {
            let (sender, jobs) = mpsc::channel(WAITING);
            let lane = Lane {
                pool: pool.clone(),
                limits: Arc::clone(limits),
                outbox: outbox.clone(),
                slot: slot(),
                remembered: Remembered::default(),
            };
            tokio::spawn(lane.run(jobs));
            sender
        });
        Self { lanes: lanes.collect() }
    }

    pub(super) async fn create(
        &self,
        session: Session,
        opening: Vec<Prepared>,
    ) -> Result<Created, AppendError> {
        let (reply, answer) = oneshot::channel();
        let (id, wish) = (session.id, Wish::Create(Box::new(session), reply));
        self.send(Job { session: id, events: opening, wish }).await?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(super) async fn append(
        &self,
        session: SessionId,
        expected: Expected,
        events: Vec<Prepared>,
    ) -> Result<Appended, AppendError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job { session, events, wish: Wish::Append(expected, reply) }).await?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Returns when everything that was sent to the lanes before is in the log, or refused.
    pub(super) async fn settled(&self) {
        for lane in &*self.lanes {
            let (reply, answer) = oneshot::channel();
            let wish = Wish::Append(Expected::Any, reply);
            // Of no session, so that nothing is locked and nothing is written.
            let last = Job { session: SessionId::new(Uuid::nil()), events: Vec::new(), wish };
            if lane.send(last).await.is_ok() {
                // It is refused, and what was before it is done.
                let _ = answer.await;
            }
        }
    }

    async fn send(&self, job: Job) -> Result<(), StoreError> {
        let mut hasher = DefaultHasher::new();
        job.session.hash(&mut hasher);
        let lane = usize::try_from(hasher.finish() % self.lanes.len() as u64).unwrap_or(0);
        self.lanes[lane].send(job).await.map_err(|_| StoreError::Closed)
    }
}

/// A row of the figures for a writer.
pub(super) fn slot() -> i16 {
    i16::try_from(Uuid::new_v4().as_u64_pair().1 % SLOTS).unwrap_or(0)
}

struct Lane {
    pool: Pool,
    limits: Arc<Limits>,
    outbox: Outbox,
    slot: i16,
    remembered: Remembered,
}

/// What a transaction does if it is committed.
#[derive(Debug, Default)]
struct Outcome {
    answers: Vec<Answer>,
    wakes: Vec<Wake>,
    /// By what one can tell that it was.
    events: Vec<(SessionId, Uuid, Seq)>,
    created: Vec<(SessionId, i64)>,
}

impl Outcome {
    /// Whether every job appends something. What is refused, or there already, is for the
    /// database to say.
    fn appends(&self) -> bool {
        let appends =
            |answer: &Answer| matches!(answer, Answer::Appended(Ok(appended)) if appended.new > 0);
        self.answers.iter().all(appends)
    }

    fn is_there(&self, books: &HashMap<SessionId, Book>) -> bool {
        let event = |(id, key, seq): &(SessionId, Uuid, Seq)| {
            books.get(id).is_some_and(|book| book.known.events.get(key) == Some(seq))
        };
        let session = |(id, incarnation): &(SessionId, i64)| {
            let there = books.get(id).and_then(|book| book.session.as_ref());
            there.is_some_and(|there| there.incarnation == *incarnation)
        };
        self.events.iter().all(event) && self.created.iter().all(session)
    }
}

impl Lane {
    async fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut waiting = Vec::with_capacity(MOST_JOBS);
        while jobs.recv_many(&mut waiting, MOST_JOBS).await > 0 {
            while !waiting.is_empty() {
                let mut bytes = 0;
                let fits = waiting.iter().take_while(|job| {
                    let fits = bytes == 0 || bytes + job.bytes() <= MOST_BYTES;
                    bytes += job.bytes();
                    fits
                });
                let count = fits.count();
                let rest = waiting.split_off(count);
                self.commit(std::mem::replace(&mut waiting, rest)).await;
            }
        }
    }

    /// Does all of `jobs` in one transaction and answers them, one way or the other.
    async fn commit(&mut self, mut jobs: Vec<Job>) {
        let mut patience = Patience::to_write("append events");
        let mut lost = None;
        let mut needs = Needs::default();
        for job in &jobs {
            needs.events(job.session, &job.events, &self.limits);
        }
        loop {
            let attempt = self.attempt(&jobs, &needs, &mut lost);
            let failure = match timeout_at(patience.until(), attempt).await {
                Ok(Ok(outcome)) => {
                    self.outbox.tell(outcome.wakes);
                    for (job, answer) in jobs.into_iter().zip(outcome.answers) {
                        job.answer(answer);
                    }
                    return;
                }
                Ok(Err(failure)) => failure,
                Err(_) => {
                    Held::distrust(&self.pool);
                    Failure::TimedOut
                }
            };
            if !failure.passes() && jobs.len() > 1 {
                // One of them is to blame, and the others must not suffer for it.
                for job in jobs {
                    Box::pin(self.commit(vec![job])).await;
                }
                return;
            }
            let Err(error) = patience.after(failure).await else { continue };
            tracing::error!(error = %error, "events were not written");
            for job in jobs.drain(..) {
                job.fail(again(&error));
            }
            return;
        }
    }

    async fn attempt(
        &mut self,
        jobs: &[Job],
        needs: &Needs,
        lost: &mut Option<Outcome>,
    ) -> Result<Outcome, Failure> {
        let held = Held::get(&self.pool).await?;
        if lost.is_none()
            && let Some(books) = self.remembered.books(needs, &self.limits)
        {
            let (outcome, books) = self.decide(jobs, books);
            if outcome.appends() {
                self.remembered.doubt(needs);
                let outcome = lost.insert(outcome);
                match Sheet::of(&books, self.slot).transact(&held).await {
                    Ok(()) => {
                        held.done();
                        self.remembered.keep(books);
                        return Ok(std::mem::take(outcome));
                    }
                    // The transaction has ended, and nothing of it is there.
                    Err(failure) if failure.contradicts() => *lost = None,
                    Err(failure) => return Err(failure),
                }
            }
        }
        let books = facts::load(&held, needs, &self.limits).await?;
        if let Some(before) = lost.take_if(|before| before.is_there(&books)) {
            held.undo().await?;
            return Ok(before);
        }
        let (outcome, books) = self.decide(jobs, books);
        if books.is_empty() {
            held.undo().await?;
            return Ok(outcome);
        }
        // From here on it may be committed without anybody hearing of it.
        let outcome = lost.insert(outcome);
        Sheet::of(&books, self.slot).commit(&held).await?;
        held.done();
        self.remembered.keep(books);
        Ok(std::mem::take(outcome))
    }

    /// What becomes of the jobs by the rules, and the sessions that have to be written, in the
    /// order of their ids.
    fn decide(&self, jobs: &[Job], mut books: HashMap<SessionId, Book>) -> (Outcome, Vec<Book>) {
        let answers = jobs.iter().map(|job| self.apply(job, &mut books)).collect();
        let mut books: Vec<Book> =
            books.into_values().filter(|book| book.created || book.touched).collect();
        books.sort_unstable_by_key(|book| book.id);
        let mut outcome = Outcome { answers, ..Outcome::default() };
        for book in &books {
            let Some(session) = &book.session else { continue };
            outcome.wakes.push(Wake::Grew(book.id, session.last_seq, Vec::new()));
            outcome.created.extend(book.created.then_some((book.id, session.incarnation)));
            let events =
                book.lasting().map(|(id, seq, event)| (id, key(&event.event.event_id), seq));
            outcome.events.extend(events);
        }
        (outcome, books)
    }

    fn apply(&self, job: &Job, books: &mut HashMap<SessionId, Book>) -> Answer {
        let book = books.entry(job.session).or_insert_with(|| Book::new(job.session));
        match &job.wish {
            Wish::Append(expected, _) => {
                Answer::Appended(book.append(*expected, job.events.clone(), &self.limits))
            }
            Wish::Create(session, _) => Answer::Created(Box::new(self.create(job, session, book))),
        }
    }

    fn create(&self, job: &Job, new: &Session, book: &mut Book) -> Result<Created, AppendError> {
        if let Some(existing) = &book.session {
            return Ok(Created::Existing(existing.clone()));
        }
        book.session = Some(new.clone());
        book.created = true;
        if !job.events.is_empty()
            && let Err(refusal) = book.append(Expected::Any, job.events.clone(), &self.limits)
        {
            *book = Book::new(job.session);
            return Err(refusal);
        }
        let created = book.session.clone().map(Created::New);
        created.ok_or(AppendError::NoSession { session: job.session })
    }
}

/// An error for one of several callers who all have to hear of it.
fn again(error: &StoreError) -> AppendError {
    let source = |source: &crate::error::Cause| source.to_string().into();
    AppendError::Store(match error {
        StoreError::Backend { action, source: cause } => {
            StoreError::Backend { action, source: source(cause) }
        }
        StoreError::Undecided { action, source: cause } => {
            StoreError::Undecided { action, source: source(cause) }
        }
        StoreError::Closed => StoreError::Closed,
    })
}
