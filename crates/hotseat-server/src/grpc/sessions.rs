//! The log of raw events over gRPC.

use hotseat_core::{Kind, NewEvent, Seq};
use hotseat_store::EventQuery;
use tonic::{Request, Response, Status, Streaming};

use super::appending::{self, Appending};
use super::{adk, convert};
use crate::clock;
use crate::proto;
use crate::proto::sessions_server::Sessions;
use crate::proto::{
    AppendEventsRequest, AppendEventsResponse, ListEventsRequest, ListEventsResponse,
};
use crate::service::{App, adk_event};

pub(super) struct SessionsService(pub(super) App);

/// Events of one answer. Payloads may be large, so a page is small.
const PAGE: usize = 500;

#[tonic::async_trait]
impl Sessions for SessionsService {
    async fn append_events(
        &self,
        request: Request<AppendEventsRequest>,
    ) -> Result<Response<AppendEventsResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let session = convert::id(&wish.session_id)?;
        let events = wish.events.into_iter().map(new_event).collect::<Result<Vec<_>, _>>()?;
        let worker = convert::given(wish.worker_id);
        let appended = app.append_events(session, events, worker.as_deref()).await?;
        Ok(Response::new(AppendEventsResponse {
            last_seq: appended.last_seq.get(),
            appended: u32::try_from(appended.new).unwrap_or(u32::MAX),
        }))
    }

    async fn list_events(
        &self,
        request: Request<ListEventsRequest>,
    ) -> Result<Response<ListEventsResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let limit = match wish.limit as usize {
            0 => PAGE,
            limit => limit.min(PAGE),
        };
        let query = EventQuery {
            after: Seq::new(wish.after_seq),
            kinds: kinds(&wish.kinds)?,
            event_type: convert::given(wish.r#type),
            limit: limit + 1,
            ..EventQuery::default()
        };
        let mut events = app.events(convert::id(&wish.session_id)?, query).await?;
        let more = events.len() > limit;
        events.truncate(limit);
        let events = events.into_iter().map(convert::event).collect();
        Ok(Response::new(ListEventsResponse { events, more }))
    }

    async fn create_adk_session(
        &self,
        request: Request<proto::CreateAdkSessionRequest>,
    ) -> Result<Response<proto::AdkSession>, Status> {
        let app = super::entered(&self.0, &request)?;
        adk::create(&app, request.into_inner()).await
    }

    async fn get_adk_session(
        &self,
        request: Request<proto::GetAdkSessionRequest>,
    ) -> Result<Response<proto::GetAdkSessionResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        adk::get(&app, request.into_inner()).await
    }

    async fn list_adk_sessions(
        &self,
        request: Request<proto::ListAdkSessionsRequest>,
    ) -> Result<Response<proto::ListAdkSessionsResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        adk::list(&app, request.into_inner()).await
    }

    async fn delete_adk_session(
        &self,
        request: Request<proto::DeleteAdkSessionRequest>,
    ) -> Result<Response<proto::DeleteAdkSessionResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        adk::delete(&app, request.into_inner()).await
    }

    async fn append_adk_event(
        &self,
        request: Request<proto::AppendAdkEventRequest>,
    ) -> Result<Response<proto::AppendAdkEventResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        adk::append(&app, request.into_inner()).await.map(Response::new)
    }

    type AppendAdkEventsStream = Appending;

    async fn append_adk_events(
        &self,
        request: Request<Streaming<proto::AppendAdkEventsRequest>>,
    ) -> Result<Response<Appending>, Status> {
        let app = super::entered(&self.0, &request)?;
        Ok(Response::new(appending::answers(app, request.into_inner())))
    }

    async fn get_adk_user_state(
        &self,
        request: Request<proto::GetAdkUserStateRequest>,
    ) -> Result<Response<proto::GetAdkUserStateResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        adk::user_state(&app, request.into_inner()).await
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
    match kind {
        Kind::Event => {
            let own = adk_event(payload)
                .map_err(|error| Status::invalid_argument(format!("not an ADK event: {error}")))?;
            Ok(NewEvent {
                // What the sender knows better than the event: where it happened.
                agent_name: convert::given(event.agent_name).unwrap_or(own.agent_name),
                invocation_id: convert::given(event.invocation_id).or(own.invocation_id),
                branch: convert::given(event.branch).or(own.branch),
                parent_call_id: convert::given(event.parent_call_id),
                ..own
            })
        }
        Kind::ToolRun | Kind::Run => Ok(NewEvent {
            event_id: convert::given(event.event_id).unwrap_or_else(|| clock::new_id().to_string()),
            timestamp: clock::now(),
            kind,
            turn_id: None,
            invocation_id: convert::given(event.invocation_id),
            author: convert::given(event.author).unwrap_or_else(|| event.agent_name.clone()),
            agent_name: event.agent_name,
            branch: convert::given(event.branch),
            parent_call_id: convert::given(event.parent_call_id),
            payload,
        }),
        Kind::Request | Kind::Response | Kind::Session | Kind::Message => {
            Err(Status::invalid_argument(format!("events of kind {kind} cannot be appended")))
        }
    }
}
