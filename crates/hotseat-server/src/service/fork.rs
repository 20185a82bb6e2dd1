//! Going back: a new session that stands where another one stood.
//!
//! The log is never rewritten. What came before the answer is copied into a new
//! session, and the worker goes on from there as after a crash: with recorded
//! answers and results, running no tool twice, up to the turn that is open again.

use hotseat_core::{ForkError, RunId, SessionId, TurnId, fork_prefix};
use hotseat_store::{NewSession, Session};

use super::{App, ServiceError};
use crate::clock;

impl App {
    /// A new session that stands where `id` stood before `turn` was answered.
    pub(crate) async fn fork(&self, id: SessionId, turn: TurnId) -> Result<Session, ServiceError> {
        self.not_bound()?;
        let session = self.session(id).await?;
        if session.source == "plugin" {
            return Err(ServiceError::DrivenByProgram(id));
        }
        let events = self.all_events(id).await?;
        let run_id = RunId::new(clock::new_id());
        let prefix =
            fork_prefix(&events, turn, &run_id.to_string()).map_err(|error| match error {
                ForkError::UnknownTurn { turn_id } => {
                    ServiceError::TurnNotFound { session: id, turn: turn_id }
                }
                ForkError::NoRun { .. } => ServiceError::DrivenByProgram(id),
            })?;
        let name = session.description.or(session.title).unwrap_or_else(|| id.to_string());
        let description = format!("Fork of {name}");
        let new = NewSession {
            id: SessionId::new(clock::new_id()),
            created_at: clock::now(),
            description: Some(hotseat_core::truncate_description(&description).to_owned()),
            agent: session.agent,
            app_name: session.app_name,
            user_id: session.user_id,
            source: "web".to_owned(),
            adk_id: None,
            opening: prefix,
        };
        let forked = self.store.create_session(new).await?.into_session();
        self.resume_run(&forked).await?;
        Ok(forked)
    }
}
