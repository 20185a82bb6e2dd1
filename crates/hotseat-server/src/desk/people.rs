//! What the command line does with people.

use hotseat_core::Role;
use jiff::SignedDuration;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{Desk, DeskError};
use crate::clock;
use crate::http::{TokenView, UserView};
use crate::service::{ServiceError, TokenWish};

impl Desk {
    /// All users, by name.
    pub async fn users(&self) -> Result<Value, DeskError> {
        let users: Vec<_> = self.app.users().await?.into_iter().map(UserView::from).collect();
        Ok(json!({"items": users, "next_cursor": null}))
    }

    /// Adds a user.
    pub async fn add_user(&self, name: &str, role: Role) -> Result<Value, DeskError> {
        Ok(json!(UserView::from(self.app.add_user(name, role).await?)))
    }

    /// Gives a user another role.
    pub async fn set_role(&self, name: &str, role: Role) -> Result<Value, DeskError> {
        Ok(json!(UserView::from(self.app.set_role(name, role).await?)))
    }

    /// Revokes a user with all their tokens.
    pub async fn revoke_user(&self, name: &str) -> Result<Value, DeskError> {
        Ok(json!(UserView::from(self.app.revoke_user(name).await?)))
    }

    /// Makes a token for a user; `token` in the answer is the only place where it is.
    pub async fn add_token(
        &self,
        name: &str,
        label: Option<String>,
        lasts: Option<SignedDuration>,
    ) -> Result<Value, DeskError> {
        let expires_at = lasts.map(|lasts| clock::now().checked_add(lasts)).transpose();
        let expires_at =
            expires_at.map_err(|_| ServiceError::invalid("the token would end too late"))?;
        let made = self.app.add_token(name, TokenWish { label, expires_at }).await?;
        Ok(json!(TokenView::from(made)))
    }

    /// The tokens of a user, without the tokens.
    pub async fn tokens(&self, name: &str) -> Result<Value, DeskError> {
        let tokens: Vec<_> =
            self.app.tokens(name).await?.into_iter().map(TokenView::from).collect();
        Ok(json!({"items": tokens, "next_cursor": null}))
    }

    /// Revokes one token.
    pub async fn revoke_token(&self, id: Uuid) -> Result<Value, DeskError> {
        Ok(json!(TokenView::from(self.app.revoke_token(id).await?)))
    }
}
