//! Running the server until it is told to stop.
//!
//! A connection says what it wants in good time or is closed: a head that does not end
//! would keep its place for ever. `axum::serve` waits without an end, so the loop is ours.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::serve::Listener as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tower::ServiceExt as _;

use crate::door::{Door, OpenDoor, Peer};
use crate::http;
use crate::punctual::{Begun, Version};
use crate::service::App;
use crate::socket;

/// How long open requests may take to end once the server stops.
const DRAIN: Duration = Duration::from_secs(5);

/// How long somebody who speaks HTTP/2 may take to answer a ping. A busy program is late with it.
const PONG_WITHIN: Duration = Duration::from_secs(10);

/// Serves `app` at `door` until `stop` resolves, then ends every stream and
/// lets open requests finish.
pub async fn serve(
    app: App,
    door: impl Into<Door>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let stalled_after = app.config.stalled_after;
    let mut door = OpenDoor::new(door.into(), app.config.tls.clone(), stalled_after);
    let router = http::router(app.clone());
    let house = tokio::spawn(app.clone().keep_house());
    let company = tokio::spawn(app.clone().keep_company());
    let connections = GracefulShutdown::new();
    let protocols = Protocols::new(stalled_after);
    {
        let mut stopping = pin!(async {
            stop.await;
            app.drain().await;
        });
        loop {
            let (stream, address) = tokio::select! {
                accepted = door.accept() => accepted,
                () = &mut stopping => break,
            };
            let service = TowerToHyperService::new(known_as(router.clone(), address));
            let (protocols, watcher, app) = (protocols.clone(), connections.watcher(), app.clone());
            tokio::spawn(async move {
                let begun = tokio::select! {
                    begun = Begun::new(stream, stalled_after) => begun,
                    () = app.closed() => return,
                };
                drop(app);
                let ended = match begun {
                    Ok((stream, Version::One)) => {
                        let stream = TokioIo::new(stream);
                        watcher.watch(protocols.one.serve_connection(stream, service)).await
                    }
                    // Larger by far, and few, while of the others there may be thousands.
                    Ok((stream, Version::Two)) => {
                        let stream = TokioIo::new(stream);
                        let connection = protocols.two.serve_connection(stream, service);
                        Box::pin(watcher.watch(connection)).await
                    }
                    Err(error) => {
                        tracing::trace!(%error, "a connection did not begin");
                        return;
                    }
                };
                if let Err(error) = ended {
                    tracing::trace!(%error, "a connection ended early");
                }
            });
        }
    }
    drop(door);
    tokio::select! {
        () = connections.shutdown() => {}
        () = async { app.closed().await; tokio::time::sleep(DRAIN).await } => {}
    }
    // What was still to be noted is noted. Its own failure was logged there.
    let _ = house.await;
    let _ = company.await;
    Ok(())
}

/// How both protocols are spoken.
#[derive(Clone)]
struct Protocols {
    one: http1::Builder,
    two: http2::Builder<TokioExecutor>,
}

impl Protocols {
    fn new(stalled_after: Duration) -> Self {
        let mut one = http1::Builder::new();
        one.timer(TokioTimer::new()).header_read_timeout(stalled_after);
        // Whoever speaks HTTP/2 answers a ping, and cannot in the middle of a head: one that is
        // gone without a word, or begins a head and does not end it, is noticed by that.
        let mut two = http2::Builder::new(TokioExecutor::new());
        two.timer(TokioTimer::new())
            .keep_alive_interval(socket::ASK_AFTER.min(stalled_after))
            .keep_alive_timeout(PONG_WITHIN);
        Self { one, two }
    }
}

/// The routes, told who is at the other end.
fn known_as(
    router: Router,
    address: SocketAddr,
) -> impl tower::Service<
    Request<Incoming>,
    Response = axum::response::Response,
    Error = std::convert::Infallible,
    Future: Send,
> + Clone
+ Send
+ 'static {
    router.map_request(move |request: Request<Incoming>| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(Peer(address)));
        request
    })
}
