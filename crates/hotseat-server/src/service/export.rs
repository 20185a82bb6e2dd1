//! The golden trace of a session, previewed and written.
//!
//! The file is the one that the agent's worker named. A caller may name another,
//! but only below the folder Hotseat was started in: a remote caller must not be
//! able to write anywhere else.

use std::path::{Component, Path, PathBuf};

use hotseat_core::{
    GoldenCase, GoldenTrace, MergeAction, Merged, NewCase, Role, SessionId, SessionStatus, Subject,
    adk_session_json, merge, snake_case,
};
use hotseat_store::{AuditAction, Session};
use serde_json::{Value, json};

use super::eval_set_file::Edited;
use super::eval_sets::checked_case;
use super::{App, ServiceError};
use crate::clock;

/// What an export would write.
#[derive(Debug)]
pub(crate) struct Preview {
    pub(crate) path: PathBuf,
    pub(crate) case: GoldenCase,
    pub(crate) exists: bool,
    /// How large the log is that it comes from; the case is hardly larger.
    pub(crate) log_bytes: usize,
}

/// What an export wrote.
#[derive(Debug)]
pub(crate) struct Exported {
    pub(crate) path: PathBuf,
    pub(crate) eval_id: String,
    pub(crate) case: Value,
    pub(crate) action: MergeAction,
}

impl App {
    /// Not for users: it names a file of the installation.
    pub(crate) async fn preview_export(&self, id: SessionId) -> Result<Preview, ServiceError> {
        self.needs(Role::Viewer)?;
        let session = self.session(id).await?;
        let path = self.eval_set_path(&session, None)?;
        let case = self.golden_case(&session).await?;
        let exists = path.exists();
        let log_bytes = usize::try_from(session.bytes).unwrap_or(usize::MAX);
        Ok(Preview { path, case, exists, log_bytes })
    }

    /// ADK's own session JSON, as `adk test` replays it.
    pub(crate) async fn session_json(&self, id: SessionId) -> Result<String, ServiceError> {
        let session = self.session(id).await?;
        let events = self.all_events(id).await?;
        Ok(adk_session_json(&subject_of(&session), &events))
    }

    /// Writes the golden trace of a completed session, or what a person made of it.
    pub(crate) async fn export(
        &self,
        id: SessionId,
        wish: Option<&str>,
        edited: Option<Value>,
    ) -> Result<Exported, ServiceError> {
        self.needs(Role::Developer)?;
        let session = self.session(id).await?;
        if session.status != SessionStatus::Completed {
            return Err(ServiceError::SessionNotCompleted(id));
        }
        let path = self.eval_set_path(&session, wish)?;
        let case = match edited {
            Some(case) => checked_case(case)?,
            None => self.golden_case(&session).await?.to_value(),
        };
        let new = NewCase { session_id: id, agent_name: agent_name(&session), case };
        let now = clock::now();
        let (eval_id, case, action) = self
            .edit_eval_set(path.clone(), move |existing| {
                let Merged { text, eval_id, case, action } = merge(existing, new, now)?;
                Ok(Edited { text: Some(text), result: (eval_id, case, action) })
            })
            .await?;
        let detail = json!({"eval_id": eval_id});
        self.note(AuditAction::SessionExported, path.display().to_string(), Some(id), detail).await;
        Ok(Exported { path, eval_id, case, action })
    }

    async fn golden_case(&self, session: &Session) -> Result<GoldenCase, ServiceError> {
        let mut trace = GoldenTrace::default();
        self.each_page(session.id, |page| page.iter().for_each(|event| trace.push(event))).await?;
        trace
            .finish(&subject_of(session))
            .map_err(|source| ServiceError::Golden { session: session.id, source })
    }

    fn eval_set_path(
        &self,
        session: &Session,
        wish: Option<&str>,
    ) -> Result<PathBuf, ServiceError> {
        let configured = session
            .agent
            .as_deref()
            .filter(|_| session.source != "plugin")
            .and_then(|agent| self.workers.agent(agent))
            .and_then(|agent| agent.eval_set_path.clone())
            .map(PathBuf::from);
        match (wish, configured) {
            (Some(wish), Some(configured)) if Path::new(wish) == configured => Ok(configured),
            (Some(wish), _) => self.below_root(wish),
            (None, Some(configured)) => Ok(configured),
            (None, None) => {
                let name = format!("{}.evalset.json", snake_case(&agent_name(session)));
                Ok(self.config.eval_set_root.join(name))
            }
        }
    }

    fn below_root(&self, wish: &str) -> Result<PathBuf, ServiceError> {
        let refused = |reason| {
            let path = wish.chars().take(200).collect();
            Err(ServiceError::InvalidEvalSetPath { path, reason })
        };
        let root = &self.config.eval_set_root;
        let path = Path::new(wish);
        let path = path.strip_prefix(root).unwrap_or(path);
        if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return refused("it must lie below the folder hotseat was started in");
        }
        if path.extension().is_none_or(|extension| extension != "json") {
            return refused("its name must end in .json");
        }
        let path = root.join(path);
        // A link inside the folder must not lead out of it.
        let existing = path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
        match (existing, root.canonicalize()) {
            (Some(existing), Ok(root)) if existing.starts_with(&root) => Ok(path),
            _ => refused("it must lie below the folder hotseat was started in"),
        }
    }
}

fn subject_of(session: &Session) -> Subject {
    Subject {
        session_id: session.id,
        agent_name: agent_name(session),
        app_name: session.app_name.clone(),
        user_id: session.user_id.clone(),
        created_at: session.created_at,
    }
}

fn agent_name(session: &Session) -> String {
    session.agent.clone().unwrap_or_else(|| session.app_name.clone())
}
