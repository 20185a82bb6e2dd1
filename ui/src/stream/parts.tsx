// The pieces that cards are made of.
import type { ReactNode } from "react";
import type { RunError, ToolError } from "../api/types";
import { clockTime, duration, fullTime, stopwatch } from "../time/format";
import { useRemembered } from "../value/expanded";

export function Frame({ type, colour, children }: { type: string; colour: string; children: ReactNode }) {
  return (
    <article className={`entry entry-${colour}`} data-testid={`entry-${type}`} tabIndex={-1}>
      {children}
    </article>
  );
}

interface HeadProps {
  word: string;
  seq: number;
  time: string;
  name?: string | null;
  children?: ReactNode;
}

export function Head({ word, seq, time, name, children }: HeadProps) {
  return (
    <div className="entry-head">
      <b>{word}</b>
      {name && <code>{name}</code>}
      <span>#{seq}</span>
      {children}
      <span className="spring" />
      <time dateTime={time} title={fullTime(time)}>
        {clockTime(time)}
      </time>
    </div>
  );
}

export function AnsweredBy({ by, after }: { by?: string | null; after?: number | null }) {
  if (!by) return null;
  const who = by === "human" ? "you" : by;
  return (
    <span className="chip">
      answered by {who}
      {typeof after === "number" && ` in ${after < 1000 ? duration(after) : stopwatch(after)}`}
    </span>
  );
}

export function ErrorBody({ error, place }: { error: ToolError | RunError; place: string }) {
  const [open, setOpen] = useRemembered(`${place}.traceback`, false);
  return (
    <div className="entry-body">
      <b>{error.error_type}</b>: <span className="error-message">{error.error_message}</span>
      {error.traceback && (
        <>
          {" · "}
          <button type="button" className="link" aria-expanded={open} onClick={() => setOpen(!open)}>
            traceback
          </button>
        </>
      )}
      {open && error.traceback && <pre className="traceback">{error.traceback}</pre>}
    </div>
  );
}
