//! What is opened and closed, and whose it is.

use super::{Checked, Verifier};

/// What an id names. An id is unique only within one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Entity {
    Message,
    Call,
    Activity,
    Reasoning,
}

/// What can be open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Opening {
    Text,
    Call,
    Reasoning,
    Thought,
}

impl Opening {
    const fn entity(self) -> Entity {
        match self {
            Self::Text => Entity::Message,
            Self::Call => Entity::Call,
            Self::Reasoning | Self::Thought => Entity::Reasoning,
        }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Text => "text message",
            Self::Call => "tool call",
            Self::Reasoning => "reasoning",
            Self::Thought => "reasoning message",
        }
    }
}

impl Verifier {
    pub(super) fn begin(&mut self, kind: Opening, id: &str, tag: Option<&str>) -> Checked {
        if self.open.contains(&(kind, id.to_owned())) {
            return Err(format!("{} {id:?} is already open", kind.name()));
        }
        // Opened again, it still belongs to whoever opened it first.
        self.check_owner(kind.entity(), id, tag)?;
        self.own(kind.entity(), id, tag);
        self.open.insert((kind, id.to_owned()));
        Ok(())
    }

    pub(super) fn go_on(&self, kind: Opening, id: &str, tag: Option<&str>) -> Checked {
        if !self.open.contains(&(kind, id.to_owned())) {
            return Err(format!("{} {id:?} is not open", kind.name()));
        }
        self.check_owner(kind.entity(), id, tag)
    }

    pub(super) fn end(&mut self, kind: Opening, id: &str, tag: Option<&str>) -> Checked {
        self.go_on(kind, id, tag)?;
        self.open.remove(&(kind, id.to_owned()));
        Ok(())
    }

    pub(super) fn call_started(
        &mut self,
        id: &str,
        parent: Option<&str>,
        tag: Option<&str>,
    ) -> Checked {
        if let Some(parent) = parent {
            self.check_owner(Entity::Message, parent, tag)?;
        }
        if self.owner(Entity::Call, id).is_some() && !self.calls.contains_key(id) {
            return Err(format!("tool call {id:?} was made in an earlier run"));
        }
        self.begin(Opening::Call, id, tag)?;
        if let Some(parent) = parent {
            // The client makes the parent if there is none.
            self.own(Entity::Message, parent, tag);
        }
        self.note_call(id);
        Ok(())
    }

    pub(super) fn note_call(&mut self, id: &str) {
        self.calls.entry(id.to_owned()).or_insert(false);
    }

    pub(super) fn call_answered(&mut self, message: &str, id: &str, tag: Option<&str>) -> Checked {
        if self.owner(Entity::Call, id).is_none() {
            return Err(format!("nobody made the tool call {id:?}"));
        }
        if self.open.contains(&(Opening::Call, id.to_owned())) {
            return Err(format!("the arguments of tool call {id:?} are not complete"));
        }
        if self.open.contains(&(Opening::Text, message.to_owned())) {
            return Err(format!("its message {message:?} is a text that is still open"));
        }
        self.own(Entity::Message, message, tag);
        if let Some(answered) = self.calls.get_mut(id) {
            *answered = true;
        }
        Ok(())
    }

    pub(super) fn step_started(&mut self, tag: Option<&str>, name: &str) -> Checked {
        if self.steps.insert((tag.map(str::to_owned), name.to_owned())) {
            return Ok(());
        }
        Err(format!("step {name:?} is already open"))
    }

    pub(super) fn step_finished(&mut self, tag: Option<&str>, name: &str) -> Checked {
        if self.steps.remove(&(tag.map(str::to_owned), name.to_owned())) {
            return Ok(());
        }
        Err(format!("step {name:?} is not open for whoever finishes it"))
    }

    pub(super) fn subagent_started(&mut self, id: &str, parent: Option<&str>) -> Checked {
        match self.subagents.get(id) {
            Some(true) => return Err(format!("sub-agent {id:?} is already at work")),
            Some(false) => {
                return Err(format!("sub-agent {id:?} has ended and cannot begin again"));
            }
            None => {}
        }
        if let Some(parent) = parent
            && !self.subagents.contains_key(parent)
        {
            return Err(format!("its parent {parent:?} was never started"));
        }
        self.subagents.insert(id.to_owned(), true);
        Ok(())
    }

    pub(super) fn subagent_ended(&mut self, id: &str) -> Checked {
        match self.subagents.get_mut(id) {
            Some(at_work @ true) => *at_work = false,
            _ => return Err(format!("sub-agent {id:?} is not at work")),
        }
        Ok(())
    }

    pub(super) fn owner(&self, kind: Entity, id: &str) -> Option<&Option<String>> {
        self.owners.get(&(kind, id.to_owned()))
    }

    pub(super) fn own(&mut self, kind: Entity, id: &str, owner: Option<&str>) {
        self.owners.insert((kind, id.to_owned()), owner.map(str::to_owned));
    }

    /// Nobody else may go on with what somebody began.
    pub(super) fn check_owner(&self, kind: Entity, id: &str, tag: Option<&str>) -> Checked {
        let whose = |owner: Option<&str>| match owner {
            Some(owner) => format!("sub-agent {owner:?}"),
            None => "the root agent".to_owned(),
        };
        match self.owner(kind, id) {
            Some(owner) if owner.as_deref() != tag => {
                Err(format!("{id:?} belongs to {}, not to {}", whose(owner.as_deref()), whose(tag)))
            }
            _ => Ok(()),
        }
    }
}
