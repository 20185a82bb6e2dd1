//! Changes of state on their way to the entry that tells them.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::HistoryEntry;

/// The prefix of keys that ADK keeps for one step only.
const TEMPORARY: &str = "temp:";

/// Changes that no entry has told yet, by invocation.
#[derive(Debug, Default)]
pub(super) struct StateChanges(HashMap<Option<String>, Map<String, Value>>);

impl StateChanges {
    /// Has the first of `entries`, which one ADK event of this invocation made,
    /// tell the event's change and those before it; keeps them if there is none.
    pub(super) fn tell(
        &mut self,
        invocation_id: Option<&str>,
        delta: Map<String, Value>,
        entries: &mut [HistoryEntry],
    ) {
        let delta = delta.into_iter().filter(|(key, _)| !key.starts_with(TEMPORARY));
        let invocation_id = invocation_id.map(str::to_owned);
        let mut untold = self.0.remove(&invocation_id).unwrap_or_default();
        untold.extend(delta);
        if untold.is_empty() {
            return;
        }
        match entries.first_mut() {
            Some(entry) => entry.state_delta = untold,
            None => drop(self.0.insert(invocation_id, untold)),
        }
    }
}
