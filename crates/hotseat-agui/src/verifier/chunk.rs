//! Events in shorthand. A chunk without an id goes on with the one before it;
//! any other event ends it.

use super::entity::Entity;
use super::{Checked, Verifier};
use crate::event::{Body, Event};

/// The chunk that the next one may go on with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct OpenChunk {
    entity: Entity,
    id: String,
}

impl Verifier {
    pub(super) fn check_chunk(&mut self, event: &Event) -> Checked {
        let (entity, id, complete) = match &event.body {
            Body::TextMessageChunk { message_id, .. } => (Entity::Message, message_id, true),
            Body::ReasoningMessageChunk { message_id, .. } => (Entity::Reasoning, message_id, true),
            Body::ToolCallChunk { tool_call_id, tool_call_name, .. } => {
                (Entity::Call, tool_call_id, tool_call_name.is_some())
            }
            _ => {
                self.chunk = None;
                return Ok(());
            }
        };
        let open = self.chunk.take().filter(|open| open.entity == entity);
        let goes_on = |open: &OpenChunk| id.as_ref().is_none_or(|id| *id == open.id);
        let tag = event.subagent_run_id.as_deref();
        let chunk = match (open, id) {
            (Some(open), _) if goes_on(&open) => open,
            (_, Some(id)) if complete => OpenChunk { entity, id: id.clone() },
            (_, Some(id)) => return Err(format!("the first chunk of {id:?} names no tool")),
            (_, None) => return Err("the first chunk has no id".to_owned()),
        };
        self.check_owner(entity, &chunk.id, tag)?;
        self.own(entity, &chunk.id, tag);
        if entity == Entity::Call {
            self.note_call(&chunk.id);
        }
        self.chunk = Some(chunk);
        Ok(())
    }
}
