//! Runs of `adk eval`, started here and carried out beside a worker.
//!
//! Each is a small file in the data folder, so that results outlive the server. A
//! run whose server went away is told as an error, not as running for ever.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use hotseat_core::Role;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{App, ServiceError, What};
use crate::clock;

/// The most runs that are listed.
const MAX_LISTED: usize = 100;

/// One run of `adk eval`.
#[derive(Debug, Clone, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct EvalRun {
    #[serde(rename = "eval_run_id")]
    id: String,
    /// The EvalSet file.
    path: String,
    agent: String,
    status: EvalStatus,
    started_at: String,
    ended_at: Option<String>,
    /// What `adk eval` printed.
    output: String,
    /// For each case: `{eval_id, passed, metrics: [{name, score, threshold, passed}]}`.
    #[schema(value_type = Vec<Object>)]
    cases: Vec<Value>,
}

/// How far a run got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
enum EvalStatus {
    /// It is going on.
    Running,
    /// Every case passed.
    Passed,
    /// Some case did not.
    Failed,
    /// It could not be carried out; `output` says why.
    Error,
}

/// The runs that are going on in this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct EvalRuns {
    running: Arc<Mutex<HashSet<String>>>,
}

/// What to run.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(crate) struct EvalRunWish {
    /// The EvalSet file.
    path: String,
    /// The agent to run it with.
    agent: String,
    /// Only these cases.
    #[serde(alias = "evalIds")]
    eval_ids: Option<Vec<String>>,
    /// ADK's criteria; its defaults if left out.
    #[schema(value_type = Option<Object>)]
    criteria: Option<Value>,
}

#[derive(Deserialize)]
struct Outcome {
    exit_code: i64,
    #[serde(default)]
    output: String,
    #[serde(default)]
    cases: Vec<Value>,
}

impl App {
    /// Starts a run and returns at once.
    pub(crate) fn start_eval(&self, wish: EvalRunWish) -> Result<EvalRun, ServiceError> {
        self.needs(Role::Developer)?;
        self.known_eval_set(&wish.path)?;
        if self.workers.agent(&wish.agent).is_none_or(|agent| !agent.connected) {
            return Err(ServiceError::NoWorker(wish.agent));
        }
        let run = EvalRun {
            id: clock::new_id().to_string(),
            path: wish.path.clone(),
            agent: wish.agent.clone(),
            status: EvalStatus::Running,
            started_at: hotseat_core::rfc3339(clock::now()),
            ended_at: None,
            output: String::new(),
            cases: Vec::new(),
        };
        // Whoever finds the file must find the run going on.
        self.eval_runs.begin(&run.id);
        if let Err(error) = self.keep(&run) {
            self.eval_runs.end(&run.id);
            return Err(error);
        }
        let (app, started) = (self.clone(), run.clone());
        tokio::spawn(async move { app.carry_out(started, wish).await });
        Ok(run)
    }

    async fn carry_out(&self, mut run: EvalRun, wish: EvalRunWish) {
        let mut question = json!({"agent": wish.agent, "path": wish.path});
        if let Some(eval_ids) = wish.eval_ids {
            question["eval_ids"] = json!(eval_ids);
        }
        if let Some(criteria) = wish.criteria {
            question["criteria"] = criteria;
        }
        let outcome = self.ask_json::<Outcome>(Some(&wish.agent), What::Eval, question).await;
        match outcome {
            Ok(outcome) => {
                let passed = outcome.exit_code == 0;
                run.status = if passed { EvalStatus::Passed } else { EvalStatus::Failed };
                run.output = outcome.output;
                run.cases = outcome.cases;
            }
            Err(error) => {
                run.status = EvalStatus::Error;
                run.output = error.to_string();
            }
        }
        run.ended_at = Some(hotseat_core::rfc3339(clock::now()));
        if let Err(error) = self.keep(&run) {
            tracing::error!(%error, "the result of an eval run could not be kept");
        }
        self.eval_runs.end(&run.id);
    }

    /// Runs of a file, or of all, newest first.
    pub(crate) fn eval_run_list(&self, path: Option<&str>) -> Result<Vec<EvalRun>, ServiceError> {
        self.needs(Role::Viewer)?;
        let Ok(entries) = std::fs::read_dir(self.eval_run_folder()) else {
            return Ok(Vec::new());
        };
        let mut runs: Vec<_> = entries
            .filter_map(Result::ok)
            .filter_map(|entry| self.read_eval_run(&entry.path()))
            .filter(|run| path.is_none_or(|path| run.path == path))
            .collect();
        runs.sort_by(|left, right| right.started_at.cmp(&left.started_at));
        runs.truncate(MAX_LISTED);
        Ok(runs)
    }

    pub(crate) fn eval_run(&self, id: &str) -> Result<EvalRun, ServiceError> {
        self.needs(Role::Viewer)?;
        let not_found = ServiceError::NotFound { what: "eval run" };
        // Only a UUID names a file here.
        let Ok(id) = id.parse::<hotseat_core::RunId>() else { return Err(not_found) };
        let file = self.eval_run_folder().join(format!("{id}.json"));
        self.read_eval_run(&file).ok_or(not_found)
    }

    fn read_eval_run(&self, file: &std::path::Path) -> Option<EvalRun> {
        // Asked before the file is read: a run that ends in between has written its end.
        let going_on = self.eval_runs.is_running(file.file_stem()?.to_str()?);
        let text = std::fs::read_to_string(file).ok()?;
        let mut run: EvalRun = serde_json::from_str(&text).ok()?;
        if run.status == EvalStatus::Running && !going_on {
            run.status = EvalStatus::Error;
            "the server stopped before the run had ended".clone_into(&mut run.output);
        }
        Some(run)
    }

    fn keep(&self, run: &EvalRun) -> Result<(), ServiceError> {
        let folder = self.eval_run_folder();
        let path = folder.join(format!("{}.json", run.id));
        let text = serde_json::to_string(run).unwrap_or_default();
        let written = std::fs::create_dir_all(&folder).and_then(|()| {
            // A reader must never see half of it.
            let file = tempfile::NamedTempFile::new_in(&folder)?;
            std::fs::write(file.path(), text)?;
            file.persist(&path).map(|_| ()).map_err(|error| error.error)
        });
        let shown = path.display().to_string();
        written.map_err(|source| ServiceError::EvalSetFile { path: shown, source })
    }

    fn eval_run_folder(&self) -> PathBuf {
        self.config.data.join("eval-runs")
    }
}

impl EvalRuns {
    fn begin(&self, id: &str) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
    }

    fn end(&self, id: &str) {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }

    fn is_running(&self, id: &str) -> bool {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }
}
