//! Why the store refused or failed.

use std::path::PathBuf;

use hotseat_core::{Seq, SessionId, TurnId};
use jiff::Timestamp;

/// The cause of a failure inside a database; for the log, never for a user.
pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The database failed. Nothing is said about whether a write took effect.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The database answered with an error.
    #[error("the store could not {action}")]
    Backend {
        /// What was tried.
        action: &'static str,
        /// The database's own words.
        #[source]
        source: Cause,
    },
    /// The database could not be reached for so long that it is not known what became of it.
    #[error(
        "the database did not answer in time to {action}, and what became of it is not known: \
         look before you try again"
    )]
    Undecided {
        /// What was tried.
        action: &'static str,
        /// The last failure.
        #[source]
        source: Cause,
    },
    /// The store was closed, or its writer is gone.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub(crate) fn backend(action: &'static str) -> impl FnOnce(rusqlite::Error) -> Self {
        move |source| Self::Backend { action, source: source.into() }
    }
}

/// Why an append was refused. Unless it is `Store`, nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// There is no such session.
    #[error("there is no session {session}")]
    NoSession {
        /// The id that was asked for.
        session: SessionId,
    },
    /// Nothing follows the completion of a session.
    #[error("session {session} is completed")]
    Completed {
        /// The session.
        session: SessionId,
    },
    /// Another writer got there first: read on from `actual`, then decide again.
    #[error("session {session} is at event {actual}, not {expected}")]
    Conflict {
        /// The session.
        session: SessionId,
        /// What the caller had seen.
        expected: Seq,
        /// What is there.
        actual: Seq,
    },
    /// The session that the caller knows was deleted; this one has its id.
    #[error("session {session} was deleted and made again")]
    Remade {
        /// The session.
        session: SessionId,
    },
    /// A response to a turn that was never requested.
    #[error("session {session} has no turn {turn}")]
    NoTurn {
        /// The session.
        session: SessionId,
        /// The turn that was asked for.
        turn: TurnId,
    },
    /// Another worker has the run that this one writes of.
    #[error("another worker goes on with the run of session {session}")]
    RunElsewhere {
        /// The session.
        session: SessionId,
    },
    /// Somebody else has claimed the turn.
    #[error("turn {turn} is claimed by {holder}")]
    TurnClaimed {
        /// The turn.
        turn: TurnId,
        /// Who has it.
        holder: String,
        /// Until when, unless they ask again.
        until: Timestamp,
    },
    /// The turn has its one response.
    #[error("turn {turn} was answered already")]
    TurnAnswered {
        /// The turn.
        turn: TurnId,
        /// Where the response stands in the log.
        response: Seq,
    },
    /// Another turn of the session is waiting before this one.
    #[error("turn {turn} is not at the head of its session's queue: turn {head} is")]
    TurnNotHead {
        /// The turn that was answered.
        turn: TurnId,
        /// The turn that has to be answered first.
        head: TurnId,
    },
    /// The run that is open has to end before another one is queued.
    #[error("session {session} has an open run {run_id}")]
    RunOpen {
        /// The session.
        session: SessionId,
        /// The run that is open.
        run_id: String,
    },
    /// A turn or a run has to end before its session is completed.
    #[error("session {session} has an open turn or run")]
    StillOpen {
        /// The session.
        session: SessionId,
    },
    /// The database failed and the events may be there: read before trying again.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file could not be opened or set up.
    #[error("could not open the store {path}")]
    Sqlite {
        /// The database file.
        path: PathBuf,
        /// SQLite's own words.
        #[source]
        source: rusqlite::Error,
    },
    /// What an older version did not derive could not be derived.
    #[error("could not bring the store {path} up to date")]
    Derive {
        /// The database file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: Cause,
    },
    /// The store was written by a newer version.
    #[error(
        "the store {place} has schema version {found}, this version of hotseat knows {known}: use a newer hotseat"
    )]
    Newer {
        /// Where it is.
        place: String,
        /// Its schema version.
        found: u32,
        /// The newest one known here.
        known: u32,
    },
    /// The address of a store cannot be read.
    #[error("the store `{url}` is not known")]
    Address {
        /// The address, without its password.
        url: String,
        /// What is wrong with it, where more is known.
        #[source]
        source: Option<Cause>,
    },
    /// The PostgreSQL database could not be reached or set up.
    #[error("could not open the store {place}: check that PostgreSQL runs there and lets you in")]
    Postgres {
        /// Where it is.
        place: String,
        /// PostgreSQL's own words.
        #[source]
        source: Cause,
    },
    /// The certificate of the PostgreSQL server is not trusted.
    #[error("could not open the store {place}: its certificate is refused: {remedy}")]
    Certificate {
        /// Where it is.
        place: String,
        /// Why, and what to do about it.
        remedy: &'static str,
        /// What was found wrong with it.
        #[source]
        source: Cause,
    },
    /// The file with the certificates of those who sign for the database cannot be used.
    #[error("could not read the certificates in {file}: `sslrootcert` names a PEM file")]
    Roots {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Cause,
    },
    /// There is no place for a store that ends with its process.
    #[error("could not make a temporary folder")]
    Scratch(#[source] std::io::Error),
    /// The writer thread could not be started.
    #[error("could not start the store's writer")]
    Thread(#[source] std::io::Error),
}
