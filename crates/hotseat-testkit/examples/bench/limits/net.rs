//! A server that does nothing: an empty handler, an empty stream, one that stays, an empty gRPC call.
//!
//! They answer at the paths and with the messages that the clients of the bench use, so that the
//! same client measures both. The stream has as many pieces as a run of AG-UI, of the same size.

use std::convert::Infallible;
use std::io::Read as _;
use std::net::Ipv4Addr;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::response::sse::{Event, Sse};
use axum::routing::{any, get, post};
use axum::serve::ListenerExt as _;
use futures_util::{Stream, StreamExt as _};
use hotseat_testkit::proto::{
    AppendAdkEventRequest, AppendAdkEventResponse, GetSessionRequest, Session,
};
use serde_json::json;
use tokio::net::TcpListener;
use tonic::codegen::BoxFuture;
use tonic::server::UnaryService;
use tonic::{Response, Status};

use crate::least::{create, unary};

/// What a run of one text is made of: begin, begin of the text, text, its end, end.
const PIECES: usize = 5;

/// About what a piece of such a run has.
const PIECE: &str = r#"{"type":"TEXT_MESSAGE_CONTENT","messageId":"4f6c2c39-0000-4000-8000-000000000001","delta":"The answer is forty-two, as it was the last time."}"#;

/// A server that does nothing.
pub(crate) fn serve_nothing() {
    let router = Router::new()
        .route("/empty", get(async || ""))
        .route("/ag-ui/empty", post(stream))
        .route("/watched", get(watched))
        .route("/hotseat.v1.Seat/GetSession", any(call))
        .route("/hotseat.v1.Sessions/CreateAdkSession", any(create))
        .route("/hotseat.v1.Sessions/AppendAdkEvent", any(forget));
    serve(router);
}

/// Says where it listens, and serves until stdin ends.
pub(crate) fn serve(router: Router) {
    serve_with(async || router);
}

/// The same for what is made where the server runs.
pub(crate) fn serve_with(router: impl AsyncFnOnce() -> Router) {
    let runtime = tokio::runtime::Runtime::new().expect("threads");
    runtime.block_on(async {
        let router = router().await;
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        println!("{}", json!({"url": format!("http://{address}")}));
        // Otherwise the kernel holds small answers back for 40 ms.
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("a socket"));
        let serving = axum::serve(listener, router).with_graceful_shutdown(end_of_input());
        serving.await.expect("a server");
    });
}

/// Whoever started this holds the other end, so it cannot be left behind.
async fn end_of_input() {
    let wait = || std::io::stdin().read_to_end(&mut Vec::new());
    // Whichever way it ends, it is over.
    let _ = tokio::task::spawn_blocking(wait).await;
}

async fn stream(_: Bytes) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    Sse::new(pieces())
}

/// What a run of one text sends.
pub(crate) fn pieces() -> impl Stream<Item = Result<Event, Infallible>> {
    futures_util::stream::iter((0..PIECES).map(|_| Ok(Event::default().data(PIECE))))
}

/// A stream that says it has told all there is, and stays.
async fn watched() -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let first = std::future::ready(Ok(Event::default().event("history_complete").data("{}")));
    Sse::new(futures_util::stream::once(first).chain(futures_util::stream::pending()))
}

async fn call(request: Request) -> axum::http::Response<Body> {
    unary(Echo, request).await
}

/// An append that goes nowhere.
async fn forget(request: Request) -> axum::http::Response<Body> {
    unary(Forget, request).await
}

struct Forget;

impl UnaryService<AppendAdkEventRequest> for Forget {
    type Response = AppendAdkEventResponse;
    type Future = BoxFuture<Response<AppendAdkEventResponse>, Status>;

    fn call(&mut self, _: tonic::Request<AppendAdkEventRequest>) -> Self::Future {
        Box::pin(async { Ok(Response::new(AppendAdkEventResponse::default())) })
    }
}

struct Echo;

impl UnaryService<GetSessionRequest> for Echo {
    type Response = Session;
    type Future = BoxFuture<Response<Session>, Status>;

    fn call(&mut self, request: tonic::Request<GetSessionRequest>) -> Self::Future {
        let id = request.into_inner().session_id;
        Box::pin(async { Ok(Response::new(Session { id, ..Default::default() })) })
    }
}
