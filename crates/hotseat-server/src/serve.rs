//! Running the server until it is told to stop.

use std::future::Future;
use std::io;
use std::time::Duration;

use crate::door::{Door, OpenDoor, Peer};
use crate::http;
use crate::service::App;

/// How long open requests may take to end once the server stops.
const DRAIN: Duration = Duration::from_secs(5);

/// Serves `app` at `door` until `stop` resolves, then ends every stream and
/// lets open requests finish.
pub async fn serve(
    app: App,
    door: impl Into<Door>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let stalled_after = app.config.stalled_after;
    let listener = OpenDoor::new(door.into(), app.config.tls.clone(), stalled_after);
    let router = http::router(app.clone());
    let service = router.into_make_service_with_connect_info::<Peer>();
    let house = tokio::spawn(app.clone().keep_house());
    let closing = app.clone();
    let server = axum::serve(listener, service).with_graceful_shutdown(async move {
        stop.await;
        closing.drain().await;
    });
    let result = tokio::select! {
        result = server => result,
        () = async { app.closed().await; tokio::time::sleep(DRAIN).await } => Ok(()),
    };
    // What was still to be noted is noted. Its own failure was logged there.
    let _ = house.await;
    result
}
