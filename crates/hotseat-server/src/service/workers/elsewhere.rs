//! What other servers host.

use std::collections::HashMap;

use tokio::sync::broadcast::error::RecvError;
use uuid::Uuid;

use super::Workers;
use crate::service::Agent;

impl Workers {
    /// The agents that workers of this server host.
    pub(crate) fn hosted_here(&self) -> Vec<Agent> {
        let inner = self.lock();
        let here = inner.known.values().filter(|agent| inner.is_hosted_here(&agent.name));
        here.cloned().collect()
    }

    /// Whether a worker of this server hosts an agent.
    pub(crate) fn hosts(&self, agent: &str) -> bool {
        self.lock().is_hosted_here(agent)
    }

    /// Notes what other servers host. What an agent's own worker here says of it goes first.
    pub(crate) fn note_elsewhere(&self, elsewhere: HashMap<Uuid, Vec<Agent>>) {
        let mut inner = self.lock();
        if inner.elsewhere == elsewhere {
            return;
        }
        for agent in elsewhere.values().flatten() {
            if !inner.is_hosted_here(&agent.name) {
                inner.known.insert(agent.name.clone(), agent.clone());
            }
        }
        inner.elsewhere = elsewhere;
        drop(inner);
        self.changed();
    }

    /// Resolves once nothing is hosted by this process itself any more.
    pub(crate) async fn no_native(&self) {
        let mut changes = self.changes();
        while self.lock().attached.values().any(|worker| worker.native) {
            // A listener that lags looks again, too.
            if let Err(RecvError::Closed) = changes.recv().await {
                return;
            }
        }
    }
}
