-- Servers that share this database, and the runs that each of them works on.

-- A server is there for as long as it says so again. The time is the database's, so that servers
-- whose clocks differ agree on it.
CREATE TABLE servers (
    server_id uuid   NOT NULL PRIMARY KEY,
    until     bigint NOT NULL,                   -- Unix time, milliseconds
    edition   bigint NOT NULL,                   -- of the card: another one, another number
    card      text   NOT NULL                    -- what it tells the others of itself
);

-- Who works on the open run of a session. A lease ends with its server, so it need not be renewed
-- by itself: a thousand runs that wait for people cost nothing.
CREATE TABLE run_leases (
    session_id uuid NOT NULL PRIMARY KEY,
    run_id     text NOT NULL,
    server_id  uuid NOT NULL,
    worker     text                              -- none: the server itself
);

CREATE INDEX run_leases_of_server ON run_leases (server_id, session_id);

-- Questions that a server puts to the workers of the others. Whoever asks takes them away.
CREATE TABLE questions (
    question_id uuid    NOT NULL PRIMARY KEY,
    until       bigint  NOT NULL,                -- nobody waits for longer: Unix time, milliseconds
    question    bytea   NOT NULL,
    taken       boolean NOT NULL DEFAULT false,
    answer      bytea
);
