//! Server-sent events on the wire.
//!
//! Messages that are ready together are sent together: the history of a long session
//! is thousands of small ones, and a frame for each would cost more than what is in it.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream::{Stream, StreamExt};
use serde::Serialize;
use tokio::time::Instant;
use tokio_stream::StreamExt as _;

/// Proxies close connections that are silent for longer.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Messages in one frame.
const TOGETHER: usize = 256;

/// One message, as it is sent.
#[derive(Debug)]
pub(super) struct Message(String);

impl Message {
    /// A message without an id.
    pub(super) fn new(event: &str, data: &impl Serialize) -> Self {
        Self::with(event, None, data)
    }

    /// A message from which a reader can resume.
    pub(super) fn at(event: &str, id: impl std::fmt::Display, data: &impl Serialize) -> Self {
        Self::with(event, Some(&id), data)
    }

    /// A message without a name, as some protocols want it.
    pub(super) fn data(data: &impl Serialize) -> Self {
        Self(format!("data: {}\n\n", serde_json::to_string(data).unwrap_or_default()))
    }

    fn with(event: &str, id: Option<&dyn std::fmt::Display>, data: &impl Serialize) -> Self {
        let mut text = format!("event: {event}\n");
        if let Some(id) = id {
            // Writing into text cannot fail.
            let _ = writeln!(text, "id: {id}");
        }
        // JSON without white space has no line breaks, so it is one line.
        text.push_str("data: ");
        text.push_str(&serde_json::to_string(data).unwrap_or_default());
        text.push_str("\n\n");
        Self(text)
    }
}

/// The answer that sends `messages`, and a comment when there are none for a while.
pub(super) fn response(messages: impl Stream<Item = Message> + Send + 'static) -> Response {
    let frames = StreamExt::map(messages.ready_chunks(TOGETHER), |messages| {
        let text: String = messages.into_iter().map(|message| message.0).collect();
        Bytes::from(text)
    });
    let frames = kept_alive(frames);
    let headers = [
        (header::CONTENT_TYPE, "text/event-stream"),
        (header::CACHE_CONTROL, "no-cache"),
        // A proxy that collects the answer would hold back what somebody waits for.
        (header::HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, Body::from_stream(frames)).into_response()
}

/// The frames, and a comment when there are none for a while.
pub(super) fn kept_alive(
    frames: impl Stream<Item = Bytes> + Send + 'static,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static {
    let silence = tokio::time::interval_at(Instant::now() + KEEP_ALIVE, KEEP_ALIVE);
    StreamExt::map(frames.timeout_repeating(silence), |frame| {
        Ok(frame.unwrap_or_else(|_| Bytes::from_static(b":\n\n")))
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_stream_is_kept_alive_every_15_seconds() {
        let silent = futures_util::stream::pending();
        let mut frames = response(silent).into_body().into_data_stream();
        let began = Instant::now();
        for n in 1..=3 {
            let frame = StreamExt::next(&mut frames).await.unwrap().unwrap();
            assert_eq!(&frame[..], b":\n\n");
            assert_eq!(began.elapsed(), KEEP_ALIVE * n);
        }
    }

    #[tokio::test]
    async fn messages_that_are_ready_together_travel_together() {
        let ready = futures_util::stream::iter([
            Message::at("event", 7, &json!({"text": "a\nb"})),
            Message::new("history_complete", &json!({})),
        ]);
        let mut frames = response(ready).into_body().into_data_stream();
        let frame = StreamExt::next(&mut frames).await.unwrap().unwrap();
        let expected = "event: event\nid: 7\ndata: {\"text\":\"a\\nb\"}\n\n\
                        event: history_complete\ndata: {}\n\n";
        assert_eq!(std::str::from_utf8(&frame).unwrap(), expected);
        assert!(StreamExt::next(&mut frames).await.is_none());
    }
}
