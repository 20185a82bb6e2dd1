//! Following a session's log: what is there, then what comes.
//!
//! A follower holds only its place in the log. It reads on from there whenever
//! it is woken, so nothing is lost, doubled or out of order however appends and
//! subscriptions race, and a slow reader costs no memory.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::{self, Stream};
use hotseat_core::{Event, Seq, SessionId};
use hotseat_store::EventQuery;
use tokio::sync::watch;

use super::{App, ServiceError};

/// Events read at once.
const PAGE: usize = 256;

/// A follower looks without being woken this often, so that a lost wake-up only delays.
const POLL: Duration = Duration::from_secs(5);

/// What a follower sees.
#[derive(Debug)]
pub(crate) enum Followed {
    Event(Box<Event>),
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
    ready: VecDeque<Event>,
    head: watch::Receiver<Seq>,
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
            ready: VecDeque::new(),
            head,
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
            if let Some(event) = self.ready.pop_front() {
                self.place = event.seq;
                self.count += 1;
                return Ok(Some(Followed::Event(Box::new(event))));
            }
            // Marked as seen before reading: what is appended after this wakes the follower again.
            self.head.borrow_and_update();
            let query = EventQuery { after: self.place, limit: PAGE, ..Default::default() };
            self.ready = self.app.store.events(self.session, query).await?.into();
            if !self.ready.is_empty() {
                continue;
            }
            if !self.live {
                self.live = true;
                let (last_seq, event_count) = (self.place, self.count);
                return Ok(Some(Followed::HistoryComplete { last_seq, event_count }));
            }
            tokio::select! {
                changed = self.head.changed() => if changed.is_err() { return Ok(None) },
                () = tokio::time::sleep(POLL) => {}
                () = self.app.closed() => return Ok(None),
            }
        }
    }
}
