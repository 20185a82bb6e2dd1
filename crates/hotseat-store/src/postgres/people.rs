//! Users and their tokens.
//!
//! Acts on people are rare and take turns: each holds one lock of the database to its end, so
//! that two servers cannot both give a name or the last place. An act whose commit was cut off
//! finds its own id when it is tried again, and is done.

use deadpool_postgres::Transaction;
use hotseat_core::{Role, UserName};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::failure::{Failure, Patience};
use super::held::Held;
use super::text::kept;
use super::{Postgres, audit, retry, row};
use crate::people::{MAX_TOKENS_PER_USER, MAX_USERS};
use crate::{
    Act, AuditAction, Bearer, NewAuditEntry, NewToken, PeopleError, StoreError, Token, TokenHash,
    User,
};

/// The lock of whoever acts on people. The number means nothing.
const LOCK: i64 = 0x0068_6f74_7065_6f70;

pub(super) const USERS: &str =
    "SELECT u.id, u.name, u.role, u.created_at, u.revoked_at FROM users u";

pub(super) const TOKENS: &str = "SELECT t.id, u.name, t.prefix, t.label, t.created_at, t.last_used_at, \
                      t.expires_at, t.revoked_at \
                      FROM user_tokens t JOIN users u ON u.id = t.user_id";

/// What became of an act: refused, or done.
type Done<T> = Result<T, PeopleError>;

impl Postgres {
    pub(crate) async fn add_user(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        let id = Uuid::new_v4();
        let new = User { id, name, role, created_at: act.at, revoked_at: None };
        retry!(self, Patience::to_write("add a user"), |held| {
            commit(held, async |people| add_user(people, &new, &act).await).await
        })?
    }

    pub(crate) async fn set_role(
        &self,
        name: UserName,
        role: Role,
        act: Act,
    ) -> Result<User, PeopleError> {
        retry!(self, Patience::to_write("change a role"), |held| {
            commit(held, async |people| set_role(people, &name, role, &act).await).await
        })?
    }

    pub(crate) async fn revoke_user(&self, name: UserName, act: Act) -> Result<User, PeopleError> {
        retry!(self, Patience::to_write("revoke a user"), |held| {
            commit(held, async |people| revoke_user(people, &name, &act).await).await
        })?
    }

    pub(crate) async fn add_token(&self, new: NewToken, act: Act) -> Result<Token, PeopleError> {
        let id = Uuid::new_v4();
        retry!(self, Patience::to_write("keep a token"), |held| {
            commit(held, async |people| add_token(people, id, &new, &act).await).await
        })?
    }

    pub(crate) async fn revoke_token(&self, id: Uuid, act: Act) -> Result<Token, PeopleError> {
        retry!(self, Patience::to_write("revoke a token"), |held| {
            commit(held, async |people| revoke_token(people, id, &act).await).await
        })?
    }

    pub(crate) async fn token_used(&self, id: Uuid, at: Timestamp) -> Result<(), StoreError> {
        let sql = "UPDATE user_tokens SET last_used_at = $2 WHERE id = $1";
        retry!(self, Patience::to_write("note the use of a token"), |held| {
            let statement = held.prepare_cached(sql).await?;
            held.execute(&statement, &[&id, &at.as_millisecond()]).await?;
            Ok(())
        })
    }

    pub(crate) async fn user(&self, name: UserName) -> Result<Option<User>, StoreError> {
        retry!(self, Patience::to_read("read a user"), |held| {
            let sql = format!("{USERS} WHERE u.name = $1");
            let found = rows(held, &sql, &name).await?;
            found.first().map(|found| user_at(found, 0)).transpose()
        })
    }

    pub(crate) async fn users(&self) -> Result<Vec<User>, StoreError> {
        retry!(self, Patience::to_read("list users"), |held| {
            let sql = format!("{USERS} ORDER BY u.name LIMIT {MAX_USERS}");
            let statement = held.prepare_cached(&sql).await?;
            let found = held.query(&statement, &[]).await?;
            found.iter().map(|found| user_at(found, 0)).collect::<Result<Vec<_>, Failure>>()
        })
    }

    pub(crate) async fn tokens(&self, name: UserName) -> Result<Vec<Token>, StoreError> {
        retry!(self, Patience::to_read("list tokens"), |held| {
            let sql = format!(
                "{TOKENS} WHERE u.name = $1 ORDER BY t.created_at, t.id LIMIT {MAX_TOKENS_PER_USER}"
            );
            rows(held, &sql, &name).await?.iter().map(token).collect::<Result<Vec<_>, Failure>>()
        })
    }

