//! Rooms: several people at one session.
//!
//! Whoever wants to answer a turn in peace claims it; others are then refused by name. A claim
//! is a lease in the store, which looks at it when it appends an answer, so it holds on every
//! server, and ends by itself when its holder's page is gone. Who is here and who is typing is only told, and kept nowhere.

mod presence;

use std::time::Duration;

use hotseat_core::{Role, SessionId, TurnId};
use hotseat_store::{AuditAction, Lease, LeaseRequest, Leased, claim_on};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::watch;

pub(crate) use self::presence::Rooms;
use super::{App, ServiceError};
use crate::clock;
use crate::identity::Caller;

/// How long a claim lasts unless its holder asks again. A page does three times as often.
pub(crate) const CLAIM_LIFE: Duration = Duration::from_mins(1);

/// A reader of a room looks this often for what nobody tells: claims of other servers, and
/// those that are over.
const LOOK_EVERY: Duration = Duration::from_secs(5);

/// The same, while somebody is typing, who will stop without a word.
const LOOK_EVERY_TYPING: Duration = Duration::from_secs(1);

/// A turn, held by somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Claim {
    pub(crate) turn: TurnId,
    pub(crate) holder: String,
    pub(crate) since: Timestamp,
    pub(crate) until: Timestamp,
}

impl Claim {
    /// The claim that a lease is, if it is one on a turn.
    fn of(lease: Lease) -> Option<Self> {
        let turn = lease.subject.strip_prefix("turn:")?.parse().ok()?;
        Some(Self { turn, holder: lease.holder, since: lease.since, until: lease.until })
    }
}

/// What is going on in a room.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct RoomNews {
    pub(crate) claims: Vec<Claim>,
    pub(crate) typing: Vec<String>,
    pub(crate) present: Vec<String>,
}

/// Somebody who looks at a room, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seated {
    app: App,
    session: SessionId,
    name: String,
    changed: watch::Receiver<()>,
    told: Option<RoomNews>,
}

