//! What was done by whom.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use hotseat_core::rfc3339;
use hotseat_store::{AuditEntry, AuditQuery, Order};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Problem;
use super::extract::{Entered, Params};
use super::view::List;
use crate::service::{App, EXPORT_PAGE};

/// The largest page.
const MAX_LIMIT: usize = 1000;

/// The page for those who name no limit.
const DEFAULT_LIMIT: usize = 100;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct AuditView {
    seq: u64,
    at: String,
    /// The name of a user; `owner` for the installation's own token.
    actor: String,
    /// What they did, as in `turn.decided`.
    action: String,
    /// To whom or what.
    subject: String,
    session_id: Option<String>,
    #[schema(value_type = Object)]
    detail: Value,
}

impl From<AuditEntry> for AuditView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            seq: entry.seq,
            at: rfc3339(entry.at),
            actor: entry.actor,
            action: entry.action,
            subject: entry.subject,
            session_id: entry.session.map(|session| session.to_string()),
            detail: entry.detail,
        }
    }
}

#[derive(Debug, Clone, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct AuditParams {
    /// Where the page before ended.
    cursor: Option<u64>,
    /// At most this many; 100 if left out, 1000 at most.
    limit: Option<usize>,
    /// Only by this person.
    actor: Option<String>,
    /// Only of this kind.
    action: Option<String>,
    /// Only in this session.
    session: Option<String>,
}

impl AuditParams {
    fn query(self, order: Order, limit: usize) -> Result<AuditQuery, Problem> {
        let session = self.session.map(|id| id.parse()).transpose();
        let session = session
            .map_err(|error: hotseat_core::InvalidId| Problem::bad_request(error.to_string()))?;
        let Self { cursor: after, actor, action, .. } = self;
        Ok(AuditQuery { after, order, actor, action, session, limit })
    }
}

/// What was done by whom, newest first.
#[utoipa::path(get, path = "/api/v1/audit", tag = "people", params(AuditParams),
    responses((status = 200, body = List<AuditView>), (status = 403, body = Problem)))]
pub(super) async fn list(
    Entered(app): Entered,
    Params(params): Params<AuditParams>,
) -> Result<Json<List<AuditView>>, Problem> {
    let limit = params.limit.unwrap_or(DEFAULT_LIMIT);
    if !(1..=MAX_LIMIT).contains(&limit) {
        return Err(Problem::bad_request(format!("`limit` must be from 1 to {MAX_LIMIT}")));
    }
    // One more tells whether there is a next page.
    let mut entries = app.audit(params.query(Order::Descending, limit + 1)?).await?;
    let more = entries.len() > limit;
    entries.truncate(limit);
    let next_cursor = entries.last().filter(|_| more).map(|entry| entry.seq.to_string());
    Ok(Json(List { items: entries.into_iter().map(AuditView::from).collect(), next_cursor }))
}

/// All of it, oldest first, one entry a line.
#[utoipa::path(get, path = "/api/v1/audit/export", tag = "people", params(AuditParams),
    responses((status = 200, content_type = "application/x-ndjson", body = AuditView), (status = 403, body = Problem)))]
pub(super) async fn export(
    Entered(app): Entered,
    Params(params): Params<AuditParams>,
) -> Result<Response, Problem> {
    let query = params.query(Order::Ascending, EXPORT_PAGE)?;
    app.audit_exported().await?;
    let headers = [
        (header::CONTENT_TYPE, "application/x-ndjson"),
        (header::CONTENT_DISPOSITION, "attachment; filename=\"audit.ndjson\""),
    ];
    let pages = stream::try_unfold(Some((app, query)), next_page);
    Ok((headers, Body::from_stream(pages)).into_response())
}

type Rest = Option<(App, AuditQuery)>;

/// A page of lines, and what is left to read. A failure ends the stream before its end, which
/// a reader notices.
async fn next_page(rest: Rest) -> Result<Option<(Bytes, Rest)>, std::io::Error> {
    let Some((app, mut query)) = rest else { return Ok(None) };
    let entries = app.audit(query.clone()).await.map_err(std::io::Error::other)?;
    let Some(last) = entries.last() else { return Ok(None) };
    query.after = Some(last.seq);
    let mut lines = String::new();
    for entry in entries {
        lines.push_str(&serde_json::to_string(&AuditView::from(entry))?);
        lines.push('\n');
    }
    Ok(Some((lines.into(), Some((app, query)))))
}
