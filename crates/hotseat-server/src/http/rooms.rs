//! Rooms: claiming a turn, handing it over, and telling that one is typing.

use axum::Json;
use axum::http::StatusCode;
use hotseat_core::rfc3339;
use serde::{Deserialize, Serialize};

use super::Problem;
use super::extract::{At, Body, Entered, session_id, turn_id};
use crate::service::{Claim, RoomNews};

/// Who holds a turn.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct ClaimView {
    turn_id: String,
    holder: String,
    since: String,
    /// Until when, unless it is claimed again.
    until: String,
}

impl From<Claim> for ClaimView {
    fn from(claim: Claim) -> Self {
        Self {
            turn_id: claim.turn.to_string(),
            holder: claim.holder,
            since: rfc3339(claim.since),
            until: rfc3339(claim.until),
        }
    }
}

/// What is going on in a session: the data of `room` in its stream.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct RoomView {
    claims: Vec<ClaimView>,
    /// Who is typing.
    typing: Vec<String>,
    /// Who is looking at the session.
    present: Vec<String>,
}

impl From<RoomNews> for RoomView {
    fn from(news: RoomNews) -> Self {
        let claims = news.claims.into_iter().map(ClaimView::from).collect();
        Self { claims, typing: news.typing, present: news.present }
    }
}

/// Claims a turn for a minute; claiming it again keeps it.
#[utoipa::path(put, path = "/api/v1/sessions/{id}/turns/{turn_id}/claim", tag = "turns",
    params(("id" = String, Path), ("turn_id" = String, Path)),
    responses((status = 200, body = ClaimView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn claim(
    Entered(app): Entered,
    At((id, turn)): At<(String, String)>,
) -> Result<Json<ClaimView>, Problem> {
    Ok(Json(app.claim(session_id(&id)?, turn_id(&turn)?).await?.into()))
}

/// Lets go of a turn. An admin may take it from others.
#[utoipa::path(delete, path = "/api/v1/sessions/{id}/turns/{turn_id}/claim", tag = "turns",
    params(("id" = String, Path), ("turn_id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn release(
    Entered(app): Entered,
    At((id, turn)): At<(String, String)>,
) -> Result<StatusCode, Problem> {
    app.release_claim(session_id(&id)?, turn_id(&turn)?).await?;
    Ok(StatusCode::NO_CONTENT)
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct HandOverBody {
    /// The name of whoever is to answer.
    to: String,
}

/// Gives a turn that one holds, or that nobody does, to somebody else.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/turns/{turn_id}/hand-over", tag = "turns",
    params(("id" = String, Path), ("turn_id" = String, Path)), request_body = HandOverBody,
    responses((status = 200, body = ClaimView), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn hand_over(
    Entered(app): Entered,
    At((id, turn)): At<(String, String)>,
    Body(body): Body<HandOverBody>,
) -> Result<Json<ClaimView>, Problem> {
    Ok(Json(app.hand_over(session_id(&id)?, turn_id(&turn)?, &body.to).await?.into()))
}

/// Tells those who look at a session that the caller is typing. It is kept nowhere.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/typing", tag = "turns", params(("id" = String, Path)),
    responses((status = 204), (status = 404, body = Problem)))]
pub(super) async fn typing(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<StatusCode, Problem> {
    app.typing(session_id(&id)?).await?;
    Ok(StatusCode::NO_CONTENT)
}
