//! The runs that one agent carries out in this process.
//!
//! A run begins in the call that hands it out: nothing stands between the two, and nothing waits
//! in a queue. Each can be told to stop until it is over; who asks for that has noted its end in
//! the log.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hotseat_agent::NativeAgent;
use hotseat_core::RunId;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::Instrument as _;

use crate::service::workers::Tell;
use crate::service::{App, StartRun, ToWorker, spans};

/// An agent at work.
#[derive(Debug, Clone)]
pub(super) struct Here(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    app: App,
    agent: NativeAgent,
    runs: TaskTracker,
    /// How each run that goes on is told to stop.
    stops: Mutex<HashMap<RunId, CancellationToken>>,
}

impl Here {
    pub(super) fn new(app: App, agent: NativeAgent) -> Self {
        let (runs, stops) = (TaskTracker::new(), Mutex::default());
        Self(Arc::new(Inner { app, agent, runs, stops }))
    }

    /// Resolves when no run is left. They see the end of the server themselves.
    pub(super) async fn ended(&self) {
        self.0.runs.close();
        self.0.runs.wait().await;
    }

    fn start(&self, start: StartRun) {
        let span = spans::of_run(&start);
        let stop = CancellationToken::new();
        self.stops().insert(start.run_id, stop.clone());
        let run = Running { here: self.clone(), run_id: start.run_id };
        let running = async move {
            let Inner { app, agent, .. } = &*run.here.0;
            app.run_native(agent, start, &stop).await;
        };
        self.0.runs.spawn(running.instrument(span));
    }

    fn stops(&self) -> MutexGuard<'_, HashMap<RunId, CancellationToken>> {
        self.0.stops.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tell for Here {
    fn tell(&self, message: ToWorker) -> bool {
        let Inner { app, .. } = &*self.0;
        match message {
            // What is handed out while the server stops waits in the log for the next one.
            ToWorker::StartRun(_) if app.is_closing() => {}
            ToWorker::StartRun(start) => self.start(*start),
            ToWorker::CancelRun { run_id } | ToWorker::LeaveRun { run_id } => {
                let run_id = run_id.parse::<RunId>().ok();
                if let Some(stop) = run_id.and_then(|run_id| self.stops().get(&run_id).cloned()) {
                    stop.cancel();
                }
            }
            // Artifacts and evaluations are ADK's.
            ToWorker::Ask { ask_id, .. } => app.workers.answer_nothing(&ask_id),
        }
        true
    }
}

/// A run that goes on. However it ends, nobody can stop it any more.
struct Running {
    here: Here,
    run_id: RunId,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.here.stops().remove(&self.run_id);
    }
}
