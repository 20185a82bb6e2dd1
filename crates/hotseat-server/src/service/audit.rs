//! What was done by whom: written down here, and read by admins.

use hotseat_core::{Role, SessionId};
use hotseat_store::{AuditAction, AuditEntry, AuditQuery, NewAuditEntry};
use serde_json::Value;

use super::{App, ServiceError};
use crate::clock;

/// Entries read at once for an export.
pub(crate) const EXPORT_PAGE: usize = 500;

impl App {
    /// Whether what is done here is written down. What the server does by itself is not
    /// somebody's act: the log of the session has it.
    pub(super) fn is_noted(&self) -> bool {
        self.visitor.client.is_some()
    }

    /// Writes down what the caller did. It is done already, so a failure is for the log.
    pub(super) async fn note(
        &self,
        action: AuditAction,
        subject: String,
        session: Option<SessionId>,
        detail: Value,
    ) {
        if !self.is_noted() {
            return;
        }
        let actor = self.visitor.caller.name().to_owned();
        let entry = NewAuditEntry { at: clock::now(), actor, action, subject, session, detail };
        if let Err(error) = self.store.audit(entry).await {
            tracing::error!(%error, action = action.as_str(), "an act was not written down");
        }
    }

    /// The same of a session, where there is no more to say.
    pub(super) async fn note_session(&self, action: AuditAction, id: SessionId) {
        self.note(action, id.to_string(), Some(id), Value::Null).await;
    }

    /// What was written down.
    pub(crate) async fn audit(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, ServiceError> {
        self.needs(Role::Admin)?;
        Ok(self.store.audit_entries(query).await?)
    }

    /// Notes that all of it was taken away.
    pub(crate) async fn audit_exported(&self) -> Result<(), ServiceError> {
        self.needs(Role::Admin)?;
        self.note(AuditAction::AuditExported, "audit".to_owned(), None, Value::Null).await;
        Ok(())
    }
}
