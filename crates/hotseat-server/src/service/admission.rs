//! Who may see a session: decided here and nowhere else.
//!
//! Every use case that takes a session's id asks [`App::session`] or [`App::owned`]
//! before it touches the store. A session of somebody else is refused exactly as one
//! that does not exist: with the same words, after the same work, because nothing but
//! whose it is has been looked up by then. What is noted of the refusal is noted off the
//! way of the answer.

use std::sync::Arc;

use hotseat_core::SessionId;
use hotseat_store::{Intrusion, Session, Visit};

use super::enumeration::Suspect;
use super::{App, ServiceError};
use crate::clock;
use crate::identity::{Caller, Visitor};

/// Failed attempts after which a session is flagged.
pub(super) const MAX_FAILED_ATTEMPTS: u64 = 5;

/// The user of sessions that name none.
pub(super) const LOCAL_USER: &str = "local";

/// Letters of an id that a log may show.
const SHOWN: usize = 8;

impl App {
    /// The same server, doing things on behalf of `visitor`.
    pub(crate) fn entered_by(&self, visitor: Visitor) -> Self {
        Self { server: Arc::clone(&self.server), visitor }
    }

    /// The session, if the caller may see it.
    pub(crate) async fn session(&self, id: SessionId) -> Result<Session, ServiceError> {
        self.check_owner(id).await?;
        let found = self.store.session(id).await?;
        self.admit(id, found).ok_or(ServiceError::SessionNotFound(id))
    }

    /// Whether the caller may touch a session. For those who see all, whose answer is known,
    /// it is not looked up: what comes next finds out whether it exists.
    pub(super) async fn owned(&self, id: SessionId) -> Result<(), ServiceError> {
        self.check_owner(id).await?;
        self.note_visit(id, false);
        Ok(())
    }

    /// Turns away who may not see a session, before any of it is read: how long that takes
    /// would tell that there is something to read.
    async fn check_owner(&self, id: SessionId) -> Result<(), ServiceError> {
        if self.visitor.caller.sees_all() {
            return Ok(());
        }
        let found = self.store.owner(id).await?;
        if found.as_ref().is_some_and(|owner| self.concerns(&owner.user_id, id)) {
            return Ok(());
        }
        self.turned_away(id, found.is_some());
        Err(ServiceError::SessionNotFound(id))
    }

    /// The session if the caller may see it, without taking note: for whoever is told
    /// of what changes, and asked for nothing.
    pub(crate) async fn visible(&self, id: SessionId) -> Option<Session> {
        let session = self.store.session(id).await.ok()??;
        self.concerns(&session.user_id, id).then_some(session)
    }

    /// Whether something of this user may be told to the caller.
    pub(crate) fn concerns(&self, user_id: &str, id: SessionId) -> bool {
        self.visitor.caller.may_see(id, user_id)
    }

    /// What was found under an id, if the caller may see it. Otherwise it is as if
    /// nothing had been found.
    pub(super) fn admit(&self, id: SessionId, found: Option<Session>) -> Option<Session> {
        let there = found.is_some();
        let admitted = found.filter(|session| self.concerns(&session.user_id, id));
        match &admitted {
            Some(session) => self.note_visit(id, session.user_id == LOCAL_USER),
            None => self.turned_away(id, there),
        }
        admitted
    }

    /// The user of a session to be made.
    pub(super) fn user_of_new(&self, wish: Option<String>) -> Result<String, ServiceError> {
        match &self.visitor.caller {
            Caller::Owner => Ok(wish.unwrap_or_else(|| LOCAL_USER.to_owned())),
            Caller::Session { .. } => Err(ServiceError::BoundToSession),
            caller @ (Caller::Member(_) | Caller::User(_)) => match wish {
                Some(wish) if caller.acts_as().is_some_and(|name| name != wish) => {
                    Err(ServiceError::OtherUser)
                }
                Some(wish) => Ok(wish),
                None => Ok(caller.name().to_owned()),
            },
        }
    }

    /// For callers who name a user: any but themselves is nobody.
    pub(super) fn known_user(&self, user_id: &str) -> Result<(), ServiceError> {
        match self.visitor.caller.acts_as() {
            Some(user) if user != user_id => Err(ServiceError::NotFound { what: "user" }),
            Some(_) | None => Ok(()),
        }
    }

    /// For what reaches beyond one session.
    pub(super) fn not_bound(&self) -> Result<(), ServiceError> {
        match self.visitor.caller {
            Caller::Session { .. } => Err(ServiceError::BoundToSession),
            Caller::Owner | Caller::Member(_) | Caller::User(_) => Ok(()),
        }
    }

    /// Somebody showed a token that is not genuine, and named a session with it.
    pub(crate) fn forged(&self, session: Option<SessionId>, by: Option<std::net::IpAddr>) {
        let shown = session.map(shown).unwrap_or_default();
        tracing::warn!(event = "tampering_detected", session = shown, "a token was refused");
        if let Some(ip) = by {
            self.enumeration.missed(Suspect::Ip(ip), &shown);
        }
        if let Some(session) = session {
            self.note_intrusion(session, "a token for it was not genuine", None);
        }
    }

    /// `owners` says that the owner's own client is the session's client, too. Elsewhere
    /// those who see all only look after it, and the client is that of its user.
    pub(super) fn note_visit(&self, session: SessionId, owners: bool) {
        let Some(client) = &self.visitor.client else { return };
        let by_owner = self.visitor.caller.sees_all();
        let client = Some(client).filter(|_| owners || !by_owner);
        self.keeping.visited(Visit {
            session,
            at: clock::now(),
            client_ip: client.and_then(|client| client.ip).map(|ip| ip.to_string()),
            user_agent: client.and_then(|client| client.user_agent.as_deref()).map(str::to_owned),
            watched: !by_owner,
        });
    }

    pub(super) fn turned_away(&self, id: SessionId, there: bool) {
        // Whoever may see everything has only mistyped an unknown id.
        let Some(user) = self.visitor.caller.user() else { return };
        self.enumeration.missed(Suspect::User(user.clone()), &shown(id));
        let mismatch = there.then_some("user_binding_mismatch");
        self.note_intrusion(id, "somebody who may not see it was turned away", mismatch);
    }

    /// Notes an attempt on a session, whether it exists or not: the store knows.
    fn note_intrusion(&self, session: SessionId, message: &str, event: Option<&'static str>) {
        // Whoever comes faster than they are noted is slowed down anyway.
        let Some(place) = self.enumeration.place_to_note() else { return };
        let intrusion = Intrusion {
            session,
            at: clock::now(),
            flag_after: MAX_FAILED_ATTEMPTS,
            message: message.to_owned(),
        };
        let store = self.store.clone();
        tokio::spawn(async move {
            if let Some(event) = event {
                tracing::warn!(event, session = shown(session), "a caller was turned away");
            }
            if let Err(error) = store.intruded(intrusion).await {
                tracing::warn!(%error, "a failed access was not noted");
            }
            drop(place);
        });
    }
}

/// As much of an id as a log may show.
pub(crate) fn shown(id: SessionId) -> String {
    let mut text = id.to_string();
    text.truncate(SHOWN);
    text
}
