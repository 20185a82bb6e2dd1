//! A native program that appends into many sessions at once, for `make bench`.
//!
//! `streams URL TOKEN SESSIONS SECONDS STREAMS`: every session gets its next event when the one
//! before is answered; the sessions share a few streams of `AppendAdkEvents`. Prints one JSON
//! object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/report.rs"]
mod report;
#[path = "bench/sample.rs"]
mod sample;

use std::time::{Duration, Instant};

use hotseat_testkit::Api;
use hotseat_testkit::proto::append_adk_events_request::Append;
use hotseat_testkit::proto::append_adk_events_response::Answer;
use hotseat_testkit::proto::{
    AdkSessionKey, AppendAdkEventRequest, AppendAdkEventsRequest, CreateAdkSessionRequest,
};
use tokio_stream::wrappers::ReceiverStream;

use self::report::report;
use self::sample::event;

/// Messages that may wait on their way to the server.
const WAITING: usize = 16;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, sessions, seconds, streams] = words.as_slice() else {
        panic!("usage: streams URL TOKEN SESSIONS SECONDS STREAMS");
    };
    let number = |word: &String| word.parse::<usize>().expect("a number");
    let (sessions, streams) = (number(sessions), number(streams).max(1));
    let seconds = Duration::from_secs(number(seconds) as u64);
    let api = Api::new(url.clone(), Some(token.clone()));
    let run = uuid::Uuid::new_v4();

    let tasks: Vec<_> = (0..streams)
        .map(|stream| {
            let keys = (stream..sessions).step_by(streams).map(|n| AdkSessionKey {
                app_name: "load".to_owned(),
                user_id: "load".to_owned(),
                id: format!("{run}-{n}"),
            });
            tokio::spawn(write(api.clone(), keys.collect(), seconds))
        })
        .collect();
    let (mut times, mut errors) = (Vec::new(), 0);
    for task in tasks {
        let (more, failed) = task.await.expect("a stream");
        times.extend(more);
        errors += failed;
    }
    println!("{}", report(times, seconds, errors));
}

/// Writes into these sessions for a while: how long each append took, and how many failed.
async fn write(api: Api, keys: Vec<AdkSessionKey>, lasts: Duration) -> (Vec<Duration>, usize) {
    let mut client = api.grpc().await.sessions;
    for key in &keys {
        let new = CreateAdkSessionRequest { key: Some(key.clone()), ..Default::default() };
        client.create_adk_session(new).await.expect("a session");
    }
    let (send, waiting) = tokio::sync::mpsc::channel(WAITING);
    let began = Instant::now();
    let mut since = vec![began; keys.len()];
    let append = |n: usize, round: usize| Append {
        number: n as u64,
        event: Some(AppendAdkEventRequest {
            key: keys.get(n).cloned(),
            raw_json: event(round).into(),
            ..Default::default()
        }),
    };
    let appends = (0..keys.len()).map(|n| append(n, 0)).collect();
    send.send(AppendAdkEventsRequest { appends }).await.expect("an open stream");
    let mut send = Some(send);
    let answers = client.append_adk_events(ReceiverStream::new(waiting)).await;
    let mut answers = answers.expect("a stream").into_inner();
    let (mut times, mut errors) = (Vec::new(), 0);
    while let Some(batch) = answers.message().await.expect("answers") {
        let now = Instant::now();
        let mut appends = Vec::with_capacity(batch.answers.len());
        for Answer { number, appended, .. } in batch.answers {
            let n = usize::try_from(number).expect("one of ours");
            match appended {
                Some(_) => times.push(now - since[n]),
                None => errors += 1,
            }
            appends.push(append(n, times.len()));
            since[n] = Instant::now();
        }
        if began.elapsed() > lasts {
            send = None; // What is under way is still answered.
        }
        if let Some(send) = &send {
            send.send(AppendAdkEventsRequest { appends }).await.expect("an open stream");
        }
    }
    (times, errors)
}
