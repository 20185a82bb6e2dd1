//! Native clients that append as fast as they are answered, for `make bench`.
//!
//! `load URL TOKEN CLIENTS SECONDS [one] [rate=N] [count=N]`: every client has a connection and a
//! session of its own, or with `one` all write into the same. With a count, each ends after so
//! many. With a rate, all of them together send so many in a second, each at its time, and an
//! append takes from that time on; so a server that falls behind cannot hide it. Several URLs,
//! with commas between, are servers that share the clients. They speak gRPC over HTTP/1.1, as the
//! Python package does. Prints one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

#[path = "bench/many.rs"]
mod many;
#[path = "bench/report.rs"]
mod report;
#[path = "bench/sample.rs"]
mod sample;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use hotseat_testkit::proto::{AdkSessionKey, AppendAdkEventRequest, CreateAdkSessionRequest};
use prost::Message;

use self::many::{Answer, Clients, Lines, Question, talk};
use self::report::report;
use self::sample::event;

/// What a server is told besides the message.
struct Server {
    address: SocketAddr,
    token: String,
}

/// A session that is written to.
struct Client {
    server: usize,
    key: AdkSessionKey,
    /// When it sends next, where there is a rate.
    due: Instant,
    sent: usize,
}

/// All of them, and how it went.
struct Load {
    servers: Vec<Server>,
    clients: Vec<Client>,
    /// The time between two appends of a client; without one, the next is sent when the last is
    /// answered.
    every: Option<Duration>,
    /// How many each sends at most.
    count: usize,
    until: Instant,
    times: Vec<Duration>,
    errors: usize,
}

/// Makes the sessions before the clock runs.
struct Opening<'a> {
    servers: &'a [Server],
    clients: &'a [Client],
    made: Vec<bool>,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [url, token, clients, seconds, rest @ ..] = words.as_slice() else {
        panic!("usage: load URL TOKEN CLIENTS SECONDS [one] [rate=N] [count=N]");
    };
    let number: u32 = clients.parse().expect("CLIENTS is a number");
    let seconds: u64 = seconds.parse().expect("SECONDS is a number");
    let one = rest.iter().any(|word| word == "one");
    let option = |name: &str| rest.iter().find_map(|word| word.strip_prefix(name));
    let rate: Option<f64> = option("rate=").map(|rate| rate.parse().expect("a number"));
    let count = option("count=").map_or(usize::MAX, |count| count.parse().expect("a number"));
    let every = rate.map(|rate| Duration::from_secs_f64(f64::from(number) / rate));
    let servers: Vec<Server> = url.split(',').map(|url| Server::at(url, token)).collect();
    let run = uuid::Uuid::new_v4();
    let mut clients: Vec<Client> = (0..number)
        .map(|n| Client {
            server: n as usize % servers.len(),
            key: AdkSessionKey {
                app_name: "load".to_owned(),
                user_id: "load".to_owned(),
                id: format!("{run}-{}", if one { 0 } else { n }),
            },
            due: Instant::now(),
            sent: 0,
        })
        .collect();
    let addresses: Vec<_> = clients.iter().map(|client| servers[client.server].address).collect();
    let mut lines = Lines::new(&addresses);
    // Where all write into one session, the first client makes it.
    let made = (0..clients.len()).map(|n| one && n > 0).collect();
    talk(&mut lines, &mut Opening { servers: &servers, clients: &clients, made });

    let began = Instant::now();
    // Not all at once: the first times are spread over what is between two of them.
    for (n, client) in (0..number).zip(&mut clients) {
        client.due = began + every.map_or(Duration::ZERO, |every| every * n / number);
    }
    let until = began + Duration::from_secs(seconds);
    let mut load = Load { servers, clients, every, count, until, times: Vec::new(), errors: 0 };
    talk(&mut lines, &mut load);
    println!("{}", report(load.times, began.elapsed(), load.errors));
}

impl Clients for Opening<'_> {
    fn next(&mut self, client: usize) -> Option<Question> {
        if std::mem::replace(&mut self.made[client], true) {
            return None;
        }
        let Client { server, key, .. } = &self.clients[client];
        let new = CreateAdkSessionRequest { key: Some(key.clone()), ..Default::default() };
        let bytes = self.servers[*server].question("CreateAdkSession", &new);
        Some(Question { bytes, due: None })
    }

    fn answered(&mut self, _: usize, answer: &Answer<'_>) {
        assert!(succeeded(answer), "a session");
    }
}

impl Clients for Load {
    fn next(&mut self, client: usize) -> Option<Question> {
        let Client { server, key, due, sent } = &mut self.clients[client];
        if (*due).max(Instant::now()) >= self.until || *sent >= self.count {
            return None;
        }
        *sent += 1;
        let append = AppendAdkEventRequest {
            key: Some(key.clone()),
            raw_json: event(*sent).into(),
            ..Default::default()
        };
        let bytes = self.servers[*server].question("AppendAdkEvent", &append);
        Some(Question { bytes, due: Some(*due) })
    }

    fn answered(&mut self, client: usize, answer: &Answer<'_>) {
        let client = &mut self.clients[client];
        let since = if self.every.is_some() { client.due } else { answer.asked };
        if succeeded(answer) {
            self.times.push(answer.first - since);
        } else {
            self.errors += 1;
        }
        client.due += self.every.unwrap_or_default();
    }
}

/// An answer with a message is a success.
fn succeeded(answer: &Answer<'_>) -> bool {
    answer.ok && !answer.body.is_empty()
}

impl Server {
    fn at(url: &str, token: &str) -> Self {
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Self {
            address: address.parse().expect("an address with its port"),
            token: token.to_owned(),
        }
    }

    /// One unary call.
    fn question(&self, method: &str, message: &impl Message) -> Vec<u8> {
        let Self { address, token } = self;
        let mut question = format!(
            "POST /hotseat.v1.Sessions/{method} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             content-type: application/grpc\r\nte: trailers\r\ncontent-length: {}\r\n\r\n",
            message.encoded_len() + 5
        )
        .into_bytes();
        question.push(0);
        let length = u32::try_from(message.encoded_len()).expect("a small message");
        question.extend_from_slice(&length.to_be_bytes());
        message.encode(&mut question).expect("room for a message");
        question
    }
}
