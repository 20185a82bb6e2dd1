//! The golden trace: see it, write it.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hotseat_core::{GoldenCase, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Problem;
use super::extract::{At, Entered, OptionalBody, Params, session_id};
use crate::service::{Exported, Preview};

/// The most that is reserved for a trace before it is written.
const MOST_RESERVED: usize = 16 * 1024 * 1024;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct PreviewView {
    /// The EvalSet file it would go into.
    path: String,
    eval_id: String,
    /// The ADK EvalCase.
    #[schema(value_type = Object)]
    case: GoldenCase,
    /// The file is there already.
    exists: bool,
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ExportParams {
    /// `session`: ADK's session JSON instead, for `adk test`.
    format: Option<String>,
}

/// The golden trace as it would be written, or the raw session.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/export", tag = "golden traces", params(("id" = String, Path), ExportParams),
    responses((status = 200, body = PreviewView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn preview(
    Entered(app): Entered,
    At(id): At<String>,
    Params(params): Params<ExportParams>,
) -> Result<Response, Problem> {
    let id = session_id(&id)?;
    match params.format.as_deref() {
        None => {}
        Some("session") => return Ok(download(id, app.session_json(id).await?)),
        Some(_) => return Err(Problem::bad_request("`format` can only be `session`")),
    }
    let Preview { path, case, exists, log_bytes } = app.preview_export(id).await?;
    let eval_id = case.eval_id().to_owned();
    let path = path.display().to_string();
    // A long trace would be moved each time that its room is not enough.
    let mut text = Vec::with_capacity(log_bytes.min(MOST_RESERVED));
    serde_json::to_writer(&mut text, &PreviewView { path, eval_id, case, exists })
        .map_err(|error| Problem::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

fn download(id: SessionId, text: String) -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json".to_owned()),
        (header::CONTENT_DISPOSITION, format!("attachment; filename=\"{id}.session.json\"")),
    ];
    (headers, text).into_response()
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(super) struct ExportBody {
    /// Another file than the agent's own, below the folder Hotseat was started in.
    #[serde(alias = "evalSetPath")]
    eval_set_path: Option<String>,
    /// The case to write, where a person changed it; the log keeps what happened.
    #[schema(value_type = Option<Object>)]
    case: Option<Value>,
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
    Entered(app): Entered,
    At(id): At<String>,
    OptionalBody(body): OptionalBody<ExportBody>,
) -> Result<Json<ExportView>, Problem> {
    let Exported { path, eval_id, case, action } =
        app.export(session_id(&id)?, body.eval_set_path.as_deref(), body.case).await?;
    let path = path.display().to_string();
    Ok(Json(ExportView { path, eval_id, case, action: action.as_str() }))
}
