//! Clients that run an agent as fast as they are answered, for `make bench`.
//!
//! `runs URL TOKEN PATH CLIENTS RUNS TEXT`: every client has a connection of its own and
//! begins a new thread with every run. A run counts when its stream has ended and TEXT was
//! in it. Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/many.rs"]
mod many;
#[path = "bench/report.rs"]
mod report;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use self::many::{Answer, Clients, Lines, Question, talk};
use self::report::report;

/// Runs before the clock starts.
const WARM_UP: usize = 64;

struct Target {
    address: SocketAddr,
    token: String,
    path: String,
    text: String,
}

/// Runs that are to be begun, and how it went.
struct Runs<'t> {
    target: &'t Target,
    left: usize,
    /// Time to the first byte of every run that ended well.
    first: Vec<Duration>,
    failed: usize,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, path, clients, runs, text] = words.as_slice() else {
        panic!("usage: runs URL TOKEN PATH CLIENTS RUNS TEXT");
    };
    let address = url.strip_prefix("http://").expect("a plain URL").trim_end_matches('/');
    let target = Target {
        address: address.parse().expect("an address with its port"),
        token: token.clone(),
        path: path.clone(),
        text: text.clone(),
    };
    let clients: usize = clients.parse().expect("CLIENTS is a number");
    let runs: usize = runs.parse().expect("RUNS is a number");
    let mut lines = Lines::new(&vec![target.address; clients]);
    all(&target, &mut lines, WARM_UP);
    let began = Instant::now();
    let Runs { first, failed, .. } = all(&target, &mut lines, runs);
    println!("{}", report(first, began.elapsed(), failed));
}

fn all<'t>(target: &'t Target, lines: &mut Lines, left: usize) -> Runs<'t> {
    let mut runs = Runs { target, left, first: Vec::new(), failed: 0 };
    talk(lines, &mut runs);
    runs
}

impl Clients for Runs<'_> {
    fn next(&mut self, _: usize) -> Option<Question> {
        self.left = self.left.checked_sub(1)?;
        Some(Question { bytes: request(self.target), due: None })
    }

    fn answered(&mut self, _: usize, answer: &Answer<'_>) {
        if answer.ok && memchr::memmem::find(answer.body, self.target.text.as_bytes()).is_some() {
            self.first.push(answer.first - answer.asked);
        } else {
            self.failed += 1;
        }
    }
}

fn request(target: &Target) -> Vec<u8> {
    let body = if target.path.starts_with("/ag-ui/") {
        let thread = uuid::Uuid::new_v4();
        format!(
            r#"{{"threadId":"{thread}","runId":"r","state":{{}},"tools":[],"context":[],"forwardedProps":{{}},"messages":[{{"id":"1","role":"user","content":"What is the answer?"}}]}}"#
        )
    } else {
        r#"{"message":"What is the answer?"}"#.to_owned()
    };
    let Target { address, token, path, .. } = target;
    format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\naccept: text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}
