//! Clients that run an agent as fast as they are answered, for `make bench`.
//!
//! `runs URL TOKEN PATH CLIENTS RUNS TEXT`: every client has a connection of its own and
//! begins a new thread with every run. A run counts when its stream has ended and TEXT was
//! in it. Prints one JSON object. Threads with plain sockets, because they share the
//! machine with the server and should cost little.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

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
    let (mut first, failed) = all(&target, clients, runs);
    let seconds = began.elapsed().as_secs_f64();
    first.sort_unstable();
    let at = |part: usize| first.get(first.len() * part / 100).map(|time| time.as_secs_f64() * 1e3);
    #[expect(clippy::cast_precision_loss, reason = "thousands of runs")]
    let per_second = first.len() as f64 / seconds;
    let figures = json!({"runs_per_second": per_second, "first_event_p50_ms": at(50),
        "first_event_p99_ms": at(99), "failed": failed});
    println!("{figures}");
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
    let stream = TcpStream::connect(&target.address).expect("the server listens");
    stream.set_nodelay(true).expect("a socket");
    let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
    let mut writer = stream;
    let (mut times, mut failed) = (Vec::new(), 0);
    while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok() {
        let began = Instant::now();
        writer.write_all(&request(target)).expect("the server reads");
        let (ok, first, body) = answer(&mut reader, began);
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

/// Whether it is a 200, when the body began, and the body.
fn answer(reader: &mut impl BufRead, began: Instant) -> (bool, Duration, Vec<u8>) {
    let mut ok = false;
    let mut length = None;
    let mut line = String::new();
    loop {
        line.clear();
        reader.read_line(&mut line).expect("the server answers");
        let lower = line.trim_end().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        ok |= lower.starts_with("http/1.1 200");
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse::<usize>().ok();
        }
    }
    let mut body = Vec::new();
    if let Some(length) = length {
        body.resize(length, 0);
        reader.read_exact(&mut body).expect("the whole answer");
        return (ok, began.elapsed(), body);
    }
    let mut first = None;
    loop {
        line.clear();
        reader.read_line(&mut line).expect("a chunk");
        let size = usize::from_str_radix(line.trim(), 16).expect("the size of a chunk");
        let at = body.len();
        body.resize(at + size + 2, 0);
        reader.read_exact(&mut body[at..]).expect("a chunk");
        body.truncate(at + size);
        first.get_or_insert_with(|| began.elapsed());
        if size == 0 {
            return (ok, first.unwrap_or_default(), body);
        }
    }
}
