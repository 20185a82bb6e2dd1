//! Opening connections and bringing the schema up to date.
//!
//! Migrations are numbered and only go forward; `user_version` counts those
//! that were run. A file from a newer version is refused rather than guessed at.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::{Durability, derive, identity, row};
use crate::OpenError;

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_sessions_events_turns.sql"),
    include_str!("migrations/0002_ledger.sql"),
    include_str!("migrations/0003_settling.sql"),
    include_str!("migrations/0004_epochs.sql"),
    include_str!("migrations/0005_people.sql"),
    include_str!("migrations/0006_event_types.sql"),
    include_str!("migrations/0007_session_numbers.sql"),
    include_str!("migrations/0008_newest_at_the_end.sql"),
    include_str!("migrations/0009_run_leases.sql"),
    include_str!("migrations/0010_turns_counted_later.sql"),
];

/// The first version that derives what the store keeps beside the log today.
const DERIVES: u32 = 2;

/// The first version that recognises events by a hash.
const HASHES: u32 = 3;

/// The first version that finds events by their `type`.
const TYPES: u32 = 6;

/// How long a statement waits for a lock that another process holds.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Memory for pages of the connection that writes: the places where events of active sessions
/// are settled. In KiB, and negative, as SQLite wants it. Not more: where a page was split, SQLite
/// goes through all that it holds before the transaction ends, while a page that it does not hold
/// is read from the system's memory.
const WRITER_CACHE: i32 = -4_096;

/// Prepared statements kept per connection; more than this crate has.
const STATEMENTS_KEPT: usize = 96;

/// The connection that writes. Every commit is on the disk when it returns:
/// WAL with `synchronous=FULL` syncs the log once per commit, and the writer
/// commits many appends at once.
pub(super) fn open_writer(path: &Path, durability: Durability) -> Result<Connection, OpenError> {
    let failed = |source| OpenError::Sqlite { path: path.to_owned(), source };
    let mut connection = Connection::open(path).map_err(failed)?;
    configure(&connection).map_err(failed)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(failed)?;
    connection.pragma_update(None, "synchronous", durability.synchronous()).map_err(failed)?;
    // Every piece of work has a savepoint, which keeps the pages it changes as they were. In a
    // file, that would be more writing than the log itself.
    connection.pragma_update(None, "temp_store", "MEMORY").map_err(failed)?;
    connection.pragma_update(None, "cache_size", WRITER_CACHE).map_err(failed)?;
    // A migration may replace a table that others refer to.
    connection.pragma_update(None, "foreign_keys", false).map_err(failed)?;
    migrate(&mut connection, path)?;
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    Ok(connection)
}

/// A connection that copies the write-ahead log into the file, and does nothing else.
pub(super) fn open_checkpointer(
    path: &Path,
    durability: Durability,
) -> rusqlite::Result<Connection> {
    let connection = Connection::open(path)?;
    configure(&connection)?;
    connection.pragma_update(None, "synchronous", durability.synchronous())?;
    Ok(connection)
}

/// A connection that cannot write.
pub(super) fn open_reader(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    configure(&connection)?;
    Ok(connection)
}

fn configure(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_KEPT);
    // A statement is planned once. Otherwise SQLite plans it again for other parameters, which
    // takes longer than most reads, although here the plan never depends on them.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(())
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), OpenError> {
    let failed = |source| OpenError::Sqlite { path: path.to_owned(), source };
    let transaction =
        connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate);
    let transaction = transaction.map_err(failed)?;
    let found: u32 =
        transaction.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(failed)?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found > known {
        return Err(OpenError::Newer { place: path.display().to_string(), found, known });
    }
    for migration in &MIGRATIONS[found as usize..] {
        transaction.execute_batch(migration).map_err(failed)?;
    }
    if (1..HASHES).contains(&found) {
        identity::insert_all(&transaction).map_err(failed)?;
    }
    if (1..TYPES).contains(&found) {
        row::write_types(&transaction).map_err(failed)?;
    }
    if (1..DERIVES).contains(&found) {
        derive::all_sessions(&transaction)
            .map_err(|error| OpenError::Derive { path: path.to_owned(), source: error.into() })?;
    }
    transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    transaction.commit().map_err(failed)
}
