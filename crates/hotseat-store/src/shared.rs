//! What servers that share a database need of each other: who is there, who works on what, and
//! questions to the workers of others.
//!
//! A server is there for as long as it says so again, by the clock of the database. Who works on
//! a run has a lease on it that ends with its server, so a run costs one row when it is taken and
//! nothing while it lasts. What the lease says of the worker stays when the run has ended: the
//! rules refuse what any other writes of it. Where one server has the log for itself there is no
//! [`Shared`], and of all this only the leases of its workers.

use hotseat_core::SessionId;
use uuid::Uuid;

/// Runs that are told of at once.
pub const MAX_RUNS_TOLD: usize = 256;

/// What a server tells the others of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerCard {
    /// The server.
    pub server: Uuid,
    /// Which card it is: another one has another number.
    pub edition: i64,
    /// What only servers understand.
    pub text: String,
}

/// A wish to work on a run.
#[derive(Debug, Clone)]
pub struct RunClaim {
    /// The session.
    pub session: SessionId,
    /// Its open run.
    pub run_id: String,
    /// Who wants it.
    pub server: Uuid,
    /// The worker, if it is not the server itself. It keeps its run when it goes to another
    /// server.
    pub worker: Option<String>,
    /// From whom it may be taken.
    pub take_over: TakeOver,
}

/// From whom a run may be taken. What nobody has had yet, and what the worker itself was the
/// last to have, always may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakeOver {
    /// From nobody: the worker works on it already, and another may have had it since.
    Nothing,
    /// From the workers of the same server, which are gone or it would not ask.
    OfItsOwn,
    /// Also from a server that is gone.
    OfTheGone,
}

/// Who works on a run of a session, or was the last to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RunLease {
    pub(crate) run_id: String,
    /// [`NOBODY`], once it was let go of.
    pub(crate) server: Uuid,
    pub(crate) worker: Option<String>,
}

/// The server of a run that was let go of.
pub(crate) const NOBODY: Uuid = Uuid::nil();

impl RunClaim {
    /// Whether the open run may be taken, given who has it. PostgreSQL decides the same in the
    /// statement that takes it.
    pub(crate) fn succeeds(&self, lease: &RunLease, is_there: impl Fn(Uuid) -> bool) -> bool {
        if lease.run_id != self.run_id || (lease.worker.is_some() && lease.worker == self.worker) {
            return true;
        }
        let its_own = lease.server == self.server || lease.server == NOBODY;
        match self.take_over {
            TakeOver::Nothing => false,
            TakeOver::OfItsOwn => its_own,
            TakeOver::OfTheGone => its_own || !is_there(lease.server),
        }
    }
}

/// A run that a server has a lease on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldRun {
    /// The session.
    pub session: SessionId,
    /// The run.
    pub run_id: String,
    /// It is open in the log. One that is not has ended elsewhere.
    pub open: bool,
}
