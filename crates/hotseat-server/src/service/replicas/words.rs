//! What servers tell each other in passing.
//!
//! Most of it is about one session, and all of it may be lost: a run that nobody was told of is found by the
//! next look, pieces of an answer are in the event that completes it, and who is in a room is
//! told again.

use hotseat_core::{Piece, SessionId};
use hotseat_store::Signal;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast::error::RecvError;
use uuid::Uuid;

use super::Company;
use crate::error::causes;
use crate::service::{App, ServiceError};

/// Something about a session, unless it says otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::service) enum Word {
    /// Its run waits for somebody who hosts the agent.
    Work,
    /// Its run was cancelled.
    Cancelled { run_id: String },
    /// Somebody listens for pieces of answers.
    Listening,
    /// A piece of an answer.
    Piece(Box<AnswerPiece>),
    /// Somebody is typing.
    Types { name: String },
    /// Somebody is done with typing.
    TypesNoMore { name: String },
    /// A turn is claimed, or not any more.
    Claims,
    /// Who is in its room, at the server that tells it.
    Present { names: Vec<String> },
    /// Who else is in its room?
    WhoIsThere,
    /// A question for a worker that hosts the agent, or any. About no session.
    Asks { id: Uuid, agent: Option<String> },
    /// A question has its answer. About no session.
    Answered { id: Uuid },
}

/// A piece of an answer, on its way to another server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::service) struct AnswerPiece {
    /// The number of the answer, at the server that it is given at.
    pub(in crate::service) answer: u64,
    /// How far the log was when the answer began.
    pub(in crate::service) after: u64,
    /// How much was said of the answer before.
    pub(in crate::service) offset: usize,
    pub(in crate::service) piece: Piece,
}

impl Word {
    /// As it is sent.
    pub(super) fn said_by(&self, server: Uuid) -> Vec<u8> {
        // None of it can fail to be written; nothing said is nothing heard.
        serde_json::to_vec(&(server, self)).unwrap_or_default()
    }
}

impl App {
    /// Hears what other servers tell, until the server closes.
    pub(super) async fn hear(&self, company: &Company) {
        let mut signals = company.store.signals();
        loop {
            let heard = tokio::select! {
                heard = signals.recv() => heard,
                () = self.closed() => return,
            };
            match heard {
                Ok(Signal { session, bytes }) => {
                    // What cannot be read is from a version that knows more.
                    let Ok((from, word)) = serde_json::from_slice::<(Uuid, Word)>(&bytes) else {
                        continue;
                    };
                    if from != company.name {
                        self.heard(company, session, from, word);
                    }
                }
                Err(RecvError::Lagged(lost)) => tracing::debug!(lost, "words of servers were lost"),
                Err(RecvError::Closed) => return,
            }
        }
    }

    fn heard(&self, company: &Company, session: SessionId, from: Uuid, word: Word) {
        match word {
            Word::Work => {
                let app = self.clone();
                tokio::spawn(async move { app.look_at_run(session).await });
            }
            Word::Cancelled { run_id } => self.cancelled_elsewhere(session, &run_id),
            Word::Listening => self.live.wanted_elsewhere(session),
            Word::Piece(piece) => self.live.told_elsewhere(session, from, *piece),
            Word::Types { name } => self.rooms.types_elsewhere(session, &name),
            Word::TypesNoMore { name } => self.rooms.types_no_more_elsewhere(session, &name),
            Word::Claims => self.rooms.claims_elsewhere(session),
            Word::Present { names } => self.rooms.present_elsewhere(session, from, names),
            Word::WhoIsThere => self.rooms.tell_who_is_there(session),
            Word::Asks { id, agent } => self.asked_elsewhere(id, agent.as_deref()),
            Word::Answered { id } => company.questions.answered(id),
        }
    }

    /// Takes the run of a session if it waits and its agent is hosted here.
    pub(super) async fn look_at_run(&self, session: SessionId) {
        let looked = async {
            if let Some(session) = self.store.session(session).await? {
                let hosted =
                    session.agent.as_deref().is_some_and(|agent| self.workers.hosts(agent));
                if hosted {
                    self.resume_run(&session).await?;
                }
            }
            Ok::<_, ServiceError>(())
        };
        if let Err(error) = looked.await {
            tracing::warn!(error = %causes(&error), "a run that waits could not be looked at");
        }
    }

    fn cancelled_elsewhere(&self, session: SessionId, run_id: &str) {
        if self.workers.works_on(run_id) {
            self.cancel_here(session, run_id);
        }
    }
}
