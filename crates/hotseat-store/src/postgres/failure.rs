//! What can go wrong between here and the database, and how long it is worth trying again.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_postgres::error::{DbError, SqlState};

use crate::StoreError;
use crate::error::Cause;

/// How long a read tries to reach the database.
const READ_PATIENCE: Duration = Duration::from_secs(10);

/// How long a write tries to find out what became of it.
pub(super) const WRITE_PATIENCE: Duration = Duration::from_secs(30);

/// The first and the longest wait between two attempts.
const WAITS: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// A failure of one attempt.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    #[error(transparent)]
    Pool(#[from] deadpool_postgres::PoolError),
    #[error("the attempt took too long")]
    TimedOut,
    #[error("a value in the database is not what was written there")]
    Corrupt(#[source] Cause),
}

impl Failure {
    pub(super) fn corrupt(cause: impl Into<Cause>) -> Self {
        Self::Corrupt(cause.into())
    }

    /// Whether the database found that a row is not as it was thought to be, or that something
    /// is there already.
    pub(super) fn contradicts(&self) -> bool {
        let Self::Database(error) = self else { return false };
        let codes = [SqlState::DIVISION_BY_ZERO, SqlState::UNIQUE_VIOLATION];
        error.code().is_some_and(|code| codes.contains(code))
    }

    /// Whether the next attempt may go better: the connection was lost, the server stops or
    /// starts, or another transaction was in the way.
    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Corrupt(_) => false,
            Self::Pool(deadpool_postgres::PoolError::Backend(error)) | Self::Database(error) => {
                error.as_db_error().map_or_else(|| lost(error), passes)
            }
            Self::TimedOut | Self::Pool(_) => true,
        }
    }
}

/// Whether an error that the server did not send tells of a lost connection.
fn lost(error: &tokio_postgres::Error) -> bool {
    let io =
        std::error::Error::source(error).is_some_and(<dyn std::error::Error>::is::<std::io::Error>);
    error.is_closed() || io
}

/// Whether an error that the server sent tells of something that passes.
fn passes(error: &DbError) -> bool {
    // Class 08 is about connections, 40 about other transactions, 53 about resources, and 57P
    // about a server that stops, starts or ended the connection. A transaction that may only
    // read is on a server that is no longer, or not yet, the one to write to.
    let code = error.code();
    let class = |prefix| code.code().starts_with(prefix);
    // Somebody created the same session at the same time, and the next attempt sees it.
    let met = *code == SqlState::UNIQUE_VIOLATION && error.constraint() == Some("sessions_pkey");
    class("08")
        || class("40")
        || class("53")
        || class("57P")
        || met
        || *code == SqlState::READ_ONLY_SQL_TRANSACTION
}

/// How long to go on trying.
#[derive(Debug)]
pub(super) struct Patience {
    action: &'static str,
    until: Instant,
    wait: Duration,
}

impl Patience {
    pub(super) fn to_read(action: &'static str) -> Self {
        Self { action, until: Instant::now() + READ_PATIENCE, wait: WAITS.0 }
    }

    pub(super) fn to_write(action: &'static str) -> Self {
        Self { action, until: Instant::now() + WRITE_PATIENCE, wait: WAITS.0 }
    }

    /// When it ends.
    pub(super) fn until(&self) -> Instant {
        self.until
    }

    /// Waits for the next attempt, or gives up.
    pub(super) async fn after(&mut self, failure: Failure) -> Result<(), StoreError> {
        let (action, passes) = (self.action, failure.passes());
        if !passes {
            return Err(StoreError::Backend { action, source: failure.into() });
        }
        if Instant::now() + self.wait >= self.until {
            return Err(StoreError::Undecided { action, source: failure.into() });
        }
        tracing::debug!(error = %failure, "could not {action}, and will try again");
        sleep(self.wait).await;
        self.wait = (self.wait * 2).min(WAITS.1);
        Ok(())
    }
}
