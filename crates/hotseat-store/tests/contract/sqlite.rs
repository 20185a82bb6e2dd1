//! What only the SQLite backend promises.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use hotseat_core::SessionId;
use hotseat_store::{Limits, Session, SessionQuery, Store};
use rusqlite::Connection;

use crate::log::{
    answer, append, completion, created, event, id, log, request, run, said, session,
};

/// Everything a store says about a session, as text.
async fn everything(store: &Store, id: SessionId) -> String {
    format!("{:?} {:?}", session(store, id).await, log(store, id).await)
}

fn user_version(path: &Path) -> u32 {
    let connection = Connection::open(path).unwrap();
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[tokio::test]
async fn opening_again_finds_everything() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    for n in [1, 2] {
        created(&store, n).await;
    }
    append(&store, id(1), vec![run(1, "queued"), said("a", "hello"), request(1)]).await;
    append(&store, id(1), vec![request(2), answer(1)]).await;
    append(&store, id(2), vec![event("a"), completion()]).await;
    let before = [everything(&store, id(1)).await, everything(&store, id(2)).await];
    drop(store);

    let store = Store::sqlite(&path, Limits::default()).unwrap();
    assert_eq!([everything(&store, id(1)).await, everything(&store, id(2)).await], before);
    assert_eq!(append(&store, id(1), vec![answer(2)]).await.last_seq.get(), 6);
}

#[tokio::test]
async fn two_stores_on_one_file_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let (one, two) = (
        Store::sqlite(&path, Limits::default()).unwrap(),
        Store::sqlite(&path, Limits::default()).unwrap(),
    );
    created(&one, 1).await;
    append(&two, id(1), vec![event("a")]).await;
    append(&one, id(1), vec![event("b")]).await;
    assert_eq!(everything(&one, id(1)).await, everything(&two, id(1)).await);
}

/// How long a write waits for another process.
const MOST_WAITED: Duration = Duration::from_secs(10);

/// Nothing else of the program may wait for another program.
#[tokio::test]
async fn a_write_that_another_process_is_in_the_way_of_waits_and_nothing_else_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    created(&store, 1).await;
    append(&store, id(1), vec![event("a")]).await;
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let mut writes = std::pin::pin!(append(&store, id(1), vec![event("b")]));
    // Both are polled by one thread, and the other process waits for the second. If the first waited
    // there, it would do so for as long as a write waits at most.
    let began = Instant::now();
    tokio::select! {
        biased;
        _ = &mut writes => panic!("it was written beside another"),
        () = tokio::task::yield_now() => other.execute_batch("COMMIT").unwrap(),
    }
    assert!(began.elapsed() < MOST_WAITED / 2, "nobody else had their turn");
    assert_eq!(writes.await.last_seq.get(), 2);
}

/// Events wait in no index for a while; each store still has to know those of the other.
#[tokio::test]
async fn an_event_is_known_whichever_store_wrote_it_and_wherever_it_waits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let open = || Store::sqlite(&path, Limits::default()).unwrap();
    let (one, two) = (open(), open());
    created(&one, 1).await;
    append(&one, id(1), vec![event("a")]).await;
    assert_eq!(append(&two, id(1), vec![event("a"), event("b")]).await.new, 1);
    assert_eq!(append(&one, id(1), vec![event("b"), event("c")]).await.new, 1);
    one.index().await.unwrap();
    assert_eq!(append(&two, id(1), vec![event("c"), event("a")]).await.new, 0);
    drop((one, two));
    let again = open();
    assert_eq!(append(&again, id(1), vec![event("a"), event("d"), event("d")]).await.new, 1);
    drop(again);
    assert_eq!(append(&open(), id(1), vec![event("d")]).await.new, 0, "after a restart");
}

/// More events than may wait, in many sessions at once, and all of them in one piece.
#[tokio::test]
async fn events_settle_in_bulk_without_a_trace() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::sqlite(&folder.path().join("hotseat.db"), Limits::default()).unwrap();
    for n in 1..=10 {
        created(&store, n).await;
    }
    for round in 0..20 {
        for n in 1..=10 {
            let events = (0..50).map(|k| event(&format!("{round}-{k}"))).collect();
            append(&store, id(n), events).await;
        }
    }
    for n in 1..=10 {
        let places: Vec<_> = log(&store, id(n)).await.iter().map(|event| event.seq.get()).collect();
        assert_eq!(places, (1..=1000).collect::<Vec<_>>());
    }
    assert!(store.delete_session(id(3)).await.unwrap());
    created(&store, 3).await;
    assert_eq!(append(&store, id(3), vec![event("0-0"), event("19-49")]).await.new, 2);
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    drop(Store::sqlite(&path, Limits::default()).unwrap());
    let known = user_version(&path);
    Connection::open(&path).unwrap().pragma_update(None, "user_version", known + 1).unwrap();

    let refused = Store::sqlite(&path, Limits::default()).unwrap_err();
    assert_eq!(
        refused.to_string(),
        format!(
            "the store {} has schema version {}, this version of hotseat knows {known}: use a newer hotseat",
            path.display(),
            known + 1
        )
    );
    assert_eq!(user_version(&path), known + 1);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let letter = "Dear Sir, this is a letter and not a database. ".repeat(40);
    std::fs::write(&path, &letter).unwrap();
    let refused = Store::sqlite(&path, Limits::default()).unwrap_err();
    assert_eq!(refused.to_string(), format!("could not open the store {}", path.display()));
    assert!(refused.source().unwrap().to_string().contains("not a database"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), letter);
}

#[tokio::test]
async fn the_file_keeps_a_write_ahead_log_and_its_references() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), request(1)]).await;

    let connection = Connection::open(&path).unwrap();
    let journal: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(journal, "wal");
    let count = |table: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM {table}");
        connection.query_row(&sql, [], |row| row.get(0)).unwrap()
    };
    assert_eq!((count("events"), count("turns")), (2, 1));
    // Rows of a deleted session go only if the writer has foreign keys switched on.
    store.delete_session(id(1)).await.unwrap();
    assert_eq!((count("sessions"), count("events"), count("turns")), (0, 0, 0));
    let check: String =
        connection.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
}

/// The payload column can be read with any SQLite tool, as it arrived.
#[tokio::test]
async fn payloads_are_readable_text_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    created(&store, 1).await;
    append(&store, id(1), vec![said("a", "hello")]).await;
    let payload: String = Connection::open(&path)
        .unwrap()
        .query_row("SELECT payload FROM events WHERE seq = 1", [], |row| row.get(0))
        .unwrap();
    assert_eq!(payload, log(&store, id(1)).await[0].payload.get());
}

/// More readers than connections, while a writer writes: nobody waits for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_readers_read_while_one_writes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::sqlite(&folder.path().join("hotseat.db"), Limits::default()).unwrap();
    created(&store, 1).await;
    let readers: Vec<_> = (0..32)
        .map(|_| {
            let (store, mut watcher) = (store.clone(), store.watch(id(1)));
            tokio::spawn(async move {
                let mut last = 0;
                while last < 50 {
                    watcher.changed().await.unwrap();
                    let seen = session(&store, id(1)).await.last_seq.get();
                    assert!(seen >= last, "a reader never goes back");
                    last = seen;
                }
            })
        })
        .collect();
    for n in 0..50 {
        append(&store, id(1), vec![event(&n.to_string())]).await;
    }
    for reader in readers {
        reader.await.unwrap();
    }
    let page = store.sessions(SessionQuery::default()).await.unwrap();
    assert!(matches!(&page.items[..], [Session { last_seq, .. }] if last_seq.get() == 50));
}
