//! Refusals as gRPC statuses.

use std::fmt::Write as _;

use tonic::{Code, Status};

use crate::http::Problem;
use crate::service::ServiceError;

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
        if code == Code::Internal {
            // The problem logs the cause and has words without it.
            return Status::new(code, Problem::from(error).detail().to_owned());
        }
        let mut message = crate::http::readable(&error);
        if let E::InvalidDecision(violations) | E::Invalid { violations, .. } = &error {
            for violation in violations {
                let _ = write!(message, "; {}: {}", violation.path, violation.message);
            }
        }
        Status::new(code, message)
    }
}
