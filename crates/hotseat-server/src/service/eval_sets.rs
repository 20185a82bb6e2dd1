//! EvalSet files: which there are, what is in them, and changes to their cases.
//!
//! A caller names a file by its path, but only a file that is known here counts:
//! one that an agent's worker named, or an `*.evalset.json` beside such a file or in
//! the folder Hotseat was started in. Everything else is not found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use hotseat_core::{
    EvalSetView, MergeAction, Role, case_problems, put_case, read_eval_set, remove_case,
};
use hotseat_store::AuditAction;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::eval_set_file::{Edited, blocking};
use super::{App, ServiceError, What};

/// The ending by which ADK itself finds EvalSet files.
const ENDING: &str = ".evalset.json";

/// The most files looked at in one folder.
const MAX_FILES_PER_FOLDER: usize = 500;

/// A file, without its cases.
#[derive(Debug)]
pub(crate) struct EvalSetSummary {
    pub(crate) path: PathBuf,
    pub(crate) agent: Option<String>,
    pub(crate) modified_at: Option<Timestamp>,
    pub(crate) content: Result<EvalSetView, String>,
}

/// A case that was removed, and where it stood.
#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) case: Value,
    pub(crate) index: usize,
}

/// What ADK's own models say of a file.
#[derive(Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub(crate) struct Validation {
    valid: bool,
    /// Where and what: `{path, message}`.
    #[serde(default)]
    #[schema(value_type = Vec<Object>)]
    errors: Vec<Value>,
}

impl App {
    /// Every known file that exists, by path.
    pub(crate) async fn eval_sets(&self) -> Result<Vec<EvalSetSummary>, ServiceError> {
        self.needs(Role::Viewer)?;
        let known = self.known_eval_sets();
        blocking(move || {
            known.into_iter().filter(|(path, _)| path.is_file()).map(summary).collect()
        })
        .await
    }

    /// One file with its cases.
    pub(crate) async fn eval_set(&self, path: &str) -> Result<EvalSetSummary, ServiceError> {
        let known = self.known_eval_set(path)?;
        let summary = blocking(move || summary(known)).await?;
        match &summary.content {
            Ok(_) => Ok(summary),
            Err(error) if summary.path.exists() => Err(ServiceError::Unreadable {
                path: summary.path.display().to_string(),
                error: error.clone(),
            }),
            Err(_) => Err(ServiceError::NotFound { what: "eval set file" }),
        }
    }

    /// Puts a case into a file: in the place of the one with its `eval_id`, else at
    /// `index` or at the end.
    pub(crate) async fn put_eval_case(
        &self,
        path: &str,
        case: Value,
        index: Option<usize>,
    ) -> Result<MergeAction, ServiceError> {
        self.needs(Role::Developer)?;
        let (path, _) = self.known_eval_set(path)?;
        let case = checked_case(case)?;
        let detail = json!({"put": case.get("eval_id")});
        let put = self.edit_eval_set(path.clone(), move |existing| {
            let (text, action) = put_case(existing.unwrap_or_default(), &case, index)?;
            Ok(Edited { text: Some(text), result: action })
        });
        let action = put.await?;
        self.note(AuditAction::EvalSetChanged, path.display().to_string(), None, detail).await;
        Ok(action)
    }

    /// Takes a case out of a file, and returns it.
    pub(crate) async fn remove_eval_case(
        &self,
        path: &str,
        eval_id: &str,
    ) -> Result<Removed, ServiceError> {
        self.needs(Role::Developer)?;
        let (path, _) = self.known_eval_set(path)?;
        let detail = json!({"removed": eval_id});
        let eval_id = eval_id.to_owned();
        let removed = self.edit_eval_set(path.clone(), move |existing| {
            let removed = remove_case(existing.unwrap_or_default(), &eval_id)?;
            Ok(match removed {
                None => Edited { text: None, result: None },
                Some((text, case, index)) => {
                    Edited { text: Some(text), result: Some(Removed { case, index }) }
                }
            })
        });
        let removed = removed.await?;
        let removed = removed.ok_or(ServiceError::NotFound { what: "case in this eval set" })?;
        self.note(AuditAction::EvalSetChanged, path.display().to_string(), None, detail).await;
        Ok(removed)
    }

    /// Has a worker judge a file with ADK's own models.
    pub(crate) async fn validate_eval_set(&self, path: &str) -> Result<Validation, ServiceError> {
        let (path, _) = self.known_eval_set(path)?;
        let read = path.clone();
        let text = blocking(move || std::fs::read_to_string(read)).await?;
        let text = text.map_err(|_| ServiceError::NotFound { what: "eval set file" })?;
        self.ask_json(None, What::Validate, json!({"text": text})).await
    }

    /// The file that a caller named, if it is one of ours.
    pub(super) fn known_eval_set(
        &self,
        path: &str,
    ) -> Result<(PathBuf, Option<String>), ServiceError> {
        self.needs(Role::Viewer)?;
        let wanted = Path::new(path);
        let known = self.known_eval_sets().into_iter().find(|(known, _)| known == wanted);
        known.ok_or(ServiceError::NotFound { what: "eval set file" })
    }

    /// Known files with the agent that named them.
    fn known_eval_sets(&self) -> BTreeMap<PathBuf, Option<String>> {
        let mut files = BTreeMap::new();
        let mut folders = vec![(self.config.eval_set_root.clone(), None)];
        for agent in self.workers.list().items {
            let Some(path) = agent.eval_set_path.map(PathBuf::from) else { continue };
            if let Some(folder) = path.parent() {
                folders.push((folder.to_owned(), Some(agent.name.clone())));
            }
            files.insert(path, Some(agent.name));
        }
        for (folder, agent) in folders {
            for file in eval_set_files(&folder) {
                files.entry(file).or_insert_with(|| agent.clone());
            }
        }
        files
    }
}

fn eval_set_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    entries
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(ENDING))
        .take(MAX_FILES_PER_FOLDER)
        .collect()
}

fn summary((path, agent): (PathBuf, Option<String>)) -> EvalSetSummary {
    let modified = std::fs::metadata(&path).and_then(|facts| facts.modified());
    let modified_at = modified.ok().and_then(|time| Timestamp::try_from(time).ok());
    let content = match std::fs::read_to_string(&path) {
        Ok(text) => read_eval_set(&text).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    };
    EvalSetSummary { path, agent, modified_at, content }
}

/// A case that a person wrote, if `adk eval` could run it.
pub(super) fn checked_case(case: Value) -> Result<Value, ServiceError> {
    let problems = case_problems(&case);
    if problems.is_empty() {
        return Ok(case);
    }
    let violations = problems.into_iter().map(|problem| problem.under("/case")).collect();
    let detail = "the case is not one that `adk eval` could run".to_owned();
    Err(ServiceError::Invalid { detail, violations })
}
