//! People, what they hold, and what was done by whom.

use hotseat_core::{Role, SessionId, UserName};
use jiff::Timestamp;
use uuid::Uuid;

use super::{Backend, Store, to_millisecond};
use crate::{
    Act, AuditEntry, AuditQuery, Bearer, Lease, LeaseRequest, Leased, NewAuditEntry, NewToken,
    PeopleError, StoreError, Token, TokenHash, User,
};

impl Store {
    /// Adds a user and writes it down.
    pub async fn add_user(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        ask!(self.add_user(name, role, act.as_kept()))
    }

    /// Gives a user another role and writes it down; the same role changes nothing.
    pub async fn set_role(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        ask!(self.set_role(name, role, act.as_kept()))
    }

    /// Revokes a user with all their tokens and writes it down. Once is enough.
    pub async fn revoke_user(&self, name: UserName, act: Act) -> Result<User, PeopleError> {
        ask!(self.revoke_user(name, act.as_kept()))
    }

    /// One user, revoked or not.
    pub async fn user(&self, name: UserName) -> Result<Option<User>, StoreError> {
        ask!(self.user(name))
    }

    /// All users by name, those who were revoked among them.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        ask!(self.users())
    }

    /// Keeps a token of a user and writes it down.
    pub async fn add_token(&self, mut new: NewToken, act: Act) -> Result<Token, PeopleError> {
        new.expires_at = new.expires_at.map(to_millisecond);
        ask!(self.add_token(new, act.as_kept()))
    }

    /// The tokens of a user, oldest first; those that are over among them.
    pub async fn tokens(&self, name: UserName) -> Result<Vec<Token>, StoreError> {
        ask!(self.tokens(name))
    }

    /// Revokes one token and writes it down. Once is enough.
    pub async fn revoke_token(&self, id: Uuid, act: Act) -> Result<Token, PeopleError> {
        ask!(self.revoke_token(id, act.as_kept()))
    }

    /// Whose token has this hash. Whether it is worth anything is [`Bearer::is_valid`].
    pub async fn bearer(&self, hash: TokenHash) -> Result<Option<Bearer>, StoreError> {
        ask!(self.bearer(hash))
    }

    /// Notes that somebody came with a token.
    pub async fn token_used(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        ask!(self.token_used(id, at))
    }

    /// Holds something of a session for a while: anew, or still. It is had if nobody else
    /// holds it at the time of the request.
    pub async fn lease(&self, request: LeaseRequest) -> Result<Leased, StoreError> {
        ask!(self.lease(request, None))
    }

    /// Gives what `from` holds to the request's holder; what nobody holds is theirs as well.
    pub async fn hand_over(&self, request: LeaseRequest, from: &str) -> Result<Leased, StoreError> {
        ask!(self.lease(request, Some(from.to_owned())))
    }

    /// Lets go of something. `false` if it was not this holder's.
    pub async fn release(
        &self,
        session: SessionId,
        subject: &str,
        holder: &str,
    ) -> Result<bool, StoreError> {
        ask!(self.release(session, subject.to_owned(), holder.to_owned()))
    }

    /// What is held of a session at this time.
    pub async fn leases(
        &self,
        session: SessionId,
        now: Timestamp,
    ) -> Result<Vec<Lease>, StoreError> {
        ask!(self.leases(session, now))
    }

    /// Writes down what somebody did.
    pub async fn audit(&self, mut entry: NewAuditEntry) -> Result<(), StoreError> {
        entry.at = to_millisecond(entry.at);
        ask!(self.audit(entry))
    }

    /// What was written down.
    pub async fn audit_entries(&self, query: AuditQuery) -> Result<Vec<AuditEntry>, StoreError> {
        ask!(self.audit_entries(query))
    }
}
