//! Who calls, and from where.

use std::net::IpAddr;
use std::sync::Arc;

use hotseat_core::{Role, SessionId, UserName};

/// On whose behalf something is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Caller {
    /// Whoever runs the installation: sees and does everything.
    Owner,
    /// One of those who work with it: sees everything, and does what their role allows.
    Member(Arc<Member>),
    /// A user of it: sees their own sessions.
    User(Arc<str>),
    /// A user of it, in one session and in no other.
    Session { session: SessionId, user: Arc<str> },
}

/// Somebody who has a name here and a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) name: UserName,
    pub(crate) role: Role,
}

/// The program at the other end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    pub(crate) ip: Option<IpAddr>,
    pub(crate) user_agent: Option<Arc<str>>,
    pub(crate) came_by: PublicPort,
}

impl Client {
    const NONE: Self = Self { ip: None, user_agent: None, came_by: PublicPort(None) };
}

/// The port of the address that a client used, where it named one. That of a proxy is another
/// than our own, and the same for all servers behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PublicPort(pub(crate) Option<u16>);

/// A caller with their client. What the server does by itself has no client.
#[derive(Debug, Clone)]
pub(crate) struct Visitor {
    pub(crate) caller: Caller,
    pub(crate) client: Option<Client>,
}

impl Visitor {
    /// The server itself.
    pub(crate) const INSIDE: Self = Self { caller: Caller::Owner, client: None };

    /// Whoever works on the store itself, with the command line: they have the files.
    pub(crate) const AT_THE_DESK: Self = Self { caller: Caller::Owner, client: Some(Client::NONE) };
}

impl Caller {
    /// The name by which what they do is known to others.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Owner => UserName::OWNER,
            Self::Member(member) => member.name.as_str(),
            Self::User(user) | Self::Session { user, .. } => user,
        }
    }

    /// The user whose sessions are all that the caller sees.
    pub(crate) fn user(&self) -> Option<&Arc<str>> {
        match self {
            Self::Owner | Self::Member(_) => None,
            Self::User(user) | Self::Session { user, .. } => Some(user),
        }
    }

    /// The only user in whose name the caller may act; admins act for anybody.
    pub(crate) fn acts_as(&self) -> Option<&str> {
        match self {
            Self::Owner => None,
            Self::Member(member) if member.role == Role::Admin => None,
            Self::Member(_) | Self::User(_) | Self::Session { .. } => Some(self.name()),
        }
    }

    /// The one question that everything here comes down to.
    pub(crate) fn may_see(&self, id: SessionId, user_id: &str) -> bool {
        match self {
            Self::Owner | Self::Member(_) => true,
            Self::User(user) => **user == *user_id,
            Self::Session { session, user } => *session == id && **user == *user_id,
        }
    }

    /// Whether the caller sees the sessions of all.
    pub(crate) fn sees_all(&self) -> bool {
        self.user().is_none()
    }
}
