//! A raw ADK event on its way into the log, whichever door it came through.

use hotseat_core::{AdkHead, InvalidEvent, Kind, NewEvent};
use serde_json::Value;
use serde_json::value::RawValue;

use super::sessions::raw;
use super::{App, ServiceError};
use crate::clock;

impl App {
    /// Whether raw events that others send are taken.
    pub(crate) fn check_ingest(&self) -> Result<(), ServiceError> {
        if self.config.ledger.ingest { Ok(()) } else { Err(ServiceError::IngestOff) }
    }
}

/// The entry of a raw ADK event, filled from what the event says of itself. Its own
/// id is kept, so that the same event sent again is the one that is there.
pub(crate) fn adk_event(payload: Box<RawValue>) -> Result<NewEvent, InvalidEvent> {
    let head = AdkHead::checked(&payload)?;
    Ok(entry(head, payload))
}

/// The same for an event that was made here, and is no text yet.
pub(super) fn own_event(event: &Value) -> Result<NewEvent, InvalidEvent> {
    Ok(entry(AdkHead::of(event)?, raw(event)))
}

fn entry(head: AdkHead, payload: Box<RawValue>) -> NewEvent {
    NewEvent {
        event_id: head.id.unwrap_or_else(|| clock::new_id().to_string()),
        timestamp: clock::now(),
        kind: Kind::Event,
        turn_id: None,
        invocation_id: head.invocation_id,
        agent_name: head.author.clone(),
        author: head.author,
        branch: head.branch,
        parent_call_id: None,
        payload,
    }
}
