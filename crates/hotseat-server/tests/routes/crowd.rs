//! Many readers at once.

use std::future::poll_fn;

use axum::body::{Body, BodyDataStream};
use axum::http::Request;
use futures_util::StreamExt as _;
use futures_util::future::join_all;
use tonic::client::GrpcService as _;
use tonic::transport::Channel;

use hotseat_testkit::{TestServer, sample, soon};

/// Connections. Each carries many streams, so that no limit of open files is in the way.
const CONNECTIONS: usize = 10;
const READERS: usize = 1000;

/// A stream of server-sent events over HTTP/2.
struct Reader {
    chunks: BodyDataStream,
    unread: String,
}

impl Reader {
    async fn subscribe(mut channel: Channel, path: &str) -> Self {
        let request = Request::get(path)
            .header("authorization", format!("Bearer {}", TestServer::TOKEN))
            .body(tonic::body::Body::empty())
            .unwrap();
        poll_fn(|context| channel.poll_ready(context)).await.unwrap();
        let response = channel.call(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let chunks = Body::new(response.into_body()).into_data_stream();
        Self { chunks, unread: String::new() }
    }

    /// Reads on until `text` has come.
    async fn until(&mut self, text: &str) {
        loop {
            if let Some(found) = self.unread.find(text) {
                self.unread.drain(..found + text.len());
                return;
            }
            let chunk = self.chunks.next().await.expect("the stream goes on").unwrap();
            self.unread.push_str(std::str::from_utf8(&chunk).unwrap());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_readers_of_one_session_all_hear_what_happens() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let path = format!("/api/v1/sessions/{id}/stream");
    let endpoint = Channel::from_shared(server.api.url.clone()).unwrap();
    let channels = join_all((0..CONNECTIONS).map(|_| endpoint.connect())).await;
    let channels: Vec<_> = channels.into_iter().map(Result::unwrap).collect();
    let subscribing = channels.iter().cycle().take(READERS).map(async |channel| {
        let mut reader = Reader::subscribe(channel.clone(), &path).await;
        reader.until("event: history_complete").await;
        reader
    });
    let mut readers = soon("all to be there", join_all(subscribing)).await;
    assert_eq!(readers.len(), READERS);

    let events = format!("/api/v1/sessions/{id}/events");
    for news in ["one", "two"] {
        server.api.post(&events, &sample::agent_event(news, "root", news)).await.json(201);
    }
    let hearing = readers.iter_mut().map(async |reader| {
        reader.until("\"event_id\":\"one\"").await;
        reader.until("\"event_id\":\"two\"").await;
    });
    soon("all to hear it", join_all(hearing)).await;
}
