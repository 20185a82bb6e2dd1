//! What comes in, checked, with a problem where it does not fit.

use std::error::Error;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::StatusCode;
use axum::http::request::Parts;
use hotseat_core::{SessionId, TurnId};
use serde::de::DeserializeOwned;

use super::{Problem, credentials};
use crate::config::{MAX_BODY_BYTES, MAX_MESSAGE_BYTES};
use crate::identity::Visitor;
use crate::pace::Stalled;
use crate::service::App;

const MIB: usize = 1024 * 1024;

/// The use cases, on behalf of whoever came in. The guard at the door says who that
/// is; without its word nobody gets in here.
pub(super) struct Entered(pub(super) App);

impl FromRequestParts<App> for Entered {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let visitor = parts.extensions.get::<Visitor>().ok_or_else(credentials::missing)?;
        Ok(Self(app.entered_by(visitor.clone())))
    }
}

/// A JSON body.
#[derive(FromRequest)]
#[from_request(via(axum::Json), rejection(Problem))]
pub(super) struct Body<T>(pub(super) T);

/// A JSON body that may be left out.
pub(super) struct OptionalBody<T>(pub(super) T);

impl<T, S> FromRequest<S> for OptionalBody<T>
where
    T: DeserializeOwned + Default,
    S: Send + Sync,
{
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = Bytes::from_request(request, state).await?;
        if bytes.iter().all(u8::is_ascii_whitespace) {
            return Ok(Self(T::default()));
        }
        let axum::Json(body) = axum::Json::<T>::from_bytes(&bytes)?;
        Ok(Self(body))
    }
}

/// The query of an address.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(Problem))]
pub(super) struct Params<T>(pub(super) T);

/// The variable parts of an address.
#[derive(FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(Problem))]
pub(super) struct At<T>(pub(super) T);

impl From<BytesRejection> for Problem {
    fn from(rejection: BytesRejection) -> Self {
        if let Some(problem) = stalled(&rejection) {
            return problem;
        }
        match rejection.status() {
            StatusCode::PAYLOAD_TOO_LARGE => Self::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                "too_large",
                format!(
                    "the body is larger than the limit of {} MiB, or of {} MiB where files come \
                     with a message",
                    MAX_BODY_BYTES / MIB,
                    MAX_MESSAGE_BYTES / MIB
                ),
            ),
            _ => Self::bad_request(rejection.body_text()),
        }
    }
}

/// What to say of a body whose sender stopped in the middle, if that is what went wrong.
pub(super) fn stalled(error: &(dyn Error + 'static)) -> Option<Problem> {
    let mut causes = std::iter::successors(Some(error), |&error| error.source());
    causes.any(<dyn Error>::is::<Stalled>).then(|| {
        Problem::new(
            StatusCode::REQUEST_TIMEOUT,
            "stalled",
            "the body stopped coming before its end: send it again",
        )
    })
}

impl From<JsonRejection> for Problem {
    fn from(rejection: JsonRejection) -> Self {
        if let JsonRejection::BytesRejection(rejection) = rejection {
            return rejection.into();
        }
        let detail = rejection.body_text();
        match rejection.status() {
            StatusCode::UNSUPPORTED_MEDIA_TYPE => Self::new(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                "unsupported_media_type",
                "send JSON with `Content-Type: application/json`",
            ),
            StatusCode::UNPROCESSABLE_ENTITY => {
                Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
            }
            _ => Self::bad_request(detail),
        }
    }
}

impl From<QueryRejection> for Problem {
    fn from(rejection: QueryRejection) -> Self {
        Self::bad_request(rejection.body_text())
    }
}

impl From<PathRejection> for Problem {
    fn from(rejection: PathRejection) -> Self {
        Self::bad_request(rejection.body_text())
    }
}

/// A session id from an address. Text that cannot be one names no session.
pub(super) fn session_id(text: &str) -> Result<SessionId, Problem> {
    text.parse().map_err(|error: hotseat_core::InvalidId| {
        Problem::new(StatusCode::NOT_FOUND, "session_not_found", error.to_string())
    })
}

/// A turn id from an address.
pub(super) fn turn_id(text: &str) -> Result<TurnId, Problem> {
    text.parse().map_err(|error: hotseat_core::InvalidId| {
        Problem::new(StatusCode::NOT_FOUND, "turn_not_found", error.to_string())
    })
}
