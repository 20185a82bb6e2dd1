-- Sessions and their logs.
--
-- Every key leads with `session_id` and no constraint crosses sessions, so that the tables can be
-- distributed by it. There are no foreign keys: a session's row is locked by whoever writes to
-- anything of it, and is deleted together with everything else.
--
-- Names that come from outside have no limit, and a key in an index has one. Such names are
-- looked up by a hash of theirs, in the columns `…_key`.

-- One conversation and the summary of its log. Columns that change with every event are in no
-- index, so that PostgreSQL can update the row in its place; the free space is for that.
CREATE TABLE sessions (
    session_id      uuid             NOT NULL PRIMARY KEY,
    created_at      bigint           NOT NULL,   -- Unix time, milliseconds
    description     text,
    status          text             NOT NULL,
    agent           text COLLATE "C",
    app_name        text COLLATE "C" NOT NULL,
    user_id         text COLLATE "C" NOT NULL,
    source          text             NOT NULL,
    adk_id          text,
    incarnation     bigint           NOT NULL,
    updated_at      bigint           NOT NULL,
    title           text,
    last_seq        bigint           NOT NULL,
    pending_turns   integer          NOT NULL,
    run_id          text,
    run_status      text,
    run_since       bigint,
    removed_through bigint           NOT NULL,
    open_requests   integer          NOT NULL,
    event_head      bigint           NOT NULL,
    update_time     double precision,
    event_count     bigint           NOT NULL,
    message_count   bigint           NOT NULL,
    bytes           bigint           NOT NULL,
    record_status   text,
    progress        double precision,
    current_phase   text,
    final_report    text,
    error           text,
    indexed_through bigint           NOT NULL DEFAULT 0
) WITH (fillfactor = 50);

CREATE INDEX sessions_newest  ON sessions (created_at DESC, session_id DESC);
CREATE INDEX sessions_running ON sessions (created_at DESC, session_id DESC) WHERE run_id IS NOT NULL;
CREATE INDEX sessions_waiting ON sessions (created_at DESC, session_id DESC) WHERE pending_turns + open_requests > 0;
CREATE INDEX sessions_of_app  ON sessions (app_name, user_id);

-- The log. `payload` is the JSON as it arrived, byte for byte, or zstd of it where `packed`.
-- `place` orders the entries of all logs about as they arrived.
CREATE SEQUENCE event_places;

CREATE TABLE events (
    session_id     uuid             NOT NULL,
    seq            bigint           NOT NULL,
    place          bigint           NOT NULL DEFAULT nextval('event_places'),
    event_id       text             NOT NULL,
    event_key      uuid             NOT NULL,
    timestamp      bigint           NOT NULL,    -- when it arrived: Unix time, milliseconds
    time           double precision NOT NULL,    -- its own time, or that of its arrival: seconds
    kind           text             NOT NULL,
    turn_id        uuid,
    agent_name     text             NOT NULL,
    invocation_id  text,
    author         text             NOT NULL,
    branch         text,
    parent_call_id text,
    type_key       uuid,                         -- of what the event itself says it is, if it does
    size           bigint           NOT NULL,    -- of the payload as it arrived, bytes
    packed         boolean          NOT NULL,
    payload        bytea            NOT NULL,
    PRIMARY KEY (session_id, seq),
    UNIQUE (session_id, event_key)
);
ALTER TABLE events ALTER COLUMN payload SET STORAGE EXTERNAL;

CREATE INDEX events_time ON events (session_id, time, seq);
CREATE INDEX events_type_place ON events (session_id, type_key, seq) WHERE type_key IS NOT NULL;
CREATE INDEX events_type_time  ON events (session_id, type_key, time, seq) WHERE type_key IS NOT NULL;

-- Which event opened a turn and which one ended it.
CREATE TABLE turns (
    session_id   uuid   NOT NULL,
    turn_id      uuid   NOT NULL,
    request_seq  bigint NOT NULL,
    requested_at bigint NOT NULL,                -- Unix time, milliseconds
    response_seq bigint,
    PRIMARY KEY (session_id, turn_id)
);

