//! How events go over the wire: as Server-Sent Events or as protobuf frames.
//!
//! The reference client breaks off at a frame of more than 10 MiB, so no such
//! frame leaves here. [`Encoding::frames`] cuts a long delta into several
//! events, which mean the same. Where that cannot be done, it leaves out what
//! the log has anyway and says so in its place: of a conversation, the files.
//! Only a state, or what was said, that is too large is an error: half of it
//! would be a lie.

mod accept;
mod fit;

use crate::event::Event;
use crate::proto::encode_event;

pub use accept::{EVENT_STREAM, NotAcceptable, PROTOBUF};

/// The longest frame, in bytes. Below the client's 10 MiB, so that the id and
/// the framing never make a difference.
pub const MAX_FRAME_BYTES: usize = 10 * 1024 * 1024 - 1024;

/// How events go over the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// Server-Sent Events.
    Sse,
    /// Frames of protobuf.
    Protobuf,
}

/// An event that cannot be sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{event} takes {bytes} bytes, and a client reads at most {MAX_FRAME_BYTES} at once; make what it holds smaller"
)]
pub struct TooLarge {
    /// The event.
    pub event: &'static str,
    /// Its size.
    pub bytes: usize,
}

impl Encoding {
    /// The value of `Content-Type`. The client knows protobuf only by exactly
    /// this, without parameters.
    pub const fn content_type(self) -> &'static str {
        match self {
            Encoding::Sse => EVENT_STREAM,
            Encoding::Protobuf => PROTOBUF,
        }
    }

    /// The event as the frames to send, in order; more than one only if a
    /// single one would be too large. All of them have the same `id`.
    pub fn frames(self, event: &Event, id: Option<u64>) -> Result<Vec<Vec<u8>>, TooLarge> {
        let frame = self.frame(event, id);
        let bytes = frame.len();
        if bytes <= MAX_FRAME_BYTES {
            return Ok(vec![frame]);
        }
        let smaller = fit::smaller(event, bytes);
        let frames: Vec<Vec<u8>> = smaller.iter().map(|event| self.frame(event, id)).collect();
        if frames.is_empty() || frames.iter().any(|frame| frame.len() > MAX_FRAME_BYTES) {
            return Err(TooLarge { event: event.body.name(), bytes });
        }
        Ok(frames)
    }

    /// Writes the same behind `out`. Nothing is written there if it cannot be sent.
    pub fn append(self, event: &Event, id: Option<u64>, out: &mut Vec<u8>) -> Result<(), TooLarge> {
        let before = out.len();
        match self {
            Encoding::Sse => append_sse(event, id, out),
            Encoding::Protobuf => out.extend_from_slice(&encode_proto(event)),
        }
        if out.len() - before <= MAX_FRAME_BYTES {
            return Ok(());
        }
        out.truncate(before);
        self.frames(event, id)?.iter().for_each(|frame| out.extend_from_slice(frame));
        Ok(())
    }

    fn frame(self, event: &Event, id: Option<u64>) -> Vec<u8> {
        match self {
            Encoding::Sse => encode_sse(event, id).into_bytes(),
            Encoding::Protobuf => encode_proto(event),
        }
    }
}

#[expect(clippy::expect_used, reason = "events have text keys only, so writing cannot fail")]
fn append_sse(event: &Event, id: Option<u64>, out: &mut Vec<u8>) {
    if let Some(id) = id {
        out.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    out.extend_from_slice(b"data: ");
    serde_json::to_writer(&mut *out, event).expect("an event is JSON");
    out.extend_from_slice(b"\n\n");
}

/// The event as one Server-Sent Event. Lines end with LF: the client does not
/// know CRLF.
pub fn encode_sse(event: &Event, id: Option<u64>) -> String {
    let json = json_text(event);
    match id {
        Some(id) => format!("id: {id}\ndata: {json}\n\n"),
        None => format!("data: {json}\n\n"),
    }
}

/// The event as one frame: its length in four bytes, big-endian, and protobuf.
pub fn encode_proto(event: &Event) -> Vec<u8> {
    encode_event(&json_value(event))
}

#[expect(clippy::expect_used, reason = "events have text keys only, so writing cannot fail")]
fn json_text(event: &Event) -> String {
    serde_json::to_string(event).expect("an event is JSON")
}

#[expect(clippy::expect_used, reason = "events have text keys only, so writing cannot fail")]
fn json_value(event: &Event) -> serde_json::Value {
    serde_json::to_value(event).expect("an event is JSON")
}