impl App {
    /// Takes a turn for the caller, or keeps it theirs.
    pub(crate) async fn claim(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Claim, ServiceError> {
        self.open_turn(session, turn).await?;
        let before = self.claim_on(session, turn).await?;
        let request = lease_request(session, turn, self.visitor.caller.name());
        let claim = held(turn, self.store.lease(request).await?)?;
        // Asking again is how a page keeps a claim, and nothing that was done.
        if before.is_none() {
            self.note_turn(AuditAction::TurnClaimed, session, turn, Value::Null).await;
        }
        self.rooms.changed(session);
        Ok(claim)
    }

    /// Lets go of a turn. An admin may take it from others.
    pub(crate) async fn release_claim(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<(), ServiceError> {
        self.session(session).await?;
        let Some(claim) = self.claim_on(session, turn).await? else { return Ok(()) };
        if claim.holder != self.visitor.caller.name() && self.needs(Role::Admin).is_err() {
            return Err(claimed(turn, claim));
        }
        if self.store.release(session, &claim_on(turn), &claim.holder).await? {
            let detail = json!({"holder": claim.holder});
            self.note_turn(AuditAction::TurnReleased, session, turn, detail).await;
            self.rooms.changed(session);
        }
        Ok(())
    }

    /// Gives a turn that is the caller's, or nobody's, to somebody else.
    pub(crate) async fn hand_over(
        &self,
        session: SessionId,
        turn: TurnId,
        to: &str,
    ) -> Result<Claim, ServiceError> {
        self.open_turn(session, turn).await?;
        let nobody = || ServiceError::invalid(format!("`{to}` is nobody who could answer here"));
        let name = to.parse().map_err(|_| nobody())?;
        let member = self.member(&name).await?.ok_or_else(nobody)?;
        if !member.role.includes(Role::Developer) {
            return Err(nobody());
        }
        let request = lease_request(session, turn, name.as_str());
        let leased = self.store.hand_over(request, self.visitor.caller.name()).await?;
        let claim = held(turn, leased)?;
        self.note_turn(AuditAction::TurnHandedOver, session, turn, json!({"to": to})).await;
        self.rooms.changed(session);
        Ok(claim)
    }

    /// Whoever gave an answer has written it.
    pub(super) fn no_longer_typing(&self, session: SessionId) {
        self.rooms.stops_typing(session, self.visitor.caller.name());
    }

    /// A turn that has its answer is nobody's any more.
    pub(super) async fn claim_is_over(&self, session: SessionId, turn: TurnId) {
        let holder = self.visitor.caller.name();
        match self.store.release(session, &claim_on(turn), holder).await {
            Ok(true) => self.rooms.changed(session),
            Ok(false) => {}
            // It ends by itself.
            Err(error) => tracing::debug!(%error, "a claim was left to end by itself"),
        }
    }

    /// The claims of a session.
    pub(super) async fn claims(&self, session: SessionId) -> Result<Vec<Claim>, ServiceError> {
        let leases = self.store.leases(session, clock::now()).await?;
        Ok(leases.into_iter().filter_map(Claim::of).collect())
    }

    /// Tells those in a room that the caller is typing.
    pub(crate) async fn typing(&self, session: SessionId) -> Result<(), ServiceError> {
        self.session(session).await?;
        self.rooms.types(session, self.visitor.caller.name(), clock::now());
        Ok(())
    }

    /// Sits down in a room that the caller may see.
    pub(crate) fn sit_down(&self, session: SessionId) -> Seated {
        let name = self.visitor.caller.name().to_owned();
        let changed = self.rooms.enter(session, &name);
        Seated { app: self.clone(), session, name, changed, told: None }
    }

    /// The name under which an answer of the caller is kept. The owner of an installation that
    /// nobody shares has none.
    pub(super) fn signature(&self) -> Option<&str> {
        match &self.visitor.caller {
            Caller::Owner => None,
            caller @ (Caller::Member(_) | Caller::User(_) | Caller::Session { .. }) => {
                Some(caller.name())
            }
        }
    }

    pub(super) async fn note_turn(
        &self,
        action: AuditAction,
        session: SessionId,
        turn: TurnId,
        detail: Value,
    ) {
        self.note(action, claim_on(turn), Some(session), detail).await;
    }

    async fn claim_on(
        &self,
        session: SessionId,
        turn: TurnId,
    ) -> Result<Option<Claim>, ServiceError> {
        Ok(self.claims(session).await?.into_iter().find(|claim| claim.turn == turn))
    }
}

fn lease_request(session: SessionId, turn: TurnId, holder: &str) -> LeaseRequest {
    let holder = holder.to_owned();
    LeaseRequest { session, subject: claim_on(turn), holder, now: clock::now(), ttl: CLAIM_LIFE }
}

fn held(turn: TurnId, leased: Leased) -> Result<Claim, ServiceError> {
    let not_found = || ServiceError::NotFound { what: "turn" };
    match leased {
        Leased::Held(lease) => Claim::of(lease).ok_or_else(not_found),
        Leased::Taken(lease) => match Claim::of(lease) {
            Some(claim) => Err(claimed(turn, claim)),
            None => Err(not_found()),
        },
        Leased::NoSession => Err(not_found()),
    }
}

fn claimed(turn: TurnId, claim: Claim) -> ServiceError {
    ServiceError::TurnClaimed { turn, holder: claim.holder, until: claim.until }
}

impl Seated {
    /// What is going on, whenever that is something else than before. Ends with the server.
    pub(crate) async fn news(&mut self) -> Option<RoomNews> {
        loop {
            self.changed.borrow_and_update();
            // On the heap while it lasts, and nothing of it is kept: who waits needs little room.
            let pause = {
                let news = Box::pin(self.look()).await;
                let alone = RoomNews { present: vec![self.name.clone()], ..RoomNews::default() };
                let before = self.told.as_ref().unwrap_or(&alone);
                if news != *before {
                    self.told = Some(news.clone());
                    return Some(news);
                }
                if news.typing.is_empty() { LOOK_EVERY } else { LOOK_EVERY_TYPING }
            };
            tokio::select! {
                // The room is there for as long as somebody sits in it.
                _ = self.changed.changed() => {}
                () = tokio::time::sleep(pause) => {}
                () = self.app.closed() => return None,
            }
        }
    }

    async fn look(&self) -> RoomNews {
        let mut news = self.app.rooms.look(self.session, clock::now());
        // A store that does not answer is noticed by those who ask it for more than this.
        news.claims = self.app.claims(self.session).await.unwrap_or_default();
        news
    }
}

impl Drop for Seated {
    fn drop(&mut self) {
        self.app.rooms.leave(self.session, &self.name);
    }
}

#[cfg(test)]
mod tests;
