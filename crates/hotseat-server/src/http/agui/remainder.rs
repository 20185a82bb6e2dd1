//! What is said when results of calls have been dealt with.
//!
//! To ADK, the results of calls go on with what was begun, and words begin something new;
//! it takes no message with both. A front end may send both at once. Then the results are
//! run first, and the words when that has ended, in one stream. Until then the words are
//! in no ledger: if the server or the client goes away in between, they are still new.

use std::sync::Arc;

use hotseat_agui::RunAgentInput;

use super::request::{Next, Wishes, next};
use super::{MAX_ATTEMPTS, Problem};
use crate::service::{Agent, App, WatchedRun};

/// A request of which the results are being run.
pub(super) struct Remainder {
    app: App,
    agent: Arc<Agent>,
    input: RunAgentInput,
    wishes: Wishes,
}

impl Remainder {
    /// Of a request that is being dealt with.
    pub(super) fn of(app: &App, agent: &Arc<Agent>, input: &RunAgentInput, wishes: Wishes) -> Self {
        let mut input = input.clone();
        // These came with the results, and the agent may have changed its state since.
        input.resume.clear();
        input.state = None;
        Self { app: app.clone(), agent: Arc::clone(agent), input, wishes }
    }

    /// Says what is left. Nothing may be, or the agent waits for further results.
    pub(super) async fn say(self) -> Result<Option<WatchedRun>, Problem> {
        let Self { app, agent, input, wishes } = self;
        for _ in 0..MAX_ATTEMPTS {
            let thread = app.thread(&agent, &input.thread_id).await?;
            let Next::Say { mut wish, .. } = next(&thread, &agent, &input, wishes)? else {
                return Ok(None);
            };
            app.read_message(&mut wish.message).await?;
            if let Some(run) = app.say_in(&thread, &agent, *wish, wishes.queue).await? {
                return Ok(Some(run));
            }
        }
        Ok(None)
    }
}
