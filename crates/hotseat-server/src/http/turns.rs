//! Turns: see what waits, answer it.

use axum::Json;
use hotseat_store::TurnQuery;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Problem;
use super::extract::{At, Body, Entered, OptionalBody, Params, session_id, turn_id};
use super::view::{List, TurnJson};
use crate::service::Decided;

/// Who answers through this API.
const SEAT: &str = "human";

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct TurnParams {
    /// `pending`; answered ones too if left out.
    state: Option<String>,
}

impl TurnParams {
    fn answered(&self) -> Result<bool, Problem> {
        match self.state.as_deref() {
            None => Ok(true),
            Some("pending") => Ok(false),
            Some(_) => Err(Problem::bad_request("`state` can only be `pending`")),
        }
    }
}

/// Turns of all sessions, oldest first, without their requests.
#[utoipa::path(get, path = "/api/v1/turns", tag = "turns", params(TurnParams),
    responses((status = 200, body = List<TurnJson>)))]
pub(super) async fn of_all(
    Entered(app): Entered,
    Params(params): Params<TurnParams>,
) -> Result<Json<List<TurnJson>>, Problem> {
    let query = TurnQuery { answered: params.answered()?, ..TurnQuery::default() };
    let items = app.turns(query).await?.into_iter().map(TurnJson::brief).collect();
    Ok(Json(List { items, next_cursor: None }))
}

/// Turns of one session, oldest first: the head of the queue is the one to answer.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/turns", tag = "turns", params(("id" = String, Path), TurnParams),
    responses((status = 200, body = List<TurnJson>), (status = 404, body = Problem)))]
pub(super) async fn of_session(
    Entered(app): Entered,
    At(id): At<String>,
    Params(params): Params<TurnParams>,
) -> Result<Json<List<TurnJson>>, Problem> {
    let query = TurnQuery {
        session: Some(session_id(&id)?),
        answered: params.answered()?,
        ..TurnQuery::default()
    };
    let items = app.turns(query).await?.into_iter().map(TurnJson::whole).collect();
    Ok(Json(List { items, next_cursor: None }))
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct DecidedView {
    seq: u64,
    event_id: String,
    /// Ids of the function calls, in order.
    call_ids: Vec<String>,
}

impl From<Decided> for DecidedView {
    fn from(decided: Decided) -> Self {
        Self { seq: decided.seq.get(), event_id: decided.event_id, call_ids: decided.call_ids }
    }
}

/// Answers a turn: `{"candidates": [Content]}`.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/turns/{turn_id}/decision", tag = "turns",
    params(("id" = String, Path), ("turn_id" = String, Path)), request_body = Object,
    responses((status = 200, body = DecidedView), (status = 404, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn decide(
    Entered(app): Entered,
    At((id, turn)): At<(String, String)>,
    Body(answer): Body<Value>,
) -> Result<Json<DecidedView>, Problem> {
    let decided = app.decide(session_id(&id)?, turn_id(&turn)?, answer, SEAT).await?;
    Ok(Json(decided.into()))
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(super) struct DismissBody {
    /// What the agent is told.
    reason: Option<String>,
}

/// Ends a turn with an error that the agent sees.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/turns/{turn_id}/dismiss", tag = "turns",
    params(("id" = String, Path), ("turn_id" = String, Path)), request_body = DismissBody,
    responses((status = 200, body = DecidedView), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn dismiss(
    Entered(app): Entered,
    At((id, turn)): At<(String, String)>,
    OptionalBody(body): OptionalBody<DismissBody>,
) -> Result<Json<DecidedView>, Problem> {
    let (id, turn) = (session_id(&id)?, turn_id(&turn)?);
    let dismissed = app.dismiss(id, turn, body.reason.as_deref()).await?;
    Ok(Json(dismissed.into()))
}
