//! The log of raw events over gRPC.

use hotseat_core::{AdkEvent, Kind, NewEvent, Seq};
use hotseat_store::EventQuery;
use tonic::{Request, Response, Status};

use super::convert;
use crate::clock;
use crate::proto;
use crate::proto::sessions_server::Sessions;
use crate::proto::{
    AppendEventsRequest, AppendEventsResponse, ListEventsRequest, ListEventsResponse,
};
use crate::service::App;

pub(super) struct SessionsService(pub(super) App);

/// Events of one answer. Payloads may be large, so a page is small.
const PAGE: usize = 500;

#[tonic::async_trait]
impl Sessions for SessionsService {
    async fn append_events(
        &self,
        request: Request<AppendEventsRequest>,
    ) -> Result<Response<AppendEventsResponse>, Status> {
        let wish = request.into_inner();
        let session = convert::id(&wish.session_id)?;
        let events = wish.events.into_iter().map(new_event).collect::<Result<Vec<_>, _>>()?;
        let appended = self.0.append_events(session, events).await?;
        Ok(Response::new(AppendEventsResponse {
            last_seq: appended.last_seq.get(),
            appended: u32::try_from(appended.new).unwrap_or(u32::MAX),
        }))
    }

    async fn list_events(
        &self,
        request: Request<ListEventsRequest>,
    ) -> Result<Response<ListEventsResponse>, Status> {
        let wish = request.into_inner();
        let limit = match wish.limit as usize {
            0 => PAGE,
            limit => limit.min(PAGE),
        };
        let query = EventQuery {
            after: Seq::new(wish.after_seq),
            kinds: kinds(&wish.kinds)?,
            limit: limit + 1,
            ..EventQuery::default()
        };
        let mut events = self.0.events(convert::id(&wish.session_id)?, query).await?;
        let more = events.len() > limit;
        events.truncate(limit);
        let events = events.into_iter().map(convert::event).collect();
        Ok(Response::new(ListEventsResponse { events, more }))
    }
}

pub(super) fn kinds(words: &[String]) -> Result<Vec<Kind>, Status> {
    words
        .iter()
        .map(|word| word.parse::<Kind>())
        .collect::<Result<_, _>>()
        .map_err(|error| Status::invalid_argument(error.to_string()))
}

/// An event that a plugin or a worker made. Turns have calls of their own, and
/// only the server completes a session.
fn new_event(event: proto::NewEvent) -> Result<NewEvent, Status> {
    let kind: Kind = event
        .kind
        .parse()
        .map_err(|error: hotseat_core::UnknownKind| Status::invalid_argument(error.to_string()))?;
    let payload = convert::raw_json("raw_json", &event.raw_json)?;
    let new = NewEvent {
        event_id: event.event_id,
        timestamp: clock::now(),
        kind,
        turn_id: None,
        invocation_id: convert::given(event.invocation_id),
        author: event.author,
        agent_name: event.agent_name,
        branch: convert::given(event.branch),
        parent_call_id: convert::given(event.parent_call_id),
        payload,
    };
    match kind {
        Kind::Event => with_facts_of_adk_event(new),
        Kind::ToolRun | Kind::Run => Ok(with_id(new)),
        Kind::Request | Kind::Response | Kind::Session => {
            Err(Status::invalid_argument(format!("events of kind {kind} cannot be appended")))
        }
    }
}

/// What the raw event says of itself fills what the caller left out.
fn with_facts_of_adk_event(mut new: NewEvent) -> Result<NewEvent, Status> {
    let event = AdkEvent::checked(&new.payload)
        .map_err(|error| Status::invalid_argument(format!("not an ADK event: {error}")))?;
    if let Some(id) = event.id.clone() {
        new.event_id = id;
    }
    new.invocation_id = new.invocation_id.or_else(|| event.invocation_id.clone());
    new.branch = new.branch.or_else(|| event.branch.clone());
    event.author.clone_into(&mut new.author);
    if new.agent_name.is_empty() {
        event.author.clone_into(&mut new.agent_name);
    }
    Ok(with_id(new))
}

fn with_id(mut new: NewEvent) -> NewEvent {
    if new.event_id.is_empty() {
        new.event_id = clock::new_id().to_string();
    }
    if new.author.is_empty() {
        new.author = new.agent_name.clone();
    }
    new
}
