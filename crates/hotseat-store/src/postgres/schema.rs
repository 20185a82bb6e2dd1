//! Bringing the schema up to date.
//!
//! Migrations are numbered and only go forward; the table `hotseat_schema` counts those that
//! were run. All of it happens under an advisory lock, so that replicas which start at once run
//! each migration once, and the later ones find it done.

use deadpool_postgres::Client;

use super::failure::Failure;
use crate::OpenError;

const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_log.sql"),
    include_str!("migrations/0002_people.sql"),
    include_str!("migrations/0003_servers.sql"),
    include_str!("migrations/0004_versions.sql"),
];

/// The lock of whoever changes the schema. The number means nothing.
const LOCK: i64 = 0x0068_6f74_7365_6174;

pub(super) async fn migrate(client: &mut Client, place: &str) -> Result<(), OpenError> {
    let failed =
        |failure: Failure| OpenError::Postgres { place: place.to_owned(), source: failure.into() };
    let transaction = client.transaction().await.map_err(|error| failed(error.into()))?;
    let found = lock_and_look(&transaction).await.map_err(failed)?;
    let known = u32::try_from(MIGRATIONS.len()).unwrap_or(u32::MAX);
    if found > known {
        return Err(OpenError::Newer { place: place.to_owned(), found, known });
    }
    let missing = &MIGRATIONS[found as usize..];
    for migration in missing {
        transaction.batch_execute(migration).await.map_err(|error| failed(error.into()))?;
    }
    if !missing.is_empty() {
        let note = format!("UPDATE hotseat_schema SET version = {known}");
        transaction.batch_execute(&note).await.map_err(|error| failed(error.into()))?;
    }
    transaction.commit().await.map_err(|error| failed(error.into()))
}

/// The version of the schema, 0 in an empty database.
async fn lock_and_look(transaction: &deadpool_postgres::Transaction<'_>) -> Result<u32, Failure> {
    // Held to the end of the transaction.
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS hotseat_schema (version integer NOT NULL); \
             INSERT INTO hotseat_schema SELECT 0 WHERE NOT EXISTS (SELECT FROM hotseat_schema)",
        )
        .await?;
    let version: i32 =
        transaction.query_one("SELECT version FROM hotseat_schema", &[]).await?.get(0);
    Ok(u32::try_from(version).unwrap_or(0))
}
