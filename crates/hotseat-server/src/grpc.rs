//! The gRPC front door: plugins, workers and other programs.
//!
//! Served by the same router as HTTP, behind the same checks. Handlers translate
//! and nothing more.

mod adk;
mod appending;
mod convert;
mod seat;
mod sessions;
mod status;
mod worker;

use axum::Router;
use tonic::service::Routes;
use tonic::{Request, Status};

use crate::config::MAX_BODY_BYTES;
use crate::identity::Visitor;
use crate::proto::seat_server::SeatServer;
use crate::proto::sessions_server::SessionsServer;
use crate::proto::worker_server::WorkerServer;
use crate::service::App;

/// The use cases, on behalf of whoever came in. The guard at the door says who that
/// is; without its word nobody gets in here.
fn entered<T>(app: &App, request: &Request<T>) -> Result<App, Status> {
    match request.extensions().get::<Visitor>() {
        Some(visitor) => Ok(app.entered_by(visitor.clone())),
        None => Err(Status::unauthenticated("the token is missing or wrong")),
    }
}

pub(crate) fn router(app: &App) -> Router {
    let seat = SeatServer::new(seat::SeatService(app.clone()))
        .max_decoding_message_size(MAX_BODY_BYTES)
        .max_encoding_message_size(usize::MAX);
    let sessions = SessionsServer::new(sessions::SessionsService(app.clone()))
        .max_decoding_message_size(MAX_BODY_BYTES)
        .max_encoding_message_size(usize::MAX);
    let worker = WorkerServer::new(worker::WorkerService(app.clone()))
        .max_decoding_message_size(MAX_BODY_BYTES);
    // Only the services' own routes: the fallback belongs to the page.
    let mut routes = Routes::builder();
    routes.add_service(seat).add_service(sessions).add_service(worker);
    routes.routes().into_axum_router().reset_fallback()
}
