-- Events are written once and never again, and what makes them easy to find is written
-- later, for many events of a session at a time.
--
-- `settled_seq` says how far that has come for a session: later events are in none of the
-- tables below, and are found by looking through the last rows of the log, those with an id
-- above `settled_through`. The rest of a session's row may be older than its log by some
-- events too, those after `last_seq`; they are folded by whoever reads.
ALTER TABLE sessions ADD COLUMN settled_seq INTEGER NOT NULL DEFAULT 0;
UPDATE sessions SET settled_seq = last_seq;

DROP INDEX events_place;
DROP INDEX events_identity;
DROP INDEX events_time;
DROP INDEX events_author;
DROP INDEX events_invocation;
DROP INDEX events_branch;
ALTER TABLE events DROP COLUMN settled;

-- The log of a session in its order, with what events are chosen by.
CREATE TABLE event_places (
    session_id    TEXT    NOT NULL,
    seq           INTEGER NOT NULL,
    id            INTEGER NOT NULL,             -- of the event
    time          REAL    NOT NULL,
    kind          TEXT    NOT NULL,
    author        TEXT    NOT NULL,
    invocation_id TEXT,
    branch        TEXT,
    PRIMARY KEY (session_id, seq)
) STRICT, WITHOUT ROWID;

-- The log of a session in the order of the events' own times.
CREATE TABLE event_times (
    session_id TEXT    NOT NULL,
    time       REAL    NOT NULL,
    seq        INTEGER NOT NULL,
    id         INTEGER NOT NULL,
    PRIMARY KEY (session_id, time, seq)
) STRICT, WITHOUT ROWID;

-- By which an event that is sent again is recognised: a hash of its session and its id. Two
-- events may have one hash, so whoever finds an event by it compares the ids.
CREATE TABLE event_identities (
    hash INTEGER NOT NULL,
    id   INTEGER NOT NULL,
    PRIMARY KEY (hash, id)
) STRICT, WITHOUT ROWID;

INSERT INTO event_places
SELECT session_id, seq, id, time, kind, author, invocation_id, branch FROM events ORDER BY session_id, seq;

INSERT INTO event_times
SELECT session_id, time, seq, id FROM event_places ORDER BY session_id, time, seq;

UPDATE places SET settled_through = max(settled_through, COALESCE((SELECT max(id) FROM events), 0));
