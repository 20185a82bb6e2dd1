//! The log of a session: read it, put raw ADK events into it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use hotseat_core::{InvalidEvent, Kind, Seq};
use hotseat_store::{EventQuery, Order};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Problem;
use super::extract::{At, Body, Params, session_id};
use super::view::{EventView, List};
use crate::service::{App, adk_event};

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EventParams {
    /// Only events after this one; with `order=desc`, before it.
    #[serde(alias = "afterSeq")]
    after_seq: Option<u64>,
    /// Only events strictly after this time.
    #[serde(alias = "afterTimestamp")]
    after_timestamp: Option<String>,
    #[serde(alias = "invocationId")]
    invocation_id: Option<String>,
    author: Option<String>,
    /// Kinds, separated by commas.
    kind: Option<String>,
    /// At most 1000.
    limit: Option<usize>,
    /// `asc` or `desc`.
    order: Option<String>,
}

/// Lists events.
#[utoipa::path(get, path = "/api/v1/sessions/{id}/events", tag = "events", params(("id" = String, Path), EventParams),
    responses((status = 200, body = List<EventView>), (status = 404, body = Problem)))]
pub(super) async fn list(
    State(app): State<App>,
    At(id): At<String>,
    Params(params): Params<EventParams>,
) -> Result<Json<List<EventView>>, Problem> {
    let id = session_id(&id)?;
    let mut query = params.into_query()?;
    // One more than asked for tells whether there are more.
    let limit = query.limit;
    query.limit = limit + 1;
    let mut events = app.events(id, query).await?;
    let more = events.len() > limit;
    events.truncate(limit);
    let next_cursor = if more { events.last().map(|event| event.seq.to_string()) } else { None };
    Ok(Json(List { items: events.into_iter().map(EventView::whole).collect(), next_cursor }))
}

impl EventParams {
    fn into_query(self) -> Result<EventQuery, Problem> {
        let order = match self.order.as_deref() {
            None | Some("asc") => Order::Ascending,
            Some("desc") => Order::Descending,
            Some(_) => return Err(Problem::bad_request("`order` must be `asc` or `desc`")),
        };
        let kinds = self
            .kind
            .as_deref()
            .map(|kinds| kinds.split(',').map(|kind| kind.trim().parse::<Kind>()).collect())
            .transpose()
            .map_err(|error: hotseat_core::UnknownKind| Problem::bad_request(error.to_string()))?;
        let after_timestamp =
            self.after_timestamp.map(|text| text.parse()).transpose().map_err(|_| {
                Problem::bad_request(
                    "`after_timestamp` must be RFC 3339, as in 2026-01-05T10:00:00Z",
                )
            })?;
        Ok(EventQuery {
            after: Seq::new(self.after_seq.unwrap_or_default()),
            after_timestamp,
            kinds: kinds.unwrap_or_default(),
            invocation_id: self.invocation_id,
            author: self.author,
            order,
            limit: self.limit.unwrap_or(100).clamp(1, 1000),
        })
    }
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct Ingested {
    /// The last event of the log now.
    last_seq: u64,
    /// How many of the given events are new.
    appended: usize,
}

/// Puts one raw ADK event or an array of them into the log, all or none.
#[utoipa::path(post, path = "/api/v1/sessions/{id}/events", tag = "events", params(("id" = String, Path)),
    request_body = Object,
    responses((status = 201, body = Ingested), (status = 404, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn ingest(
    State(app): State<App>,
    At(id): At<String>,
    Body(body): Body<Box<RawValue>>,
) -> Result<(StatusCode, Json<Ingested>), Problem> {
    let id = session_id(&id)?;
    let raw_events: Vec<Box<RawValue>> = if body.get().trim_start().starts_with('[') {
        serde_json::from_str(body.get()).map_err(|error| Problem::bad_request(error.to_string()))?
    } else {
        vec![body]
    };
    let events = raw_events
        .into_iter()
        .enumerate()
        .map(|(index, raw)| adk_event(raw).map_err(|error| not_adk(index, &error)))
        .collect::<Result<Vec<_>, _>>()?;
    let appended = app.append_events(id, events).await?;
    let ingested = Ingested { last_seq: appended.last_seq.get(), appended: appended.new };
    Ok((StatusCode::CREATED, Json(ingested)))
}

fn not_adk(index: usize, error: &InvalidEvent) -> Problem {
    let detail = format!("event {index} is not an ADK event: {error}");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
}
