// The result of a long-running tool, given later by the person: JSON or text, sent as ADK's function response.
import { Textarea } from "@mantine/core";
import { useState } from "react";
import { errorText } from "../api/client";
import { actions } from "../api/queries";
import { parseAnything } from "../form/value";
import { isJsonObject } from "../json/json";
import type { CallCard } from "../stream/fold";

export function LaterResult({ card, sessionId }: { card: CallCard; sessionId: string }) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const { call } = card;
  if (!open) {
    return (
      <button type="button" className="not-set" data-testid="later-result" onClick={() => setOpen(true)}>
        + give the result of <code>{call.tool_name}</code> <span className="chip">still to come</span>
      </button>
    );
  }
  const send = async () => {
    const value = parseAnything(text) ?? null;
    setBusy(true);
    setError(null);
    try {
      const response = isJsonObject(value) ? value : { result: value };
      await actions.answer(sessionId, [{ id: call.call_id, name: call.tool_name, response }]);
    } catch (failed) {
      setError(errorText(failed));
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="later">
      <Textarea
        autoFocus
        aria-label={`Result of ${call.tool_name}`}
        data-testid="later-input"
        className="mono-input"
        placeholder="JSON or text"
        autosize
        minRows={2}
        maxRows={12}
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
      />
      {error && (
        <div className="field-error" role="alert">
          {error}
        </div>
      )}
      <div className="dialogue-actions">
        <button type="button" className="btn" onClick={() => setOpen(false)}>
          Not yet
        </button>
        <button
          type="button"
          className="btn btn-strong"
          data-testid="later-send"
          disabled={busy || text.trim() === ""}
          onClick={() => void send()}
        >
          Send result
        </button>
      </div>
    </div>
  );
}
