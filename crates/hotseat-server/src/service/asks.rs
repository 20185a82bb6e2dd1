//! Questions that only ADK's own code can answer, put to a worker.
//!
//! An ask is answered once, or its asker gives up. Nothing of it is in the log:
//! it changes nothing, and asking again is harmless.

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use super::{App, ServiceError, ToWorker, Workers};
use crate::clock;

/// What can be asked, in the words of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum What {
    Artifacts,
    Artifact,
    Validate,
    Eval,
    FunctionDeclaration,
    Function,
}

/// A worker's answer.
#[derive(Debug)]
pub(crate) struct AskAnswer {
    pub(crate) json: String,
    pub(crate) data: Vec<u8>,
    pub(crate) error: Option<String>,
    pub(crate) not_found: bool,
}

impl What {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            What::Artifacts => "artifacts",
            What::Artifact => "artifact",
            What::Validate => "validate",
            What::Eval => "eval",
            What::FunctionDeclaration => "function_declaration",
            What::Function => "function",
        }
    }

    /// How long an answer may take. `adk eval` may call real models for every case.
    pub(super) const fn patience(self) -> Duration {
        match self {
            What::Artifacts | What::Artifact | What::Validate | What::FunctionDeclaration => {
                Duration::from_secs(30)
            }
            // The tool's own limit comes first.
            What::Eval | What::Function => Duration::from_hours(1),
        }
    }
}

impl App {
    /// Asks the worker that hosts `agent`, or any worker, and waits. Where none of this server
    /// does, those of other servers are asked.
    pub(crate) async fn ask(
        &self,
        agent: Option<&str>,
        what: What,
        question: Value,
    ) -> Result<AskAnswer, ServiceError> {
        let question = question.to_string();
        let answer = if self.workers.can_ask(agent) || !self.workers.can_ask_elsewhere(agent) {
            self.ask_here(agent, what, question).await?
        } else {
            self.ask_elsewhere(agent, what, question).await?
        };
        match answer.error {
            Some(_) if answer.not_found => Err(ServiceError::NotFound { what: what.as_str() }),
            Some(error) => Err(ServiceError::WorkerFailed { what: what.as_str(), error }),
            None => Ok(answer),
        }
    }

    /// Asks a worker of this server.
    pub(super) async fn ask_here(
        &self,
        agent: Option<&str>,
        what: What,
        question: String,
    ) -> Result<AskAnswer, ServiceError> {
        let ask_id = clock::new_id().to_string();
        let (sender, answer) = oneshot::channel();
        let asked = Asked { workers: &self.workers, ask_id: &ask_id };
        self.workers.expect_answer(&ask_id, sender);
        let message = ToWorker::Ask { ask_id: ask_id.clone(), what, question };
        if !self.workers.put(agent, message) {
            let name = agent.map_or_else(|| "any".to_owned(), str::to_owned);
            return Err(ServiceError::NoWorker(name));
        }
        let answered = tokio::time::timeout(what.patience(), answer).await;
        drop(asked);
        match answered {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) | Err(_) => Err(ServiceError::WorkerSilent { what: what.as_str() }),
        }
    }

    /// Asks for JSON of a known shape.
    pub(crate) async fn ask_json<T: DeserializeOwned>(
        &self,
        agent: Option<&str>,
        what: What,
        question: Value,
    ) -> Result<T, ServiceError> {
        let answer = self.ask(agent, what, question).await?;
        serde_json::from_str(&answer.json).map_err(|error| ServiceError::WorkerFailed {
            what: what.as_str(),
            error: format!("its answer cannot be read: {error}"),
        })
    }
}

/// Forgets the ask when its asker is done or gone.
struct Asked<'a> {
    workers: &'a Workers,
    ask_id: &'a str,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.workers.forget_ask(self.ask_id);
    }
}
