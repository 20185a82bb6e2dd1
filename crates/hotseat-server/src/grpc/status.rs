//! Refusals as gRPC statuses.
//!
//! Several refusals share a status. Which one it is says [`CODE`], by the same word as over HTTP,
//! so that no program has to guess from a message.

use std::fmt::Write as _;

use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Status};

use crate::http::Problem;
use crate::service::ServiceError;

/// The metadata that carries the `code` of a refusal.
const CODE: &str = "hotseat-code";

impl From<ServiceError> for Status {
    fn from(error: ServiceError) -> Self {
        use ServiceError as E;
        let code = match &error {
            E::SessionNotFound(_)
            | E::AdkSessionNotFound(_)
            | E::TurnNotFound { .. }
            | E::ToolNotRunning(_)
            | E::UnknownAgent(_)
            | E::NotFound { .. } => Code::NotFound,
            E::OwnerOnly | E::OtherUser | E::BoundToSession | E::Stranger | E::RoleNeeded(_) => {
                Code::PermissionDenied
            }
            E::TurnAnswered { .. } | E::AdkSessionExists(_) => Code::AlreadyExists,
            E::TurnNotHead { .. }
            | E::TurnClaimed { .. }
            | E::People(_)
            | E::SessionCompleted(_)
            | E::Stale { .. }
            | E::Remade { .. }
            | E::IngestOff
            | E::SessionNotCompleted(_)
            | E::RunInProgress { .. }
            | E::NoRun(_)
            | E::NoAgent(_)
            | E::NoWorker(_)
            | E::DrivenByProgram(_)
            | E::EvalSet { .. }
            | E::Unreadable { .. }
            | E::EvalSetFile { .. }
            | E::Golden { .. } => Code::FailedPrecondition,
            E::InvalidDecision(_)
            | E::Invalid { .. }
            | E::InvalidEvalSetPath { .. }
            | E::TooLarge { .. }
            | E::File { .. } => Code::InvalidArgument,
            E::Full { .. } => Code::ResourceExhausted,
            E::Conflict { .. } | E::RunElsewhere(_) => Code::Aborted,
            E::WorkerSilent { .. } => Code::DeadlineExceeded,
            E::WorkerFailed { .. } | E::NotReady | E::Closing => Code::Unavailable,
            E::Store(_) | E::NoRandomness(_) => Code::Internal,
        };
        // Where it is ours, the problem logs the cause and has words without it.
        let problem = Problem::from(error);
        let mut message = problem.detail().to_owned();
        for violation in problem.violations() {
            let _ = write!(message, "; {}: {}", violation.path, violation.message);
        }
        let mut metadata = MetadataMap::new();
        metadata.insert(CODE, MetadataValue::from_static(problem.code()));
        Status::with_metadata(code, message, metadata)
    }
}
