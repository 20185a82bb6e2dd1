//! The statements that write, many rows each: a parameter is a column.

/// New sessions.
pub(in crate::postgres) const CREATE: &str = "INSERT INTO sessions (session_id, created_at, description, status, agent, \
     app_name, user_id, source, adk_id, incarnation, updated_at, last_seq, pending_turns, \
     removed_through, open_requests, event_head, event_count, message_count, bytes) \
     SELECT *, 0, 0, 0, 0, 0, 0, 0, 0 FROM unnest($1::uuid[], $2::bigint[], $3::text[], \
     $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[], \
     $11::bigint[])";

/// The summaries of sessions, if every row is as it is thought to be: of the same making, and not
/// written since. If one is not, the division fails, and with it the transaction.
pub(in crate::postgres) const SUMMARISE: &str = "WITH written AS (UPDATE sessions s SET \
     updated_at = n.updated_at, title = n.title, \
     status = n.status, last_seq = n.last_seq, pending_turns = n.pending_turns, \
     run_id = n.run_id, run_status = n.run_status, run_since = n.run_since, \
     removed_through = n.removed_through, open_requests = n.open_requests, \
     event_head = n.event_head, update_time = n.update_time, event_count = n.event_count, \
     message_count = n.message_count, bytes = n.bytes, record_status = n.record_status, \
     progress = n.progress, current_phase = n.current_phase, final_report = n.final_report, \
     error = n.error, version = s.version + 1 \
     FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::integer[], \
     $7::text[], $8::text[], $9::bigint[], $10::bigint[], $11::integer[], $12::bigint[], \
     $13::double precision[], $14::bigint[], $15::bigint[], $16::bigint[], $17::text[], \
     $18::double precision[], $19::text[], $20::text[], $21::text[], $22::bigint[], \
     $23::bigint[]) \
     AS n (session_id, updated_at, title, status, last_seq, pending_turns, run_id, run_status, \
     run_since, removed_through, open_requests, event_head, update_time, event_count, \
     message_count, bytes, record_status, progress, current_phase, final_report, error, \
     incarnation, version) \
     WHERE s.session_id = n.session_id AND s.incarnation = n.incarnation \
     AND s.version = n.version RETURNING 1) \
     SELECT 1 / (count(*) = cardinality($1))::integer FROM written";

/// The statement that writes events, with one more column or none.
macro_rules! insert_events {
    ($column:literal, $values:literal) => {
        concat!(
            "INSERT INTO events (session_id, seq, event_id, event_key, timestamp, time, kind, \
             turn_id, agent_name, invocation_id, author, branch, parent_call_id, size, packed, \
             payload, type_key",
            $column,
            ") SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::uuid[], \
             $5::bigint[], $6::double precision[], $7::text[], $8::uuid[], $9::text[], \
             $10::text[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::boolean[], \
             $16::bytea[], $17::uuid[]",
            $values,
            ")"
        )
    };
}

/// Events that get their place now.
pub(in crate::postgres) const EVENTS: &str = insert_events!("", "");

/// Events that have their place.
pub(in crate::postgres) const PLACED_EVENTS: &str = insert_events!(", place", ", $18::bigint[]");

/// What was done by whom. Written again after a connection was lost, it is still one.
pub(in crate::postgres) const AUDIT: &str = "INSERT INTO audit (entry_key, at, actor, action, subject, session_id, \
     detail) SELECT * FROM unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[], \
     $6::uuid[], $7::text[]) ON CONFLICT (entry_key) DO NOTHING";

/// Turns, new or answered.
pub(in crate::postgres) const TURNS: &str = "INSERT INTO turns (session_id, turn_id, request_seq, requested_at, \
     response_seq) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], \
     $5::bigint[]) ON CONFLICT (session_id, turn_id) \
     DO UPDATE SET response_seq = excluded.response_seq";

/// What ADK asks, new or answered.
pub(in crate::postgres) const ASKS: &str = "INSERT INTO asks (session_id, call_key, call_id, asked_seq, answer_seq) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::bigint[], $5::bigint[]) \
     ON CONFLICT (session_id, call_key) DO UPDATE SET answer_seq = excluded.answer_seq";

