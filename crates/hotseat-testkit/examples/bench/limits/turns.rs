//! Turns through the least durable server: a row for each request and each answer, and the word of
//! it to whoever follows. There is one conversation, nobody is asked whether a turn is there or
//! has an answer already, and who follows is told what is new, not what was.

use std::pin::Pin;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::Response;
use axum::routing::any;
use futures_util::{Stream, StreamExt as _};
use hotseat_testkit::proto::session_event::Payload;
use hotseat_testkit::proto::{
    CreateSessionRequest, HistoryComplete, Session, SessionEvent, SubmitDecisionRequest,
    SubmitDecisionResponse, SubmitRequestRequest, SubmitRequestResponse, SubscribeRequest,
};
use tokio::sync::broadcast;
use tonic::Status;
use tonic::codegen::BoxFuture;
use tonic::server::{Grpc, ServerStreamingService, UnaryService};
use tonic_prost::ProstCodec;

use crate::least::{Writer, unary};

/// Events that somebody who follows may be behind.
const BEHIND: usize = 16;

/// The one conversation.
#[derive(Clone)]
struct Conversation {
    writer: Writer,
    news: broadcast::Sender<SessionEvent>,
}

/// What a plugin and a person call.
pub(crate) fn router(writer: Writer) -> Router {
    let news = broadcast::Sender::new(BEHIND);
    Router::new()
        .route("/hotseat.v1.Seat/CreateSession", any(create))
        .route("/hotseat.v1.Seat/SubmitRequest", any(submit))
        .route("/hotseat.v1.Seat/SubmitDecision", any(decide))
        .route("/hotseat.v1.Seat/Subscribe", any(subscribe))
        .with_state(Conversation { writer, news })
}

impl Conversation {
    /// Writes a row, and tells of it when it is on the disk.
    async fn enter(&self, kind: &str, turn_id: String, row: Bytes) {
        self.writer.commit(vec![row.clone()]).await;
        let kind = kind.to_owned();
        let event = SessionEvent { turn_id, kind, raw_json: row, ..Default::default() };
        // Nobody may follow.
        let _ = self.news.send(event);
    }
}

async fn create(request: Request) -> Response<Body> {
    unary(Create, request).await
}

async fn submit(State(conversation): State<Conversation>, request: Request) -> Response<Body> {
    unary(Submit(conversation), request).await
}

async fn decide(State(conversation): State<Conversation>, request: Request) -> Response<Body> {
    unary(Decide(conversation), request).await
}

async fn subscribe(State(conversation): State<Conversation>, request: Request) -> Response<Body> {
    let codec = ProstCodec::<SessionEvent, SubscribeRequest>::default();
    Grpc::new(codec).server_streaming(Subscribe(conversation), request).await.map(Body::new)
}

struct Create;

impl UnaryService<CreateSessionRequest> for Create {
    type Response = Session;
    type Future = BoxFuture<tonic::Response<Session>, Status>;

    fn call(&mut self, _: tonic::Request<CreateSessionRequest>) -> Self::Future {
        Box::pin(async { Ok(tonic::Response::new(Session::default())) })
    }
}

struct Submit(Conversation);

impl UnaryService<SubmitRequestRequest> for Submit {
    type Response = SubmitRequestResponse;
    type Future = BoxFuture<tonic::Response<SubmitRequestResponse>, Status>;

    fn call(&mut self, request: tonic::Request<SubmitRequestRequest>) -> Self::Future {
        let conversation = self.0.clone();
        Box::pin(async move {
            let SubmitRequestRequest { turn_id, request, .. } = request.into_inner();
            let row = request.unwrap_or_default().raw_json;
            conversation.enter("request", turn_id, row).await;
            Ok(tonic::Response::new(SubmitRequestResponse::default()))
        })
    }
}

struct Decide(Conversation);

impl UnaryService<SubmitDecisionRequest> for Decide {
    type Response = SubmitDecisionResponse;
    type Future = BoxFuture<tonic::Response<SubmitDecisionResponse>, Status>;

    fn call(&mut self, request: tonic::Request<SubmitDecisionRequest>) -> Self::Future {
        let conversation = self.0.clone();
        Box::pin(async move {
            let SubmitDecisionRequest { turn_id, response, .. } = request.into_inner();
            let row = response.unwrap_or_default().raw_json;
            conversation.enter("response", turn_id, row).await;
            Ok(tonic::Response::new(SubmitDecisionResponse::default()))
        })
    }
}

struct Subscribe(Conversation);

type News = Pin<Box<dyn Stream<Item = Result<SessionEvent, Status>> + Send + 'static>>;

impl ServerStreamingService<SubscribeRequest> for Subscribe {
    type Response = SessionEvent;
    type ResponseStream = News;
    type Future = BoxFuture<tonic::Response<News>, Status>;

    fn call(&mut self, request: tonic::Request<SubscribeRequest>) -> Self::Future {
        let kinds = request.into_inner().kinds;
        let news = self.0.news.subscribe();
        let complete = SessionEvent {
            payload: Some(Payload::HistoryComplete(HistoryComplete::default())),
            ..Default::default()
        };
        let news = futures_util::stream::unfold(news, async |mut news| {
            let event = news.recv().await.ok()?;
            Some((event, news))
        });
        let wanted = news.filter(move |event| std::future::ready(kinds.contains(&event.kind)));
        let told = futures_util::stream::iter([complete]).chain(wanted).map(Ok);
        Box::pin(async { Ok(tonic::Response::new(Box::pin(told) as News)) })
    }
}
