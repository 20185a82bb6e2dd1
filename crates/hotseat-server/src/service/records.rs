//! The record of a session: its messages, and what its events tell of its progress.

use std::collections::BTreeMap;

use hotseat_core::{
    Kind, MESSAGE_ENTRY, Message, NewEvent, Seq, SessionId, adk_account, backfill_event,
    read_message,
};
use hotseat_store::{AuditAction, EventQuery, Expected, Session};
use serde::Serialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::ingest::own_event;
use super::sessions::server_event;
use super::{App, ServiceError};

/// What the raw events of a session are, in figures.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
pub(crate) struct EventSummary {
    /// Raw events in the log.
    total_events: u64,
    /// By `type`; plain ADK events have none.
    event_types: BTreeMap<String, u64>,
    /// By author.
    authors: BTreeMap<String, u64>,
    /// The smallest time that an event tells, in seconds since 1970.
    first_event_timestamp: Option<f64>,
    /// The largest.
    last_event_timestamp: Option<f64>,
}

impl App {
    pub(crate) async fn messages(&self, id: SessionId) -> Result<Vec<Message>, ServiceError> {
        self.session(id).await?;
        Ok(self.store.messages(id).await?)
    }

    /// Puts a message into a session that no ADK event carries. The same id again replaces it.
    pub(crate) async fn add_message(
        &self,
        id: SessionId,
        payload: Box<RawValue>,
    ) -> Result<Message, ServiceError> {
        self.check_size(payload.get().len())?;
        let mut event = server_event(Kind::Message, "", payload);
        event.event_id.insert_str(0, MESSAGE_ENTRY);
        let invalid =
            |error: hotseat_core::InvalidMessage| ServiceError::invalid(error.to_string());
        let message =
            read_message(&event.payload, &event.event_id, event.timestamp).map_err(invalid)?;
        let event = NewEvent { author: message.role.clone(), ..event };
        self.owned(id).await?;
        self.store.append(id, Expected::Any, vec![event]).await?;
        Ok(message)
    }

    /// Removes the raw log of a session, and leaves its messages. Says how many entries went.
    pub(crate) async fn clear_events(&self, id: SessionId) -> Result<u64, ServiceError> {
        self.managed(id).await?;
        let cleared = self.store.clear_events(id).await?;
        let detail = json!({"entries": cleared});
        self.note(AuditAction::EventsCleared, id.to_string(), Some(id), detail).await;
        Ok(cleared)
    }

    /// Computes anew what is derived from the log.
    pub(crate) async fn rebuild(&self, id: SessionId) -> Result<Session, ServiceError> {
        self.owned(id).await?;
        self.store.rebuild(id).await?;
        self.note_session(AuditAction::SessionRebuilt, id).await;
        self.session(id).await
    }

    /// Makes events for the messages of a session that has none. Says how many.
    pub(crate) async fn backfill(&self, id: SessionId) -> Result<usize, ServiceError> {
        let session = self.session(id).await?;
        if session.event_head != Seq::START || session.removed_through != Seq::START {
            return Ok(0);
        }
        let messages = self.store.messages(id).await?;
        let name = id.to_string();
        let events = messages
            .iter()
            .map(|message| own_event(&backfill_event(&name, message)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| ServiceError::invalid(error.to_string()))?;
        let appended = self.store.append(id, Expected::EventHead(Seq::START), events).await?;
        Ok(appended.new)
    }

    /// What the raw events of a session are, in figures.
    pub(crate) async fn event_summary(&self, id: SessionId) -> Result<EventSummary, ServiceError> {
        self.session(id).await?;
        let mut summary = EventSummary::default();
        let mut after = Seq::START;
        loop {
            let query = EventQuery { after, kinds: vec![Kind::Event], ..EventQuery::default() };
            let page = self.store.events(id, query).await?;
            let Some(last) = page.last() else { return Ok(summary) };
            after = last.seq;
            for event in page {
                let (kind, time) = adk_account(&event.payload);
                summary.total_events += 1;
                *summary.authors.entry(event.entry.author).or_default() += 1;
                *summary
                    .event_types
                    .entry(kind.unwrap_or_else(|| "unknown".to_owned()))
                    .or_default() += 1;
                if let Some(time) = time {
                    let first = summary.first_event_timestamp.map_or(time, |first| first.min(time));
                    let last = summary.last_event_timestamp.map_or(time, |last| last.max(time));
                    summary.first_event_timestamp = Some(first);
                    summary.last_event_timestamp = Some(last);
                }
            }
        }
    }
}
