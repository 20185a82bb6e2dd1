//! The HTTP front door: routes, the page, and who may come in.
//!
//! Handlers translate and nothing more; what is allowed is decided in
//! `service/`. Every error leaves as problem+json.

mod access;
mod adk;
mod adk_run;
mod agents;
mod agui;
mod artifacts;
mod audit;
mod binding;
mod chat;
mod cookie;
mod credentials;
mod document;
mod eval_sets;
mod events;
mod export;
mod extract;
mod health;
mod journal;
mod packed;
mod people;
mod permissions;
mod problem;
mod records;
mod rooms;
mod search;
mod sessions;
mod sign_in;
mod sse;
mod stats;
mod staying;
mod stream;
mod turns;
mod ui;
mod view;
mod written;

use std::panic::AssertUnwindSafe;
use std::sync::LazyLock;

use axum::extract::{DefaultBodyLimit, Request};
use axum::middleware;
use axum::response::{Redirect, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use futures_util::FutureExt as _;
use tower::ServiceExt as _;
use tower::util::MapRequestLayer;
use tower_http::compression::CompressionLayer;
use tower_http::compression::predicate::{NotForContentType, Predicate, SizeAbove};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::config::{MAX_BODY_BYTES, MAX_MESSAGE_BYTES};
use crate::grpc::Calls;
use crate::pace;
use crate::service::App;

pub(crate) use people::{TokenView, UserView};
pub use permissions::{Needs, PERMISSIONS};
pub(crate) use problem::{Problem, readable};
pub(crate) use view::{SessionView, state_of};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Hotseat",
        description = "Sessions, turns and golden traces of AI agents, with a person in the model's seat."
    ),
    // What streams tell, which no operation names.
    components(schemas(rooms::RoomView, document::ServerSentEvent))
)]
struct Document;

/// Everything the server answers, on one port: the API, gRPC, the page.
pub(crate) struct House {
    app: App,
    rooms: Router,
    calls: Calls,
}

impl House {
    pub(crate) fn new(app: App) -> Self {
        Self { rooms: router(app.clone()), calls: Calls::new(&app), app }
    }

    /// Answers one request. Calls of gRPC are known by their path and come by the thousand; they
    /// pass the same checks as everything else, but no router.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        let Self { app, rooms, calls } = self;
        journal::keep(app, request, async |request| {
            let answered = async {
                if Calls::has(request.uri().path()) {
                    return access::guard(app, request, |request| calls.answer(request)).await;
                }
                let Ok(response) = rooms.clone().oneshot(request).await;
                response
            };
            let answered = AssertUnwindSafe(answered).catch_unwind().await;
            answered.unwrap_or_else(problem::from_panic)
        })
        .await
    }
}

fn router(app: App) -> Router {
    let stalled_after = app.config.stalled_after;
    let site = Router::new()
        .route("/api/v1/openapi.json", get(described))
        .route("/docs", get(async || Redirect::to("/docs/")))
        .route("/docs/", get(ui::docs))
        .fallback(ui::serve)
        .layer(middleware::from_fn(packed::for_its_reader));
    let api = Router::from(api())
        .merge(site)
        .route("/auth/login", get(sign_in::login))
        .route("/auth/callback", get(sign_in::callback))
        .route("/auth/logout", post(sign_in::logout))
        .method_not_allowed_fallback(problem::method_not_allowed)
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
        .layer(MapRequestLayer::new(move |request: Request| pace::whole(request, stalled_after)))
        // Streams must not wait in a compressor for a full block.
        .layer(
            CompressionLayer::new().compress_when(
                SizeAbove::new(1024)
                    .and(NotForContentType::new("text/event-stream"))
                    .and(NotForContentType::const_new(hotseat_agui::PROTOBUF)),
            ),
        )
        .with_state(app.clone());
    api.layer(middleware::from_fn_with_state(app, access::layer))
}

/// The OpenAPI document, as the server itself would answer it.
pub fn openapi() -> utoipa::openapi::OpenApi {
    let (_, document) = api().split_for_parts();
    document::finished(document)
}

/// It is large, so it is made once, when somebody asks for it first.
async fn described() -> Json<&'static utoipa::openapi::OpenApi> {
    static DOCUMENT: LazyLock<utoipa::openapi::OpenApi> = LazyLock::new(openapi);
    Json(&DOCUMENT)
}

fn api() -> OpenApiRouter<App> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::health))
        .routes(routes!(health::ready))
        .routes(routes!(agents::list))
        .routes(routes!(stream::all))
        .routes(routes!(sessions::list, sessions::create))
        .routes(routes!(sessions::show, sessions::delete))
        .routes(routes!(sessions::complete))
        .routes(routes!(sessions::query))
        .routes(routes!(sessions::fork))
        .routes(routes!(sessions::cancel))
        .routes(routes!(sessions::cancel_tool))
        .routes(routes!(events::list, events::ingest, records::clear_events))
        .routes(routes!(records::event_summary))
        .routes(routes!(records::record))
        .routes(routes!(records::messages, records::add_message))
        .routes(routes!(records::rebuild))
        .routes(routes!(records::backfill))
        .routes(routes!(search::search))
        .routes(routes!(stats::stats))
        .routes(routes!(stats::metrics))
        .routes(routes!(adk::list_apps))
        .routes(routes!(adk::list, adk::create))
        .routes(routes!(adk::show, adk::create_named, adk::patch, adk::delete))
        .routes(routes!(stream::session))
        .routes(routes!(artifacts::list))
        .routes(routes!(artifacts::bytes))
        .routes(routes!(binding::bind))
        .routes(routes!(binding::csrf))
        .routes(routes!(people::me))
        .routes(routes!(people::list, people::add))
        .routes(routes!(people::revoke))
        .routes(routes!(people::set_role))
        .routes(routes!(people::tokens, people::add_token))
        .routes(routes!(people::revoke_token))
        .routes(routes!(audit::list))
        .routes(routes!(audit::export))
        .routes(routes!(turns::of_all))
        .routes(routes!(turns::of_session))
        .routes(routes!(turns::decide))
        .routes(routes!(turns::dismiss))
        .routes(routes!(rooms::claim, rooms::release))
        .routes(routes!(rooms::hand_over))
        .routes(routes!(rooms::typing))
        .routes(routes!(export::preview, export::write))
        .routes(routes!(eval_sets::list))
        .routes(routes!(eval_sets::file))
        .routes(routes!(eval_sets::put_case, eval_sets::delete_case))
        .routes(routes!(eval_sets::validate))
        .routes(routes!(eval_sets::run))
        .routes(routes!(eval_sets::runs))
        .routes(routes!(eval_sets::one_run))
        .routes(routes!(agui::capabilities))
        .routes(routes!(agui::show))
        .routes(routes!(agui::attach))
        .routes(routes!(agui::cancel))
        .routes(routes!(chat::health_agent))
        .merge(chat::routes())
        .merge(with_files())
}

/// Where messages come with all that was said before, and with files.
fn with_files() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(adk_run::run))
        .routes(routes!(adk_run::run_sse))
        .routes(routes!(agui::run))
        .layer(DefaultBodyLimit::max(MAX_MESSAGE_BYTES))
}
