//! Running the server until it is told to stop.

use std::future::Future;
use std::io;
use std::time::Duration;

use tokio::net::TcpListener;

use crate::http;
use crate::service::App;

/// How long open requests may take to end once the server stops.
const DRAIN: Duration = Duration::from_secs(5);

/// Serves `app` on `listener` until `stop` resolves, then ends every stream and
/// lets open requests finish.
pub async fn serve(
    app: App,
    listener: TcpListener,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    // Turns are handed over in small messages that somebody waits for.
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "could not set TCP_NODELAY");
        }
    });
    let router = http::router(app.clone());
    let closing = app.clone();
    let server = axum::serve(listener, router).with_graceful_shutdown(async move {
        stop.await;
        closing.close();
    });
    tokio::select! {
        result = server => result,
        () = async { app.closed().await; tokio::time::sleep(DRAIN).await } => Ok(()),
    }
}
