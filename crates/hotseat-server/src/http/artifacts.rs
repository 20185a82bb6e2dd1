//! Files that an agent's tools have saved.

use axum::Json;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;

use super::Problem;
use super::extract::{At, Entered, Params, session_id};
use super::view::List;
use crate::service::Artifact;

/// Lists them.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/artifacts", tag = "artifacts", params(("id" = String, Path)),
    responses((status = 200, body = List<Artifact>), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn list(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<List<Artifact>>, Problem> {
    let items = app.artifacts(session_id(&id)?).await?;
    Ok(Json(List { items, next_cursor: None }))
}

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct VersionParams {
    /// The newest if left out.
    version: Option<u64>,
}

/// The bytes of one, for download.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/artifacts/{name}", tag = "artifacts",
    params(("id" = String, Path), ("name" = String, Path), VersionParams),
    responses((status = 200, content_type = "application/octet-stream"), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn bytes(
    Entered(app): Entered,
    At((id, name)): At<(String, String)>,
    Params(params): Params<VersionParams>,
) -> Result<Response, Problem> {
    let artifact = app.artifact(session_id(&id)?, &name, params.version).await?;
    let mime_type = artifact.mime_type.filter(|kind| shows_safely(kind));
    let content_type = mime_type.unwrap_or_else(|| "application/octet-stream".to_owned());
    let headers = [
        (header::CONTENT_TYPE, content_type),
        (header::CONTENT_DISPOSITION, disposition(&name)),
        // Whatever a tool saved must not run as a page of ours.
        (header::CONTENT_SECURITY_POLICY, "sandbox; default-src 'none'".to_owned()),
    ];
    Ok((headers, artifact.bytes).into_response())
}

/// Pictures and plain text may be shown in the page; everything else is only bytes,
/// and so is what a header cannot hold.
fn shows_safely(mime_type: &str) -> bool {
    let safe =
        ["image/png", "image/jpeg", "image/gif", "image/webp", "text/plain", "application/json"];
    safe.contains(&mime_type.split(';').next().unwrap_or_default().trim())
        && HeaderValue::from_str(mime_type).is_ok()
}

/// A file name that a header can hold.
fn disposition(name: &str) -> String {
    let kept: String =
        name.chars()
            .map(|letter| {
                if letter.is_ascii_alphanumeric() || "-_. ".contains(letter) { letter } else { '_' }
            })
            .collect();
    format!("attachment; filename=\"{kept}\"")
}