    pub(crate) async fn bearer(&self, hash: TokenHash) -> Result<Option<Bearer>, StoreError> {
        let sql = "SELECT t.id, u.name, t.prefix, t.label, t.created_at, t.last_used_at, \
                   t.expires_at, t.revoked_at, u.id, u.name, u.role, u.created_at, u.revoked_at \
                   FROM user_tokens t JOIN users u ON u.id = t.user_id WHERE t.hash = $1";
        retry!(self, Patience::to_read("find a token"), |held| {
            let statement = held.prepare_cached(sql).await?;
            let found = held.query_opt(&statement, &[&hash.as_slice()]).await?;
            let read = |found: &Row| Ok(Bearer { token: token(found)?, user: user_at(found, 8)? });
            found.as_ref().map(read).transpose()
        })
    }
}

async fn rows(held: &Held, sql: &str, name: &UserName) -> Result<Vec<Row>, Failure> {
    let statement = held.prepare_cached(sql).await?;
    Ok(held.query(&statement, &[&name.as_str()]).await?)
}

/// Acts alone, and undoes what was begun when it is refused.
async fn commit<T>(
    held: &mut Held,
    act: impl AsyncFnOnce(&Transaction<'_>) -> Result<Done<T>, Failure>,
) -> Result<Done<T>, Failure> {
    let transaction = held.transaction().await?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await?;
    let done = act(&transaction).await?;
    match &done {
        Ok(_) => transaction.commit().await?,
        Err(_) => transaction.rollback().await?,
    }
    Ok(done)
}

async fn add_user(people: &Transaction<'_>, new: &User, act: &Act) -> Result<Done<User>, Failure> {
    match find(people, &new.name).await? {
        Some(own) if own.id == new.id => return Ok(Ok(own)),
        Some(_) => return Ok(Err(PeopleError::NameTaken(new.name.clone()))),
        None => {}
    }
    if count(people, "SELECT count(*) FROM users", &[]).await? >= MAX_USERS as u64 {
        return Ok(Err(PeopleError::TooManyUsers));
    }
    let sql = "INSERT INTO users (id, name, role, created_at) VALUES ($1, $2, $3, $4)";
    let at = act.at.as_millisecond();
    run(people, sql, &[&new.id, &new.name.as_str(), &new.role.as_str(), &at]).await?;
    note(people, act, AuditAction::UserAdded, &new.name, json!({"role": new.role})).await?;
    Ok(Ok(new.clone()))
}

async fn set_role(
    people: &Transaction<'_>,
    name: &UserName,
    role: Role,
    act: &Act,
) -> Result<Done<User>, Failure> {
    let user = match valid(people, name).await? {
        Ok(user) if user.role != role => user,
        other => return Ok(other),
    };
    let sql = "UPDATE users SET role = $2 WHERE name = $1";
    run(people, sql, &[&name.as_str(), &role.as_str()]).await?;
    let detail = json!({"role": role, "before": user.role});
    note(people, act, AuditAction::RoleChanged, name, detail).await?;
    Ok(Ok(User { role, ..user }))
}

async fn revoke_user(
    people: &Transaction<'_>,
    name: &UserName,
    act: &Act,
) -> Result<Done<User>, Failure> {
    let Some(user) = find(people, name).await? else {
        return Ok(Err(PeopleError::NoUser(name.clone())));
    };
    if user.revoked_at.is_some() {
        return Ok(Ok(user));
    }
    let at = act.at.as_millisecond();
    run(people, "UPDATE users SET revoked_at = $2 WHERE id = $1", &[&user.id, &at]).await?;
    let sql = "UPDATE user_tokens SET revoked_at = $2 WHERE user_id = $1 AND revoked_at IS NULL";
    let tokens = run(people, sql, &[&user.id, &at]).await?;
    note(people, act, AuditAction::UserRevoked, name, json!({"tokens": tokens})).await?;
    Ok(Ok(User { revoked_at: Some(act.at), ..user }))
}

async fn add_token(
    people: &Transaction<'_>,
    id: Uuid,
    new: &NewToken,
    act: &Act,
) -> Result<Done<Token>, Failure> {
    if let Some(own) = token_by_id(people, id).await? {
        return Ok(Ok(own));
    }
    let user = match valid(people, &new.user).await? {
        Ok(user) => user,
        Err(refusal) => return Ok(Err(refusal)),
    };
    if !make_room(people, user.id, act.at).await? {
        return Ok(Err(PeopleError::TooManyTokens(new.user.clone())));
    }
    let sql = "INSERT INTO user_tokens (id, user_id, hash, prefix, label, created_at, expires_at) \
               VALUES ($1, $2, $3, $4, $5, $6, $7)";
    let (prefix, label) = (kept(&new.prefix), kept(&new.label));
    let (at, end) = (act.at.as_millisecond(), new.expires_at.map(Timestamp::as_millisecond));
    let hash = new.hash.as_slice();
    run(people, sql, &[&id, &user.id, &hash, &prefix, &label, &at, &end]).await?;
    let detail = json!({"token": id, "prefix": new.prefix, "label": new.label});
    note(people, act, AuditAction::TokenAdded, &new.user, detail).await?;
    Ok(Ok(Token {
        id,
        user: new.user.clone(),
        prefix: new.prefix.clone(),
        label: new.label.clone(),
        created_at: act.at,
        last_used_at: None,
        expires_at: new.expires_at,
        revoked_at: None,
    }))
}

/// Removes the oldest token that is over, where there are as many as there can be. `false` if
/// none is over.
async fn make_room(people: &Transaction<'_>, user: Uuid, now: Timestamp) -> Result<bool, Failure> {
    let sql = "SELECT count(*) FROM user_tokens WHERE user_id = $1";
    if count(people, sql, &[&user]).await? < MAX_TOKENS_PER_USER as u64 {
        return Ok(true);
    }
    let sql = "DELETE FROM user_tokens WHERE id = (SELECT id FROM user_tokens WHERE user_id = $1 \
               AND (revoked_at IS NOT NULL OR expires_at <= $2) ORDER BY created_at, id LIMIT 1)";
    Ok(run(people, sql, &[&user, &now.as_millisecond()]).await? > 0)
}

async fn revoke_token(
    people: &Transaction<'_>,
    id: Uuid,
    act: &Act,
) -> Result<Done<Token>, Failure> {
    let token = match token_by_id(people, id).await? {
        None => return Ok(Err(PeopleError::NoToken(id))),
        Some(token) if token.revoked_at.is_some() => return Ok(Ok(token)),
        Some(token) => token,
    };
    let sql = "UPDATE user_tokens SET revoked_at = $2 WHERE id = $1";
    run(people, sql, &[&id, &act.at.as_millisecond()]).await?;
    let detail = json!({"token": id, "prefix": token.prefix, "label": token.label});
    note(people, act, AuditAction::TokenRevoked, &token.user, detail).await?;
    Ok(Ok(Token { revoked_at: Some(act.at), ..token }))
}

async fn run(
    people: &Transaction<'_>,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, Failure> {
    let statement = people.prepare_cached(sql).await?;
    Ok(people.execute(&statement, values).await?)
}

async fn ask(
    people: &Transaction<'_>,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<Option<Row>, Failure> {
    let statement = people.prepare_cached(sql).await?;
    Ok(people.query_opt(&statement, values).await?)
}

/// How many there are, of a query that answers with a number.
async fn count(
    people: &Transaction<'_>,
    sql: &str,
    values: &[&(dyn ToSql + Sync)],
) -> Result<u64, Failure> {
    ask(people, sql, values).await?.as_ref().map_or(Ok(0), |found| row::count(found, 0))
}

async fn find(people: &Transaction<'_>, name: &UserName) -> Result<Option<User>, Failure> {
    let found = ask(people, &format!("{USERS} WHERE u.name = $1"), &[&name.as_str()]).await?;
    found.as_ref().map(|found| user_at(found, 0)).transpose()
}

/// A user who has not been revoked.
async fn valid(people: &Transaction<'_>, name: &UserName) -> Result<Done<User>, Failure> {
    Ok(match find(people, name).await? {
        None => Err(PeopleError::NoUser(name.clone())),
        Some(user) if user.revoked_at.is_some() => Err(PeopleError::Revoked(name.clone())),
        Some(user) => Ok(user),
    })
}

async fn token_by_id(people: &Transaction<'_>, id: Uuid) -> Result<Option<Token>, Failure> {
    let found = ask(people, &format!("{TOKENS} WHERE t.id = $1"), &[&id]).await?;
    found.as_ref().map(token).transpose()
}

async fn note(
    people: &Transaction<'_>,
    act: &Act,
    action: AuditAction,
    name: &UserName,
    detail: Value,
) -> Result<(), Failure> {
    let entry = NewAuditEntry {
        at: act.at,
        actor: act.actor.clone(),
        action,
        subject: name.to_string(),
        session: None,
        detail,
    };
    audit::insert(people, Uuid::new_v4(), &entry).await
}

pub(super) fn user_at(found: &Row, first: usize) -> Result<User, Failure> {
    Ok(User {
        id: row::get(found, first)?,
        name: row::get::<&str>(found, first + 1)?.parse().map_err(Failure::corrupt)?,
        role: row::get::<&str>(found, first + 2)?.parse().map_err(Failure::corrupt)?,
        created_at: row::timestamp(row::get(found, first + 3)?)?,
        revoked_at: time(found, first + 4)?,
    })
}

pub(super) fn token(found: &Row) -> Result<Token, Failure> {
    Ok(Token {
        id: row::get(found, 0)?,
        user: row::get::<&str>(found, 1)?.parse().map_err(Failure::corrupt)?,
        prefix: row::text(found, 2)?,
        label: row::text(found, 3)?,
        created_at: row::timestamp(row::get(found, 4)?)?,
        last_used_at: time(found, 5)?,
        expires_at: time(found, 6)?,
        revoked_at: time(found, 7)?,
    })
}

fn time(found: &Row, column: usize) -> Result<Option<Timestamp>, Failure> {
    row::get::<Option<i64>>(found, column)?.map(row::timestamp).transpose()
}
