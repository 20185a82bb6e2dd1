//! Questions to workers of other servers.
//!
//! A question may be larger than what servers can tell each other, and so may its answer, so both
//! wait in the database; the word that one is there only saves time. It is said again until the
//! answer is there, and one server takes the question.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hotseat_core::SessionId;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use uuid::Uuid;

use super::{Company, Word};
use crate::clock;
use crate::error::causes;
use crate::service::{App, AskAnswer, ServiceError, What};

/// How often a question is told of again, and its answer looked for.
const AGAIN: Duration = Duration::from_secs(1);

/// Questions that a server waits for at a time.
const MAX_QUESTIONS: usize = 256;

/// What a word is about that is about no session.
const NO_SESSION: SessionId = SessionId::new(Uuid::nil());

/// The questions that this server waits for.
#[derive(Debug, Default)]
pub(super) struct Questions(Mutex<HashMap<Uuid, Arc<Notify>>>);

impl Questions {
    pub(super) fn answered(&self, id: Uuid) {
        if let Some(waiting) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id) {
            waiting.notify_one();
        }
    }

    /// Waits for one more; none if there are too many.
    fn wait_for(&self, id: Uuid) -> Option<Waiting<'_>> {
        let mut questions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if questions.len() >= MAX_QUESTIONS {
            return None;
        }
        let told = Arc::clone(questions.entry(id).or_default());
        Some(Waiting { questions: self, id, told })
    }
}

/// A question that is waited for, until it is dropped.
struct Waiting<'q> {
    questions: &'q Questions,
    id: Uuid,
    told: Arc<Notify>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut questions = self.questions.0.lock().unwrap_or_else(PoisonError::into_inner);
        questions.remove(&self.id);
    }
}

impl App {
    /// Asks a worker of another server.
    pub(in crate::service) async fn ask_elsewhere(
        &self,
        agent: Option<&str>,
        what: What,
        question: String,
    ) -> Result<AskAnswer, ServiceError> {
        let silent = ServiceError::WorkerSilent { what: what.as_str() };
        let Some(company) = &self.replicas.company else { return Err(silent) };
        let id = clock::new_id();
        let Some(waiting) = company.questions.wait_for(id) else { return Err(silent) };
        let body = serde_json::to_vec(&(agent, what, question)).unwrap_or_default();
        let until = Instant::now() + what.patience();
        company.shared.put_question(id, &body, what.patience()).await?;
        let asks = Word::Asks { id, agent: agent.map(str::to_owned) };
        let answer = loop {
            self.replicas.tell(NO_SESSION, &asks);
            // Looked for whether it was told or not.
            let _ = timeout(AGAIN, waiting.told.notified()).await;
            if let Some(answer) = company.shared.question_answer(id).await? {
                break read(&answer);
            }
            if Instant::now() >= until || !self.workers.can_ask_elsewhere(agent) {
                break None;
            }
        };
        company.shared.drop_question(id).await?;
        answer.ok_or(silent)
    }

    /// Answers a question of another server, if a worker here can.
    pub(super) fn asked_elsewhere(&self, id: Uuid, agent: Option<&str>) {
        let Some(company) = self.replicas.company.clone() else { return };
        if !self.workers.can_ask(agent) {
            return;
        }
        let app = self.clone();
        tokio::spawn(async move {
            if let Err(error) = app.answer_elsewhere(&company, id).await {
                tracing::warn!(error = %causes(&error), "a question of another server is left");
            }
        });
    }

    async fn answer_elsewhere(&self, company: &Company, id: Uuid) -> Result<(), ServiceError> {
        let Some(body) = company.shared.take_question(id).await? else { return Ok(()) };
        // What cannot be read is from a version that knows more; its asker gives up.
        let read = serde_json::from_slice::<(Option<String>, What, String)>(&body);
        let Ok((agent, what, question)) = read else { return Ok(()) };
        let answer = match self.ask_here(agent.as_deref(), what, question).await {
            Ok(answer) => answer,
            Err(error) => AskAnswer {
                json: String::new(),
                data: Vec::new(),
                error: Some(error.to_string()),
                not_found: false,
            },
        };
        company.shared.answer_question(id, &written(&answer)).await?;
        self.replicas.tell(NO_SESSION, &Word::Answered { id });
        Ok(())
    }
}

/// An answer as it is kept: how long its words are, the words, and the data as it is.
fn written(answer: &AskAnswer) -> Vec<u8> {
    let words = (&answer.json, &answer.error, answer.not_found);
    let words = serde_json::to_vec(&words).unwrap_or_default();
    let length = (words.len() as u64).to_le_bytes();
    [&length[..], &words, &answer.data].concat()
}

fn read(bytes: &[u8]) -> Option<AskAnswer> {
    let (length, rest) = bytes.split_first_chunk()?;
    let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
    let (words, data) = rest.split_at_checked(length)?;
    let (json, error, not_found) = serde_json::from_slice(words).ok()?;
    Some(AskAnswer { json, data: data.to_vec(), error, not_found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_as_it_was_written_and_half_of_one_is_none() {
        let answer = AskAnswer {
            json: "{\"a\": 1}".to_owned(),
            data: vec![0, 255, 7],
            error: Some("no".to_owned()),
            not_found: true,
        };
        let bytes = written(&answer);
        let again = read(&bytes).unwrap();
        assert_eq!((again.json, again.data), (answer.json, answer.data));
        assert_eq!((again.error, again.not_found), (answer.error, answer.not_found));
        assert!(read(&bytes[..bytes.len() / 2]).is_none());
        assert!(read(&[]).is_none());
    }
}
