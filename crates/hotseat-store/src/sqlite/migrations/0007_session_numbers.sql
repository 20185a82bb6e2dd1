-- Ids of sessions are random, and a row that is found by one is written to a page of its own:
-- three tables, three pages for every session that has something settled. Sessions are numbered
-- instead in the order in which they came, and what is settled of those that are active together
-- stands together.
CREATE TABLE numbered (
    number          INTEGER NOT NULL PRIMARY KEY,   -- only in this file
    id              TEXT    NOT NULL UNIQUE,
    created_at      INTEGER NOT NULL,               -- Unix time, milliseconds
    description     TEXT,
    status          TEXT    NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'completed')),
    agent           TEXT,
    app_name        TEXT    NOT NULL,
    user_id         TEXT    NOT NULL,
    source          TEXT    NOT NULL,
    updated_at      INTEGER NOT NULL,
    title           TEXT,
    last_seq        INTEGER NOT NULL DEFAULT 0,
    pending_turns   INTEGER NOT NULL DEFAULT 0,
    run_id          TEXT,
    run_status      TEXT,
    run_since       INTEGER,
    adk_id          TEXT,                           -- ADK's id, where it is not our own
    update_time     REAL,                           -- the last ADK event's own time, seconds
    event_head      INTEGER NOT NULL DEFAULT 0,     -- the last ADK event
    event_count     INTEGER NOT NULL DEFAULT 0,     -- ADK events
    message_count   INTEGER NOT NULL DEFAULT 0,
    bytes           INTEGER NOT NULL DEFAULT 0,     -- of payloads, as they arrived
    removed_through INTEGER NOT NULL DEFAULT 0,     -- events up to here were removed
    open_requests   INTEGER NOT NULL DEFAULT 0,
    incarnation     INTEGER NOT NULL DEFAULT 0,     -- tells it from an older one with its id
    record_status   TEXT,
    progress        REAL,
    current_phase   TEXT,
    final_report    TEXT,
    error           TEXT,
    settled_seq     INTEGER NOT NULL DEFAULT 0      -- later events are not settled
) STRICT;

INSERT INTO numbered (id, created_at, description, status, agent, app_name, user_id, source, updated_at, title, last_seq,
    pending_turns, run_id, run_status, run_since, adk_id, update_time, event_head, event_count, message_count, bytes,
    removed_through, open_requests, incarnation, record_status, progress, current_phase, final_report, error, settled_seq)
SELECT id, created_at, description, status, agent, app_name, user_id, source, updated_at, title, last_seq,
    pending_turns, run_id, run_status, run_since, adk_id, update_time, event_head, event_count, message_count, bytes,
    removed_through, open_requests, incarnation, record_status, progress, current_phase, final_report, error, settled_seq
FROM sessions ORDER BY created_at, id;

-- Foreign keys are not enforced while migrating, so nothing goes with it.
DROP TABLE sessions;
ALTER TABLE numbered RENAME TO sessions;

CREATE INDEX sessions_newest  ON sessions (created_at DESC, id DESC);
CREATE INDEX sessions_running ON sessions (created_at DESC, id DESC) WHERE run_id IS NOT NULL;
CREATE INDEX sessions_waiting ON sessions (created_at DESC, id DESC) WHERE pending_turns + open_requests > 0;
CREATE INDEX sessions_of_user ON sessions (app_name, user_id, COALESCE(update_time, created_at / 1000.0), id);

ALTER TABLE event_places     RENAME TO old_places;
ALTER TABLE event_times      RENAME TO old_times;
ALTER TABLE event_identities RENAME TO old_identities;

-- The log of a session in its order, with what events are chosen by.
CREATE TABLE event_places (
    session       INTEGER NOT NULL,             -- its number
    seq           INTEGER NOT NULL,
    id            INTEGER NOT NULL,             -- of the event
    time          REAL    NOT NULL,
    kind          TEXT    NOT NULL,
    author        TEXT    NOT NULL,
    invocation_id TEXT,
    branch        TEXT,
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- The log of a session in the order of the events' own times.
CREATE TABLE event_times (
    session INTEGER NOT NULL,
    time    REAL    NOT NULL,
    seq     INTEGER NOT NULL,
    id      INTEGER NOT NULL,
    PRIMARY KEY (session, time, seq)
) STRICT, WITHOUT ROWID;

-- By which an event that is sent again is recognised: a hash of its id. Two events may have one
-- hash, so whoever finds an event by it compares the ids.
CREATE TABLE event_identities (
    session INTEGER NOT NULL,
    hash    INTEGER NOT NULL,
    id      INTEGER NOT NULL,
    PRIMARY KEY (session, hash, id)
) STRICT, WITHOUT ROWID;

INSERT INTO event_places
SELECT s.number, p.seq, p.id, p.time, p.kind, p.author, p.invocation_id, p.branch
FROM sessions s CROSS JOIN old_places p ON p.session_id = s.id ORDER BY s.number, p.seq;

INSERT INTO event_times
SELECT session, time, seq, id FROM event_places ORDER BY session, time, seq;

INSERT INTO event_identities
SELECT s.number, i.hash, i.id
FROM old_identities i JOIN events e ON e.id = i.id JOIN sessions s ON s.id = e.session_id ORDER BY 1, 2, 3;

DROP TABLE old_places;
DROP TABLE old_times;
DROP TABLE old_identities;
