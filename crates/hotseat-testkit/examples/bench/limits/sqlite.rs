//! SQLite alone, with the store's own tables and its durability.
//!
//! The store makes the file, so the tables are those of the day; then SQLite is used directly. An
//! event gets all the rows that lead to it in a file of ours: its place in its session, in the
//! order of time and among the identities, and its words in the search index. They follow in the
//! cheapest way, for many events of a session at a time. Nothing else is written, checked or
//! looked up. `Rows::Events` leaves out even that: then an event could never be found again.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::time::{Duration, Instant};

use hotseat_store::{Limits, Store};
use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde_json::Value;

use crate::cost::Cost;
use crate::report::report;
use crate::sample::event;

const INSERT: &str = "INSERT INTO events (id, session_id, seq, event_id, timestamp, time, kind, agent_name, \
    invocation_id, author, size, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'event', 'agent', ?7, 'agent', ?8, ?9)";

const PLACE: &str = "INSERT INTO event_places (session, seq, id, time, kind, author, invocation_id) \
    VALUES (?1, ?2, ?3, ?4, 'event', 'agent', ?5)";

const TIME: &str = "INSERT INTO event_times (session, time, seq, id) VALUES (?1, ?2, ?3, ?4)";

const IDENTITY: &str = "INSERT INTO event_identities (session, hash, id) VALUES (?1, ?2, ?3)";

const WORDS: &str = "INSERT INTO search (rowid, text) VALUES (?1, ?2)";

/// All rows in their order; the payload is the last column.
const SELECT: &str = "SELECT id, session_id, seq, event_id, timestamp, kind, author, payload FROM events ORDER BY id";

/// Rows that are read or made ahead, so that making an event is not what is timed.
const MADE: usize = 4096;

/// Events of one session whose places are written together.
const PIECE: usize = 64;

/// Events whose words are written together.
const INDEXED: usize = 512;

/// How long the write-ahead log is before the clock runs.
const LOG_BYTES: i64 = 64 << 20;

/// What every event here has.
const INVOCATION: &str = "e-1";
const TIMESTAMP: i64 = 1_767_607_200_000;

/// What is written of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rows {
    /// Its own row, and all that lead to it.
    All,
    /// Its own row.
    Events,
}

/// A file of the store's, without the store.
pub(crate) struct File {
    _folder: tempfile::TempDir,
    pub(crate) connection: Connection,
    rows: Rows,
    /// Events go to these in turn.
    sessions: Vec<Session>,
    written: usize,
    /// Texts that are not in the search index yet, and their events.
    texts: Vec<(i64, String)>,
}

struct Session {
    id: String,
    /// Its last event.
    seq: i64,
    /// Events whose places are not written yet.
    waiting: Vec<Waiting>,
    /// So many of them are written next.
    piece: usize,
}

struct Waiting {
    id: i64,
    seq: i64,
    hash: i64,
}

