-- The ledger of ADK's sessions: state, derived messages, what readers did, figures and search.

ALTER TABLE sessions ADD COLUMN adk_id          TEXT;                         -- ADK's id, where it is not our own
ALTER TABLE sessions ADD COLUMN update_time     REAL;                         -- the last ADK event's own time, seconds
ALTER TABLE sessions ADD COLUMN event_head      INTEGER NOT NULL DEFAULT 0;   -- the last ADK event
ALTER TABLE sessions ADD COLUMN event_count     INTEGER NOT NULL DEFAULT 0;   -- ADK events
ALTER TABLE sessions ADD COLUMN message_count   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN bytes           INTEGER NOT NULL DEFAULT 0;   -- of payloads, as they arrived
ALTER TABLE sessions ADD COLUMN removed_through INTEGER NOT NULL DEFAULT 0;   -- events up to here were removed
ALTER TABLE sessions ADD COLUMN open_requests   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sessions ADD COLUMN incarnation     INTEGER NOT NULL DEFAULT 0;   -- tells it from an older one with its id
ALTER TABLE sessions ADD COLUMN record_status   TEXT;
ALTER TABLE sessions ADD COLUMN progress        REAL;
ALTER TABLE sessions ADD COLUMN current_phase   TEXT;
ALTER TABLE sessions ADD COLUMN final_report    TEXT;
ALTER TABLE sessions ADD COLUMN error           TEXT;

CREATE INDEX sessions_of_user ON sessions (app_name, user_id, COALESCE(update_time, created_at / 1000.0), id);
DROP INDEX sessions_waiting;
CREATE INDEX sessions_waiting ON sessions (created_at DESC, id DESC) WHERE pending_turns + open_requests > 0;

-- The log anew: with a key that never moves, for the search index; with the time that
-- an event itself tells; and with payloads that may be compressed.
--
-- An append writes a row at the end of the table and nothing else: a place in five indexes
-- would cost a page of each, for every session that is written to. Rows are settled, which
-- means indexed, many at a time. Until then they are few, and are found by looking through
-- them: all with an id above `settled_through`.
CREATE TABLE log (
    id             INTEGER NOT NULL PRIMARY KEY,  -- given by the writer, and never twice
    settled        INTEGER NOT NULL DEFAULT 0,
    session_id     TEXT    NOT NULL,
    seq            INTEGER NOT NULL,
    event_id       TEXT    NOT NULL,
    timestamp      INTEGER NOT NULL,            -- when it arrived: Unix time, milliseconds
    time           REAL    NOT NULL,            -- its own time, or that of its arrival: seconds
    kind           TEXT    NOT NULL,
    turn_id        TEXT,
    agent_name     TEXT    NOT NULL,
    invocation_id  TEXT,
    author         TEXT    NOT NULL,
    branch         TEXT,
    parent_call_id TEXT,
    size           INTEGER NOT NULL,            -- of the payload as it arrived, bytes
    payload        ANY     NOT NULL             -- JSON as it arrived: text, or a blob of zstd
) STRICT;

INSERT INTO log (settled, session_id, seq, event_id, timestamp, time, kind, turn_id, agent_name, invocation_id, author, branch, parent_call_id, size, payload)
SELECT 1, session_id, seq, event_id, timestamp,
       CASE kind WHEN 'event' THEN COALESCE(CAST(payload ->> '$.timestamp' AS REAL), 0) ELSE timestamp / 1000.0 END,
       kind, turn_id, agent_name, invocation_id, author, branch, parent_call_id, length(CAST(payload AS BLOB)), payload
FROM events ORDER BY timestamp, session_id, seq;

DROP TABLE events;
ALTER TABLE log RENAME TO events;

CREATE UNIQUE INDEX events_place      ON events (session_id, seq) WHERE settled = 1;
CREATE UNIQUE INDEX events_identity   ON events (session_id, event_id) WHERE settled = 1;
CREATE INDEX        events_time       ON events (session_id, time, seq) WHERE settled = 1;
CREATE INDEX        events_author     ON events (session_id, kind, author, seq) WHERE settled = 1;
CREATE INDEX        events_invocation ON events (session_id, invocation_id, seq) WHERE settled = 1 AND invocation_id IS NOT NULL;
CREATE INDEX        events_branch     ON events (session_id, branch, seq) WHERE settled = 1 AND branch IS NOT NULL;

