//! Who calls, and from where.

use std::net::IpAddr;
use std::sync::Arc;

use hotseat_core::SessionId;

/// On whose behalf something is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Whoever runs the installation: sees and does everything.
    Owner,
    /// A user of it: sees their own sessions.
    User(Arc<str>),
    /// A user of it, in one session and in no other.
    Session { session: SessionId, user: Arc<str> },
}

/// The program at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) ip: Option<IpAddr>,
    pub(crate) user_agent: Option<Arc<str>>,
}

/// A caller with their client. What the server does by itself has no client.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    pub(crate) client: Option<Client>,
}

impl Visitor {
    /// The server itself.
    pub(crate) const INSIDE: Self = Self { caller: Caller::Owner, client: None };
}

impl Caller {
    /// The user whose sessions the caller sees; the owner sees those of all.
    pub(crate) fn user(&self) -> Option<&Arc<str>> {
        match self {
            Self::Owner => None,
            Self::User(user) | Self::Session { user, .. } => Some(user),
        }
    }

    /// The one question that everything here comes down to.
    pub(crate) fn may_see(&self, id: SessionId, user_id: &str) -> bool {
        match self {
            Self::Owner => true,
            Self::User(user) => **user == *user_id,
            Self::Session { session, user } => *session == id && **user == *user_id,
        }
    }

    pub(crate) fn is_owner(&self) -> bool {
        matches!(self, Self::Owner)
    }
}
