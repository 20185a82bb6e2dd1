//! A streamed answer on its way, in chunks that end anywhere.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;

use super::Shared;
use super::script::{Ending, Reply};
use super::wire::Wire;

/// Sends the answer chunk by chunk, and then does what its ending says.
pub(super) fn streamed(
    wire: Wire,
    number: usize,
    reply: &Reply,
    chunk_bytes: usize,
    shared: Arc<Shared>,
) -> Response {
    let (begun, end) = wire.stream(number, reply);
    let (end, ending) = match &reply.ending {
        Ending::Whole | Ending::CutShort => (end, Ends::AtOnce),
        Ending::Held => (end, Ends::Held),
        Ending::Malformed => (wire.malformed(), Ends::AtOnce),
        Ending::Failed { status, message } => (wire.failed(*status, message), Ends::AtOnce),
        Ending::Cut | Ending::Refused { .. } | Ending::Page(_) => (String::new(), Ends::Broken),
    };
    let sending = Sending {
        begun: cut(&begun, chunk_bytes),
        end: cut(&end, chunk_bytes),
        ending,
        watch: HangUp { shared, done: false },
    };
    let body = Body::from_stream(stream::unfold(sending, Sending::next));
    let kind = [(header::CONTENT_TYPE, wire.stream_type())];
    (kind, body).into_response()
}

type Chunks = VecDeque<Vec<u8>>;

/// An answer that is being sent.
struct Sending {
    begun: Chunks,
    end: Chunks,
    ending: Ends,
    watch: HangUp,
}

/// What happens between the beginning and the end.
#[derive(PartialEq, Eq)]
enum Ends {
    AtOnce,
    Held,
    Broken,
}

impl Sending {
    async fn next(mut self) -> Option<(Result<Vec<u8>, std::io::Error>, Self)> {
        // Gives the connection time to send what it has, so that chunks stay apart.
        tokio::task::yield_now().await;
        if let Some(chunk) = self.begun.pop_front() {
            return Some((Ok(chunk), self));
        }
        if self.ending == Ends::Held {
            self.watch.shared.hold().await;
            self.ending = Ends::AtOnce;
        }
        if let Some(chunk) = self.end.pop_front() {
            return Some((Ok(chunk), self));
        }
        self.watch.done = true;
        if self.ending == Ends::Broken {
            self.ending = Ends::AtOnce;
            // An error makes the connection break off, as a crash would.
            return Some((Err(std::io::Error::other("cut by the script")), self));
        }
        None
    }
}

/// Notices that an answer ends before it was sent.
struct HangUp {
    shared: Arc<Shared>,
    done: bool,
}

impl Drop for HangUp {
    fn drop(&mut self) {
        if !self.done {
            self.shared.counts.send_modify(|counts| counts.hung_up += 1);
        }
    }
}

/// The text in pieces of so many bytes, wherever they end.
fn cut(text: &str, chunk_bytes: usize) -> Chunks {
    text.as_bytes().chunks(chunk_bytes).map(<[u8]>::to_vec).collect()
}
