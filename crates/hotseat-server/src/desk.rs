//! What the command line does with sessions, without a server.
//!
//! The same use cases over the same store, and the same JSON as the API answers.
//! A server may run on the store at the same time.

mod people;

use std::path::Path;

use hotseat_core::{HistoryProjector, SessionId, SessionStatus, snake_case};
use hotseat_store::{Address, Limits, OpenError, SessionQuery, Store};
use serde_json::{Value, json};

use crate::config::Config;
use crate::http::{SessionView, readable};
use crate::identity::Visitor;
use crate::service::{App, ServiceError};

/// A desk over an open store.
#[derive(Debug)]
pub struct Desk {
    app: App,
}

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum DeskError {
    /// It was refused; the text says why and what to do.
    #[error("{0}")]
    Refused(String),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
}

impl From<ServiceError> for DeskError {
    fn from(error: ServiceError) -> Self {
        Self::Refused(readable(&error))
    }
}

/// Which sessions to list.
#[derive(Debug, Default)]
pub struct SessionFilter {
    /// Only this status.
    pub status: Option<SessionStatus>,
    /// Only this agent.
    pub agent: Option<String>,
    /// Words in title, description or agent.
    pub text: Option<String>,
    /// At most this many; 0 means 50.
    pub limit: usize,
}

impl Desk {
    /// Opens a store.
    pub async fn open(address: &Address) -> Result<Self, DeskError> {
        let store = Store::open(address, Limits::default()).await?;
        let app = App::new(store, Config::indoors()).entered_by(Visitor::AT_THE_DESK);
        Ok(Self { app })
    }

    /// Sessions, newest first.
    pub async fn sessions(&self, filter: SessionFilter) -> Result<Value, DeskError> {
        let query = SessionQuery {
            status: filter.status,
            agent: filter.agent,
            text: filter.text,
            limit: filter.limit,
            ..SessionQuery::default()
        };
        let page = self.app.sessions(query).await?;
        let items: Vec<_> =
            page.items.into_iter().map(|session| SessionView::new(&self.app, session)).collect();
        let next_cursor = page.next.map(|cursor| cursor.to_string());
        Ok(json!({"items": items, "next_cursor": next_cursor}))
    }

    /// One session with its history.
    pub async fn session(&self, id: SessionId) -> Result<Value, DeskError> {
        let session = self.app.session(id).await?;
        let events = self.app.all_events(id).await?;
        let mut projector = HistoryProjector::default();
        let mut view = SessionView::new(&self.app, session);
        view.history = Some(events.iter().flat_map(|event| projector.push(event)).collect());
        Ok(json!(view))
    }

    /// Writes the golden trace of a completed session into `file`, or into the agent's
    /// file in `folder`.
    pub async fn export(
        &self,
        id: SessionId,
        file: Option<&Path>,
        folder: &Path,
    ) -> Result<Value, DeskError> {
        let session = self.app.session(id).await?;
        let path = if let Some(file) = file {
            folder.join(file)
        } else {
            let agent = session.agent.unwrap_or(session.app_name);
            folder.join(format!("{}.evalset.json", snake_case(&agent)))
        };
        let exported = self.app.export(id, Some(&path.to_string_lossy()), None).await?;
        Ok(json!({
            "path": exported.path,
            "eval_id": exported.eval_id,
            "action": exported.action.as_str(),
            "case": exported.case,
        }))
    }

    /// ADK's session JSON, as `adk test` replays it.
    pub async fn session_json(&self, id: SessionId) -> Result<String, DeskError> {
        Ok(self.app.session_json(id).await?)
    }

    /// All sessions, newest first.
    pub async fn session_ids(&self) -> Result<Vec<SessionId>, DeskError> {
        let mut query = SessionQuery { limit: 1000, ..SessionQuery::default() };
        let mut ids = Vec::new();
        loop {
            let page = self.app.sessions(query.clone()).await?;
            ids.extend(page.items.iter().map(|session| session.id));
            match page.next {
                Some(next) => query.cursor = Some(next),
                None => return Ok(ids),
            }
        }
    }

    /// Computes anew what is derived from a session's log.
    pub async fn rebuild(&self, id: SessionId) -> Result<(), DeskError> {
        self.app.rebuild(id).await?;
        Ok(())
    }

    /// Deletes a session with its log.
    pub async fn delete(&self, id: SessionId) -> Result<(), DeskError> {
        Ok(self.app.delete_session(id).await?)
    }
}
