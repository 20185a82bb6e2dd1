//! How long it takes until what one server writes is seen at another.
//!
//! `wake_ups HOTSEAT [SECONDS]`: starts the program `HOTSEAT` twice over one PostgreSQL of its
//! own, appends a hundred events a second at one server, each at its time whether the last one
//! was answered or not, and follows the session at the other. Prints one JSON object, with the
//! times from the moment that a write was sent, and from the one that it was acknowledged; what
//! arrived before that took no time. The database does not sync to the disk.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

use std::time::{Duration, Instant};

use hotseat_testkit::{Api, HotseatProcess, Launch, TestDatabase, sample};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use tokio::time::{MissedTickBehavior, interval};

/// Writes in a second.
const RATE: u32 = 100;

/// How long it writes unless told otherwise, in seconds.
const SECONDS: u32 = 20;

#[tokio::main]
async fn main() {
    let mut words = std::env::args().skip(1);
    let Some(program) = words.next() else { panic!("usage: wake_ups HOTSEAT [SECONDS]") };
    let program = std::path::absolute(program).expect("a path");
    let seconds = words.next().map_or(SECONDS, |word| word.parse().expect("SECONDS is a number"));
    let total = (seconds * RATE) as usize;

    let database = TestDatabase::create();
    let start = || -> HotseatProcess {
        let program = program.to_str().expect("a path of text");
        let launch = Launch::new(program).variable("HOTSEAT_STORE", &database.url());
        launch.variable("HOTSEAT_TOKEN", "wake-ups").start()
    };
    let (here, there) = (start(), start());
    let session = here.api.session().await;
    let mut stream = there.api.stream(&format!("/api/v1/sessions/{session}/stream")).await;
    stream.until("history_complete").await;
    let follower = tokio::spawn(async move {
        let mut arrived = Vec::with_capacity(total);
        while arrived.len() < total {
            stream.next_of("event").await;
            arrived.push(Instant::now());
        }
        arrived
    });
    let written = write(&here.api, &session, total).await;
    let arrived = follower.await.expect("a follower");
    let since_sent = arrived.iter().zip(&written).map(|(at, write)| *at - write.sent);
    let since_known =
        arrived.iter().zip(&written).map(|(at, write)| at.saturating_duration_since(write.known));
    let report = json!({"writes_per_second": RATE, "writes": total,
        "since_sent": figures(since_sent.collect()),
        "since_acknowledged": figures(since_known.collect())});
    println!("{report}");
}

/// One write.
struct Written {
    seq: u64,
    sent: Instant,
    known: Instant,
}

fn figures(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |percent: usize| milliseconds(times[(times.len() - 1) * percent / 100]);
    json!({"p50_ms": at(50), "p99_ms": at(99), "max_ms": at(100)})
}

/// Appends at the rate, and gives the writes in the order of the log.
async fn write(api: &Api, session: &str, total: usize) -> Vec<Written> {
    let mut ticks = interval(Duration::from_secs(1) / RATE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Burst);
    let mut appends = JoinSet::new();
    for n in 0..total {
        ticks.tick().await;
        let (api, path) = (api.clone(), format!("/api/v1/sessions/{session}/events"));
        appends.spawn(async move {
            let event = sample::agent_event(&format!("e{n}"), "root", "…");
            let sent = Instant::now();
            let answer = api.post(&path, &event).await.json(201);
            let seq = answer["last_seq"].as_u64().expect("a place");
            Written { seq, sent, known: Instant::now() }
        });
    }
    let mut written = appends.join_all().await;
    written.sort_unstable_by_key(|write| write.seq);
    written
}

fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 10_000.0).round() / 10.0
}
