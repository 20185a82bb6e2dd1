//! Turns and sessions over gRPC.

use std::pin::Pin;

use futures_util::stream::{Stream, StreamExt};
use hotseat_core::{Kind, Seq, SessionId, SessionStatus};
use hotseat_store::SessionQuery;
use tonic::{Request, Response, Status};

use super::convert;
use crate::proto::seat_server::Seat;
use crate::proto::{
    CompleteSessionRequest, CreateSessionRequest, DismissTurnRequest, GetSessionRequest,
    HistoryComplete, ListSessionsRequest, ListSessionsResponse, Session, SessionEvent,
    SubmitDecisionRequest, SubmitDecisionResponse, SubmitRequestRequest, SubmitRequestResponse,
    SubscribeRequest, session_event,
};
use crate::service::{App, CreateSession, Decided, Followed, SubmitTurn};

pub(super) struct SeatService(pub(super) App);

#[tonic::async_trait]
impl Seat for SeatService {
    async fn create_session(
        &self,
        request: Request<CreateSessionRequest>,
    ) -> Result<Response<Session>, Status> {
        let app = super::entered(&self.0, &request)?;
        let new = request.into_inner();
        let id = convert::given(new.id).map(|id| convert::id::<SessionId>(&id)).transpose()?;
        let wish = CreateSession {
            id,
            agent: convert::given(new.agent),
            app_name: convert::given(new.app_name),
            user_id: convert::given(new.user_id),
            description: convert::given(new.description),
            source: convert::given(new.source),
        };
        let session = app.create_session(wish).await?;
        Ok(Response::new(convert::session(&app, session)))
    }

    async fn get_session(
        &self,
        request: Request<GetSessionRequest>,
    ) -> Result<Response<Session>, Status> {
        let app = super::entered(&self.0, &request)?;
        let id = convert::id(&request.into_inner().session_id)?;
        let session = app.session(id).await?;
        Ok(Response::new(convert::session(&app, session)))
    }

    async fn list_sessions(
        &self,
        request: Request<ListSessionsRequest>,
    ) -> Result<Response<ListSessionsResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let invalid = |error: &dyn std::fmt::Display| Status::invalid_argument(error.to_string());
        let cursor = convert::given(wish.page_token).map(|token| token.parse()).transpose();
        let status =
            convert::given(wish.status).map(|status| status.parse::<SessionStatus>()).transpose();
        let query = SessionQuery {
            cursor: cursor.map_err(|error| invalid(&error))?,
            limit: usize::try_from(wish.page_size)
                .map_err(|_| Status::invalid_argument("page_size is negative"))?,
            status: status.map_err(|error| invalid(&error))?,
            agent: convert::given(wish.agent),
            ..SessionQuery::default()
        };
        let page = app.sessions(query).await?;
        Ok(Response::new(ListSessionsResponse {
            next_page_token: page.next.map(|next| next.to_string()).unwrap_or_default(),
            sessions: page
                .items
                .into_iter()
                .map(|session| convert::session(&app, session))
                .collect(),
        }))
    }

    async fn complete_session(
        &self,
        request: Request<CompleteSessionRequest>,
    ) -> Result<Response<Session>, Status> {
        let app = super::entered(&self.0, &request)?;
        let id = convert::id(&request.into_inner().session_id)?;
        let session = app.complete_session(id).await?;
        Ok(Response::new(convert::session(&app, session)))
    }

    async fn submit_request(
        &self,
        request: Request<SubmitRequestRequest>,
    ) -> Result<Response<SubmitRequestResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let asked = wish.request.ok_or_else(|| Status::invalid_argument("`request` is missing"))?;
        let submitted = app
            .submit_turn(SubmitTurn {
                session: convert::id(&wish.session_id)?,
                turn: convert::id(&wish.turn_id)?,
                agent_name: wish.agent_name,
                invocation_id: convert::given(wish.invocation_id),
                branch: convert::given(wish.branch),
                parent_call_id: convert::given(wish.parent_call_id),
                payload: convert::request_payload(&asked)?,
                worker: convert::given(wish.worker_id),
            })
            .await?;
        Ok(Response::new(SubmitRequestResponse {
            event_id: submitted.event_id,
            seq: submitted.seq.get(),
            duplicate: submitted.duplicate,
        }))
    }

    async fn submit_decision(
        &self,
        request: Request<SubmitDecisionRequest>,
    ) -> Result<Response<SubmitDecisionResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let answer =
            wish.response.ok_or_else(|| Status::invalid_argument("`response` is missing"))?;
        let answer = convert::decision(&answer)?;
        let (session, turn) = (convert::id(&wish.session_id)?, convert::id(&wish.turn_id)?);
        let decided = app.decide(session, turn, answer, "human").await?;
        Ok(decided_response(decided))
    }

    async fn dismiss_turn(
        &self,
        request: Request<DismissTurnRequest>,
    ) -> Result<Response<SubmitDecisionResponse>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let (session, turn) = (convert::id(&wish.session_id)?, convert::id(&wish.turn_id)?);
        let reason = convert::given(wish.reason);
        let reason = reason.as_deref();
        let dismissed = match convert::given(wish.worker_id) {
            Some(worker) => app.withdraw(session, turn, reason, &worker).await?,
            None => app.dismiss(session, turn, reason).await?,
        };
        Ok(decided_response(dismissed))
    }

    type SubscribeStream = Pin<Box<dyn Stream<Item = Result<SessionEvent, Status>> + Send>>;

    async fn subscribe(
        &self,
        request: Request<SubscribeRequest>,
    ) -> Result<Response<Self::SubscribeStream>, Status> {
        let app = super::entered(&self.0, &request)?;
        let wish = request.into_inner();
        let session = convert::id(&wish.session_id)?;
        let kinds = super::sessions::kinds(&wish.kinds)?;
        let followed = app.follow(session, Seq::new(wish.after_seq)).await?;
        let events = followed.filter_map(move |followed| {
            let event = match followed {
                Ok(Followed::Event(event)) => {
                    wanted(&kinds, event.kind).then(|| Ok(convert::event(*event)))
                }
                Ok(Followed::Gap { through, .. }) => kinds.is_empty().then(|| {
                    Ok(SessionEvent {
                        session_id: session.to_string(),
                        seq: through.get(),
                        kind: "gap".to_owned(),
                        ..SessionEvent::default()
                    })
                }),
                Ok(Followed::HistoryComplete { last_seq, event_count }) => {
                    let marker = HistoryComplete { last_seq: last_seq.get(), event_count };
                    Some(Ok(SessionEvent {
                        session_id: session.to_string(),
                        payload: Some(session_event::Payload::HistoryComplete(marker)),
                        ..SessionEvent::default()
                    }))
                }
                Err(error) => Some(Err(error.into())),
            };
            std::future::ready(event)
        });
        Ok(Response::new(Box::pin(events)))
    }
}

fn wanted(kinds: &[Kind], kind: Kind) -> bool {
    kinds.is_empty() || kinds.contains(&kind)
}

fn decided_response(decided: Decided) -> Response<SubmitDecisionResponse> {
    Response::new(SubmitDecisionResponse { event_id: decided.event_id, seq: decided.seq.get() })
}
