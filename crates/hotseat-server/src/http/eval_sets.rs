//! EvalSet files and runs of `adk eval`.

use axum::Json;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Problem;
use super::extract::{At, Body, Entered, Params};
use super::view::List;
use crate::service::{EvalRun, EvalRunWish, EvalSetSummary, Validation};

/// A file, without its cases.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct EvalSetRow {
    path: String,
    agent: Option<String>,
    eval_set_id: Option<String>,
    name: Option<String>,
    /// How many it has.
    cases: usize,
    modified_at: Option<String>,
    /// Why it cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

impl From<EvalSetSummary> for EvalSetRow {
    fn from(summary: EvalSetSummary) -> Self {
        let (view, error) = match summary.content {
            Ok(view) => (Some(view), None),
            Err(error) => (None, Some(error)),
        };
        Self {
            path: summary.path.display().to_string(),
            agent: summary.agent,
            cases: view.as_ref().map_or(0, |view| view.cases.len()),
            eval_set_id: view.as_ref().map(|view| view.eval_set_id.clone()),
            name: view.and_then(|view| view.name),
            modified_at: summary.modified_at.map(hotseat_core::rfc3339),
            error,
        }
    }
}

/// Lists the files that are known.
#[utoipa::path(get, path = "/api/v1/eval-sets", tag = "golden traces", responses((status = 200, body = List<EvalSetRow>)))]
pub(super) async fn list(Entered(app): Entered) -> Result<Json<List<EvalSetRow>>, Problem> {
    let items = app.eval_sets().await?.into_iter().map(EvalSetRow::from).collect();
    Ok(Json(List { items, next_cursor: None }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FileParams {
    /// As in the list.
    path: String,
}

/// A file with its cases.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct EvalSetFile {
    path: String,
    agent: Option<String>,
    eval_set_id: String,
    name: Option<String>,
    description: Option<String>,
    /// ADK EvalCases.
    #[schema(value_type = Vec<Object>)]
    cases: Vec<Value>,
}

/// One file with its cases.
#[utoipa::path(get, path = "/api/v1/eval-sets/file", tag = "golden traces", params(FileParams),
    responses((status = 200, body = EvalSetFile), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn file(
    Entered(app): Entered,
    Params(params): Params<FileParams>,
) -> Result<Json<EvalSetFile>, Problem> {
    let summary = app.eval_set(&params.path).await?;
    let path = summary.path.display().to_string();
    let view = summary.content.map_err(Problem::not_found)?;
    Ok(Json(EvalSetFile {
        path,
        agent: summary.agent,
        eval_set_id: view.eval_set_id,
        name: view.name,
        description: view.description,
        cases: view.cases,
    }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct PutCase {
    path: String,
    /// An ADK EvalCase.
    #[schema(value_type = Object)]
    case: Value,
    /// Where to put it, if its `eval_id` is new in the file.
    index: Option<usize>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct PutView {
    /// `created`, `appended` or `updated`.
    action: &'static str,
    #[schema(value_type = Object)]
    case: Value,
}

/// Puts a case into a file, in the place of the one with the same `eval_id`.
#[utoipa::path(put, path = "/api/v1/eval-sets/case", tag = "golden traces", request_body = PutCase,
    responses((status = 200, body = PutView), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn put_case(
    Entered(app): Entered,
    Body(put): Body<PutCase>,
) -> Result<Json<PutView>, Problem> {
    let action = app.put_eval_case(&put.path, put.case.clone(), put.index).await?.as_str();
    Ok(Json(PutView { action, case: put.case }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CaseParams {
    path: String,
    #[serde(alias = "evalId")]
    eval_id: String,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct RemovedView {
    /// What was removed; put it back with `PUT`.
    #[schema(value_type = Object)]
    case: Value,
    /// Where it stood.
    index: usize,
}

/// Takes a case out of a file, and returns it.
#[utoipa::path(delete, path = "/api/v1/eval-sets/case", tag = "golden traces", params(CaseParams),
    responses((status = 200, body = RemovedView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn delete_case(
    Entered(app): Entered,
    Params(params): Params<CaseParams>,
) -> Result<Json<RemovedView>, Problem> {
    let removed = app.remove_eval_case(&params.path, &params.eval_id).await?;
    Ok(Json(RemovedView { case: removed.case, index: removed.index }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct ValidateBody {
    path: String,
}

/// Has ADK's own models judge a file.
#[utoipa::path(post, path = "/api/v1/eval-sets/validate", tag = "golden traces", request_body = ValidateBody,
    responses((status = 200, body = Validation), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn validate(
    Entered(app): Entered,
    Body(body): Body<ValidateBody>,
) -> Result<Json<Validation>, Problem> {
    Ok(Json(app.validate_eval_set(&body.path).await?))
}

/// Runs `adk eval` beside the agent's worker.
#[utoipa::path(post, path = "/api/v1/eval-sets/run", tag = "golden traces", request_body = EvalRunWish,
    responses((status = 202, body = EvalRun), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn run(
    Entered(app): Entered,
    Body(wish): Body<EvalRunWish>,
) -> Result<(StatusCode, Json<EvalRun>), Problem> {
    Ok((StatusCode::ACCEPTED, Json(app.start_eval(wish)?)))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct RunParams {
    /// Only runs of this file.
    path: Option<String>,
}

/// Lists runs of `adk eval`, newest first.
#[utoipa::path(get, path = "/api/v1/eval-runs", tag = "golden traces", params(RunParams),
    responses((status = 200, body = List<EvalRun>)))]
pub(super) async fn runs(
    Entered(app): Entered,
    Params(params): Params<RunParams>,
) -> Result<Json<List<EvalRun>>, Problem> {
    let items = app.eval_run_list(params.path.as_deref())?;
    Ok(Json(List { items, next_cursor: None }))
}

/// One run of `adk eval`.
#[utoipa::path(get, path = "/api/v1/eval-runs/{id}", tag = "golden traces", params(("id" = String, Path)),
    responses((status = 200, body = EvalRun), (status = 404, body = Problem)))]
pub(super) async fn one_run(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<EvalRun>, Problem> {
    Ok(Json(app.eval_run(&id)?))
}
