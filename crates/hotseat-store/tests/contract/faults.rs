//! What becomes of the log when the disk under it fails.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use hotseat_store::{AppendError, Expected, Limits, Store};

use crate::crashes::copied;
use crate::log::{append, created, event, id, ids, said, session};

/// Bytes of a frame in SQLite's write-ahead log: a page and its header.
const FRAME: usize = 4096 + 24;

/// The last commit that reached the disk is damaged; everything before it is not.
#[tokio::test]
async fn a_log_whose_end_is_damaged_opens_with_all_that_was_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    created(&store, 1).await;
    for n in 0..50 {
        append(&store, id(1), vec![said(&format!("e{n}"), "Words")]).await;
    }
    let copy = copied(&path, folder.path(), "damaged.db");
    let wal = folder.path().join("damaged.db-wal");
    let mut bytes = std::fs::read(&wal).unwrap();
    let place = bytes.len() - FRAME / 2;
    bytes[place] ^= 0xff;
    std::fs::write(&wal, bytes).unwrap();

    let store = Store::sqlite(&copy, Limits::default()).unwrap();
    let there = ids(&store, id(1)).await;
    let written: Vec<_> = (0..50).map(|n| format!("e{n}")).collect();
    assert!((1..50).contains(&there.len()), "the damage is noticed: {}", there.len());
    assert_eq!(there, written[..there.len()]);
    // What is missing can be sent again, and goes on where the log ends.
    let sent = written.iter().map(|id| said(id, "Words")).collect();
    let appended = append(&store, id(1), sent).await;
    assert_eq!(appended.new, written.len() - there.len());
    assert_eq!(ids(&store, id(1)).await, written);
    assert_eq!(session(&store, id(1)).await.event_count, 50);
}

/// Set in the process whose disk is full: where its store is.
const CHILD: &str = "HOTSEAT_STORE_OF_A_FULL_DISK";

/// The largest file that process may write, in blocks of 512 bytes.
const BLOCKS: usize = 4096;

/// Appends until it is refused, and a few times more.
#[expect(clippy::print_stdout, reason = "it is read by the process that filled the disk")]
async fn write_until_full(path: &Path) {
    let store = Store::sqlite(path, Limits::default()).unwrap();
    created(&store, 1).await;
    let (mut acknowledged, mut refused) = (0, 0);
    while refused < 5 {
        let entry = said(&format!("e{}", acknowledged + refused), &"Words ".repeat(500));
        match store.append(id(1), Expected::Any, vec![entry]).await {
            Ok(_) if refused == 0 => acknowledged += 1,
            // There may be room for one that is smaller on the disk.
            Ok(_) => {}
            Err(AppendError::Store(_)) => refused += 1,
            Err(error) => panic!("{error:?}"),
        }
    }
    let there = ids(&store, id(1)).await;
    assert!(there.len() >= acknowledged, "what is there can still be read");
    println!("acknowledged {acknowledged}");
}

#[tokio::test]
async fn a_full_disk_refuses_what_is_new_and_keeps_what_was_acknowledged() {
    if let Some(path) = std::env::var_os(CHILD) {
        return write_until_full(Path::new(&path)).await;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let this = "faults::a_full_disk_refuses_what_is_new_and_keeps_what_was_acknowledged";
    let limited = format!("ulimit -f {BLOCKS}; trap '' XFSZ; exec \"$@\"");
    let child = Command::new("sh")
        .args(["-c", &limited, "sh"])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", this, "--nocapture"])
        .env(CHILD, &path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let acknowledged: usize = BufReader::new(&*output.stdout)
        .lines()
        .map_while(Result::ok)
        .find_map(|line| line.strip_prefix("acknowledged ")?.parse().ok())
        .unwrap();
    assert!(acknowledged > 100, "{acknowledged}");

    // With room again, all of it is there, once, and the log goes on.
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    let there = ids(&store, id(1)).await;
    let written: Vec<_> = (0..acknowledged).map(|n| format!("e{n}")).collect();
    assert_eq!(there[..acknowledged], written);
    append(&store, id(1), vec![event("after")]).await;
    let summary = session(&store, id(1)).await;
    assert_eq!(summary.last_seq.get(), there.len() as u64 + 1);
    store.rebuild(id(1)).await.unwrap();
    assert_eq!(session(&store, id(1)).await, summary);
}
