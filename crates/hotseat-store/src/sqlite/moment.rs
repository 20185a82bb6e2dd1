//! One moment of the log, for reads that take more than one look.

use std::ops::Deref;

use rusqlite::Connection;

/// A read transaction: everything read through it is of one moment. Its statements are kept
/// prepared, because it begins with nearly every read.
#[derive(Debug)]
pub(super) struct Moment<'c> {
    connection: &'c Connection,
}

impl<'c> Moment<'c> {
    pub(super) fn of(connection: &'c Connection) -> rusqlite::Result<Self> {
        connection.prepare_cached("BEGIN")?.execute([])?;
        Ok(Self { connection })
    }
}

impl Deref for Moment<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Moment<'_> {
    fn drop(&mut self) {
        // Nothing was written, so there is nothing to lose. If it cannot end, the next one
        // cannot begin, and says so.
        let _ = self.connection.prepare_cached("COMMIT").and_then(|mut end| end.execute([]));
    }
}
