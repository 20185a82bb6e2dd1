-- People: users and their tokens, who holds what for a while, and what was done by whom.

CREATE TABLE users (
    id         TEXT    NOT NULL PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    role       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,                -- Unix time, milliseconds; so are all times here
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Tokens are 256 random bits. Nobody finds one by trying, so a fast hash keeps them as well
-- as a slow one would; a slow one would be paid for with every request.
CREATE TABLE user_tokens (
    id           TEXT    NOT NULL PRIMARY KEY,
    user_id      TEXT    NOT NULL REFERENCES users (id),
    hash         BLOB    NOT NULL UNIQUE,       -- SHA-256 of the token
    prefix       TEXT    NOT NULL,              -- its first letters, to tell it from others in a list
    label        TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER,
    expires_at   INTEGER,
    revoked_at   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX user_tokens_of_user ON user_tokens (user_id, created_at);

-- Whoever holds something of a session for a while: a person a turn, a server a run.
CREATE TABLE leases (
    session_id TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    subject    TEXT    NOT NULL,
    holder     TEXT    NOT NULL,
    since      INTEGER NOT NULL,
    until      INTEGER NOT NULL,
    PRIMARY KEY (session_id, subject)
) STRICT, WITHOUT ROWID;

-- What was done by whom. Nothing is ever changed here, and nothing goes: not with its
-- session, and not with its user.
CREATE TABLE audit (
    seq        INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    actor      TEXT    NOT NULL,
    action     TEXT    NOT NULL,
    subject    TEXT    NOT NULL,
    session_id TEXT,
    detail     TEXT    NOT NULL                 -- JSON
) STRICT;

CREATE INDEX audit_of_actor   ON audit (actor, seq);
CREATE INDEX audit_of_session ON audit (session_id, seq) WHERE session_id IS NOT NULL;
