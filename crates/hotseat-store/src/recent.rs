//! The last events of sessions that somebody watches.
//!
//! Whoever is woken by a commit asks for what it brought, so it is kept here for them for a
//! while and needs no read. This only ever says what is committed and not removed: it answers
//! if it has everything from the place in question up to the last commit it was told of, and
//! otherwise leaves it to the log.

use std::collections::VecDeque;
use std::sync::Arc;

use hotseat_core::Event;

use crate::query::{DEFAULT_EVENTS, page_size};
use crate::{EventQuery, Order, Sort};

/// Events kept of one session.
const MOST_EVENTS: usize = 64;

/// Bytes of payloads kept of one session.
const MOST_BYTES: usize = 32 * 1024;

/// The last events of one session, without gaps, the last commit's at the end.
#[derive(Debug, Default)]
pub(crate) struct Recent {
    events: VecDeque<Arc<Event>>,
    bytes: usize,
}

impl Recent {
    /// Takes in what a commit brought. Nothing means that it was not kept, or that something
    /// was removed: then all is forgotten.
    pub(crate) fn add(&mut self, brought: Vec<Arc<Event>>) {
        let next = self.events.back().map(|last| last.seq.next());
        if brought.first().map(|first| first.seq) != next {
            self.forget();
        }
        for event in brought {
            self.bytes += event.payload.get().len();
            self.events.push_back(event);
        }
        while self.bytes > MOST_BYTES || self.events.len() > MOST_EVENTS {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= oldest.payload.get().len();
        }
    }

    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Bytes of payloads that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// What the log would answer, if it is known here and not nothing.
    pub(crate) fn find(&self, query: &EventQuery) -> Option<Vec<Arc<Event>>> {
        let first = self.events.front()?.seq;
        if !asks_what_follows(query) || query.after.next() < first {
            return None;
        }
        let limit = page_size(query.limit, DEFAULT_EVENTS);
        let wanted = self.events.iter().filter(|event| {
            event.seq > query.after && (query.kinds.is_empty() || query.kinds.contains(&event.kind))
        });
        let (mut found, mut bytes) = (Vec::new(), 0);
        for event in wanted.take(limit) {
            bytes += event.payload.get().len();
            found.push(Arc::clone(event));
            if query.max_bytes > 0 && bytes > query.max_bytes {
                break;
            }
        }
        (!found.is_empty()).then_some(found)
    }
}

/// Whether this is what a reader asks who follows a log.
fn asks_what_follows(query: &EventQuery) -> bool {
    let EventQuery { later_than, not_before, invocation_id, author, branch, event_type, .. } =
        query;
    (query.sort, query.order) == (Sort::Arrival, Order::Ascending)
        && later_than.is_none()
        && not_before.is_none()
        && invocation_id.is_none()
        && author.is_none()
        && branch.is_none()
        && event_type.is_none()
}
