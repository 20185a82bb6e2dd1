//! A database of its own for a test.

use hotseat_store::{Limits, Store};
use hotseat_testkit::TestDatabase;
use tempfile::TempDir;

/// Where a test keeps its stores. What one of them wrote is there for the next.
pub(crate) enum Database {
    Sqlite(TempDir),
    Postgres(TestDatabase),
}

impl Database {
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    pub(crate) fn postgres() -> Self {
        Self::Postgres(TestDatabase::create())
    }

    /// Opens the store, new or not.
    pub(crate) async fn open(&self, limits: Limits) -> Store {
        match self {
            Self::Sqlite(folder) => Store::sqlite(&folder.path().join("hotseat.db"), limits),
            Self::Postgres(database) => Store::postgres(&database.url(), limits).await,
        }
        .unwrap()
    }
}
