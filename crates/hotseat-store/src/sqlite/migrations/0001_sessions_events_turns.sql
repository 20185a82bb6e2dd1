-- One conversation and the summary of its log. The columns after `source` are
-- folded from the events in the transaction that appends them.
CREATE TABLE sessions (
    id            TEXT    NOT NULL PRIMARY KEY,
    created_at    INTEGER NOT NULL,             -- Unix time, milliseconds
    description   TEXT,
    status        TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed')),
    agent         TEXT,
    app_name      TEXT    NOT NULL,
    user_id       TEXT    NOT NULL,
    source        TEXT    NOT NULL,
    updated_at    INTEGER NOT NULL,
    title         TEXT,
    last_seq      INTEGER NOT NULL DEFAULT 0,
    pending_turns INTEGER NOT NULL DEFAULT 0,
    run_id        TEXT,
    run_status    TEXT,
    run_since     INTEGER
) STRICT;

CREATE INDEX sessions_newest  ON sessions (created_at DESC, id DESC);
CREATE INDEX sessions_running ON sessions (created_at DESC, id DESC) WHERE run_id IS NOT NULL;
CREATE INDEX sessions_waiting ON sessions (created_at DESC, id DESC) WHERE pending_turns > 0;

-- The log. `payload` is the JSON as it arrived, as text so that anyone can read it with sqlite3.
CREATE TABLE events (
    session_id     TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq            INTEGER NOT NULL,
    event_id       TEXT    NOT NULL,
    timestamp      INTEGER NOT NULL,            -- Unix time, milliseconds
    kind           TEXT    NOT NULL,
    turn_id        TEXT,
    agent_name     TEXT    NOT NULL,
    invocation_id  TEXT,
    author         TEXT    NOT NULL,
    branch         TEXT,
    parent_call_id TEXT,
    payload        TEXT    NOT NULL,
    PRIMARY KEY (session_id, seq),
    UNIQUE (session_id, event_id)
) STRICT;

CREATE INDEX events_session_time ON events (session_id, timestamp);
CREATE INDEX events_turn ON events (turn_id) WHERE turn_id IS NOT NULL;

-- Which event opened a turn and which one ended it. The key is what keeps a
-- turn to one request and one response.
CREATE TABLE turns (
    session_id   TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    turn_id      TEXT    NOT NULL,
    request_seq  INTEGER NOT NULL,
    response_seq INTEGER,
    PRIMARY KEY (session_id, turn_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX turns_pending ON turns (session_id, request_seq) WHERE response_seq IS NULL;
