//! Native clients that append as fast as they are answered, for `make bench`.
//!
//! `load URL TOKEN CLIENTS SECONDS [one] [rate=N] [count=N]`: every client has a connection and a
//! session of its own, or with `one` all write into the same. With a count, each ends after so many. With a rate, all of them together send so
//! many in a second, each at its time, and an append takes from that time on; so a server that
//! falls behind cannot hide it. Several URLs, with commas between, are servers that share the
//! clients. They speak gRPC over HTTP/1.1, as the Python package does. Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/plain.rs"]
mod plain;
#[path = "bench/report.rs"]
mod report;
#[path = "bench/sample.rs"]
mod sample;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hotseat_testkit::proto::{AdkSessionKey, AppendAdkEventRequest, CreateAdkSessionRequest};
use prost::Message;

use self::plain::{Answer, Line};
use self::report::report;
use self::sample::event;

/// A client that waits needs little.
const STACK_BYTES: usize = 256 * 1024;

/// How often it is looked whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// When a client sends.
#[derive(Clone, Copy)]
struct Pace {
    /// The time between two appends; without one, the next is sent when the last is answered.
    every: Option<Duration>,
    /// How long after all of them have begun.
    late: Duration,
    /// How many it sends at most.
    count: usize,
}

/// A connection, and what all its requests say.
struct Client {
    line: Line,
    address: String,
    token: String,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, clients, seconds, rest @ ..] = words.as_slice() else {
        panic!("usage: load URL TOKEN CLIENTS SECONDS [one] [rate=N] [count=N]");
    };
    let clients: u32 = clients.parse().expect("CLIENTS is a number");
    let seconds: u64 = seconds.parse().expect("SECONDS is a number");
    let one = rest.iter().any(|word| word == "one");
    let option = |name: &str| rest.iter().find_map(|word| word.strip_prefix(name));
    let rate: Option<f64> = option("rate=").map(|rate| rate.parse().expect("a number"));
    let count = option("count=").map_or(usize::MAX, |count| count.parse().expect("a number"));
    let every = rate.map(|rate| Duration::from_secs_f64(f64::from(clients) / rate));
    let plain = |url: &'_ str| url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    let addresses: Vec<String> = url.split(',').map(plain).collect();
    let stop = Arc::new(AtomicBool::new(false));
    let run = uuid::Uuid::new_v4();

    let mut threads = Vec::new();
    for (n, address) in (0..clients).zip(addresses.iter().cycle()) {
        let key = AdkSessionKey {
            app_name: "load".to_owned(),
            user_id: "load".to_owned(),
            id: format!("{run}-{}", if one { 0 } else { n }),
        };
        let mut client =
            Client { line: Line::new(address), address: address.clone(), token: token.clone() };
        if n == 0 || !one {
            let new = CreateAdkSessionRequest { key: Some(key.clone()), ..Default::default() };
            client.call("CreateAdkSession", &new).expect("a session");
        }
        let stop = Arc::clone(&stop);
        // Not all at once: the first times are spread over what is between two of them.
        let late = every.map_or(Duration::ZERO, |every| every * n / clients);
        let work = move || client.append(&key, &stop, Pace { every, late, count });
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        threads.push(thread.expect("a thread"));
    }
    let began = Instant::now();
    let lasts = Duration::from_secs(seconds);
    while began.elapsed() < lasts && !threads.iter().all(JoinHandle::is_finished) {
        std::thread::sleep(LOOK.min(lasts));
    }
    stop.store(true, Ordering::Relaxed);
    let (mut times, mut errors) = (Vec::new(), 0);
    for thread in threads {
        let (more, failed) = thread.join().expect("a client");
        times.extend(more);
        errors += failed;
    }
    println!("{}", report(times, began.elapsed(), errors));
}

impl Client {
    /// Appends until it is told to stop: how long each took, and how many failed.
    fn append(
        &mut self,
        key: &AdkSessionKey,
        stop: &AtomicBool,
        pace: Pace,
    ) -> (Vec<Duration>, usize) {
        let (mut times, mut errors) = (Vec::new(), 0);
        let mut due = Instant::now() + pace.late;
        while times.len() < pace.count && !stop.load(Ordering::Relaxed) {
            if pace.every.is_some() {
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
            let request = AppendAdkEventRequest {
                key: Some(key.clone()),
                raw_json: event(times.len()).into(),
                ..Default::default()
            };
            match self.call("AppendAdkEvent", &request) {
                Some(time) => times.push(pace.every.map_or(time, |_| due.elapsed())),
                None => errors += 1,
            }
            due += pace.every.unwrap_or_default();
        }
        (times, errors)
    }

    /// One unary call, and how long it took. An answer with a message is a success.
    fn call(&mut self, method: &str, message: &impl Message) -> Option<Duration> {
        let message = message.encode_to_vec();
        let Self { line, address, token } = self;
        let mut request = format!(
            "POST /hotseat.v1.Sessions/{method} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/grpc\r\nte: trailers\r\ncontent-length: {}\r\n\r\n",
            message.len() + 5
        )
        .into_bytes();
        request.push(0);
        let length = u32::try_from(message.len()).expect("a small message");
        request.extend_from_slice(&length.to_be_bytes());
        request.extend_from_slice(&message);
        let Answer { ok, first, body } = line.ask(&request);
        (ok && !body.is_empty()).then_some(first)
    }
}
