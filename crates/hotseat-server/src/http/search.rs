//! Search over everything said and called.

use axum::Json;
use hotseat_core::rfc3339;
use hotseat_store::SearchQuery;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::extract::{Entered, Params, session_id};
use super::view::List;

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct SearchParams {
    /// Words; all of them must occur, each as the beginning of a word.
    q: String,
    /// Only in this session.
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// At most 100; 20 if left out.
    limit: Option<usize>,
}

/// Where words were found.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct HitView {
    session_id: String,
    title: Option<String>,
    seq: u64,
    kind: &'static str,
    author: String,
    timestamp: String,
    /// A piece of the text; what was found stands between U+0002 and U+0003.
    snippet: String,
}

/// Everything said and called, newest first.
#[utoipa::path(get, path = "/api/v1/search", tag = "sessions", params(SearchParams),
    responses((status = 200, body = List<HitView>), (status = 400, body = Problem)))]
pub(super) async fn search(
    Entered(app): Entered,
    Params(params): Params<SearchParams>,
) -> Result<Json<List<HitView>>, Problem> {
    let bad = || Problem::bad_request("the cursor is not one that this server gave out");
    let query = SearchQuery {
        text: params.q,
        session: params.session_id.as_deref().map(session_id).transpose()?,
        user_id: None,
        before: params.cursor.map(|cursor| cursor.parse()).transpose().map_err(|_| bad())?,
        limit: params.limit.unwrap_or(20).clamp(1, 100),
    };
    let page = app.search(query).await?;
    let items = page.hits.into_iter().map(|hit| HitView {
        session_id: hit.session_id.to_string(),
        title: hit.title,
        seq: hit.seq.get(),
        kind: hit.kind,
        author: hit.author,
        timestamp: rfc3339(hit.timestamp),
        snippet: hit.snippet,
    });
    let next_cursor = page.next.map(|next| next.to_string());
    Ok(Json(List { items: items.collect(), next_cursor }))
}
