//! Running the server until it is told to stop.
//!
//! A connection says what it wants in good time or is closed: a head that does not end
//! would keep its place for ever. `axum::serve` waits without an end, so the loop is ours.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{ConnectInfo, Request};
use axum::response::Response;
use axum::serve::Listener as _;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;

use crate::door::{Door, OpenDoor, Peer};
use crate::http::House;
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
    let house = Arc::new(House::new(app.clone()));
    let keeping = tokio::spawn(app.clone().keep_house());
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
            let service = service_fn(answering(Arc::clone(&house), address));
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
    let _ = keeping.await;
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

/// What answers requests of one connection, told who is at its other end.
///
/// A request's answer is boxed: hyper keeps room for one with every connection, and there are
/// thousands of those that only listen.
fn answering(
    house: Arc<House>,
    address: SocketAddr,
) -> impl Fn(Request<Incoming>) -> Answering + Clone + Send + 'static {
    move |request| {
        let mut request = request.map(Body::new);
        request.extensions_mut().insert(ConnectInfo(Peer(address)));
        let house = Arc::clone(&house);
        Box::pin(async move { Ok(house.answer(request).await) })
    }
}

type Answering = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;
