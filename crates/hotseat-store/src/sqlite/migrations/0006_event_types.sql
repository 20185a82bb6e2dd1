-- Events of other makers than ADK say of what type they are, and are found by it. They are few
-- beside those that say nothing, so the indexes are written together with the event: one for
-- each order.
ALTER TABLE events ADD COLUMN type TEXT;

CREATE INDEX events_type_place ON events (session_id, type, seq) WHERE type IS NOT NULL;
CREATE INDEX events_type_time  ON events (session_id, type, time, seq) WHERE type IS NOT NULL;
