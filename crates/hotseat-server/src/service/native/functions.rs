//! Python functions of native agents, run by a worker that is attached.

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use hotseat_agent::Functions;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::service::{App, What};

/// How long a worker may take to start.
const WORKER_STARTS: Duration = Duration::from_mins(1);

/// Asks any worker: the functions are in files of their own.
pub(super) struct WorkerFunctions(pub(super) App);

#[derive(Deserialize)]
struct Returned {
    result: Value,
}

#[async_trait]
impl Functions for WorkerFunctions {
    async fn declaration(&self, file: &Path, function: &str) -> Result<Value, String> {
        // The worker starts at the same time as the agent that needs it.
        if tokio::time::timeout(WORKER_STARTS, self.0.workers.python()).await.is_err() {
            return Err("no Python worker is attached".to_owned());
        }
        let question = json!({"file": file, "function": function});
        let declared = self.0.ask_json(None, What::FunctionDeclaration, question).await;
        declared.map_err(|error| error.to_string())
    }

    async fn call(&self, file: &Path, function: &str, args: &Value) -> Result<Value, String> {
        let question = json!({"file": file, "function": function, "args": args});
        let returned = self.0.ask_json::<Returned>(None, What::Function, question).await;
        returned.map(|returned| returned.result).map_err(|error| error.to_string())
    }
}
