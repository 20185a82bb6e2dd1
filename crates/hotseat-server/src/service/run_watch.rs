//! One run, watched to its end: what is logged of it, and the pieces in between.
//!
//! Every protocol that offers agents is a translation of this one stream. It is a
//! place in the log with an ear for pieces, so it can be left and taken up again
//! at any point, and a run goes on whether anyone watches or not.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use hotseat_core::{Event, Kind, RunChange, Seq, SessionId};
use hotseat_store::EventQuery;
use tokio::sync::watch;

use super::live::{Ear, Told};
use super::replicas::Word;
use super::runs::Started;
use super::{App, ServiceError};

/// Entries read at once.
const PAGE: usize = 256;

/// Bytes read at once.
const PAGE_BYTES: usize = 1024 * 1024;

/// A watcher looks without being woken this often, so that a lost wake-up only delays.
const POLL: Duration = Duration::from_secs(5);

/// What a watcher sees.
#[derive(Debug)]
pub(crate) enum RunStep {
    /// A piece of an answer that is not complete yet.
    Piece(Arc<Told>),
    /// An entry of the log.
    Logged(Arc<Event>),
    /// The run is over. Nothing follows.
    Ended(Box<RunChange>),
    /// The server stops. The run is in the log and can be taken up again.
    Closing,
}

/// Watches a session before its run begins, so that nothing of it is missed.
pub(crate) struct RunWatch {
    app: App,
    session: SessionId,
    ear: Ear,
    head: watch::Receiver<Seq>,
}

/// Watches a run.
pub(crate) struct WatchedRun {
    watch: RunWatch,
    run_id: String,
    place: Seq,
    ready: VecDeque<Arc<Event>>,
    /// The log may be further than the last wake-up said: it is looked at.
    look: bool,
    /// Heard, but not its turn yet.
    piece: Option<Arc<Told>>,
    over: bool,
}

impl App {
    /// Looks and listens from now on.
    pub(crate) fn watch_session(&self, session: SessionId) -> RunWatch {
        let ear = self.live.listen(session);
        self.replicas.tell(session, &Word::Listening);
        RunWatch { app: self.clone(), session, ear, head: self.store.watch(session) }
    }
}

impl RunWatch {
    /// The run with this id, from behind `after` on.
    pub(crate) fn run(mut self, run_id: String, after: Seq) -> WatchedRun {
        self.ear.begin_at(after);
        WatchedRun {
            watch: self,
            run_id,
            place: after,
            ready: VecDeque::new(),
            look: true,
            piece: None,
            over: false,
        }
    }

    /// A run that was begun since this watches.
    pub(crate) fn started(self, started: Started) -> WatchedRun {
        let Started { run_id, seq, shown_through } = started;
        let run = self.run(run_id, shown_through.unwrap_or(seq));
        // What comes behind it wakes this.
        WatchedRun { look: shown_through.is_none(), ..run }
    }
}

impl WatchedRun {
    pub(crate) fn run_id(&self) -> &str {
        &self.run_id
    }

    pub(crate) fn session(&self) -> SessionId {
        self.watch.session
    }

    /// How far the log was read.
    pub(crate) fn place(&self) -> Seq {
        self.place
    }

    /// The next step; `None` after the last one.
    pub(crate) async fn next(&mut self) -> Result<Option<RunStep>, ServiceError> {
        loop {
            if self.over {
                return Ok(None);
            }
            // A piece is told before the event that completes it is appended, so pieces come
            // first, as soon as the log is where their answer began.
            if self.piece.is_none() {
                self.piece = self.watch.ear.heard();
            }
            if let Some(told) = self.piece.take_if(|told| told.after <= self.place) {
                return Ok(Some(RunStep::Piece(told)));
            }
            if let Some(event) = self.ready.pop_front() {
                self.place = event.seq;
                self.watch.ear.passed(&event);
                return Ok(Some(self.step(event)));
            }
            let head = *self.watch.head.borrow_and_update();
            let look = std::mem::take(&mut self.look);
            if (look || self.piece.is_some() || head > self.place) && self.read().await? {
                continue;
            }
            // What would come before it was removed from the log.
            if let Some(told) = &self.piece {
                self.place = self.place.max(told.after);
                continue;
            }
            tokio::select! {
                biased;
                told = self.watch.ear.hear() => self.piece = Some(told),
                changed = self.watch.head.changed() => if changed.is_err() {
                    return Err(ServiceError::SessionNotFound(self.watch.session));
                },
                () = self.watch.app.closed() => {
                    self.over = true;
                    return Ok(Some(RunStep::Closing));
                }
                () = tokio::time::sleep(POLL) => self.look = true,
            }
        }
    }

    async fn read(&mut self) -> Result<bool, ServiceError> {
        let query = EventQuery {
            after: self.place,
            limit: PAGE,
            max_bytes: PAGE_BYTES,
            ..EventQuery::default()
        };
        self.ready = self.watch.app.store.following(self.watch.session, query).await?.into();
        Ok(!self.ready.is_empty())
    }

    fn step(&mut self, event: Arc<Event>) -> RunStep {
        if event.kind == Kind::Run
            && let Ok(change) = RunChange::parse(&event.payload)
            && change.run_id == self.run_id
            && change.status.is_end()
        {
            self.over = true;
            return RunStep::Ended(Box::new(change));
        }
        RunStep::Logged(event)
    }
}
