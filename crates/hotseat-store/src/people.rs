//! Users, their tokens, and why one of them was refused.
//!
//! Kept true by every back end:
//!
//! * a name is given once: a user who was revoked stays, and so does the name, because sessions
//!   are theirs by it;
//! * of a token only its hash is kept;
//! * an act on people and its entry in the audit are one transaction.

use hotseat_core::{Role, UserName};
use jiff::Timestamp;
use uuid::Uuid;

use crate::StoreError;
use crate::store::to_millisecond;

/// Users of an installation, those who were revoked among them.
pub const MAX_USERS: usize = 5_000;

/// Tokens of a user that are listed and kept; beyond it, those that are over go, oldest first.
pub const MAX_TOKENS_PER_USER: usize = 100;

/// SHA-256 of a token. A token is 256 random bits, which nobody finds by trying, so a slow hash
/// would protect nothing and be paid for with every request.
pub type TokenHash = [u8; 32];

/// Somebody who has a name here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct User {
    /// Never given twice.
    pub id: Uuid,
    /// Never given twice either.
    pub name: UserName,
    /// What they may do.
    pub role: Role,
    /// When they were added.
    pub created_at: Timestamp,
    /// Since when they may do nothing.
    pub revoked_at: Option<Timestamp>,
}

/// A token of a user, without the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// By which it is revoked.
    pub id: Uuid,
    /// Whose it is.
    pub user: UserName,
    /// Its first letters.
    pub prefix: String,
    /// What it is for, in its maker's words.
    pub label: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When somebody last came with it, to within a minute.
    pub last_used_at: Option<Timestamp>,
    /// From when on it is worth nothing.
    pub expires_at: Option<Timestamp>,
    /// Since when it is worth nothing.
    pub revoked_at: Option<Timestamp>,
}

/// A token to keep.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Whose it is.
    pub user: UserName,
    /// By which it is recognised.
    pub hash: TokenHash,
    /// Its first letters.
    pub prefix: String,
    /// What it is for.
    pub label: String,
    /// When it ends, if it does.
    pub expires_at: Option<Timestamp>,
}

/// Whoever came with a token, and the token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// The user.
    pub user: User,
    /// What they came with.
    pub token: Token,
}

impl Bearer {
    /// Whether the token is worth something at this time.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        let token = &self.token;
        let over = token.expires_at.is_some_and(|end| end <= now);
        !over && token.revoked_at.is_none() && self.user.revoked_at.is_none()
    }
}

/// Who acts on people, and when.
#[derive(Debug, Clone)]
pub struct Act {
    /// The name of whoever does it.
    pub actor: String,
    /// When.
    pub at: Timestamp,
}

impl Act {
    /// With the time as it is kept.
    pub(crate) fn as_kept(&self) -> Self {
        Self { at: to_millisecond(self.at), actor: self.actor.clone() }
    }
}

/// Why something was not done to a user or a token. Unless it is `Store`, nothing was.
#[derive(Debug, thiserror::Error)]
pub enum PeopleError {
    /// The name is somebody's, or was.
    #[error("there is a user `{0}` already: a name is given once")]
    NameTaken(UserName),
    /// Nobody has the name.
    #[error("there is no user `{0}`")]
    NoUser(UserName),
    /// They may do nothing any more.
    #[error("user `{0}` was revoked: add one with another name")]
    Revoked(UserName),
    /// No token has the id.
    #[error("there is no token {0}")]
    NoToken(Uuid),
    /// There is no room for another user.
    #[error("there are {MAX_USERS} users, which is as many as there can be")]
    TooManyUsers,
    /// All of the user's tokens are in use.
    #[error("user `{0}` has {MAX_TOKENS_PER_USER} valid tokens: revoke one first")]
    TooManyTokens(UserName),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
