//! How long a turn takes through the server, for `make bench`.
//!
//! `hand_off URL TOKEN TURNS`: a plugin submits a request and a person sees it; the person
//! answers and the plugin sees that. Each way is one durable write. A way is over when the
//! caller has its answer and the other side has seen the event. Both sides are in this program,
//! with a connection each, so there is one clock.
//!
//! `hand_off URL TOKEN CALLS echo`: an empty call as often, which is what the wire costs.
//!
//! Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/report.rs"]
mod report;
#[path = "bench/sample.rs"]
mod sample;

use std::time::Instant;

use hotseat_testkit::proto::{
    CreateSessionRequest, GetSessionRequest, HumanResponse, SessionEvent, SubmitDecisionRequest,
    SubscribeRequest,
};
use hotseat_testkit::sample::{llm_request, says};
use hotseat_testkit::{Api, Grpc};
use tonic::Streaming;

use self::report::report;
use self::sample::event;

/// Turns or calls before the clock runs.
const WARM_UP: usize = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, count, rest @ ..] = words.as_slice() else {
        panic!("usage: hand_off URL TOKEN COUNT [echo]");
    };
    let count: usize = count.parse().expect("COUNT is a number");
    let api = Api::new(url.clone(), Some(token.clone()));
    if rest.first().is_some_and(|word| word == "echo") {
        println!("{}", echo(&api, count).await);
    } else {
        println!("{}", turns(&api, count).await);
    }
}

async fn echo(api: &Api, count: usize) -> serde_json::Value {
    let mut seat = api.grpc().await.seat;
    let mut times = Vec::with_capacity(count);
    let session_id = event(0);
    let mut since = Instant::now();
    for n in 0..count + WARM_UP {
        if n == WARM_UP {
            since = Instant::now();
            times.clear();
        }
        let began = Instant::now();
        let wish = GetSessionRequest { session_id: session_id.clone() };
        seat.get_session(wish).await.expect("an echo");
        times.push(began.elapsed());
    }
    report(times, since.elapsed(), 0)
}

async fn turns(api: &Api, count: usize) -> serde_json::Value {
    let (mut plugin, mut person) = (api.grpc().await, api.grpc().await);
    let new = CreateSessionRequest { source: "plugin".to_owned(), ..Default::default() };
    let session = plugin.seat.create_session(new).await.expect("a session").into_inner().id;
    let mut answers = follow(&mut plugin, &session, "response").await;
    let mut requests = follow(&mut person, &session, "request").await;
    let (mut there, mut back) = (Vec::new(), Vec::new());
    let mut since = Instant::now();
    for n in 0..count + WARM_UP {
        if n == WARM_UP {
            since = Instant::now();
            (there, back) = (Vec::new(), Vec::new());
        }
        let began = Instant::now();
        let turn_id = uuid::Uuid::new_v4().to_string();
        plugin.submit(&session, &turn_id, &llm_request("What?")).await.expect("a turn");
        seen(&mut requests, &turn_id).await;
        there.push(began.elapsed());
        let began = Instant::now();
        let response =
            HumanResponse { raw_json: says("4").to_string().into(), ..Default::default() };
        let wish = SubmitDecisionRequest {
            session_id: session.clone(),
            turn_id: turn_id.clone(),
            response: Some(response),
        };
        person.seat.submit_decision(wish).await.expect("a decision");
        seen(&mut answers, &turn_id).await;
        back.push(began.elapsed());
    }
    let lasted = since.elapsed();
    let mut both = report([&there[..], &back[..]].concat(), lasted, 0);
    both["request_p50_ms"] = report(there, lasted, 0)["p50_ms"].take();
    both["answer_p50_ms"] = report(back, lasted, 0)["p50_ms"].take();
    both
}

/// Follows a session up to now.
async fn follow(side: &mut Grpc, session: &str, kind: &str) -> Streaming<SessionEvent> {
    let wish = SubscribeRequest {
        session_id: session.to_owned(),
        kinds: vec![kind.to_owned()],
        ..Default::default()
    };
    let mut stream = side.seat.subscribe(wish).await.expect("a stream").into_inner();
    stream.message().await.expect("a stream").expect("that the past is complete");
    stream
}

async fn seen(stream: &mut Streaming<SessionEvent>, turn_id: &str) {
    let event = stream.message().await.expect("a stream").expect("an event");
    assert_eq!(event.turn_id, turn_id, "events come in order");
}
