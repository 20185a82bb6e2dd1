//! Native clients that append as fast as they are answered, for `make bench`.
//!
//! `load URL TOKEN CLIENTS SECONDS [one]`: every client has a connection and a session
//! of its own, or with `one` all write into the same. They speak gRPC over HTTP/1.1, as the
//! Python package does. Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

mod plain;
mod sample;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use hotseat_testkit::proto::{AdkSessionKey, AppendAdkEventRequest, CreateAdkSessionRequest};
use prost::Message;

use self::plain::{Answer, Line};
use self::sample::{event, report};

/// A client that waits needs little.
const STACK_BYTES: usize = 256 * 1024;

/// A connection, and what all its requests say.
struct Client {
    line: Line,
    address: String,
    token: String,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, clients, seconds, rest @ ..] = words.as_slice() else {
        panic!("usage: load URL TOKEN CLIENTS SECONDS [one]");
    };
    let clients: usize = clients.parse().expect("CLIENTS is a number");
    let seconds: u64 = seconds.parse().expect("SECONDS is a number");
    let one = rest.first().is_some_and(|word| word == "one");
    let address = url.strip_prefix("http://").expect("a plain URL").trim_end_matches('/');
    let stop = Arc::new(AtomicBool::new(false));
    let run = uuid::Uuid::new_v4();

    let mut threads = Vec::new();
    for n in 0..clients {
        let key = AdkSessionKey {
            app_name: "load".to_owned(),
            user_id: "load".to_owned(),
            id: format!("{run}-{}", if one { 0 } else { n }),
        };
        let mut client =
            Client { line: Line::new(address), address: address.to_owned(), token: token.clone() };
        if n == 0 || !one {
            let new = CreateAdkSessionRequest { key: Some(key.clone()), ..Default::default() };
            assert!(client.call("CreateAdkSession", &new), "a session");
        }
        let stop = Arc::clone(&stop);
        let work = move || client.append(&key, &stop);
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
        threads.push(thread.expect("a thread"));
    }
    let began = Instant::now();
    std::thread::sleep(Duration::from_secs(seconds));
    stop.store(true, Ordering::Relaxed);
    let (mut times, mut errors) = (Vec::new(), 0);
    for thread in threads {
        let (more, failed) = thread.join().expect("a client");
        times.extend(more);
        errors += failed;
    }
    println!("{}", report(clients, times, began.elapsed(), errors));
}

impl Client {
    /// Appends until it is told to stop: how long each took, and how many failed.
    fn append(&mut self, key: &AdkSessionKey, stop: &AtomicBool) -> (Vec<Duration>, usize) {
        let (mut times, mut errors) = (Vec::new(), 0);
        while !stop.load(Ordering::Relaxed) {
            let request = AppendAdkEventRequest {
                key: Some(key.clone()),
                raw_json: event(times.len()).into(),
                ..Default::default()
            };
            let began = Instant::now();
            if self.call("AppendAdkEvent", &request) {
                times.push(began.elapsed());
            } else {
                errors += 1;
            }
        }
        (times, errors)
    }

    /// One unary call. An answer with a message is a success.
    fn call(&mut self, method: &str, message: &impl Message) -> bool {
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
        let Answer { ok, body, .. } = line.ask(&request);
        ok && !body.is_empty()
    }
}
