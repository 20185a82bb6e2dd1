//! How far a call got, from the server to the one who waits for it.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use tokio::sync::mpsc;

/// Most steps that are kept for calls whose token is not known yet.
const MAX_EARLY: usize = 64;

/// One step of progress.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Progress {
    /// What is done right now.
    pub(crate) message: Option<String>,
    /// How much is done, from 0 to 1, where the server says of how much.
    pub(crate) fraction: Option<f64>,
}

/// Where the progress of one call goes. What does not fit is left out.
pub(crate) type ProgressSender = mpsc::Sender<Progress>;

/// The calls of a connection that want to hear of their progress.
#[derive(Default)]
pub(super) struct Listeners(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    calls: HashMap<ProgressToken, ProgressSender>,
    /// The token of a call is known only after the call was sent, so its first
    /// step may be here before it.
    early: VecDeque<(ProgressToken, Progress)>,
}

/// A call that listens until it is dropped.
pub(super) struct Listening<'a> {
    listeners: &'a Listeners,
    token: ProgressToken,
}

impl Listeners {
    /// Sends the progress of a call to `sender`.
    pub(super) fn listen(&self, token: ProgressToken, sender: ProgressSender) -> Listening<'_> {
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.early.retain(|(early, step)| {
            if *early == token {
                let _ = sender.try_send(step.clone());
            }
            *early != token
        });
        inner.calls.insert(token.clone(), sender);
        Listening { listeners: self, token }
    }

    /// Takes a step from the server.
    pub(super) fn tell(&self, step: ProgressNotificationParam) {
        let fraction = step
            .total
            .filter(|total| *total > 0.0)
            .map(|total| (step.progress / total).clamp(0.0, 1.0));
        let progress = Progress { message: step.message, fraction };
        let mut inner = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = inner.calls.get(&step.progress_token) {
            // A full queue means that nobody keeps up; the next step says more.
            let _ = sender.try_send(progress);
            return;
        }
        if inner.early.len() == MAX_EARLY {
            inner.early.pop_front();
        }
        inner.early.push_back((step.progress_token, progress));
    }
}

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        let mut inner = self.listeners.0.lock().unwrap_or_else(PoisonError::into_inner);
        inner.calls.remove(&self.token);
    }
}