/// State of sessions.
pub(in crate::postgres) const STATE: &str = "INSERT INTO session_state (session_id, state_key, name, value) \
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[]) \
     ON CONFLICT (session_id, state_key) DO UPDATE SET value = excluded.value";

/// State that sessions share.
pub(in crate::postgres) const SHARED: &str = "INSERT INTO shared_state (app_name, user_id, state_key, name, value) \
     SELECT * FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[]) \
     ON CONFLICT (app_name, user_id, state_key) DO UPDATE SET value = excluded.value";

/// Messages that go.
pub(in crate::postgres) const FORGET: &str = "DELETE FROM messages m USING unnest($1::uuid[], $2::uuid[]) \
     AS n (session_id, message_key) \
     WHERE m.session_id = n.session_id AND m.message_key = n.message_key";

/// Messages, new or changed.
pub(in crate::postgres) const MESSAGES: &str = "INSERT INTO messages (session_id, message_key, message_id, seq, role, \
     content, timestamp, metadata) SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], \
     $4::bigint[], $5::text[], $6::text[], $7::bigint[], $8::text[]) \
     ON CONFLICT (session_id, message_key) DO UPDATE SET content = excluded.content, \
     timestamp = excluded.timestamp, metadata = COALESCE(excluded.metadata, messages.metadata)";

/// Events up to a place, with what leads to them.
pub(in crate::postgres) const REMOVE: [&str; 3] = [
    "DELETE FROM events e USING unnest($1::uuid[], $2::bigint[]) AS n (session_id, through) \
     WHERE e.session_id = n.session_id AND e.seq <= n.through",
    "DELETE FROM search e USING unnest($1::uuid[], $2::bigint[]) AS n (session_id, through) \
     WHERE e.session_id = n.session_id AND e.seq <= n.through",
    "DELETE FROM turns t USING unnest($1::uuid[], $2::bigint[]) AS n (session_id, through) \
     WHERE t.session_id = n.session_id AND t.request_seq <= n.through \
     AND t.response_seq IS NOT NULL",
];

/// Figures of minutes.
pub(in crate::postgres) const MINUTES: &str = "INSERT INTO usage_minutes (minute, slot, events, errors, prompt_tokens, \
     output_tokens) SELECT * FROM unnest($1::bigint[], $2::smallint[], $3::bigint[], \
     $4::bigint[], $5::bigint[], $6::bigint[]) ON CONFLICT (minute, slot) DO UPDATE SET \
     events = usage_minutes.events + excluded.events, \
     errors = usage_minutes.errors + excluded.errors, \
     prompt_tokens = usage_minutes.prompt_tokens + excluded.prompt_tokens, \
     output_tokens = usage_minutes.output_tokens + excluded.output_tokens";

/// Figures of tools.
pub(in crate::postgres) const TOOLS: &str = "INSERT INTO usage_tools (name, slot, calls, errors, timed, total_ms, max_ms) \
     SELECT * FROM unnest($1::text[], $2::smallint[], $3::bigint[], $4::bigint[], $5::bigint[], \
     $6::double precision[], $7::double precision[]) ON CONFLICT (name, slot) DO UPDATE SET \
     calls = usage_tools.calls + excluded.calls, errors = usage_tools.errors + excluded.errors, \
     timed = usage_tools.timed + excluded.timed, \
     total_ms = usage_tools.total_ms + excluded.total_ms, \
     max_ms = GREATEST(usage_tools.max_ms, excluded.max_ms)";

/// What was removed.
pub(in crate::postgres) const REMOVALS: &str = "INSERT INTO removals (reason, slot, sessions, events, last_at) \
     VALUES ($1, $2, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) \
     ON CONFLICT (reason, slot) DO UPDATE SET sessions = removals.sessions + excluded.sessions, \
     events = removals.events + excluded.events, last_at = excluded.last_at";

/// Which sessions the search index has to look at.
pub(in crate::postgres) const UNINDEXED: &str = "INSERT INTO unindexed (sessions) VALUES ($1)";
