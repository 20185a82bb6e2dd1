//! The log of a session: read it, put raw ADK events into it.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hotseat_core::{InvalidEvent, Kind, Seq};
use hotseat_store::{EventQuery, EventRef, Order, Sort, WrittenEvents};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Problem;
use super::extract::{At, Body, Entered, Params, session_id};
use super::view::{EventView, List};
use super::written;
use crate::service::adk_event;

/// A page ends after so many bytes of payloads, whatever its limit is.
const MAX_PAGE_BYTES: usize = 32 * 1024 * 1024;

/// Memory reserved for an event of a page.
const USUAL_BYTES: usize = 1024;

/// The most that is reserved for a page before its events are seen.
const MOST_RESERVED: usize = 1024 * 1024;

/// How a page begins.
const LIST: &[u8] = b"{\"items\":[";

#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct EventParams {
    /// Only events after this one; with `order=desc`, before it.
    #[serde(alias = "afterSeq")]
    after_seq: Option<u64>,
    /// Only events strictly after this time, by their own account; RFC 3339 or seconds since 1970.
    #[serde(alias = "afterTimestamp")]
    after_timestamp: Option<String>,
    #[serde(alias = "invocationId")]
    invocation_id: Option<String>,
    author: Option<String>,
    /// ADK's branch, where agents run side by side.
    branch: Option<String>,
    /// Only raw events with this `type`, as `research_progress`; plain ADK events have none.
    #[serde(rename = "type")]
    event_type: Option<String>,
    /// Only the latest so many raw ADK events, in the order of their own time; without pages.
    recent: Option<usize>,
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
    Entered(app): Entered,
    At(id): At<String>,
    Params(params): Params<EventParams>,
) -> Result<Response, Problem> {
    let id = session_id(&id)?;
    let recent = params.recent.is_some();
    if params.recent == Some(0) {
        app.session(id).await?;
        return Ok(Json(List::<EventView> { items: Vec::new(), next_cursor: None }).into_response());
    }
    let query = params.into_query()?;
    if recent {
        let mut events = app.events(id, query).await?;
        events.reverse();
        let items = events.into_iter().map(EventView::whole).collect();
        return Ok(Json(List { items, next_cursor: None }).into_response());
    }
    let mut text = Vec::with_capacity((query.limit * USUAL_BYTES).min(MOST_RESERVED));
    text.extend_from_slice(LIST);
    let WrittenEvents { mut text, last, more } = app.write_events(id, query, text, item).await?;
    match last.filter(|_| more) {
        Some(last) => text.extend_from_slice(format!("],\"next_cursor\":\"{last}\"}}").as_bytes()),
        None => text.extend_from_slice(b"],\"next_cursor\":null}"),
    }
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// The next item of a list.
fn item(event: &EventRef<'_>, list: &mut Vec<u8>) {
    if list.len() > LIST.len() {
        list.push(b',');
    }
    written::write(event, list);
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
        let later_than =
            self.after_timestamp.map(|text| seconds(&text)).transpose().map_err(|()| {
                Problem::bad_request(
                    "`after_timestamp` must be RFC 3339, as in 2026-01-05T10:00:00Z, or seconds since 1970",
                )
            })?;
        if self.recent.is_some() && self.after_seq.is_some() {
            return Err(Problem::bad_request("`recent` cannot go together with `after_seq`"));
        }
        let (sort, order, limit) = match self.recent {
            None => (Sort::Arrival, order, self.limit.unwrap_or(100)),
            Some(recent) => (Sort::Time, Order::Descending, recent),
        };
        Ok(EventQuery {
            after: Seq::new(self.after_seq.unwrap_or_default()),
            later_than,
            not_before: None,
            // The latest of what happened, not of what Hotseat noted about it.
            kinds: kinds.unwrap_or_else(|| {
                if self.recent.is_some() { vec![Kind::Event] } else { Vec::new() }
            }),
            invocation_id: self.invocation_id,
            author: self.author,
            branch: self.branch,
            event_type: self.event_type,
            sort,
            order,
            limit: limit.clamp(1, 1000),
            max_bytes: MAX_PAGE_BYTES,
        })
    }
}

/// A time as RFC 3339 or in seconds since 1970.
fn seconds(text: &str) -> Result<f64, ()> {
    match text.parse::<f64>() {
        Ok(seconds) if seconds.is_finite() => Ok(seconds),
        Ok(_) => Err(()),
        Err(_) => {
            let time = text.parse::<jiff::Timestamp>().map_err(|_| ())?;
            Ok(time.as_duration().as_secs_f64())
        }
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
    Entered(app): Entered,
    At(id): At<String>,
    Body(body): Body<Box<RawValue>>,
) -> Result<(StatusCode, Json<Ingested>), Problem> {
    let id = session_id(&id)?;
    let raw_events: Vec<Box<RawValue>> = if body.get().trim_start().starts_with('[') {
        serde_json::from_str(body.get()).map_err(|error| Problem::bad_request(error.to_string()))?
    } else {
        vec![body]
    };
    app.check_ingest()?;
    let events = raw_events
        .into_iter()
        .enumerate()
        // Nothing was said, so nothing is kept.
        .filter(|(_, raw)| !is_empty(raw))
        .map(|(index, raw)| adk_event(raw).map_err(|error| not_adk(index, &error)))
        .collect::<Result<Vec<_>, _>>()?;
    let appended = app.append_events(id, events, None).await?;
    let ingested = Ingested { last_seq: appended.last_seq.get(), appended: appended.new };
    Ok((StatusCode::CREATED, Json(ingested)))
}

fn is_empty(raw: &RawValue) -> bool {
    let text = raw.get();
    text == "null" || text.strip_prefix('{').is_some_and(|rest| rest.trim_start() == "}")
}

fn not_adk(index: usize, error: &InvalidEvent) -> Problem {
    let detail = format!("event {index} is not an ADK event: {error}");
    Problem::invalid(detail)
}