/// Writes for some seconds or until so many commits are done, so many events in every commit.
pub(crate) fn write(mut file: File, seconds: usize, at_once: usize, commits: usize) -> Value {
    let events: Vec<String> = (0..MADE).map(event).collect();
    let lasts = Duration::from_secs(seconds as u64);
    let (mut written, mut times) = (0, Vec::new());
    let (began, cost) = (Instant::now(), Cost::now());
    while began.elapsed() < lasts && times.len() < commits {
        let commit = Instant::now();
        file.insert((written..written + at_once).map(|n| &*events[n % MADE]));
        times.push(commit.elapsed());
        written += at_once;
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
    let mut file = File::open(folder, Rows::Events, 1);
    let events: Vec<String> = (0..rows).map(event).collect();
    file.insert(events.iter().map(String::as_str));
    let once = || {
        let began = Instant::now();
        let mut statement = file.connection.prepare_cached(SELECT).expect("a statement");
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

impl File {
    pub(crate) fn open(folder: &Path, rows: Rows, sessions: usize) -> Self {
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
        // The store copies its log into the file on another thread. Here nobody does: a writer that
        // had to would be slower than ours, and no limit.
        connection.pragma_update(None, "wal_autocheckpoint", 0).expect("a setting");
        lengthen_log(&connection).expect("room on the disk");
        // The first piece of each is of another length, so that their turns come one by one.
        let sessions = (0..sessions).map(|n| Session {
            id: uuid::Uuid::new_v4().to_string(),
            seq: 0,
            waiting: Vec::new(),
            piece: PIECE - n * PIECE / sessions,
        });
        let sessions = sessions.collect();
        Self { _folder: folder, connection, rows, sessions, written: 0, texts: Vec::new() }
    }

    /// Puts events behind those that are there, in one commit.
    pub(crate) fn insert<'a>(&mut self, payloads: impl Iterator<Item = &'a str>) {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let transaction = transaction.expect("a transaction");
        let mut statement = transaction.prepare_cached(INSERT).expect("a statement");
        for payload in payloads {
            let number = self.written % self.sessions.len();
            let session = &mut self.sessions[number];
            self.written += 1;
            session.seq += 1;
            let (id, seq, event_id) = (whole(self.written), session.seq, &payload[7..43]);
            let (time, size) = (time(seq), whole(payload.len()));
            let named =
                params![id, session.id, seq, event_id, TIMESTAMP, time, INVOCATION, size, payload];
            statement.execute(named).expect("a row");
            if self.rows == Rows::All {
                session.waiting.push(Waiting { id, seq, hash: hash(event_id) });
                self.texts.push((id, text(payload).to_owned()));
                if session.waiting.len() >= session.piece {
                    settle(&transaction, whole(number), &session.waiting);
                    session.waiting.clear();
                    session.piece = PIECE;
                }
            }
        }
        drop(statement);
        if self.texts.len() >= INDEXED {
            index(&transaction, &self.texts);
            self.texts.clear();
        }
        transaction.commit().expect("a commit");
    }
}

/// Writes the places of some events of a session.
fn settle(transaction: &Transaction<'_>, session: i64, events: &[Waiting]) {
    let prepared = |sql| transaction.prepare_cached(sql).expect("a statement");
    let (mut place, mut order, mut identity) =
        (prepared(PLACE), prepared(TIME), prepared(IDENTITY));
    for &Waiting { id, seq, hash } in events {
        let time = time(seq);
        place.execute(params![session, seq, id, time, INVOCATION]).expect("a place");
        order.execute(params![session, time, seq, id]).expect("a place");
        identity.execute(params![session, hash, id]).expect("an identity");
    }
}

/// Puts the words of some events into the search index.
fn index(transaction: &Transaction<'_>, texts: &[(i64, String)]) {
    let mut statement = transaction.prepare_cached(WORDS).expect("a statement");
    for (id, text) in texts {
        statement.execute(params![id, text]).expect("words");
    }
}

/// A time that grows with the events of a session.
fn time(seq: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a small number")]
    let seconds = seq as f64;
    1_767_607_200.0 + seconds
}

fn hash(event_id: &str) -> i64 {
    let mut hasher = DefaultHasher::new();
    event_id.hash(&mut hasher);
    hasher.finish().cast_signed()
}

/// What a search could find in an event.
fn text(payload: &str) -> &str {
    let (_, behind) = payload.split_once(r#""text":""#).unwrap_or_default();
    behind.split_once('"').unwrap_or_default().0
}

fn whole(count: usize) -> i64 {
    i64::try_from(count).expect("a small number")
}

/// Makes the write-ahead log as long as it will be needed, as that of a store in use is: a sync
/// costs more while the file grows.
fn lengthen_log(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TABLE filler (bytes BLOB)")?;
    connection.execute("INSERT INTO filler VALUES (zeroblob(?1))", [LOG_BYTES])?;
    connection.execute_batch("DROP TABLE filler")?;
    connection.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(()))
}
