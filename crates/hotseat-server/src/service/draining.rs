//! Starting and stopping, as those who are served see it.
//!
//! A server that is told to stop takes no new messages, lets those who wait for an
//! answer have it for a while, and then closes. Runs that are not done by then are in
//! the log and go on when a server is back.

use std::sync::Arc;
use std::time::Duration;

use hotseat_core::Seat;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::watch;

use super::{App, ServiceError};

/// How far a server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ServerState {
    /// The agent is not there yet.
    Initializing,
    /// Messages are taken.
    Ready,
    /// Somebody waits for an answer.
    Running,
    /// No new messages are taken.
    ShuttingDown,
    /// It is over.
    Stopped,
}

/// Who waits for an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiters {
    count: Arc<watch::Sender<usize>>,
    draining: Arc<watch::Sender<bool>>,
}

/// One who waits, as long as it is kept.
#[derive(Debug)]
pub(crate) struct Waiter(Waiters);

impl Drop for Waiter {
    fn drop(&mut self) {
        self.0.count.send_modify(|count| *count -= 1);
    }
}

impl App {
    /// Counts one who waits for an answer, so that stopping waits for them.
    pub(crate) fn waiter(&self) -> Waiter {
        self.waiters.count.send_modify(|count| *count += 1);
        Waiter(self.waiters.clone())
    }

    pub(crate) fn server_state(&self) -> ServerState {
        if *self.closing.borrow() {
            return ServerState::Stopped;
        }
        if *self.waiters.draining.borrow() {
            return ServerState::ShuttingDown;
        }
        let ready = !self.config.serve.single
            || self.workers.list().items.iter().any(|agent| agent.connected);
        match *self.waiters.count.borrow() {
            _ if !ready => ServerState::Initializing,
            0 => ServerState::Ready,
            _ => ServerState::Running,
        }
    }

    /// Whether one agent is served, so that nothing is ready before it is there.
    pub fn serves_one(&self) -> bool {
        self.config.serve.single
    }

    /// The name of the first agent that can be talked to, once there is one, and who usually
    /// answers for its model; none if the server closes before.
    pub async fn first_agent(&self) -> Option<(String, Seat)> {
        let mut changes = self.workers.changes();
        loop {
            let agents = self.workers.list().items;
            let connected = agents.into_iter().find(|agent| agent.connected);
            if let Some(agent) = connected.and_then(|agent| self.workers.agent(&agent.name)) {
                return Some((agent.name.clone(), self.usual_seat(&agent)));
            }
            tokio::select! {
                biased;
                // One that lags looks again, too.
                heard = changes.recv() => if let Err(RecvError::Closed) = heard {
                    return None;
                },
                () = self.closed() => return None,
            }
        }
    }

    /// Refuses what comes while the server stops.
    pub(super) fn check_draining(&self) -> Result<(), ServiceError> {
        if *self.waiters.draining.borrow() { Err(ServiceError::Closing) } else { Ok(()) }
    }

    /// Takes no new messages, waits for those who wait, then closes.
    pub async fn drain(&self) {
        self.waiters.draining.send_replace(true);
        let mut count = self.waiters.count.subscribe();
        let patience: Duration = self.config.serve.drain;
        // An error means that nobody is left, too.
        let _ = tokio::time::timeout(patience, count.wait_for(|count| *count == 0)).await;
        self.close();
    }
}
