//! What a caller sends comes at some pace, or is given up.
//!
//! A body that stalls, and one that comes byte by byte, would keep its place for as long as its
//! sender likes. A sender of gRPC may say nothing for as long as it has nothing to say, so there
//! the time counts only from the first byte of a message to its last, and from the head to the
//! first message. Only waiting for the sender counts, not the server's own work in between.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use http_body::{Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};
use tonic::Status;

/// The slowest pace, in bytes a second: that of a bad line of the last century.
const LEAST_PER_SECOND: u64 = 1024;

/// How late a deadline may be looked at and still count. If it is later, the server was busy
/// with something else.
const LATE: Duration = Duration::from_secs(1);

/// Bytes before each message of gRPC: whether it is compressed, and how long it is.
const PREFIX: usize = 5;

/// A body that did not come at the pace.
#[derive(Debug, thiserror::Error)]
#[error("the body stopped coming before its end")]
pub(crate) struct Stalled;

/// The request, whose whole body has to come at the pace of so much within `within`.
pub(crate) fn whole(request: Request, within: Duration) -> Request {
    request.map(|body| Body::new(Paced::new(body, within, Unit::Body)))
}

/// The same for a request of gRPC, each of whose messages has to.
pub(crate) fn messages(request: Request, within: Duration) -> Request {
    request.map(|body| Body::new(Paced::new(body, within, Unit::Messages(Message::default()))))
}

struct Paced {
    body: Body,
    within: Duration,
    unit: Unit,
    /// Set while the sender is waited for.
    deadline: Option<Pin<Box<Sleep>>>,
    /// Bytes since the deadline was set.
    came: u64,
}

/// What has to come without a pause.
enum Unit {
    Body,
    Messages(Message),
}

/// A message of gRPC of which a part may have come.
#[derive(Default)]
struct Message {
    prefix: Vec<u8>,
    /// Bytes that are missing behind the prefix.
    missing: usize,
    /// Whether one was complete.
    any: bool,
}

impl Message {
    fn takes(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.prefix.len() < PREFIX {
                let (some, rest) = bytes.split_at(bytes.len().min(PREFIX - self.prefix.len()));
                self.prefix.extend_from_slice(some);
                bytes = rest;
                if let [_, a, b, c, d] = self.prefix[..] {
                    self.missing = u32::from_be_bytes([a, b, c, d]) as usize;
                }
            } else {
                let taken = bytes.len().min(self.missing);
                self.missing -= taken;
                bytes = &bytes[taken..];
            }
            if self.prefix.len() == PREFIX && self.missing == 0 {
                *self = Self { any: true, ..Self::default() };
            }
        }
    }
}

impl Unit {
    /// Whether the sender may say nothing now.
    fn may_rest(&self) -> bool {
        match self {
            Self::Body => false,
            Self::Messages(message) => message.any && message.prefix.is_empty(),
        }
    }

    fn stalled(&self) -> axum::Error {
        match self {
            Self::Body => axum::Error::new(Stalled),
            Self::Messages(_) => axum::Error::new(Status::deadline_exceeded(
                "the message stopped coming before its end: send it again",
            )),
        }
    }
}

impl Paced {
    fn new(body: Body, within: Duration, unit: Unit) -> Self {
        Self { body, within, unit, deadline: None, came: 0 }
    }

    /// Resolves when the sender has been waited for too long.
    fn poll_patience(&mut self, context: &mut Context<'_>) -> Poll<()> {
        loop {
            let within = self.within;
            let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(within)));
            ready!(deadline.as_mut().poll(context));
            let late = Instant::now().duration_since(deadline.deadline()) > LATE;
            let came = std::mem::take(&mut self.came);
            self.deadline = None;
            if !late && came < self.within.as_secs().saturating_mul(LEAST_PER_SECOND) {
                return Poll::Ready(());
            }
        }
    }
}

impl HttpBody for Paced {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match Pin::new(&mut self.body).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => {
                if let Some(bytes) = frame.data_ref() {
                    self.came += bytes.len() as u64;
                    if let Unit::Messages(message) = &mut self.unit {
                        message.takes(bytes);
                    }
                }
                if self.unit.may_rest() {
                    self.deadline = None;
                    self.came = 0;
                }
                Poll::Ready(Some(Ok(frame)))
            }
            ended @ Poll::Ready(_) => ended,
            Poll::Pending if self.unit.may_rest() => Poll::Pending,
            Poll::Pending => {
                ready!(self.poll_patience(context));
                Poll::Ready(Some(Err(self.unit.stalled())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sender_may_rest_between_messages_and_not_within_one() {
        let mut unit = Unit::Messages(Message::default());
        let mut rests = Vec::new();
        // Two messages, of three bytes and of none, in all sorts of pieces.
        for piece in [&[0, 0][..], &[0, 0, 3, 7], &[7, 7], &[0], &[0, 0, 0, 0], &[1]] {
            rests.push(unit.may_rest());
            let Unit::Messages(message) = &mut unit else { unreachable!() };
            message.takes(piece);
        }
        assert_eq!(rests, [false, false, false, true, false, true]);
        assert!(!unit.may_rest());
    }
}
