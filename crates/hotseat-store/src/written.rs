//! Pages of events that are written where they are read.
//!
//! Whoever passes a long page on as text needs none of its events for itself: each is shown
//! where it lies, written, and forgotten. Nothing is copied or looked into on the way, because
//! what is in the log was checked when it came in.

use hotseat_core::{Event, Kind, Seq, SessionId, TurnId};
use jiff::Timestamp;

/// An event where it lies.
#[derive(Debug, Clone, Copy)]
pub struct EventRef<'a> {
    /// Its session.
    pub session_id: SessionId,
    /// Its place in the log.
    pub seq: Seq,
    /// Unique in its session.
    pub event_id: &'a str,
    /// When it happened, as the server saw it.
    pub timestamp: Timestamp,
    /// What it says.
    pub kind: Kind,
    /// The turn it opens or ends.
    pub turn_id: Option<TurnId>,
    /// ADK's id of the invocation it belongs to.
    pub invocation_id: Option<&'a str>,
    /// Who made it.
    pub author: &'a str,
    /// The agent it concerns.
    pub agent_name: &'a str,
    /// ADK's branch.
    pub branch: Option<&'a str>,
    /// The function call inside which it happened.
    pub parent_call_id: Option<&'a str>,
    /// The payload, verbatim: JSON.
    pub payload: &'a str,
}

impl<'a> From<&'a Event> for EventRef<'a> {
    fn from(event: &'a Event) -> Self {
        Self {
            session_id: event.session_id,
            seq: event.seq,
            event_id: &event.event_id,
            timestamp: event.timestamp,
            kind: event.kind,
            turn_id: event.turn_id,
            invocation_id: event.invocation_id.as_deref(),
            author: &event.author,
            agent_name: &event.agent_name,
            branch: event.branch.as_deref(),
            parent_call_id: event.parent_call_id.as_deref(),
            payload: event.payload.get(),
        }
    }
}

/// How one event is written behind those before it.
pub type WriteEvent = fn(&EventRef<'_>, &mut Vec<u8>);

/// A page of events, as it was written.
#[derive(Debug)]
pub struct WrittenEvents {
    /// What was there before, and the events behind it.
    pub text: Vec<u8>,
    /// The last event on it, unless it is empty.
    pub last: Option<Seq>,
    /// More events may follow.
    pub more: bool,
}

/// A page that is being written.
pub(crate) struct Writing {
    written: WrittenEvents,
    write: WriteEvent,
    left: usize,
    bytes_left: usize,
}

impl Writing {
    /// For at most so many events, and until there are so many bytes of payloads, if that is
    /// not 0. `text` is what the page begins with.
    pub(crate) fn new(text: Vec<u8>, write: WriteEvent, most: usize, max_bytes: usize) -> Self {
        let bytes_left = if max_bytes == 0 { usize::MAX } else { max_bytes };
        let written = WrittenEvents { text, last: None, more: false };
        Self { written, write, left: most, bytes_left }
    }

    /// Writes the next event. False if there is no room for it: then the page is full.
    pub(crate) fn add(&mut self, event: &EventRef<'_>) -> bool {
        if self.left == 0 {
            self.written.more = true;
            return false;
        }
        (self.write)(event, &mut self.written.text);
        self.written.last = Some(event.seq);
        self.left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(event.payload.len());
        if self.bytes_left == 0 {
            (self.left, self.written.more) = (0, true);
        }
        true
    }

    pub(crate) fn finish(self) -> WrittenEvents {
        self.written
    }
}
