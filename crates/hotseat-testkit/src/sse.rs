//! Server-sent events, read from a socket.

use std::collections::VecDeque;
use std::fmt;
use std::pin::Pin;

use futures_util::stream::{Stream, StreamExt};
use serde_json::Value;

use crate::soon;

type Chunks = Pin<Box<dyn Stream<Item = Vec<u8>> + Send>>;

/// One message of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// `id:`, where there is one.
    pub id: Option<String>,
    /// `event:`, `message` where there is none.
    pub event: String,
    /// `data:`, all lines of it.
    pub text: String,
}

impl Message {
    /// The data as JSON.
    pub fn data(&self) -> Value {
        serde_json::from_str(&self.text).expect("the data is JSON")
    }

    /// The id as a number.
    pub fn seq(&self) -> u64 {
        self.id.as_deref().expect("an id").parse().expect("the id is a number")
    }
}

/// A stream that is being read.
pub struct SseReader {
    chunks: Chunks,
    unread: Vec<u8>,
    ready: VecDeque<Message>,
}

impl fmt::Debug for SseReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SseReader").field("ready", &self.ready).finish_non_exhaustive()
    }
}

impl SseReader {
    pub(crate) fn new(response: reqwest::Response) -> Self {
        assert_eq!(response.status(), 200);
        let content_type = response.headers()["content-type"].to_str().expect("text");
        assert!(content_type.starts_with("text/event-stream"), "{content_type}");
        // A connection that breaks ends the stream, as it does for a browser.
        let chunks = response
            .bytes_stream()
            .take_while(|chunk| std::future::ready(chunk.is_ok()))
            .filter_map(|chunk| std::future::ready(chunk.ok().map(|bytes| bytes.to_vec())));
        Self { chunks: Box::pin(chunks), unread: Vec::new(), ready: VecDeque::new() }
    }

    /// The next message; `None` once the server has ended the stream.
    pub async fn next(&mut self) -> Option<Message> {
        soon("the next message of a stream", async {
            loop {
                if let Some(message) = self.ready.pop_front() {
                    return Some(message);
                }
                self.unread.extend(self.chunks.next().await?);
                while let Some(end) = self.unread.windows(2).position(|pair| pair == b"\n\n") {
                    let block: Vec<u8> = self.unread.drain(..end + 2).collect();
                    let block = String::from_utf8(block).expect("streams are UTF-8");
                    self.ready.extend(parse(&block));
                }
            }
        })
        .await
    }

    /// The next message that is called `event`; others before it are passed over.
    pub async fn next_of(&mut self, event: &str) -> Message {
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("ended before `{event}`"));
            if message.event == event {
                return message;
            }
        }
    }

    /// Every message up to and without the first that is called `event`.
    pub async fn until(&mut self, event: &str) -> Vec<Message> {
        let mut before = Vec::new();
        loop {
            let message = self.next().await.unwrap_or_else(|| panic!("ended before `{event}`"));
            if message.event == event {
                return before;
            }
            before.push(message);
        }
    }
}

/// A block between blank lines; comments are not messages.
fn parse(block: &str) -> Option<Message> {
    let (mut id, mut event, mut data) = (None, None, Vec::new());
    for line in block.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => id = Some(value.to_owned()),
            "event" => event = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
    }
    if data.is_empty() {
        return None;
    }
    let event = event.unwrap_or_else(|| "message".to_owned());
    Some(Message { id, event, text: data.join("\n") })
}
