//! The golden trace: see it, write it.

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Problem;
use super::extract::{At, OptionalBody, session_id};
use crate::service::{App, Exported, Preview};

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct PreviewView {
    /// The EvalSet file it would go into.
    path: String,
    eval_id: String,
    /// The ADK EvalCase.
    #[schema(value_type = Object)]
    case: Value,
    /// The file is there already.
    exists: bool,
}

/// The golden trace as it would be written.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/export", tag = "golden traces", params(("id" = String, Path)),
    responses((status = 200, body = PreviewView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn preview(
    State(app): State<App>,
    At(id): At<String>,
) -> Result<Json<PreviewView>, Problem> {
    let Preview { path, case, exists } = app.preview_export(session_id(&id)?).await?;
    let eval_id = case["eval_id"].as_str().unwrap_or_default().to_owned();
    Ok(Json(PreviewView { path: path.display().to_string(), eval_id, case, exists }))
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(super) struct ExportBody {
    /// Another file than the agent's own, below the folder Hotseat was started in.
    #[serde(alias = "evalSetPath")]
    eval_set_path: Option<String>,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ExportView {
    path: String,
    eval_id: String,
    /// The ADK EvalCase.
    #[schema(value_type = Object)]
    case: Value,
    /// `created`, `appended` or `updated`.
    action: &'static str,
}

/// Writes the golden trace of a completed session into its EvalSet file.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/export", tag = "golden traces", params(("id" = String, Path)),
    request_body = ExportBody,
    responses((status = 200, body = ExportView), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn write(
    State(app): State<App>,
    At(id): At<String>,
    OptionalBody(body): OptionalBody<ExportBody>,
) -> Result<Json<ExportView>, Problem> {
    let Exported { path, eval_id, case, action } =
        app.export(session_id(&id)?, body.eval_set_path.as_deref()).await?;
    let path = path.display().to_string();
    Ok(Json(ExportView { path, eval_id, case, action: action.as_str() }))
}
