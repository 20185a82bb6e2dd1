//! SQLite alone, with the store's own table of events and its durability.
//!
//! The store makes the file, so the table and its indexes are those of the day; then SQLite is
//! used directly. What the store keeps beside its events is not written: this is the floor.

use std::path::Path;
use std::time::{Duration, Instant};

use hotseat_store::{Limits, Store};
use rusqlite::{Connection, TransactionBehavior, params};
use serde_json::Value;

use crate::cost::Cost;
use crate::report::report;
use crate::sample::event;

const INSERT: &str = "INSERT INTO events (id, session_id, seq, event_id, timestamp, time, kind, agent_name, \
    invocation_id, author, size, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'event', 'agent', ?7, 'agent', ?8, ?9)";

/// All rows in their order; the payload is the last column.
pub(crate) const SELECT: &str = "SELECT id, session_id, seq, event_id, timestamp, kind, author, payload FROM events ORDER BY id";

/// Rows that are read or made ahead, so that making an event is not what is timed.
const MADE: usize = 4096;

/// How long the write-ahead log is before the clock runs.
const LOG_BYTES: i64 = 64 << 20;

/// Writes for some seconds or until so many commits are done, so many rows in every commit.
pub(crate) fn write(folder: &Path, seconds: usize, rows: usize, commits: usize) -> Value {
    let (_folder, mut connection) = open(folder);
    let events: Vec<String> = (0..MADE).map(event).collect();
    let lasts = Duration::from_secs(seconds as u64);
    let (mut written, mut times) = (0, Vec::new());
    let (began, cost) = (Instant::now(), Cost::now());
    while began.elapsed() < lasts && times.len() < commits {
        let commit = Instant::now();
        insert(&mut connection, written, (written..written + rows).map(|n| &*events[n % MADE]));
        times.push(commit.elapsed());
        written += rows;
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
    let rate = written as f64 / began.elapsed().as_secs_f64();
    let (cpu_ms, bytes) = cost.each(written);
    let mut figures = report(times, began.elapsed(), 0);
    figures["per_second"] = rate.into();
    figures["cpu_ms_each"] = cpu_ms.into();
    figures["bytes_each"] = bytes.into();
    figures
}

/// Reads all of so many rows, in their order, so many times.
pub(crate) fn read(folder: &Path, rows: usize, times: usize) -> Value {
    let (_folder, mut connection) = open(folder);
    let events: Vec<String> = (0..rows).map(event).collect();
    insert(&mut connection, 0, events.iter().map(String::as_str));
    let once = || {
        let began = Instant::now();
        let mut statement = connection.prepare_cached(SELECT).expect("a statement");
        let read = statement.query_map([], |row| row.get::<_, String>(7)).expect("rows");
        let bytes: usize = read.map(|payload| payload.expect("a row").len()).sum();
        assert!(bytes > rows, "every row has a payload");
        began.elapsed()
    };
    let (began, cost) = (Instant::now(), Cost::now());
    let took: Vec<_> = (0..times).map(|_| once()).collect();
    let mut figures = report(took, began.elapsed(), 0);
    figures["cpu_ms_each"] = cost.each(times).0.into();
    figures
}

/// The store's file, emptied of the store.
pub(crate) fn open(folder: &Path) -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir_in(folder).expect("a folder");
    let path = folder.path().join("limits.db");
    drop(Store::sqlite(&path, Limits::default()).expect("a store"));
    let connection = Connection::open(&path).expect("the store's file");
    // The store's thread may still be about to let go of the file.
    connection.busy_timeout(Duration::from_secs(10)).expect("a setting");
    for (name, value) in
        [("journal_mode", "WAL"), ("synchronous", "FULL"), ("temp_store", "MEMORY")]
    {
        connection.pragma_update(None, name, value).expect("a setting");
    }
    connection.pragma_update(None, "cache_size", -16_384).expect("a setting");
    // The store copies its log into the file on another thread. Here nobody does: a writer that had
    // to would be slower than ours, and no limit.
    connection.pragma_update(None, "wal_autocheckpoint", 0).expect("a setting");
    lengthen_log(&connection).expect("room on the disk");
    (folder, connection)
}

/// Makes the write-ahead log as long as it will be needed, as that of a store in use is: a sync
/// costs more while the file grows.
fn lengthen_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TABLE filler (bytes BLOB)")?;
    connection.execute("INSERT INTO filler VALUES (zeroblob(?1))", [LOG_BYTES])?;
    connection.execute_batch("DROP TABLE filler")?;
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
}

/// Puts rows behind the `first` ones, in one commit.
pub(crate) fn insert<'a>(
    connection: &mut Connection,
    first: usize,
    payloads: impl Iterator<Item = &'a str>,
) {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = transaction.expect("a transaction");
    {
        let mut statement = transaction.prepare_cached(INSERT).expect("a statement");
        for (n, payload) in (first..).zip(payloads) {
            let id = i64::try_from(n).expect("a small number") + 1;
            let names = ("4f6c2c39-0000-4000-8000-000000000001", &payload[7..43], "e-1");
            let size = i64::try_from(payload.len()).expect("a small number");
            statement
                .execute(params![
                    id,
                    names.0,
                    id,
                    names.1,
                    1_767_607_200_000_i64,
                    1.5,
                    names.2,
                    size,
                    payload
                ])
                .expect("a row");
        }
    }
    transaction.commit().expect("a commit");
}
