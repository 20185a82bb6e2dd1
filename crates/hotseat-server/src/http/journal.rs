//! Every request has an id, and its span in the traces; where it is wished for, a line
//! in the log, without what was said.
//!
//! Ids of sessions are shown in part only, as everywhere in the log: those in paths, and
//! those that a request is about without naming them there.
//!
//! The id is the caller's own `x-request-id` if that is one, and goes back with the
//! answer; a problem in the answer names it as its `instance`, so the two can be joined
//! with the log. A stream is over when its last byte is gone, so that is when its line is
//! written.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use hotseat_core::SessionId;
use http_body::{Frame, SizeHint};
use tracing::{Instrument as _, Level, Span};

use crate::clock;
use crate::service::{App, continue_trace, shown_session};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// By which callers say of what trace their request is a part.
const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The longest id that is taken from a caller.
const MAX_ID: usize = 128;

/// Letters of a session's id that a path may show.
const SHOWN: usize = 8;

tokio::task_local! {
    /// The request that is being answered.
    static REQUEST: Arc<Noted>;
}

/// What is known of a request while it is answered.
#[derive(Debug, Default)]
struct Noted {
    id: String,
    /// The session that it is about, where the path does not say.
    session: OnceLock<SessionId>,
    /// The code of the problem that it was answered with.
    problem: OnceLock<&'static str>,
}

/// Notes which session the request that is being answered is about.
pub(super) fn about(session: SessionId) {
    // Outside of a request there is nothing to note it in.
    let _ = REQUEST.try_with(|noted| noted.session.set(session));
}

/// Notes what went wrong with the request that is being answered.
pub(super) fn problem(code: &'static str) {
    let _ = REQUEST.try_with(|noted| noted.problem.set(code));
}

/// The name of the request that is being answered, as a URI.
pub(super) fn instance() -> Option<String> {
    let id = REQUEST.try_with(|noted| noted.id.clone()).ok()?;
    let kind = if uuid::Uuid::try_parse(&id).is_ok() { "uuid" } else { "request" };
    Some(format!("urn:{kind}:{id}"))
}

/// Keeps the journal of a request that `answer` answers.
pub(super) async fn keep<F>(
    app: &App,
    request: Request,
    answer: impl FnOnce(Request) -> F,
) -> Response
where
    F: Future<Output = Response>,
{
    let id = request_id(&request);
    let logged = app.config.serve.access_log && tracing::enabled!(Level::INFO);
    let line = logged.then(|| Line::of(&request));
    let span = span_of(&request, &id);
    let noted = Arc::new(Noted { id, ..Noted::default() });
    let answering = answer(request).instrument(span.clone());
    let mut response = REQUEST.scope(Arc::clone(&noted), answering).await;
    let status = response.status().as_u16();
    span.record("http.response.status_code", status);
    app.counters.answered(status);
    if let Ok(value) = HeaderValue::from_str(&noted.id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let Some(mut line) = line else { return response };
    line.status = status;
    line.noted = noted;
    response.map(|body| Body::new(Logged { body, line: Some(line) }))
}

/// The span of a request. What it says is worked out only where somebody wants to know.
fn span_of(request: &Request, id: &str) -> Span {
    let span = tracing::info_span!(
        "request",
        otel.name = %format_args!("{} {}", request.method(), route(&shown(request.uri().path()))),
        otel.kind = "server",
        http.request.method = %request.method(),
        url.path = shown(request.uri().path()),
        request.id = id,
        http.response.status_code = tracing::field::Empty,
    );
    if let Some(parent) = request.headers().get(TRACEPARENT).and_then(|value| value.to_str().ok()) {
        continue_trace(&span, parent);
    }
    span
}

/// The caller's id, if it can be shown anywhere without harm.
fn request_id(request: &Request) -> String {
    let given = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
    let harmless = |id: &&str| {
        (1..=MAX_ID).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    given.filter(harmless).map_or_else(|| clock::new_id().to_string(), str::to_owned)
}

/// A path without the whole ids of sessions in it.
fn shown(path: &str) -> String {
    let parts = path.split('/').map(|part| {
        let is_id = uuid::Uuid::try_parse(part).is_ok() || ulid::Ulid::from_string(part).is_ok();
        match part.get(..SHOWN) {
            Some(begin) if is_id => format!("{begin}…"),
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The first words of a path, which are the same for all sessions.
fn route(path: &str) -> String {
    path.split('/').take(4).collect::<Vec<_>>().join("/")
}

/// What is written of a request.
struct Line {
    noted: Arc<Noted>,
    method: String,
    path: String,
    status: u16,
    began: Instant,
}

impl Line {
    fn of(request: &Request) -> Self {
        Self {
            noted: Arc::default(),
            method: request.method().to_string(),
            path: shown(request.uri().path()),
            status: 0,
            began: Instant::now(),
        }
    }

    fn write(self) {
        let Self { noted, method, path, status, began } = self;
        let milliseconds = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        tracing::info!(
            request.id = noted.id,
            method,
            path,
            status,
            session.id = noted.session.get().copied().map(shown_session),
            problem = noted.problem.get().copied(),
            milliseconds,
            "answered"
        );
    }
}

/// A body whose end, or its being left, is noted.
struct Logged {
    body: Body,
    line: Option<Line>,
}

impl HttpBody for Logged {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Logged {
    fn drop(&mut self) {
        if let Some(line) = self.line.take() {
            line.write();
        }
    }
}
