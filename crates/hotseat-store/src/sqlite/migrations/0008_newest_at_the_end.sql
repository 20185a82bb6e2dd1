-- A new session is the newest. Where the newest came first, each was put in front of all others,
-- which splits pages in the middle; at the end they fill one page after the other. Read backwards,
-- the order is the same.
DROP INDEX sessions_newest;
DROP INDEX sessions_running;
DROP INDEX sessions_waiting;

CREATE INDEX sessions_newest  ON sessions (created_at, id);
CREATE INDEX sessions_running ON sessions (created_at, id) WHERE run_id IS NOT NULL;
CREATE INDEX sessions_waiting ON sessions (created_at, id) WHERE pending_turns + open_requests > 0;
