//! Errors as RFC 9457 problems.
//!
//! `code` is stable and for programs, `detail` says what happened to which thing
//! and what to do next. What went wrong inside is only in the log, under the
//! `instance` that the caller was given: the id of the request, as everything that the
//! log says of it has it.

use std::any::Any;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hotseat_core::{Violation, rfc3339};
use hotseat_store::PeopleError;
use serde::Serialize;
use serde_json::value::RawValue;

use super::journal;
use crate::clock;
use crate::error::causes;
use crate::service::{FileProblem, ServiceError};

/// Seconds after which a server that is full, not ready or about to stop may be asked again.
const RETRY_AFTER: &str = "5";

/// An error answer.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Problem {
    /// Always `about:blank`: `code` tells problems apart.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The status in words.
    title: &'static str,
    /// The HTTP status.
    status: u16,
    /// Stable, for programs.
    code: &'static str,
    /// What happened, and what to do next.
    detail: String,
    /// The id of the request, which joins this answer to the server's log.
    instance: String,
    /// For 422: where in the body, by JSON pointer, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    errors: Vec<Violation>,
    /// For `turn_answered`: the answer that is there.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    decision: Option<Box<RawValue>>,
    /// For `run_in_progress`: the run that goes on.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<String>,
    /// For `turn_claimed`: who has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<Box<Claimed>>,
}

/// Somebody who has claimed a turn.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Claimed {
    holder: String,
    /// Until when, unless they claim it again.
    until: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, code: &'static str, detail: impl Into<String>) -> Self {
        Self {
            kind: "about:blank",
            title: status.canonical_reason().unwrap_or("Error"),
            status: status.as_u16(),
            code,
            detail: detail.into(),
            instance: journal::instance()
                .unwrap_or_else(|| format!("urn:uuid:{}", clock::new_id())),
            errors: Vec::new(),
            decision: None,
            run_id: None,
            claim: None,
        }
    }

    pub(super) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// As part of an answer that began in the request of this `instance`.
    pub(super) fn within(mut self, instance: Option<&str>) -> Self {
        if let Some(instance) = instance {
            instance.clone_into(&mut self.instance);
        }
        self
    }

    pub(crate) fn detail(&self) -> &str {
        &self.detail
    }

    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// What is wrong where, if what was sent cannot be used.
    pub(crate) fn violations(&self) -> &[Violation] {
        &self.errors
    }

    pub(crate) fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad_request", detail)
    }

    /// What was sent can be read, but not used.
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", detail)
    }

    pub(crate) fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", detail)
    }

    /// A failure of ours: the caller learns that it happened, the log learns why.
    pub(super) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        let problem = Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong in the server; its log has the cause under this instance",
        );
        let causes = causes(error);
        tracing::error!(instance = %problem.instance, error = %causes, "a request failed");
        problem
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        journal::problem(self.code);
        let status = self.status();
        let body = serde_json::to_vec(&self).unwrap_or_default();
        let content_type = HeaderValue::from_static("application/problem+json");
        let mut response = (status, [(header::CONTENT_TYPE, content_type)], body).into_response();
        if matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
            let seconds = HeaderValue::from_static(RETRY_AFTER);
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

