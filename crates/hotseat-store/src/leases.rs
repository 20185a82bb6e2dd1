//! Who holds something of a session for a while.
//!
//! A lease ends by itself: whoever holds one asks for it again before that. The time is the
//! caller's, so nothing here waits, and a lease that is over is nobody's, whether it was removed
//! or not. A clock may have been put back since: no lease lasts longer than its time counted from
//! when somebody else asks for it, or nobody could have what a vanished holder took in the hour
//! that came twice.

use std::time::Duration;

use hotseat_core::{SessionId, TurnId};
use jiff::Timestamp;

use crate::store::to_millisecond;

/// Leases of one session that are told; more than anybody holds.
pub const MAX_LEASES_PER_SESSION: usize = 1_000;

/// What whoever claims a turn holds. An answer of anybody else is refused
/// ([`Store::answer`](crate::Store::answer)).
pub fn claim_on(turn: TurnId) -> String {
    format!("turn:{turn}")
}

/// Something of a session, held by somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The session.
    pub session: SessionId,
    /// What is held: `turn:<id>`.
    pub subject: String,
    /// By whom.
    pub holder: String,
    /// Since when it is theirs.
    pub since: Timestamp,
    /// Until when, unless they ask again.
    pub until: Timestamp,
}

/// A wish to hold something.
#[derive(Debug, Clone)]
pub struct LeaseRequest {
    /// The session.
    pub session: SessionId,
    /// What to hold.
    pub subject: String,
    /// Who wants it.
    pub holder: String,
    /// What time it is.
    pub now: Timestamp,
    /// For how long.
    pub ttl: Duration,
}

/// What became of the wish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leased {
    /// It is held, anew or still.
    Held(Lease),
    /// Somebody else holds it.
    Taken(Lease),
    /// There is no such session.
    NoSession,
}

impl LeaseRequest {
    /// What becomes of the wish, given who has it now; either way, what is to be kept. `from` may
    /// have it too: then it changes hands.
    pub(crate) fn decide(&self, current: Option<Lease>, from: Option<&str>) -> Leased {
        match current {
            Some(current)
                if current.holder != self.holder && from != Some(current.holder.as_str()) =>
            {
                let until = current.until.min(self.until());
                Leased::Taken(Lease { until, ..current })
            }
            current => {
                let own = current.filter(|current| current.holder == self.holder);
                Leased::Held(self.granted(own.as_ref()))
            }
        }
    }

    /// The lease, were it given; `before` is the one that the holder has.
    fn granted(&self, before: Option<&Lease>) -> Lease {
        Lease {
            session: self.session,
            subject: self.subject.clone(),
            holder: self.holder.clone(),
            since: before.map_or(to_millisecond(self.now), |lease| lease.since),
            until: self.until(),
        }
    }

    /// The end of a lease that begins now.
    fn until(&self) -> Timestamp {
        let ttl = i64::try_from(self.ttl.as_millis()).unwrap_or(i64::MAX);
        let until = self.now.as_millisecond().saturating_add(ttl);
        Timestamp::from_millisecond(until).unwrap_or(Timestamp::MAX)
    }
}

impl Leased {
    /// The lease there is now, whosever it is.
    pub(crate) fn lease(&self) -> Option<&Lease> {
        match self {
            Self::Held(lease) | Self::Taken(lease) => Some(lease),
            Self::NoSession => None,
        }
    }
}
