//! Users and their tokens, on SQLite.

use hotseat_core::{Role, UserName};
use jiff::Timestamp;
use rusqlite::{Connection, OptionalExtension, Row, params};
use serde_json::{Value, json};
use uuid::Uuid;

use super::writer::Work;
use super::{Sqlite, audit, row};
use crate::people::{MAX_TOKENS_PER_USER, MAX_USERS};
use crate::{
    Act, AuditAction, Bearer, NewAuditEntry, NewToken, PeopleError, StoreError, Token, TokenHash,
    User,
};

const USERS: &str = "SELECT id, name, role, created_at, revoked_at FROM users";

pub(super) const TOKENS: &str = "SELECT t.id, u.name, t.prefix, t.label, t.created_at, t.last_used_at, \
                      t.expires_at, t.revoked_at \
                      FROM user_tokens t JOIN users u ON u.id = t.user_id";

impl Sqlite {
    pub(crate) async fn add_user(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        self.writer.write(move |work| add_user(work, &name, role, &act)).await
    }

    pub(crate) async fn set_role(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        self.writer.write(move |work| set_role(work, &name, role, &act)).await
    }

    pub(crate) async fn revoke_user(&self, name: UserName, act: Act) -> Result<User, PeopleError> {
        self.writer.write(move |work| revoke_user(work, &name, &act)).await
    }

    pub(crate) async fn add_token(&self, new: NewToken, act: Act) -> Result<Token, PeopleError> {
        self.writer.write(move |work| add_token(work, &new, &act)).await
    }

    pub(crate) async fn revoke_token(&self, id: Uuid, act: Act) -> Result<Token, PeopleError> {
        self.writer.write(move |work| revoke_token(work, id, &act)).await
    }

    pub(crate) async fn token_used(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        self.writer.write(move |work| token_used(work, id, at)).await
    }

    pub(crate) async fn user(&self, name: UserName) -> Result<Option<User>, StoreError> {
        self.readers.read("read a user", move |connection| user(connection, &name)).await
    }

    pub(crate) async fn users(&self) -> Result<Vec<User>, StoreError> {
        self.readers.read("list users", users).await
    }

    pub(crate) async fn tokens(&self, name: UserName) -> Result<Vec<Token>, StoreError> {
        self.readers.read("list tokens", move |connection| tokens(connection, &name)).await
    }

    pub(crate) async fn bearer(&self, hash: TokenHash) -> Result<Option<Bearer>, StoreError> {
        self.readers.read("find a token", move |connection| bearer(connection, hash)).await
    }
}

/// Adds a user.
fn add_user(
    work: &mut Work<'_>,
    name: &UserName,
    role: Role,
    act: &Act,
) -> Result<User, PeopleError> {
    let failed = StoreError::backend("add a user");
    if find(work, name)?.is_some() {
        return Err(PeopleError::NameTaken(name.clone()));
    }
    let user =
        User { id: Uuid::new_v4(), name: name.clone(), role, created_at: act.at, revoked_at: None };
    let add = || {
        let users: u32 =
            work.connection.query_row("SELECT count(*) FROM users", [], |found| found.get(0))?;
        if users as usize >= MAX_USERS {
            return Ok(false);
        }
        work.connection
            .prepare_cached(
                "INSERT INTO users (id, name, role, created_at) VALUES (?1, ?2, ?3, ?4)",
            )?
            .execute(params![
                user.id.to_string(),
                name.as_str(),
                role.as_str(),
                act.at.as_millisecond()
            ])?;
        note(work.connection, act, AuditAction::UserAdded, name, json!({"role": role}))?;
        Ok(true)
    };
    if add().map_err(failed)? { Ok(user) } else { Err(PeopleError::TooManyUsers) }
}

/// Gives a user another role.
fn set_role(
    work: &mut Work<'_>,
    name: &UserName,
    role: Role,
    act: &Act,
) -> Result<User, PeopleError> {
    let user = valid(work, name)?;
    if user.role == role {
        return Ok(user);
    }
    let change = || {
        work.connection
            .prepare_cached("UPDATE users SET role = ?2 WHERE name = ?1")?
            .execute(params![name.as_str(), role.as_str()])?;
        let detail = json!({"role": role, "before": user.role});
        note(work.connection, act, AuditAction::RoleChanged, name, detail)
    };
    change().map_err(StoreError::backend("change a role"))?;
    Ok(User { role, ..user })
}

