//! Native clients that append as fast as they are answered, for `make bench`.
//!
//! `load URL TOKEN CLIENTS SECONDS [one]`: every client has a connection and a session
//! of its own, or with `one` all write into the same. Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotseat_testkit::Api;
use hotseat_testkit::proto::{AdkSessionKey, AppendAdkEventRequest, CreateAdkSessionRequest};
use serde_json::json;

/// Bytes of one event, about what real ones have.
const EVENT_BYTES: usize = 600;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, clients, seconds, rest @ ..] = words.as_slice() else {
        panic!("usage: load URL TOKEN CLIENTS SECONDS [one]");
    };
    let clients: usize = clients.parse().expect("CLIENTS is a number");
    let seconds: u64 = seconds.parse().expect("SECONDS is a number");
    let one = rest.first().is_some_and(|word| word == "one");
    let api = Api::new(url.clone(), Some(token.clone()));
    let stop = Arc::new(AtomicBool::new(false));
    let run = uuid::Uuid::new_v4();

    let mut tasks = Vec::new();
    for n in 0..clients {
        let key = AdkSessionKey {
            app_name: "load".to_owned(),
            user_id: "load".to_owned(),
            id: format!("{run}-{}", if one { 0 } else { n }),
        };
        let mut sessions = api.grpc().await.sessions;
        if n == 0 || !one {
            let new = CreateAdkSessionRequest { key: Some(key.clone()), ..Default::default() };
            sessions.create_adk_session(new).await.expect("a session");
        }
        let stop = Arc::clone(&stop);
        tasks.push(tokio::spawn(async move {
            let (mut times, mut errors) = (Vec::new(), 0_usize);
            while !stop.load(Ordering::Relaxed) {
                let request = AppendAdkEventRequest {
                    key: Some(key.clone()),
                    raw_json: event(times.len()).into(),
                    ..Default::default()
                };
                let began = Instant::now();
                match sessions.append_adk_event(request).await {
                    Ok(_) => times.push(began.elapsed()),
                    Err(_) => errors += 1,
                }
            }
            (times, errors)
        }));
    }
    let began = Instant::now();
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    stop.store(true, Ordering::Relaxed);
    let (mut times, mut errors) = (Vec::new(), 0);
    for task in tasks {
        let (more, failed) = task.await.expect("a client");
        times.extend(more);
        errors += failed;
    }
    let elapsed = began.elapsed().as_secs_f64();
    times.sort_unstable();
    let at = |percent: usize| {
        let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
    let rate = times.len() as f64 / elapsed;
    let result = json!({"clients": clients, "appends_per_second": rate, "p50_ms": at(50),
        "p99_ms": at(99), "errors": errors});
    println!("{result}");
}

/// An event as ADK writes it, of the usual size.
fn event(n: usize) -> String {
    let head = format!(
        r#"{{"id":"{}","invocationId":"e-{}","author":"agent","timestamp":1767607200.{n:06},"content":{{"role":"model","parts":[{{"text":""#,
        uuid::Uuid::new_v4(),
        n / 10,
    );
    let tail = r#""}]},"actions":{"stateDelta":{},"artifactDelta":{}}}"#;
    let text = "x".repeat(EVENT_BYTES.saturating_sub(head.len() + tail.len()));
    format!("{head}{text}{tail}")
}
