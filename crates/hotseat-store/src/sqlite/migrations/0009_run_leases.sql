-- Who works on the open run of a session, or was the last to: what any other worker writes of it
-- is refused, also when it has ended.
CREATE TABLE run_leases (
    session_id TEXT NOT NULL PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    run_id     TEXT NOT NULL,
    server_id  TEXT NOT NULL,
    worker     TEXT                              -- none: the server itself
) STRICT, WITHOUT ROWID;
