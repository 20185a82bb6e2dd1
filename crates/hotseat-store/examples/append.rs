//! How fast the store appends, beside what SQLite itself does with the same rows.
//!
//! `append [CLIENTS [SECONDS [ROUNDS]]]`: so many tasks append one event at a time, each to a
//! session of its own, as fast as they are answered. Beside it, in alternation, one thread
//! inserts rows of the same size into one table with the same durability, one transaction
//! for as many rows as there are clients: what is left of that is what the store costs.
//! Prints one JSON object per round. `APPEND_FOLDER` says on which disk.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool for measuring"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use hotseat_core::{Kind, NewEvent, SessionId};
use hotseat_store::{Expected, Limits, NewSession, Store};
use jiff::Timestamp;
use rusqlite::{Connection, params};
use serde_json::value::RawValue;
use uuid::Uuid;

/// Bytes of one event, about what real ones have.
const EVENT_BYTES: usize = 600;

fn main() {
    let numbers: Vec<u64> =
        std::env::args().skip(1).map(|word| word.parse().expect("a number")).collect();
    let clients = numbers.first().copied().unwrap_or(64);
    let length = Duration::from_secs(numbers.get(1).copied().unwrap_or(3));
    let rounds = numbers.get(2).copied().unwrap_or(3);
    let parent = std::env::var_os("APPEND_FOLDER").unwrap_or_else(|| ".".into());
    for round in 1..=rounds {
        let folder = tempfile::tempdir_in(&parent).expect("a folder");
        let raw = raw(&folder.path().join("raw.db"), clients, length);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("a runtime");
        let before = Cost::now();
        let (ours, mut times) =
            runtime.block_on(store(&folder.path().join("store.db"), clients, length));
        // The writer ends with the runtime, and what it still has to write is part of the cost.
        drop(runtime);
        let cost = Cost::now().since(&before, ours);
        times.sort_unstable();
        let at = |percent: usize| {
            times[(times.len() * percent / 100).min(times.len() - 1)].as_secs_f64() * 1000.0
        };
        let (ours, raw) = (per_second(ours, length), per_second(raw, length));
        let result = serde_json::json!({"round": round, "clients": clients, "store_per_second": ours,
            "sqlite_per_second": raw, "ratio": ours / raw, "p50_ms": at(50), "p99_ms": at(99),
            "max_ms": at(100), "cpu_us_per_event": cost.0, "written_bytes_per_event": cost.1});
        println!("{result}");
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
fn per_second(count: u64, length: Duration) -> f64 {
    (count as f64 / length.as_secs_f64()).round()
}

/// Appends through the store until the time is over.
async fn store(path: &Path, clients: u64, length: Duration) -> (u64, Vec<Duration>) {
    let store = Store::sqlite(path, Limits::default()).expect("a store");
    let end = Instant::now() + length;
    let mut tasks = Vec::new();
    for n in 0..clients {
        let id = SessionId::new(Uuid::new_v4());
        store.create_session(new_session(id, n)).await.expect("a session");
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while Instant::now() < end {
                let began = Instant::now();
                let appended = store.append(id, Expected::Any, vec![event(times.len())]).await;
                appended.expect("an append");
                times.push(began.elapsed());
            }
            times
        }));
    }
    let mut times = Vec::new();
    for task in tasks {
        times.extend(task.await.expect("a client"));
    }
    (times.len() as u64, times)
}

/// The same rows without a store.
fn raw(path: &Path, clients: u64, length: Duration) -> u64 {
    let connection = Connection::open(path).expect("a file");
    for (name, value) in [("journal_mode", "WAL"), ("synchronous", "FULL")] {
        connection.pragma_update(None, name, value).expect("a pragma");
    }
    connection
        .execute_batch(
            "CREATE TABLE events (id INTEGER PRIMARY KEY, session TEXT, event_id TEXT, \
             author TEXT, payload TEXT) STRICT",
        )
        .expect("a table");
    let session = Uuid::new_v4().to_string();
    let (end, mut count) = (Instant::now() + length, 0);
    while Instant::now() < end {
        connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
        for _ in 0..clients {
            let NewEvent { event_id, author, payload, .. } = event(0);
            connection
                .prepare_cached("INSERT INTO events VALUES (NULL, ?1, ?2, ?3, ?4)")
                .expect("a statement")
                .execute(params![session, event_id, author, payload.get()])
                .expect("a row");
        }
        connection.execute_batch("COMMIT").expect("a commit");
        count += clients;
    }
    count
}

/// What this process used so far: CPU time in ticks, bytes written to disks.
struct Cost {
    ticks: u64,
    written: u64,
}

impl Cost {
    fn now() -> Self {
        let read = |path| std::fs::read_to_string(path).unwrap_or_default();
        let stat = read("/proc/self/stat");
        // The name, which may hold spaces, ends at the last parenthesis; user and system
        // time are fields 14 and 15 of all.
        let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
        let ticks = fields.skip(11).take(2).filter_map(|field| field.parse::<u64>().ok()).sum();
        let io = read("/proc/self/io");
        let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: "));
        Self { ticks, written: written.and_then(|bytes| bytes.parse().ok()).unwrap_or(0) }
    }

    /// Microseconds of CPU and bytes for each of `events`.
    fn since(&self, before: &Self, events: u64) -> (f64, f64) {
        #[expect(clippy::cast_precision_loss, reason = "measured in hundredths anyway")]
        let each = |amount: u64| (amount as f64 / events as f64).round();
        // A tick is a hundredth of a second on every Linux that we build for.
        (each((self.ticks - before.ticks) * 10_000), each(self.written - before.written))
    }
}

fn new_session(id: SessionId, n: u64) -> NewSession {
    NewSession {
        id,
        created_at: Timestamp::now(),
        description: None,
        agent: None,
        app_name: "load".to_owned(),
        user_id: "load".to_owned(),
        source: "adk".to_owned(),
        adk_id: Some(format!("session {n}")),
        opening: Vec::new(),
    }
}

/// An event as ADK writes it, of the usual size.
fn event(n: usize) -> NewEvent {
    let event_id = Uuid::new_v4().to_string();
    let invocation_id = format!("e-{}", n / 10);
    let head = format!(
        r#"{{"id":"{event_id}","invocationId":"{invocation_id}","author":"agent","timestamp":1767607200.{n:06},"content":{{"role":"model","parts":[{{"text":""#,
    );
    let tail = r#""}]},"actions":{"stateDelta":{},"artifactDelta":{}}}"#;
    let text = "x".repeat(EVENT_BYTES.saturating_sub(head.len() + tail.len()));
    NewEvent {
        event_id,
        timestamp: Timestamp::now(),
        kind: Kind::Event,
        turn_id: None,
        invocation_id: Some(invocation_id),
        author: "agent".to_owned(),
        agent_name: String::new(),
        branch: None,
        parent_call_id: None,
        payload: RawValue::from_string(format!("{head}{text}{tail}")).expect("JSON"),
    }
}
