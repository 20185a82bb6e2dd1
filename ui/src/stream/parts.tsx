// The pieces that cards are made of.
import type { ReactNode } from "react";
import type { RunError, ToolError } from "../api/types";
import type { Exact } from "../json/json";
import { copyText } from "../shell/Command";
import { Back, Chain, Down, Up } from "../shell/icons";
import { clockTime, duration, fullTime, stopwatch } from "../time/format";
import { useRemembered } from "../value/expanded";
import { useStreamShare } from "./context";

interface FrameProps {
  type: string;
  colour: string;
  seq?: number;
  children: ReactNode;
}

export function Frame({ type, colour, seq, children }: FrameProps) {
  return (
    <article className={`entry entry-${colour}`} data-testid={`entry-${type}`} data-seq={seq} tabIndex={-1}>
      {children}
    </article>
  );
}

/** Whether an entry is folded to one line: as the reader left it, else as the whole session was set. */
export function useFolded(place: string): [boolean, (folded: boolean) => void] {
  const { sessionId } = useStreamShare();
  const [all] = useRemembered<"folded" | "open" | null>(`${sessionId}.fold`, null);
  const [own, setOwn] = useRemembered<boolean | null>(`${place}.folded`, null);
  return [own ?? all === "folded", setOwn];
}

interface HeadProps {
  word: string;
  seq: number;
  time: string;
  name?: string | null;
  /** The agent that spoke; said where there is more than one. */
  by?: string | null;
  /** Where the entry's fold is remembered; without it the entry cannot be folded. */
  place?: string;
  /** The turn this entry answered: one can go back to before it. */
  turnId?: string | null;
  children?: ReactNode;
}

export function Head({ word, seq, time, name, by, place, turnId, children }: HeadProps) {
  const { several } = useStreamShare();
  return (
    <div className="entry-head">
      <b>{word}</b>
      {name && <code>{name}</code>}
      {several && by && (
        <span className="entry-by" data-testid="entry-by">
          by <b>{by}</b>
        </span>
      )}
      <a className="seq" href={`#${seq}`} title="Link to this entry">
        #{seq}
      </a>
      {children}
      <span className="spring" />
      <span className="entry-actions">
        {turnId && <GoBack turnId={turnId} seq={seq} />}
        <CopyLink seq={seq} />
        {place && <FoldButton place={place} seq={seq} />}
      </span>
      <time dateTime={time} title={fullTime(time)}>
        {clockTime(time)}
      </time>
    </div>
  );
}

function GoBack({ turnId, seq }: { turnId: string; seq: number }) {
  const { goBack } = useStreamShare();
  if (!goBack) return null;
  const label = `Go back to before this answer (#${seq})`;
  return (
    <button
      type="button"
      aria-label={label}
      title="Go back to before this answer: a new session that stands there"
      data-testid="go-back"
      onClick={() => goBack(turnId)}
    >
      <Back />
    </button>
  );
}

function CopyLink({ seq }: { seq: number }) {
  const copy = () => {
    history.replaceState(history.state, "", `#${seq}`);
    void copyText(location.href);
  };
  return (
    <button type="button" aria-label={`Copy link to #${seq}`} title="Copy link" data-testid="copy-link" onClick={copy}>
      <Chain />
    </button>
  );
}

function FoldButton({ place, seq }: { place: string; seq: number }) {
  const [folded, setFolded] = useFolded(place);
  return (
    <button
      type="button"
      aria-expanded={!folded}
      aria-label={`${folded ? "Expand" : "Collapse"} #${seq}`}
      title={folded ? "Expand" : "Collapse"}
      data-testid="fold-entry"
      onClick={() => setFolded(!folded)}
    >
      {folded ? <Down /> : <Up />}
    </button>
  );
}

interface AnsweredByProps {
  by?: string | null;
  person?: string | null;
  after?: number | Exact | null;
}

export function AnsweredBy({ by, person, after }: AnsweredByProps) {
  if (!by) return null;
  const who = person ?? (by === "human" ? "you" : by);
  const ms = after === null || after === undefined ? null : Number(after);
  return (
    <span className="chip">
      answered by {who}
      {ms !== null && ` in ${ms < 1000 ? duration(ms) : stopwatch(ms)}`}
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
          <button
            type="button"
            className="link"
            aria-expanded={open}
            data-testid="traceback-toggle"
            onClick={() => setOpen(!open)}
          >
            traceback
          </button>
        </>
      )}
      {open && error.traceback && <pre className="traceback">{error.traceback}</pre>}
    </div>
  );
}

/** What an entry changed in the session's state, quiet at its foot. */
export function StateDelta({ delta }: { delta?: { [key: string]: unknown } | null }) {
  const keys = Object.keys(delta ?? {});
  if (keys.length === 0) return null;
  return (
    <div className="entry-delta">
      state: {keys.map((key) => `${delta?.[key] === null ? "−" : "+"}${key}`).join(", ")}
    </div>
  );
}
