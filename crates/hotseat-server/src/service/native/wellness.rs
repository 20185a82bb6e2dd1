//! Whether the agents that run here can work: their MCP servers answer.
//!
//! Asking costs a message to each server, and a new process where one died, so it is done
//! when somebody wants to know and not more often than every few seconds. It is done
//! aside: whoever asks waits a moment and is then told what is known.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hotseat_agent::NativeAgent;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::service::App;

/// How long what was found out is good for.
const GOOD_FOR: Duration = Duration::from_secs(3);

/// How long somebody who asks waits.
const PATIENCE: Duration = Duration::from_secs(2);

/// The agents that are hosted here.
#[derive(Debug, Clone, Default)]
pub(crate) struct Natives(Arc<Mutex<BTreeMap<String, Arc<Watched>>>>);

#[derive(Debug)]
struct Watched {
    agent: NativeAgent,
    /// Somebody is finding out.
    looking: AtomicBool,
    found: watch::Sender<Found>,
}

#[derive(Debug, Clone, Default)]
struct Found {
    at: Option<Instant>,
    /// What is wrong, in words for anyone.
    problem: Option<String>,
}

impl Natives {
    pub(super) fn add(&self, agent: &NativeAgent) {
        let watched = Watched {
            agent: agent.clone(),
            looking: AtomicBool::new(false),
            found: watch::Sender::default(),
        };
        let mut agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agents.insert(agent.file().name.clone(), Arc::new(watched));
    }

    pub(super) fn remove(&self, name: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    fn all(&self) -> Vec<Arc<Watched>> {
        let agents = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        agents.values().cloned().collect()
    }
}

impl App {
    /// What is known to be wrong with agents that run here.
    pub(crate) fn known_ailments(&self) -> Vec<String> {
        let problems = self.natives.all().into_iter();
        problems.filter_map(|watched| watched.found.borrow().problem.clone()).collect()
    }

    /// What is wrong with agents that run here, found out if it is not known.
    pub(crate) async fn ailments(&self) -> Vec<String> {
        let asked = self.natives.all().into_iter().map(Watched::ask);
        futures_util::future::join_all(asked).await.into_iter().flatten().collect()
    }
}

impl Watched {
    async fn ask(self: Arc<Self>) -> Option<String> {
        let mut found = self.found.subscribe();
        let known = found.borrow_and_update().clone();
        if known.at.is_some_and(|at| at.elapsed() < GOOD_FOR) {
            return known.problem;
        }
        if !self.looking.swap(true, Ordering::AcqRel) {
            let watched = Arc::clone(&self);
            // Not by whoever asks: they may go away, and a server that starts must not be
            // killed for that.
            tokio::spawn(async move { watched.look().await });
        }
        if timeout(PATIENCE, found.changed()).await.is_ok() {
            return found.borrow().problem.clone();
        }
        let name = &self.agent.file().name;
        Some(format!("the tools of agent `{name}` do not answer"))
    }

    async fn look(&self) {
        let name = &self.agent.file().name;
        let problem = self.agent.ready().await.err().map(|error| {
            let server = &error.server;
            tracing::warn!(agent.name = name, error = error.reason, "an agent is not ready");
            format!("the MCP server `{server}` of agent `{name}` does not answer")
        });
        self.looking.store(false, Ordering::Release);
        self.found.send_replace(Found { at: Some(Instant::now()), problem });
    }
}
