-- Whose memory of unsettled events is complete. A process that writes after another one
-- draws a new number; readers trust only a list that was made under the present one.
ALTER TABLE places ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
