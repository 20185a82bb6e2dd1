//! Users and their tokens.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use hotseat_core::{Role, rfc3339};
use hotseat_store::{Token, User};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::Problem;
use super::extract::{At, Body, Entered, OptionalBody};
use super::view::List;
use crate::clock;
use crate::identity::Caller;
use crate::service::{MadeToken, TokenWish};

/// The longest that a token may last, in hours: ten years.
const MAX_HOURS: i64 = 10 * 365 * 24;

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct UserView {
    id: Uuid,
    name: String,
    /// `viewer`, `developer` or `admin`.
    role: String,
    created_at: String,
    revoked_at: Option<String>,
}

impl From<User> for UserView {
    fn from(user: User) -> Self {
        Self {
            id: user.id,
            name: user.name.to_string(),
            role: user.role.to_string(),
            created_at: rfc3339(user.created_at),
            revoked_at: user.revoked_at.map(rfc3339),
        }
    }
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct TokenView {
    id: Uuid,
    user: String,
    /// Its first letters.
    prefix: String,
    label: String,
    created_at: String,
    /// To within a minute.
    last_used_at: Option<String>,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    /// The token itself: only in the answer that made it, and nowhere later.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl From<Token> for TokenView {
    fn from(token: Token) -> Self {
        Self {
            id: token.id,
            user: token.user.to_string(),
            prefix: token.prefix,
            label: token.label,
            created_at: rfc3339(token.created_at),
            last_used_at: token.last_used_at.map(rfc3339),
            expires_at: token.expires_at.map(rfc3339),
            revoked_at: token.revoked_at.map(rfc3339),
            token: None,
        }
    }
}

impl From<MadeToken> for TokenView {
    fn from(made: MadeToken) -> Self {
        Self { token: Some(made.text), ..made.token.into() }
    }
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(super) struct MeView {
    /// `owner` for the installation's own token.
    name: String,
    /// What they may do; `null` for those who see their own sessions only.
    role: Option<String>,
}

/// Who the caller is.
#[utoipa::path(get, path = "/api/v1/me", tag = "people", responses((status = 200, body = MeView)))]
pub(super) async fn me(Entered(app): Entered) -> Json<MeView> {
    let caller = &app.visitor.caller;
    let role = match caller {
        Caller::Owner => Some(Role::Admin),
        Caller::Member(member) => Some(member.role),
        Caller::User(_) | Caller::Session { .. } => None,
    };
    let role = role.map(|role| role.to_string());
    Json(MeView { name: caller.name().to_owned(), role })
}

/// All users, by name.
#[utoipa::path(get, path = "/api/v1/users", tag = "people",
    responses((status = 200, body = List<UserView>), (status = 403, body = Problem)))]
pub(super) async fn list(Entered(app): Entered) -> Result<Json<List<UserView>>, Problem> {
    let items = app.users().await?.into_iter().map(UserView::from).collect();
    Ok(Json(List { items, next_cursor: None }))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct NewUserBody {
    /// Lower-case letters, digits and `. _ - + @`.
    name: String,
    /// `viewer`, `developer` or `admin`.
    role: String,
}

/// Adds a user. They need a token, too.
#[utoipa::path(post, path = "/api/v1/users", tag = "people", request_body = NewUserBody,
    responses((status = 201, body = UserView), (status = 403, body = Problem), (status = 409, body = Problem), (status = 422, body = Problem)))]
pub(super) async fn add(
    Entered(app): Entered,
    Body(body): Body<NewUserBody>,
) -> Result<(StatusCode, Json<UserView>), Problem> {
    let user = app.add_user(&body.name, role(&body.role)?).await?;
    Ok((StatusCode::CREATED, Json(user.into())))
}

#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub(super) struct RoleBody {
    /// `viewer`, `developer` or `admin`.
    role: String,
}

/// Gives a user another role.
#[utoipa::path(put, path = "/api/v1/users/{name}/role", tag = "people", params(("name" = String, Path)), request_body = RoleBody,
    responses((status = 200, body = UserView), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn set_role(
    Entered(app): Entered,
    At(name): At<String>,
    Body(body): Body<RoleBody>,
) -> Result<Json<UserView>, Problem> {
    Ok(Json(app.set_role(&name, role(&body.role)?).await?.into()))
}

/// Revokes a user with all their tokens, at once and for good.
#[utoipa::path(delete, path = "/api/v1/users/{name}", tag = "people", params(("name" = String, Path)),
    responses((status = 200, body = UserView), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn revoke(
    Entered(app): Entered,
    At(name): At<String>,
) -> Result<Json<UserView>, Problem> {
    Ok(Json(app.revoke_user(&name).await?.into()))
}

/// The tokens of a user, without the tokens.
#[utoipa::path(get, path = "/api/v1/users/{name}/tokens", tag = "people", params(("name" = String, Path)),
    responses((status = 200, body = List<TokenView>), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn tokens(
    Entered(app): Entered,
    At(name): At<String>,
) -> Result<Json<List<TokenView>>, Problem> {
    let items = app.tokens(&name).await?.into_iter().map(TokenView::from).collect();
    Ok(Json(List { items, next_cursor: None }))
}

#[derive(Debug, Default, Deserialize, utoipa::ToSchema)]
pub(super) struct NewTokenBody {
    /// What it is for.
    label: Option<String>,
    /// Hours after which it ends; never, if left out.
    #[serde(alias = "expiresInHours")]
    expires_in_hours: Option<i64>,
}

/// Makes a token for a user. It is shown in this answer and never again.
#[utoipa::path(post, path = "/api/v1/users/{name}/tokens", tag = "people", params(("name" = String, Path)), request_body = NewTokenBody,
    responses((status = 201, body = TokenView), (status = 403, body = Problem), (status = 404, body = Problem), (status = 409, body = Problem)))]
pub(super) async fn add_token(
    Entered(app): Entered,
    At(name): At<String>,
    OptionalBody(body): OptionalBody<NewTokenBody>,
) -> Result<Response, Problem> {
    let expires_at = body.expires_in_hours.map(end_after).transpose()?;
    let made = app.add_token(&name, TokenWish { label: body.label, expires_at }).await?;
    let headers = [(header::CACHE_CONTROL, "no-store")];
    Ok((StatusCode::CREATED, headers, Json(TokenView::from(made))).into_response())
}

/// Revokes one token, at once and for good.
#[utoipa::path(delete, path = "/api/v1/tokens/{id}", tag = "people", params(("id" = String, Path)),
    responses((status = 200, body = TokenView), (status = 403, body = Problem), (status = 404, body = Problem)))]
pub(super) async fn revoke_token(
    Entered(app): Entered,
    At(id): At<String>,
) -> Result<Json<TokenView>, Problem> {
    let id = id.parse().map_err(|_| {
        let detail = format!("there is no token `{}`", id.chars().take(64).collect::<String>());
        Problem::new(StatusCode::NOT_FOUND, "token_not_found", detail)
    })?;
    Ok(Json(app.revoke_token(id).await?.into()))
}

fn role(text: &str) -> Result<Role, Problem> {
    text.parse().map_err(|error: hotseat_core::UnknownWord| Problem::invalid(error.to_string()))
}

/// The time so many hours from now.
fn end_after(hours: i64) -> Result<Timestamp, Problem> {
    if !(1..=MAX_HOURS).contains(&hours) {
        let detail = format!("`expires_in_hours` must be from 1 to {MAX_HOURS}");
        return Err(Problem::invalid(detail));
    }
    Ok(clock::now() + SignedDuration::from_hours(hours))
}
