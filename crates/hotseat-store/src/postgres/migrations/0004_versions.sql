-- How often the row of a session was written. Whoever remembers a row as it was can tell by it,
-- while writing, whether it still is so.
ALTER TABLE sessions ADD COLUMN version bigint NOT NULL DEFAULT 0;
