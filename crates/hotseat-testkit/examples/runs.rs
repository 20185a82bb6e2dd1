//! Clients that run an agent as fast as they are answered, for `make bench`.
//!
//! `runs URL TOKEN PATH CLIENTS RUNS TEXT`: every client has a connection of its own and
//! begins a new thread with every run. A run counts when its stream has ended and TEXT was
//! in it. Prints one JSON object. Threads with plain sockets, because they share the
//! machine with the server and should cost little.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/plain.rs"]
mod plain;
#[path = "bench/report.rs"]
mod report;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use self::plain::{Answer, Line};
use self::report::report;

/// Runs before the clock starts.
const WARM_UP: usize = 64;

struct Target {
    address: String,
    token: String,
    path: String,
    text: String,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, path, clients, runs, text] = words.as_slice() else {
        panic!("usage: runs URL TOKEN PATH CLIENTS RUNS TEXT");
    };
    let address = url.strip_prefix("http://").expect("a plain URL").trim_end_matches('/');
    let target = Arc::new(Target {
        address: address.to_owned(),
        token: token.clone(),
        path: path.clone(),
        text: text.clone(),
    });
    let clients: usize = clients.parse().expect("CLIENTS is a number");
    let runs: usize = runs.parse().expect("RUNS is a number");
    all(&target, clients, WARM_UP);
    let began = Instant::now();
    let (first, failed) = all(&target, clients, runs);
    println!("{}", report(first, began.elapsed(), failed));
}

/// Time to the first byte of every run that ended well, and how many did not.
fn all(target: &Arc<Target>, clients: usize, runs: usize) -> (Vec<Duration>, usize) {
    let left = Arc::new(AtomicUsize::new(runs));
    let threads: Vec<_> = (0..clients)
        .map(|_| {
            let (target, left) = (Arc::clone(target), Arc::clone(&left));
            std::thread::spawn(move || client(&target, &left))
        })
        .collect();
    let mut first = Vec::new();
    let mut failed = 0;
    for thread in threads {
        let (times, missed) = thread.join().expect("a client ends");
        first.extend(times);
        failed += missed;
    }
    (first, failed)
}

fn client(target: &Target, left: &AtomicUsize) -> (Vec<Duration>, usize) {
    let mut line = Line::new(&target.address);
    let (mut times, mut failed) = (Vec::new(), 0);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
        let Answer { ok, first, body } = line.ask(&request(target));
        if ok && body.windows(target.text.len()).any(|part| part == target.text.as_bytes()) {
            times.push(first);
        } else {
            failed += 1;
        }
    }
    (times, failed)
}

fn request(target: &Target) -> Vec<u8> {
    let thread = uuid::Uuid::new_v4();
    let body = if target.path.starts_with("/ag-ui/") {
        json!({"threadId": thread, "runId": "r", "state": {}, "tools": [], "context": [], "forwardedProps": {},
            "messages": [{"id": "1", "role": "user", "content": "What is the answer?"}]})
    } else {
        json!({"message": "What is the answer?"})
    };
    let body = body.to_string();
    let Target { address, token, path, .. } = target;
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
