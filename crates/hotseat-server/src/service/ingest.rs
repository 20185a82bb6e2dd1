//! A raw ADK event on its way into the log, whichever door it came through.

use hotseat_core::{AdkEvent, InvalidEvent, Kind, NewEvent};
use serde_json::value::RawValue;

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
    let event = AdkEvent::checked(&payload)?;
    Ok(NewEvent {
        event_id: event.id.unwrap_or_else(|| clock::new_id().to_string()),
        timestamp: clock::now(),
        kind: Kind::Event,
        turn_id: None,
        invocation_id: event.invocation_id,
        agent_name: event.author.clone(),
        author: event.author,
        branch: event.branch,
        parent_call_id: None,
        payload,
    })
}