impl From<ServiceError> for Problem {
    fn from(error: ServiceError) -> Self {
        use ServiceError as E;
        let (status, code) = match &error {
            E::SessionNotFound(_) | E::AdkSessionNotFound(_) => {
                (StatusCode::NOT_FOUND, "session_not_found")
            }
            E::OwnerOnly => (StatusCode::FORBIDDEN, "owner_only"),
            E::Stranger => (StatusCode::FORBIDDEN, "stranger"),
            E::RoleNeeded(_) => (StatusCode::FORBIDDEN, "role"),
            E::People(refused) => match refused {
                PeopleError::NameTaken(_) => (StatusCode::CONFLICT, "name_taken"),
                PeopleError::NoUser(_) => (StatusCode::NOT_FOUND, "user_not_found"),
                PeopleError::Revoked(_) => (StatusCode::CONFLICT, "user_revoked"),
                PeopleError::NoToken(_) => (StatusCode::NOT_FOUND, "token_not_found"),
                PeopleError::TooManyUsers | PeopleError::TooManyTokens(_) => {
                    (StatusCode::CONFLICT, "too_many")
                }
                PeopleError::Store(_) => return Self::internal(&error),
            },
            E::OtherUser => (StatusCode::FORBIDDEN, "other_user"),
            E::BoundToSession => (StatusCode::FORBIDDEN, "bound_to_session"),
            E::AdkSessionExists(_) => (StatusCode::CONFLICT, "session_exists"),
            E::Stale { .. } | E::Remade { .. } => (StatusCode::CONFLICT, "stale"),
            E::IngestOff => (StatusCode::CONFLICT, "ingest_off"),
            E::TurnNotFound { .. } => (StatusCode::NOT_FOUND, "turn_not_found"),
            E::ToolNotRunning(_) => (StatusCode::NOT_FOUND, "tool_not_running"),
            E::TurnAnswered { .. } => (StatusCode::CONFLICT, "turn_answered"),
            E::TurnClaimed { .. } => (StatusCode::CONFLICT, "turn_claimed"),
            E::TurnNotHead { .. } => (StatusCode::CONFLICT, "turn_not_head"),
            E::SessionCompleted(_) => (StatusCode::CONFLICT, "session_completed"),
            E::SessionNotCompleted(_) => (StatusCode::CONFLICT, "session_not_completed"),
            E::RunInProgress { .. } => (StatusCode::CONFLICT, "run_in_progress"),
            E::NoRun(_) => (StatusCode::CONFLICT, "no_run"),
            E::NoAgent(_) => (StatusCode::CONFLICT, "no_agent"),
            E::NoWorker(_) => (StatusCode::CONFLICT, "no_worker"),
            E::DrivenByProgram(_) => (StatusCode::CONFLICT, "driven_by_program"),
            E::Conflict { .. } => (StatusCode::CONFLICT, "conflict"),
            E::RunElsewhere(_) => (StatusCode::CONFLICT, "run_elsewhere"),
            E::EvalSet { .. } | E::Unreadable { .. } => {
                (StatusCode::CONFLICT, "eval_set_unreadable")
            }
            E::Golden { .. } => (StatusCode::CONFLICT, "no_golden_trace"),
            E::InvalidDecision(_) => (StatusCode::UNPROCESSABLE_ENTITY, "invalid_decision"),
            E::Invalid { .. } => (StatusCode::UNPROCESSABLE_ENTITY, "invalid"),
            E::InvalidEvalSetPath { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_eval_set_path")
            }
            E::TooLarge { .. } | E::File { kind: FileProblem::Size, .. } => {
                (StatusCode::PAYLOAD_TOO_LARGE, "too_large")
            }
            E::EvalSetFile { .. } => (StatusCode::CONFLICT, "eval_set_not_written"),
            E::WorkerSilent { .. } => (StatusCode::GATEWAY_TIMEOUT, "worker_silent"),
            E::WorkerFailed { .. } => (StatusCode::BAD_GATEWAY, "worker_failed"),
            E::NotFound { .. } => (StatusCode::NOT_FOUND, "nothing_there"),
            E::Closing => (StatusCode::SERVICE_UNAVAILABLE, "closing"),
            E::UnknownAgent(_) => (StatusCode::NOT_FOUND, "unknown_agent"),
            E::NotReady => (StatusCode::SERVICE_UNAVAILABLE, "not_ready"),
            E::Full { .. } => (StatusCode::TOO_MANY_REQUESTS, "full"),
            E::File { kind: FileProblem::Type, .. } => {
                (StatusCode::UNSUPPORTED_MEDIA_TYPE, "unsupported_file")
            }
            E::File { kind: FileProblem::Unreadable, .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "unreadable_file")
            }
            E::NoRandomness(_) | E::Store(_) => return Self::internal(&error),
        };
        let mut problem = Self::new(status, code, readable(&error));
        match error {
            E::InvalidDecision(violations) | E::Invalid { violations, .. } => {
                problem.errors = violations;
            }
            E::TurnAnswered { decision, .. } => problem.decision = decision,
            E::TurnClaimed { holder, until, .. } => {
                problem.claim = Some(Box::new(Claimed { holder, until: rfc3339(until) }));
            }
            E::RunInProgress { run_id, .. } => problem.run_id = Some(run_id),
            _ => {}
        }
        problem
    }
}

/// What a caller may read of an error of theirs: all of it, since its sources
/// are about their files and sessions.
pub(crate) fn readable(error: &ServiceError) -> String {
    causes(error)
}

pub(super) async fn method_not_allowed() -> Problem {
    Problem::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method_not_allowed",
        "this address does not take this method; /docs lists what there is",
    )
}

#[expect(clippy::needless_pass_by_value, reason = "whoever catches a panic gives its box away")]
pub(super) fn from_panic(panic: Box<dyn Any + Send + 'static>) -> Response {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("unknown");
    Problem::internal(&std::io::Error::other(format!("panic: {message}"))).into_response()
}