CREATE INDEX turns_pending ON turns (session_id, request_seq) WHERE response_seq IS NULL;

-- What ADK asked the user for, and where it was answered.
CREATE TABLE asks (
    session_id uuid   NOT NULL,
    call_key   uuid   NOT NULL,
    call_id    text   NOT NULL,
    asked_seq  bigint NOT NULL,
    answer_seq bigint,
    PRIMARY KEY (session_id, call_key)
);

-- The state of a session, folded from its log; values are JSON.
CREATE TABLE session_state (
    session_id uuid NOT NULL,
    state_key  uuid NOT NULL,
    name       text NOT NULL,
    value      text NOT NULL,
    PRIMARY KEY (session_id, state_key)
);

-- What all sessions of an app share, and all of a user in an app; it outlives them.
CREATE TABLE shared_state (
    app_name  text COLLATE "C" NOT NULL,
    user_id   text COLLATE "C" NOT NULL,         -- empty: the app's
    state_key uuid NOT NULL,
    name      text NOT NULL,
    value     text NOT NULL,
    PRIMARY KEY (app_name, user_id, state_key)
);

-- Messages that the log does not tell by itself. `seq` is the entry that made them first.
CREATE TABLE messages (
    session_id  uuid   NOT NULL,
    message_key uuid   NOT NULL,
    message_id  text   NOT NULL,
    seq         bigint NOT NULL,
    role        text   NOT NULL,
    content     text   NOT NULL,
    timestamp   bigint NOT NULL,                 -- Unix time, milliseconds
    metadata    text,
    PRIMARY KEY (session_id, message_key)
);

-- What readers did, which is not in the log.
CREATE TABLE session_access (
    session_id      uuid    NOT NULL PRIMARY KEY,
    last_access_at  bigint  NOT NULL,
    client_ip       text,
    user_agent      text,
    failed_attempts bigint  NOT NULL DEFAULT 0,
    flagged         boolean NOT NULL DEFAULT false,
    warnings        text    NOT NULL DEFAULT '[]'
);

-- Figures. Every writer adds to rows of its own `slot`, because a row that all of them changed
-- would make all of them wait for each other.
CREATE TABLE usage_minutes (
    minute        bigint   NOT NULL,             -- Unix time, minutes
    slot          smallint NOT NULL,
    events        bigint   NOT NULL,
    errors        bigint   NOT NULL,
    prompt_tokens bigint   NOT NULL,
    output_tokens bigint   NOT NULL,
    PRIMARY KEY (minute, slot)
) WITH (fillfactor = 50);

CREATE TABLE usage_tools (
    name     text COLLATE "C"  NOT NULL,
    slot     smallint          NOT NULL,
    calls    bigint            NOT NULL,
    errors   bigint            NOT NULL,
    timed    bigint            NOT NULL,
    total_ms double precision  NOT NULL,
    max_ms   double precision  NOT NULL,
    PRIMARY KEY (name, slot)
) WITH (fillfactor = 50);

CREATE TABLE removals (
    reason   text     NOT NULL,
    slot     smallint NOT NULL,
    sessions bigint   NOT NULL,
    events   bigint   NOT NULL,
    last_at  bigint   NOT NULL,                  -- Unix time, milliseconds
    PRIMARY KEY (reason, slot)
);

-- Which sessions were written to and are not in the search index yet: one row for each commit.
CREATE TABLE unindexed (
    id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    sessions uuid[] NOT NULL
);

-- The words of the log.
CREATE TABLE search (
    session_id uuid     NOT NULL,
    seq        bigint   NOT NULL,
    place      bigint   NOT NULL,
    words      tsvector NOT NULL,
    PRIMARY KEY (session_id, seq)
);

CREATE INDEX search_words ON search USING gin (words);
