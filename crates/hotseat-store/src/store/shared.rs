//! What servers that share a database need of each other, over the database that was chosen.

use std::time::Duration;

use hotseat_core::SessionId;
use uuid::Uuid;

use super::{Backend, Store};
use crate::StoreError;
use crate::shared::{HeldRun, RunClaim, ServerCard};

impl Store {
    /// Takes a run for a worker or a server, if it is open in the log and nobody is in the way
    /// ([`TakeOver`](crate::TakeOver)). From then on, what another worker writes of it is
    /// refused.
    pub async fn take_run(&self, claim: &RunClaim) -> Result<bool, StoreError> {
        ask!(self.take_run(claim))
    }
}

/// The servers that share a database. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Shared(pub(super) Store);

impl Shared {
    /// Says that a server is there, for as long as `life`; others are told when its card is
    /// another one. Gives the editions of the cards of all others that are there.
    pub async fn present(
        &self,
        card: &ServerCard,
        life: Duration,
    ) -> Result<Vec<(Uuid, i64)>, StoreError> {
        let store = &self.0;
        ask!(store.present(card, life))
    }

    /// The cards of servers, whether they are still there or not.
    pub async fn cards(&self, servers: Vec<Uuid>) -> Result<Vec<ServerCard>, StoreError> {
        let store = &self.0;
        ask!(store.cards(servers))
    }

    /// Lets go of a run that this server has.
    pub async fn release_run(
        &self,
        session: SessionId,
        run_id: &str,
        server: Uuid,
    ) -> Result<(), StoreError> {
        let store = &self.0;
        ask!(store.release_run(session, run_id, server))
    }

    /// Sessions with an open run of one of these agents that nobody works on who is still
    /// there; [`MAX_RUNS_TOLD`](crate::MAX_RUNS_TOLD) at most.
    pub async fn waiting_runs(&self, agents: Vec<String>) -> Result<Vec<SessionId>, StoreError> {
        let store = &self.0;
        ask!(store.waiting_runs(agents))
    }

    /// The runs that a server has.
    pub async fn held_runs(&self, server: Uuid) -> Result<Vec<HeldRun>, StoreError> {
        let store = &self.0;
        ask!(store.held_runs(server))
    }

    /// Puts a question where any server finds it, for as long as `life`.
    pub async fn put_question(
        &self,
        id: Uuid,
        question: &[u8],
        life: Duration,
    ) -> Result<(), StoreError> {
        let store = &self.0;
        ask!(store.put_question(id, question, life))
    }

    /// Takes a question to answer it. None if it is gone or somebody has it.
    pub async fn take_question(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        let store = &self.0;
        ask!(store.take_question(id))
    }

    /// Answers a question, if it still is asked.
    pub async fn answer_question(&self, id: Uuid, answer: &[u8]) -> Result<(), StoreError> {
        let store = &self.0;
        ask!(store.answer_question(id, answer))
    }

    /// The answer to a question, once it is there.
    pub async fn question_answer(&self, id: Uuid) -> Result<Option<Vec<u8>>, StoreError> {
        let store = &self.0;
        ask!(store.question_answer(id))
    }

    /// Takes a question back, answered or not.
    pub async fn drop_question(&self, id: Uuid) -> Result<(), StoreError> {
        let store = &self.0;
        ask!(store.drop_question(id))
    }

    /// Says that a server goes: once its appends are in the log, what it worked on itself is
    /// anybody's. Its workers have `grace` to go on elsewhere with their runs.
    pub async fn leave(&self, server: Uuid, grace: Duration) -> Result<(), StoreError> {
        let store = &self.0;
        ask!(store.leave(server, grace))
    }
}
