//! The gRPC front door: plugins, workers and other programs.
//!
//! Behind the same checks as HTTP, on the same port. Handlers translate and nothing more.

mod adk;
mod appending;
mod convert;
mod seat;
mod sessions;
mod status;
mod worker;

use std::time::Duration;

use axum::body::Body;
use axum::http;
use tonic::{Request, Status};
use tower::Service as _;

use crate::config::MAX_BODY_BYTES;
use crate::identity::Visitor;
use crate::pace;
use crate::proto::seat_server::{SERVICE_NAME as SEAT, SeatServer};
use crate::proto::sessions_server::{SERVICE_NAME as SESSIONS, SessionsServer};
use crate::proto::worker_server::{SERVICE_NAME as WORKER, WorkerServer};
use crate::service::App;

/// The use cases, on behalf of whoever came in. The guard at the door says who that
/// is; without its word nobody gets in here.
fn entered<T>(app: &App, request: &Request<T>) -> Result<App, Status> {
    match request.extensions().get::<Visitor>() {
        Some(visitor) => Ok(app.entered_by(visitor.clone())),
        None => Err(Status::unauthenticated("the token is missing or wrong")),
    }
}

/// All calls that there are.
pub(crate) struct Calls {
    seat: SeatServer<seat::SeatService>,
    sessions: SessionsServer<sessions::SessionsService>,
    worker: WorkerServer<worker::WorkerService>,
    stalled_after: Duration,
}

impl Calls {
    pub(crate) fn new(app: &App) -> Self {
        Self {
            seat: SeatServer::new(seat::SeatService(app.clone()))
                .max_decoding_message_size(MAX_BODY_BYTES)
                .max_encoding_message_size(usize::MAX),
            sessions: SessionsServer::new(sessions::SessionsService(app.clone()))
                .max_decoding_message_size(MAX_BODY_BYTES)
                .max_encoding_message_size(usize::MAX),
            worker: WorkerServer::new(worker::WorkerService(app.clone()))
                .max_decoding_message_size(MAX_BODY_BYTES),
            stalled_after: app.config.stalled_after,
        }
    }

    /// Whether a path is that of a call, or would be if its service had it.
    pub(crate) fn has(path: &str) -> bool {
        Service::of(path).is_some()
    }

    /// Answers one call. Whoever is let in here was admitted before.
    pub(crate) async fn answer(&self, request: http::Request<Body>) -> http::Response<Body> {
        let request = pace::messages(request, self.stalled_after);
        // What a service cannot do, it answers; it does not fail.
        let Ok(response) = match Service::of(request.uri().path()) {
            Some(Service::Seat) => self.seat.clone().call(request).await,
            Some(Service::Sessions) => self.sessions.clone().call(request).await,
            Some(Service::Worker) => self.worker.clone().call(request).await,
            None => Ok(Status::unimplemented("there is no such service").into_http()),
        };
        response.map(Body::new)
    }
}

/// The services.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    Seat,
    Sessions,
    Worker,
}

impl Service {
    /// Whose call a path names: `/package.Service/Call`.
    fn of(path: &str) -> Option<Self> {
        let (service, _) = path.strip_prefix('/')?.split_once('/')?;
        match service {
            SEAT => Some(Self::Seat),
            SESSIONS => Some(Self::Sessions),
            WORKER => Some(Self::Worker),
            _ => None,
        }
    }
}
