//! What servers that share a database need of each other: who is there, who works on what, and
//! questions to the workers of others.
//!
//! A server is there for as long as it says so again, by the clock of the database. Who works on
//! a run has a lease on it that ends with its server, so a run costs one row when it is taken and
//! nothing while it lasts. Where one server has the log for itself there is no [`Shared`]: what
//! it works on is then known in its memory, and nothing is written.

use std::time::Duration;

use hotseat_core::SessionId;
use uuid::Uuid;

use crate::StoreError;
use crate::postgres::Postgres;

/// Runs that are told of at once.
pub const MAX_RUNS_TOLD: usize = 256;

/// What a server tells the others of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCard {
    /// The server.
    pub server: Uuid,
    /// Which card it is: another one has another number.
    pub edition: i64,
    /// What only servers understand.
    pub text: String,
}

/// A wish to work on a run.
#[derive(Debug, Clone)]
pub struct RunClaim {
    /// The session.
    pub session: SessionId,
    /// Its open run.
    pub run_id: String,
    /// Who wants it.
    pub server: Uuid,
    /// The worker, if it is not the server itself. It keeps its run when it goes to another
    /// server.
    pub worker: Option<String>,
    /// Whether it may be taken from a server that is gone.
    pub take_over: TakeOver,
}

/// What may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    /// What nobody has.
    Nothing,
    /// Also what a server has that is gone.
    OfTheGone,
}

/// A run that a server has a lease on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRun {
    /// The session.
    pub session: SessionId,
    /// The run.
    pub run_id: String,
    /// It is open in the log. One that is not has ended elsewhere.
    pub open: bool,
}

/// The servers that share a database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shared {
    database: Postgres,
}

impl Shared {
    pub(crate) fn new(database: Postgres) -> Self {
        Self { database }
    }

    /// Says that a server is there, for as long as `life`; others are told when its card is
    /// another one. Gives the editions of the cards of all others that are there.
    pub async fn present(
        &self,
        card: &ServerCard,
        life: Duration,
    ) -> Result<Vec<(Uuid, i64)>, StoreError> {
        self.database.present(card, life).await
    }

    /// The cards of servers, whether they are still there or not.
    pub async fn cards(&self, servers: Vec<Uuid>) -> Result<Vec<ServerCard>, StoreError> {
        self.database.cards(servers).await
    }

    /// Takes a run, if it is open in the log and nobody works on it who is still there.
    pub async fn take_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        self.database.take_run(claim).await
    }

    /// Lets go of a run that this server has.
    pub async fn release_run(
        &self,
        session: SessionId,
        run_id: &str,
        server: Uuid,
    ) -> Result<(), StoreError> {
        self.database.release_run(session, run_id, server).await
    }

    /// Sessions with an open run of one of these agents that nobody works on who is still
    /// there; [`MAX_RUNS_TOLD`] at most.
    pub async fn waiting_runs(&self, agents: Vec<String>) -> Result<Vec<SessionId>, StoreError> {
        self.database.waiting_runs(agents).await
    }

    /// The runs that a server has.
    pub async fn held_runs(&self, server: Uuid) -> Result<Vec<HeldRun>, StoreError> {
        self.database.held_runs(server).await
    }

    /// Puts a question where any server finds it, for as long as `life`.
    pub async fn put_question(
        &self,
        id: Uuid,
        question: &[u8],
        life: Duration,
    ) -> Result<(), StoreError> {
        self.database.put_question(id, question, life).await
    }

    /// Takes a question to answer it. None if it is gone or somebody has it.
    pub async fn take_question(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        self.database.take_question(id).await
    }

    /// Answers a question, if it still is asked.
    pub async fn answer_question(&self, id: Uuid, answer: &[u8]) -> Result<(), StoreError> {
        self.database.answer_question(id, answer).await
    }

    /// The answer to a question, once it is there.
    pub async fn question_answer(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        self.database.question_answer(id).await
    }

    /// Takes a question back, answered or not.
    pub async fn drop_question(&self, id: Uuid) -> Result<(), StoreError> {
        self.database.drop_question(id).await
    }

    /// Says that a server goes: once its appends are in the log, what it worked on itself is
    /// anybody's. Its workers have `grace` to go on elsewhere with their runs.
    pub async fn leave(&self, server: Uuid, grace: Duration) -> Result<(), StoreError> {
        self.database.leave(server, grace).await
    }
}
