//! Following a session's log: what is there, then what comes.
//!
//! A follower holds only its place in the log. It reads on from there whenever
//! it is woken, so nothing is lost, doubled or out of order however appends and
//! subscriptions race, and a slow reader costs no memory.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::stream::{self, Stream};
use hotseat_core::{Event, Seq, SessionId};
use hotseat_store::EventQuery;
use tokio::sync::watch;

use super::{App, ServiceError};

/// Events read at once.
const PAGE: usize = 256;

/// Bytes read at once, so that a reader of large events holds one or two of them.
const PAGE_BYTES: usize = 1024 * 1024;

/// A follower looks without being woken this often, so that a lost wake-up only delays.
const POLL: Duration = Duration::from_secs(5);

/// What a follower sees.
#[derive(Debug)]
pub(crate) enum Followed {
    Event(Box<Event>),
    /// Entries after `after` up to `through` were removed; the log goes on behind them.
    Gap {
        after: Seq,
        through: Seq,
    },
    /// All that was in the log has been seen; from here on it is live.
    HistoryComplete {
        last_seq: Seq,
        event_count: u64,
    },
}

struct Follower {
    app: App,
    session: SessionId,
    place: Seq,
    count: u64,
    live: bool,
    /// The log may be further than the last wake-up said: it is looked at.
    look: bool,
    ready: VecDeque<Event>,
    head: watch::Receiver<Seq>,
    _counted: Counted,
}

/// How many followers there are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Followers(Arc<AtomicUsize>);

/// One of them, as long as it is kept.
struct Counted(Followers);

impl Followers {
    fn one_more(&self) -> Counted {
        self.0.fetch_add(1, Ordering::Relaxed);
        Counted(self.clone())
    }

    pub(crate) fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl App {
    /// The log of a session after `after`, a marker, then live events. Ends when
    /// the session is deleted or the server closes.
    pub(crate) async fn follow(
        &self,
        session: SessionId,
        after: Seq,
    ) -> Result<impl Stream<Item = Result<Followed, ServiceError>> + Send + use<>, ServiceError>
    {
        // Watched before it is looked for: a deletion in between would wake nobody.
        let head = self.store.watch(session);
        let last_seq = self.session(session).await?.last_seq;
        let follower = Follower {
            app: self.clone(),
            session,
            // A place beyond the end is one of another log; believing it would skip events.
            place: after.min(last_seq),
            count: 0,
            live: false,
            look: true,
            ready: VecDeque::new(),
            head,
            _counted: self.followers.one_more(),
        };
        Ok(stream::unfold(Some(follower), |follower| async {
            let mut follower = follower?;
            match follower.next().await {
                Ok(Some(seen)) => Some((Ok(seen), Some(follower))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        }))
    }
}

impl Follower {
    async fn next(&mut self) -> Result<Option<Followed>, ServiceError> {
        loop {
            // The numbers of a log have no gaps, so a jump is what was removed.
            if let Some(next) = self.ready.front()
                && next.seq > self.place.next()
            {
                let through = Seq::new(next.seq.get() - 1);
                return Ok(Some(self.step_over(through)));
            }
            if let Some(event) = self.ready.pop_front() {
                self.place = event.seq;
                self.count += 1;
                return Ok(Some(Followed::Event(Box::new(event))));
            }
            // Marked as seen before reading: what is appended after this wakes the follower again.
            let head = *self.head.borrow_and_update();
            if self.look || head > self.place {
                self.look = !self.live;
                let query = EventQuery {
                    after: self.place,
                    limit: PAGE,
                    max_bytes: PAGE_BYTES,
                    ..Default::default()
                };
                // On the heap while it lasts: those who wait, which is nearly all and always, would
                // each keep room for it.
                let read = Box::pin(self.app.store.events(self.session, query));
                self.ready = read.await?.into();
                if !self.ready.is_empty() {
                    continue;
                }
            }
            if !self.live {
                // Cleared to its end: nothing is left to show the gap by.
                let removed = Box::pin(self.app.session(self.session)).await?.removed_through;
                if removed > self.place {
                    return Ok(Some(self.step_over(removed)));
                }
                (self.live, self.look) = (true, false);
                let (last_seq, event_count) = (self.place, self.count);
                return Ok(Some(Followed::HistoryComplete { last_seq, event_count }));
            }
            tokio::select! {
                // In this order, so that a story from a seed is the same every time.
                biased;
                () = self.app.closed() => return Ok(None),
                changed = self.head.changed() => if changed.is_err() { return Ok(None) },
                () = tokio::time::sleep(POLL) => self.look = true,
            }
        }
    }

    fn step_over(&mut self, through: Seq) -> Followed {
        let after = std::mem::replace(&mut self.place, through);
        Followed::Gap { after, through }
    }
}