/// Revokes a user with all their tokens. Doing it again changes nothing.
fn revoke_user(work: &mut Work<'_>, name: &UserName, act: &Act) -> Result<User, PeopleError> {
    let user = find(work, name)?.ok_or_else(|| PeopleError::NoUser(name.clone()))?;
    if user.revoked_at.is_some() {
        return Ok(user);
    }
    let at = act.at.as_millisecond();
    let revoke = || {
        work.connection
            .prepare_cached("UPDATE users SET revoked_at = ?2 WHERE name = ?1")?
            .execute(params![name.as_str(), at])?;
        let tokens = work
            .connection
            .prepare_cached(
                "UPDATE user_tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL",
            )?
            .execute(params![user.id.to_string(), at])?;
        note(work.connection, act, AuditAction::UserRevoked, name, json!({"tokens": tokens}))
    };
    revoke().map_err(StoreError::backend("revoke a user"))?;
    Ok(User { revoked_at: Some(act.at), ..user })
}

/// Keeps a token of a user.
fn add_token(work: &mut Work<'_>, new: &NewToken, act: &Act) -> Result<Token, PeopleError> {
    let user = valid(work, &new.user)?;
    let token = Token {
        id: Uuid::new_v4(),
        user: new.user.clone(),
        prefix: new.prefix.clone(),
        label: new.label.clone(),
        created_at: act.at,
        last_used_at: None,
        expires_at: new.expires_at,
        revoked_at: None,
    };
    let key = user.id.to_string();
    let add = || {
        if !make_room(work.connection, &key, act.at)? {
            return Ok(false);
        }
        work.connection
            .prepare_cached(
                "INSERT INTO user_tokens (id, user_id, hash, prefix, label, created_at, expires_at) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?
            .execute(params![
                token.id.to_string(),
                key,
                new.hash,
                token.prefix,
                token.label,
                act.at.as_millisecond(),
                token.expires_at.map(Timestamp::as_millisecond),
            ])?;
        let detail = json!({"token": token.id, "prefix": token.prefix, "label": token.label});
        note(work.connection, act, AuditAction::TokenAdded, &new.user, detail)?;
        Ok(true)
    };
    let added = add().map_err(StoreError::backend("keep a token"))?;
    if added { Ok(token) } else { Err(PeopleError::TooManyTokens(new.user.clone())) }
}

/// Removes the oldest token that is over, where there are as many as there can be. `false` if
/// none is over.
fn make_room(connection: &Connection, user: &str, now: Timestamp) -> rusqlite::Result<bool> {
    let tokens: u32 = connection
        .prepare_cached("SELECT count(*) FROM user_tokens WHERE user_id = ?1")?
        .query_row([user], |found| found.get(0))?;
    if (tokens as usize) < MAX_TOKENS_PER_USER {
        return Ok(true);
    }
    let removed = connection
        .prepare_cached(
            "DELETE FROM user_tokens WHERE id = (SELECT id FROM user_tokens WHERE user_id = ?1 \
             AND (revoked_at IS NOT NULL OR expires_at <= ?2) ORDER BY created_at, id LIMIT 1)",
        )?
        .execute(params![user, now.as_millisecond()])?;
    Ok(removed > 0)
}

/// Revokes one token. Doing it again changes nothing.
fn revoke_token(work: &mut Work<'_>, id: Uuid, act: &Act) -> Result<Token, PeopleError> {
    let failed = |source| PeopleError::Store(StoreError::backend("revoke a token")(source));
    let token = work
        .connection
        .prepare_cached(&format!("{TOKENS} WHERE t.id = ?1"))
        .and_then(|mut statement| statement.query_row([id.to_string()], token).optional())
        .map_err(failed)?
        .ok_or(PeopleError::NoToken(id))?;
    if token.revoked_at.is_some() {
        return Ok(token);
    }
    let revoke = || {
        work.connection
            .prepare_cached("UPDATE user_tokens SET revoked_at = ?2 WHERE id = ?1")?
            .execute(params![id.to_string(), act.at.as_millisecond()])?;
        let detail = json!({"token": id, "prefix": token.prefix, "label": token.label});
        note(work.connection, act, AuditAction::TokenRevoked, &token.user, detail)
    };
    revoke().map_err(failed)?;
    Ok(Token { revoked_at: Some(act.at), ..token })
}

/// Notes that somebody came with a token.
fn token_used(work: &mut Work<'_>, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
    work.connection
        .prepare_cached("UPDATE user_tokens SET last_used_at = ?2 WHERE id = ?1")
        .and_then(|mut update| update.execute(params![id.to_string(), at.as_millisecond()]))
        .map(|_| ())
        .map_err(StoreError::backend("note the use of a token"))
}

/// One user.
fn user(connection: &Connection, name: &UserName) -> rusqlite::Result<Option<User>> {
    connection
        .prepare_cached(&format!("{USERS} WHERE name = ?1"))?
        .query_row([name.as_str()], |found| user_at(found, 0))
        .optional()
}

/// All users, by name.
pub(super) fn users(connection: &Connection) -> rusqlite::Result<Vec<User>> {
    connection
        .prepare_cached(&format!("{USERS} ORDER BY name LIMIT {MAX_USERS}"))?
        .query_map([], |found| user_at(found, 0))?
        .collect()
}

/// The tokens of a user, oldest first.
fn tokens(connection: &Connection, name: &UserName) -> rusqlite::Result<Vec<Token>> {
    let sql = format!(
        "{TOKENS} WHERE u.name = ?1 ORDER BY t.created_at, t.id LIMIT {MAX_TOKENS_PER_USER}"
    );
    connection.prepare_cached(&sql)?.query_map([name.as_str()], token)?.collect()
}

/// Whose token this is, valid or not.
fn bearer(connection: &Connection, hash: TokenHash) -> rusqlite::Result<Option<Bearer>> {
    let sql = "SELECT t.id, u.name, t.prefix, t.label, t.created_at, t.last_used_at, t.expires_at, \
               t.revoked_at, u.id, u.name, u.role, u.created_at, u.revoked_at \
               FROM user_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = ?1";
    connection
        .prepare_cached(sql)?
        .query_row([hash], |found| Ok(Bearer { token: token(found)?, user: user_at(found, 8)? }))
        .optional()
}

fn find(work: &Work<'_>, name: &UserName) -> Result<Option<User>, StoreError> {
    user(work.connection, name).map_err(StoreError::backend("read a user"))
}

/// A user who has not been revoked.
fn valid(work: &Work<'_>, name: &UserName) -> Result<User, PeopleError> {
    let user = find(work, name)?.ok_or_else(|| PeopleError::NoUser(name.clone()))?;
    if user.revoked_at.is_some() {
        return Err(PeopleError::Revoked(name.clone()));
    }
    Ok(user)
}

fn note(
    connection: &Connection,
    act: &Act,
    action: AuditAction,
    name: &UserName,
    detail: Value,
) -> rusqlite::Result<()> {
    let entry = NewAuditEntry {
        at: act.at,
        actor: act.actor.clone(),
        action,
        subject: name.to_string(),
        session: None,
        detail,
    };
    audit::insert(connection, &entry)
}

fn user_at(found: &Row<'_>, first: usize) -> rusqlite::Result<User> {
    Ok(User {
        id: row::parsed(found, first)?,
        name: row::parsed(found, first + 1)?,
        role: row::parsed(found, first + 2)?,
        created_at: row::timestamp(first + 3, found.get(first + 3)?)?,
        revoked_at: time(found, first + 4)?,
    })
}

pub(super) fn token(found: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        id: row::parsed(found, 0)?,
        user: row::parsed(found, 1)?,
        prefix: found.get(2)?,
        label: found.get(3)?,
        created_at: row::timestamp(4, found.get(4)?)?,
        last_used_at: time(found, 5)?,
        expires_at: time(found, 6)?,
        revoked_at: time(found, 7)?,
    })
}

fn time(found: &Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    found.get::<_, Option<i64>>(column)?.map(|time| row::timestamp(column, time)).transpose()
}
