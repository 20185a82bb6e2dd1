//! What other servers host.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::broadcast::error::RecvError;
use uuid::Uuid;

use super::Workers;
use crate::service::Agent;
use crate::service::native::NATIVE;

impl Workers {
    /// The agents that workers of this server host.
    pub(crate) fn hosted_here(&self) -> Vec<Agent> {
        let inner = self.lock();
        let here = inner.known.values().filter(|agent| inner.is_hosted_here(&agent.name));
        here.map(|agent| Agent::clone(agent)).collect()
    }

    /// Whether a worker of this server hosts an agent.
    pub(crate) fn hosts(&self, agent: &str) -> bool {
        self.lock().is_hosted_here(agent)
    }

    /// Whether a worker here can be asked something.
    pub(crate) fn can_ask(&self, agent: Option<&str>) -> bool {
        self.lock().newest(agent).is_some()
    }

    /// Whether a worker of another server can.
    pub(crate) fn can_ask_elsewhere(&self, agent: Option<&str>) -> bool {
        let inner = self.lock();
        inner.elsewhere.values().flatten().any(|known| match agent {
            Some(agent) => known.name == agent,
            // What is asked of any is asked of Python.
            None => known.runtime != NATIVE,
        })
    }

    /// Notes what other servers host. What an agent's own worker here says of it goes first.
    pub(crate) fn note_elsewhere(&self, elsewhere: HashMap<Uuid, Vec<Agent>>) {
        let mut inner = self.lock();
        if inner.elsewhere == elsewhere {
            return;
        }
        for agent in elsewhere.values().flatten() {
            if !inner.is_hosted_here(&agent.name) {
                inner.known.insert(agent.name.clone(), Arc::new(agent.clone()));
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
