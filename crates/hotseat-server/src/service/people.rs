//! People: who has a name here, what they come with, and what they may do.

use std::str::FromStr;
use std::sync::Arc;

use hotseat_core::{Role, SessionId, UserName};
use hotseat_store::{
    Act, AuditAction, NewAuditEntry, NewToken, PeopleError, Session, Token, TokenHash, User,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::json;
use uuid::Uuid;

use super::{App, ServiceError};
use crate::clock;
use crate::identity::{AccessToken, Caller, Member};
use crate::oidc::OidcConfig;

/// How exactly the last use of a token is known: writing it down each time would make every
/// read a write.
const USE_NOTED_EVERY: SignedDuration = SignedDuration::from_mins(1);

/// Letters of what a token is for.
const MAX_LABEL_CHARS: usize = 100;

/// A token for somebody.
#[derive(Debug)]
pub(crate) struct TokenWish {
    pub(crate) label: Option<String>,
    pub(crate) expires_at: Option<Timestamp>,
}

/// A token that was made. The text is not kept anywhere.
pub(crate) struct MadeToken {
    pub(crate) text: String,
    pub(crate) token: Token,
}

/// What shows that somebody may still be here.
#[derive(Debug, Clone)]
pub(crate) enum Proof {
    Token(TokenHash),
    Name(UserName),
}

impl App {
    /// For what is not everybody's.
    pub(crate) fn needs(&self, role: Role) -> Result<(), ServiceError> {
        match &self.visitor.caller {
            Caller::Owner => Ok(()),
            Caller::Member(member) if member.role.includes(role) => Ok(()),
            Caller::Member(_) => Err(ServiceError::RoleNeeded(role)),
            Caller::User(_) | Caller::Session { .. } => Err(ServiceError::OwnerOnly),
        }
    }

    /// For what only the user of a session may do to it, or an admin.
    pub(crate) fn manages(&self, session: &Session) -> Result<(), ServiceError> {
        match self.visitor.caller.acts_as() {
            Some(name) if name != session.user_id => Err(ServiceError::RoleNeeded(Role::Admin)),
            Some(_) | None => Ok(()),
        }
    }

    /// The same, of a session that is known by its id.
    pub(super) async fn managed(&self, id: SessionId) -> Result<Session, ServiceError> {
        let session = self.session(id).await?;
        self.manages(&session)?;
        Ok(session)
    }

    /// Who comes with this token, if it is worth anything.
    pub(crate) async fn bearer(&self, token: &str) -> Result<Option<Member>, ServiceError> {
        let now = clock::now();
        let found = self.store.bearer(AccessToken::hash_of(token)).await?;
        let Some(bearer) = found.filter(|bearer| bearer.is_valid(now)) else { return Ok(None) };
        let last = bearer.token.last_used_at;
        if last.is_none_or(|last| now.duration_since(last) > USE_NOTED_EVERY) {
            self.store.token_used(bearer.token.id, now).await?;
        }
        Ok(Some(Member { name: bearer.user.name, role: bearer.user.role }))
    }

    /// Somebody who is known by name, unless they were revoked.
    pub(crate) async fn member(&self, name: &UserName) -> Result<Option<Member>, ServiceError> {
        let user = self.store.user(name.clone()).await?;
        let user = user.filter(|user| user.revoked_at.is_none());
        Ok(user.map(|user| Member { name: user.name, role: user.role }))
    }

    /// Somebody whose name comes from whom we trust to know it. Those who are new here are
    /// added with `role`, or refused where there is none.
    pub(crate) async fn vouched_for(
        &self,
        name: &str,
        role: Option<Role>,
    ) -> Result<Member, ServiceError> {
        let name: UserName =
            name.trim().to_lowercase().parse().map_err(|_| ServiceError::Stranger)?;
        let user = match (self.store.user(name.clone()).await?, role) {
            (Some(user), _) => user,
            (None, None) => return Err(ServiceError::Stranger),
            (None, Some(role)) => {
                let act = Act { actor: name.to_string(), at: clock::now() };
                match self.store.add_user(name.clone(), role, act).await {
                    // Two of their requests came at once.
                    Err(PeopleError::NameTaken(_)) => {
                        self.store.user(name).await?.ok_or(ServiceError::Stranger)?
                    }
                    added => added?,
                }
            }
        };
        if user.revoked_at.is_some() {
            return Err(ServiceError::Stranger);
        }
        Ok(Member { name: user.name, role: user.role })
    }

    /// Somebody who signed in with an account from elsewhere. Where a claim says what they may
    /// do, it is asked each time; else they keep the role that they have here.
    pub(crate) async fn signed_in(
        &self,
        name: &str,
        claimed: Option<Role>,
        config: &OidcConfig,
    ) -> Result<Member, ServiceError> {
        let role = claimed.or(config.default_role);
        let mut member = self.vouched_for(name, role).await?;
        let act = Act { actor: member.name.to_string(), at: clock::now() };
        if config.role_claim.is_some() && role != Some(member.role) {
            let role = role.ok_or(ServiceError::Stranger)?;
            member.role = self.store.set_role(member.name.clone(), role, act.clone()).await?.role;
        }
        let entry = NewAuditEntry {
            at: act.at,
            actor: act.actor,
            action: AuditAction::SignedIn,
            subject: config.issuer.clone(),
            session: None,
            detail: json!({"role": member.role}),
        };
        self.store.audit(entry).await?;
        Ok(member)
    }

    /// Whether somebody of this name was revoked. A name that is nobody's was not.
    pub(crate) async fn is_revoked(&self, name: &str) -> Result<bool, ServiceError> {
        let Ok(name) = UserName::from_str(name) else { return Ok(false) };
        Ok(self.store.user(name).await?.is_some_and(|user| user.revoked_at.is_some()))
    }

    /// Whether whoever showed this once may still be here. A store that does not answer
    /// changes nothing.
    pub(crate) async fn still_holds(&self, proof: &Proof) -> bool {
        match proof {
            Proof::Token(hash) => match self.store.bearer(*hash).await {
                Ok(bearer) => bearer.is_some_and(|bearer| bearer.is_valid(clock::now())),
                Err(_) => true,
            },
            Proof::Name(name) => self.member(name).await.is_ok_and(|member| member.is_some()),
        }
    }

    pub(crate) async fn users(&self) -> Result<Vec<User>, ServiceError> {
        self.needs(Role::Admin)?;
        Ok(self.store.users().await?)
    }

    pub(crate) async fn add_user(&self, name: &str, role: Role) -> Result<User, ServiceError> {
        self.needs(Role::Admin)?;
        Ok(self.store.add_user(user_name(name)?, role, self.act()).await?)
    }

    pub(crate) async fn set_role(&self, name: &str, role: Role) -> Result<User, ServiceError> {
        self.needs(Role::Admin)?;
        Ok(self.store.set_role(known_name(name)?, role, self.act()).await?)
    }

    pub(crate) async fn revoke_user(&self, name: &str) -> Result<User, ServiceError> {
        self.needs(Role::Admin)?;
        Ok(self.store.revoke_user(known_name(name)?, self.act()).await?)
    }

    pub(crate) async fn tokens(&self, name: &str) -> Result<Vec<Token>, ServiceError> {
        self.needs(Role::Admin)?;
        let name = known_name(name)?;
        if self.store.user(name.clone()).await?.is_none() {
            return Err(PeopleError::NoUser(name).into());
        }
        Ok(self.store.tokens(name).await?)
    }

    pub(crate) async fn add_token(
        &self,
        name: &str,
        wish: TokenWish,
    ) -> Result<MadeToken, ServiceError> {
        self.needs(Role::Admin)?;
        let label = wish.label.unwrap_or_default();
        if label.chars().count() > MAX_LABEL_CHARS {
            let detail = format!("`label` is longer than {MAX_LABEL_CHARS} letters");
            return Err(ServiceError::invalid(detail));
        }
        if wish.expires_at.is_some_and(|end| end <= clock::now()) {
            return Err(ServiceError::invalid("`expires_at` is in the past"));
        }
        let made = AccessToken::random().map_err(ServiceError::NoRandomness)?;
        let new = NewToken {
            user: known_name(name)?,
            hash: made.hash(),
            prefix: made.shown().to_owned(),
            label,
            expires_at: wish.expires_at,
        };
        let token = self.store.add_token(new, self.act()).await?;
        Ok(MadeToken { text: made.text().to_owned(), token })
    }

    pub(crate) async fn revoke_token(&self, id: Uuid) -> Result<Token, ServiceError> {
        self.needs(Role::Admin)?;
        Ok(self.store.revoke_token(id, self.act()).await?)
    }

    fn act(&self) -> Act {
        Act { actor: self.visitor.caller.name().to_owned(), at: clock::now() }
    }
}

impl From<Member> for Caller {
    fn from(member: Member) -> Self {
        Self::Member(Arc::new(member))
    }
}

fn user_name(text: &str) -> Result<UserName, ServiceError> {
    text.parse()
        .map_err(|error: hotseat_core::InvalidUserName| ServiceError::invalid(error.to_string()))
}

/// A name that somebody should have. Text that cannot be one is nobody's.
fn known_name(text: &str) -> Result<UserName, ServiceError> {
    text.parse().map_err(|_| ServiceError::NotFound { what: "user" })
}
