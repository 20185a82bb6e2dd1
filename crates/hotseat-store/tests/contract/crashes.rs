//! What a crash leaves behind, with events that were not settled.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hotseat_store::{Limits, Store};
use rusqlite::Connection;
use serde_json::json;

use crate::log::{answer, append, at, created, event, id, ids, request, run, said, session};
use crate::settling::{everything, told};

/// Copies a store as a crash would leave it: what is in the files at this moment.
pub(crate) fn copied(path: &Path, folder: &Path, name: &str) -> PathBuf {
    let copy = folder.join(name);
    for suffix in ["", "-wal"] {
        let of = |path: &Path| PathBuf::from(format!("{}{suffix}", path.display()));
        std::fs::copy(of(path), of(&copy)).unwrap();
    }
    copy
}

/// How many events of a store are not settled.
fn unsettled(path: &Path) -> u64 {
    let sql = "SELECT count(*) FROM events WHERE id > (SELECT settled_through FROM places)";
    let count = Connection::open(path).unwrap().query_row(sql, [], |row| row.get::<_, i64>(0));
    count.unwrap().unsigned_abs()
}

#[tokio::test]
async fn what_was_not_settled_when_it_crashed_is_there_afterwards_and_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    created(&store, 1).await;
    let mut found = None;
    // A machine that is busy with other things may settle before it copies.
    for n in 0..50 {
        let usage = json!({"author": "root", "usage_metadata": {"prompt_token_count": 3},
            "content": {"role": "model", "parts": [{"text": format!("Words {n}")}]}});
        append(&store, id(1), vec![told(&format!("e{n}"), &usage), said(&format!("s{n}"), "!")])
            .await;
        append(&store, id(1), vec![run(n, "started"), run(n, "finished")]).await;
        append(&store, id(1), vec![request(2 * n), request(2 * n + 1)]).await;
        append(&store, id(1), vec![answer(2 * n)]).await;
        let copy = copied(&path, folder.path(), &format!("copy-{n}.db"));
        if unsettled(&copy) > 0 {
            found = Some(copy);
            break;
        }
    }
    let copy = found.expect("a crash with unsettled events");
    let expected = everything(&store, id(1)).await;
    assert!(session(&store, id(1)).await.pending_turns > 0);
    let again = Store::sqlite(&copy, Limits::default()).unwrap();
    assert_eq!(append(&again, id(1), vec![event("e0"), said("s0", "!")]).await.new, 0);
    assert_eq!(everything(&again, id(1)).await, expected);
    drop(again);
    let again = Store::sqlite(&copy, Limits::default()).unwrap();
    again.index().await.unwrap();
    assert_eq!(everything(&again, id(1)).await, expected);
    again.rebuild(id(1)).await.unwrap();
    assert_eq!(everything(&again, id(1)).await, expected);
}

/// Set in the process that is killed: where its store is.
const CHILD: &str = "HOTSEAT_STORE_OF_A_PROCESS_TO_KILL";

/// Appends to two sessions and says so, and settles what is there now and then, until it is
/// killed.
#[expect(clippy::print_stdout, reason = "it is read by the process that kills it")]
async fn write_until_killed(path: &Path) {
    let store = Store::sqlite(path, Limits::default()).unwrap();
    for n in 1..=2 {
        created(&store, n).await;
    }
    for n in 0.. {
        if n % 700 == 699 {
            store.index().await.unwrap();
        }
        let last = append(&store, id(1 + n % 2), vec![said(&format!("e{n}"), "Words")]).await;
        println!("acknowledged {n} {}", last.last_seq);
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_kill_9_settled_or_not() {
    if let Some(path) = std::env::var_os(CHILD) {
        return write_until_killed(Path::new(&path)).await;
    }
    for enough in [3, 40, 2500] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hotseat.db");
        let this = "crashes::what_was_acknowledged_survives_kill_9_settled_or_not";
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", this, "--nocapture"])
            .env(CHILD, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let places = lines.filter_map(|line| {
            let (n, seq) = line.strip_prefix("acknowledged ")?.split_once(' ')?;
            Some((n.parse::<u128>().ok()?, seq.parse::<u64>().ok()?))
        });
        let acknowledged: Vec<_> = places.take(enough).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(acknowledged.len(), enough);

        let store = Store::sqlite(&path, Limits::default()).unwrap();
        for session_number in 1..=2 {
            let there = ids(&store, id(session_number)).await;
            for (n, seq) in acknowledged.iter().filter(|(n, _)| 1 + n % 2 == session_number) {
                let place = usize::try_from(*seq).unwrap() - 1;
                assert_eq!(there[place], format!("e{n}"));
            }
            let summary = session(&store, id(session_number)).await;
            let count = there.len() as u64;
            assert_eq!((summary.last_seq.get(), summary.event_count), (count, count));
            assert_eq!(summary.message_count, count.min(500));
            store.rebuild(id(session_number)).await.unwrap();
            assert_eq!(session(&store, id(session_number)).await, summary);
        }
        let figures = store.figures(at(0)).await.unwrap();
        let counted: u64 = figures.minutes.iter().map(|minute| minute.events).sum();
        assert_eq!(counted, figures.totals.entries, "every event counts once");
    }
}
