//! Why a use case was refused.
//!
//! Variants carry data; the two front doors each decide in one exhaustive match
//! what status and which words a caller gets.

use hotseat_core::{EvalSetError, GoldenError, Role, SessionId, TurnId, Violation};
use hotseat_store::{AppendError, PeopleError, StoreError};
use jiff::Timestamp;
use serde_json::value::RawValue;

use super::files::FileProblem;

#[derive(Debug, thiserror::Error)]
pub(crate) enum ServiceError {
    #[error("there is no session {0}")]
    SessionNotFound(SessionId),
    #[error("there is no session `{0}` of this app and user")]
    AdkSessionNotFound(String),
    #[error("only the owner of this server may do this: use the token that `hotseat web` printed")]
    OwnerOnly,
    #[error("this needs the role {0}: ask an admin")]
    RoleNeeded(Role),
    #[error("you are signed in, but have no place here: ask an admin of this server")]
    Stranger,
    #[error(transparent)]
    People(PeopleError),
    #[error("the system gave no random bytes")]
    NoRandomness(#[source] std::io::Error),
    #[error("your token is for another user: leave `user_id` out")]
    OtherUser,
    #[error("your token is for one session and admits to nothing else")]
    BoundToSession,
    #[error("there is a session `{0}` of this app and user already")]
    AdkSessionExists(String),
    #[error(
        "session `{session}` has changed: its last event is {actual}, not {expected}; read it again"
    )]
    Stale { session: String, expected: u64, actual: u64 },
    #[error("session `{session}` was deleted and made again: read it again")]
    Remade { session: String },
    #[error("session {session} has no turn {turn}")]
    TurnNotFound { session: SessionId, turn: TurnId },
    #[error("turn {turn} was answered already")]
    TurnAnswered { turn: TurnId, decision: Option<Box<RawValue>> },
    #[error("turn {turn} is claimed by {holder}: wait until they answer or let go of it")]
    TurnClaimed { turn: TurnId, holder: String, until: Timestamp },
    #[error("turn {turn} is not the head of the queue: answer turn {head} first")]
    TurnNotHead { turn: TurnId, head: TurnId },
    #[error("the answer does not fit the request")]
    InvalidDecision(Vec<Violation>),
    #[error("{detail}")]
    Invalid { detail: String, violations: Vec<Violation> },
    #[error("session {0} is completed: start a new session to go on")]
    SessionCompleted(SessionId),
    #[error("session {0} is not completed: complete it before exporting")]
    SessionNotCompleted(SessionId),
    #[error("session {session} is busy with run {run_id}: wait for it or cancel it")]
    RunInProgress { session: SessionId, run_id: String },
    #[error("session {0} has no run to cancel")]
    NoRun(SessionId),
    #[error("session {0} has no agent: create a session with one")]
    NoAgent(SessionId),
    #[error("agent `{0}` is not registered: start a worker that hosts it")]
    NoWorker(String),
    #[error("session {0} is driven by your own program: send the message there")]
    DrivenByProgram(SessionId),
    #[error("no tool with call id `{0}` is running in this session")]
    ToolNotRunning(String),
    #[error("`{path}` cannot be used as an EvalSet file: {reason}")]
    InvalidEvalSetPath { path: String, reason: &'static str },
    #[error("the EvalSet file {path} was left as it is")]
    EvalSet {
        path: String,
        #[source]
        source: EvalSetError,
    },
    #[error("{path} cannot be read: {error}")]
    Unreadable { path: String, error: String },
    #[error("could not write the EvalSet file {path}")]
    EvalSetFile {
        path: String,
        #[source]
        source: std::io::Error,
    },
    #[error("session {session} has no golden trace")]
    Golden {
        session: SessionId,
        #[source]
        source: GoldenError,
    },
    #[error("a worker did not answer in time when asked for `{what}`: try again")]
    WorkerSilent { what: &'static str },
    #[error("a worker could not do `{what}`: {error}")]
    WorkerFailed { what: &'static str, error: String },
    #[error("there is no such {what}")]
    NotFound { what: &'static str },
    #[error("an event of {bytes} bytes is larger than the limit of {limit}")]
    TooLarge { bytes: usize, limit: usize },
    #[error("session {session} changed while this was being done: try again")]
    Conflict { session: SessionId },
    #[error(
        "another worker goes on with the run of session {0}: this one writes nothing more of it"
    )]
    RunElsewhere(SessionId),
    #[error("this server takes no raw events: its `no_ingest` setting is on")]
    IngestOff,
    #[error("the server is shutting down")]
    Closing,
    #[error("there is no agent `{0}` here")]
    UnknownAgent(String),
    #[error("the agent is not ready yet: try again in a moment")]
    NotReady,
    #[error("{active} sessions are active, and {limit} is the limit: try again later")]
    Full { active: usize, limit: usize },
    #[error("file `{name}`: {problem}")]
    File { name: String, problem: String, kind: FileProblem },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl ServiceError {
    pub(crate) fn invalid(detail: impl Into<String>) -> Self {
        Self::Invalid { detail: detail.into(), violations: Vec::new() }
    }
}

impl From<PeopleError> for ServiceError {
    fn from(error: PeopleError) -> Self {
        match error {
            PeopleError::Store(error) => Self::Store(error),
            refused => Self::People(refused),
        }
    }
}

impl From<AppendError> for ServiceError {
    fn from(error: AppendError) -> Self {
        match error {
            AppendError::NoSession { session } => Self::SessionNotFound(session),
            AppendError::Completed { session } => Self::SessionCompleted(session),
            AppendError::Conflict { session, .. } | AppendError::StillOpen { session } => {
                Self::Conflict { session }
            }
            AppendError::Remade { session } => Self::Remade { session: session.to_string() },
            AppendError::NoTurn { session, turn } => Self::TurnNotFound { session, turn },
            AppendError::TurnAnswered { turn, response: _ } => {
                Self::TurnAnswered { turn, decision: None }
            }
            AppendError::TurnClaimed { turn, holder, until } => {
                Self::TurnClaimed { turn, holder, until }
            }
            AppendError::TurnNotHead { turn, head } => Self::TurnNotHead { turn, head },
            AppendError::RunElsewhere { session } => Self::RunElsewhere(session),
            AppendError::RunOpen { session, run_id } => Self::RunInProgress { session, run_id },
            AppendError::Store(error) => Self::Store(error),
        }
    }
}