-- How far events are settled, and how far their words are in the search index.
CREATE TABLE places (
    settled_through INTEGER NOT NULL,
    indexed_through INTEGER NOT NULL
) STRICT;
INSERT INTO places SELECT COALESCE(max(id), 0), 0 FROM events;

-- When a turn was requested, so that a list of turns needs no look at the log.
ALTER TABLE turns ADD COLUMN requested_at INTEGER NOT NULL DEFAULT 0;
UPDATE turns SET requested_at = (SELECT timestamp FROM events e
    WHERE e.session_id = turns.session_id AND e.seq = turns.request_seq AND e.settled = 1);

-- What ADK asked the user for, and where it was answered.
CREATE TABLE asks (
    session_id  TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    call_id     TEXT    NOT NULL,
    asked_seq   INTEGER NOT NULL,
    answer_seq  INTEGER,
    PRIMARY KEY (session_id, call_id)
) STRICT, WITHOUT ROWID;

-- The state of a session, folded from its log; values are JSON.
CREATE TABLE session_state (
    session_id TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    key        TEXT NOT NULL,
    value      TEXT NOT NULL,
    PRIMARY KEY (session_id, key)
) STRICT, WITHOUT ROWID;

-- What all sessions of an app share, and all of a user in an app; it outlives them.
CREATE TABLE shared_state (
    app_name TEXT NOT NULL,
    user_id  TEXT NOT NULL,                      -- empty: the app's
    key      TEXT NOT NULL,
    value    TEXT NOT NULL,
    PRIMARY KEY (app_name, user_id, key)
) STRICT, WITHOUT ROWID;

-- Messages that the log does not tell by itself: those that were written by hand, those that
-- change as work goes on, and those whose events were removed. What a user or an agent said is
-- in its event. `seq` is the entry that made them first.
CREATE TABLE messages (
    session_id TEXT    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    seq        INTEGER NOT NULL,
    message_id TEXT    NOT NULL,
    role       TEXT    NOT NULL,
    content    TEXT    NOT NULL,
    timestamp  INTEGER NOT NULL,                 -- Unix time, milliseconds
    metadata   TEXT,
    PRIMARY KEY (session_id, message_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX messages_order ON messages (session_id, seq);

-- What readers did, which is not in the log.
CREATE TABLE session_access (
    session_id      TEXT    NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    last_access_at  INTEGER NOT NULL,
    client_ip       TEXT,
    user_agent      TEXT,
    failed_attempts INTEGER NOT NULL DEFAULT 0,
    flagged         INTEGER NOT NULL DEFAULT 0,
    warnings        TEXT    NOT NULL DEFAULT '[]'
) STRICT;

-- Figures, summed as events are appended.
CREATE TABLE usage_minutes (
    minute        INTEGER NOT NULL PRIMARY KEY,  -- Unix time, minutes
    events        INTEGER NOT NULL,
    errors        INTEGER NOT NULL,
    prompt_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL
) STRICT;

CREATE TABLE usage_tools (
    name     TEXT    NOT NULL PRIMARY KEY,
    calls    INTEGER NOT NULL DEFAULT 0,
    errors   INTEGER NOT NULL DEFAULT 0,
    timed    INTEGER NOT NULL DEFAULT 0,
    total_ms REAL    NOT NULL DEFAULT 0,
    max_ms   REAL    NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- What retention removed, by reason.
CREATE TABLE removals (
    reason   TEXT    NOT NULL PRIMARY KEY,
    sessions INTEGER NOT NULL DEFAULT 0,
    events   INTEGER NOT NULL DEFAULT 0,
    last_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The words of the log. The text itself stays in the events; rowids are theirs.
CREATE VIRTUAL TABLE search USING fts5 (text, content='', contentless_delete=1, tokenize='unicode61 remove_diacritics 2');
