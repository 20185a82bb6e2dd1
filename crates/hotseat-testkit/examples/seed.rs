//! Very many sessions, written by the store itself, for `make bench`.
//!
//! `seed DATABASE FROM TO`: makes the sessions with these numbers, without events, and prints how
//! many were made in a second as one JSON object.

#![expect(clippy::expect_used, clippy::panic, clippy::print_stdout, reason = "a tool of the bench")]

use std::path::Path;
use std::time::{Duration, Instant};

use hotseat_core::SessionId;
use hotseat_store::{Limits, NewSession, Store};
use jiff::Timestamp;
use serde_json::json;
use tokio::task::JoinSet;

/// Sessions that are made at a time: as many as the store puts into one commit.
const AT_ONCE: usize = 1024;

/// When the first was made; every other one a second after the one before.
const FIRST: i64 = 1_700_000_000;

#[tokio::main]
async fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [database, from, to] = words.as_slice() else { panic!("usage: seed DATABASE FROM TO") };
    let number = |word: &str| word.parse::<usize>().expect("a number");
    let (from, to) = (number(from), number(to));
    let store = Store::sqlite(Path::new(database), Limits::default()).expect("a store");
    let began = Instant::now();
    let mut making = JoinSet::new();
    for n in from..to {
        if making.len() == AT_ONCE {
            making.join_next().await.expect("one of many").expect("no panic");
        }
        let store = store.clone();
        making.spawn(async move { store.create_session(session(n)).await.expect("a session") });
    }
    making.join_all().await;
    #[expect(clippy::cast_precision_loss, reason = "millions")]
    let rate = (to - from) as f64 / began.elapsed().as_secs_f64();
    println!("{}", json!({"per_second": rate}));
}

fn session(n: usize) -> NewSession {
    let began = Timestamp::from_second(FIRST).expect("a time");
    NewSession {
        id: SessionId::new(uuid::Uuid::new_v4()),
        created_at: began + Duration::from_secs(n as u64),
        description: Some(format!("Session {n}")),
        agent: Some(format!("agent_{}", n % 10)),
        app_name: "seed".to_owned(),
        user_id: format!("user-{}", n % 100),
        source: "web".to_owned(),
        adk_id: None,
        opening: Vec::new(),
    }
}
