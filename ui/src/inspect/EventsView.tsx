// The log as it is: every event to be opened and copied, ADK's own or all of them.
import { useState } from "react";
import { useLog } from "../api/queries";
import type { Json, LogEvent, Session } from "../api/types";
import { isJsonObject, writeJson } from "../json/json";
import { Copy } from "../shell/Command";
import { clockTime, fullTime } from "../time/format";
import { oneLine } from "../value/oneLine";
import { LogState, Removed, SeqLink } from "./parts";
import { RawJson } from "../value/RawJson";

const AT_FIRST = 500;

type Which = "event" | "";
const WHICH: [Which, string][] = [
  ["event", "ADK events"],
  ["", "Whole log"],
];

export function EventsView({ session }: { session: Session }) {
  const [which, setWhich] = useState<Which>("event");
  const log = useLog(session, which, AT_FIRST);
  return (
    <div className="inspect" data-testid="events-view">
      <div className="inspect-head">
        <div className="segments" role="radiogroup" aria-label="Which events">
          {WHICH.map(([name, label]) => (
            <button key={name} type="button" role="radio" aria-checked={which === name} onClick={() => setWhich(name)}>
              {label}
            </button>
          ))}
        </div>
        <span className="spring" />
        {log.events.length > 0 && (
          <Copy
            label={log.hasNextPage ? "Copy these" : "Copy all"}
            text={() =>
              writeJson(
                log.events.map((event) => event.event),
                2,
              )
            }
          />
        )}
      </div>
      <Removed session={session} />
      {log.isSuccess && !log.isFetching && log.events.length === 0 && session.removed_through === 0 && (
        <p className="quiet">No events yet.</p>
      )}
      <ol className="events">
        {log.events.map((event) => (
          <Row key={event.seq} event={event} id={session.id} />
        ))}
      </ol>
      <LogState log={log} />
    </div>
  );
}

function Row({ event, id }: { event: LogEvent; id: string }) {
  const [open, setOpen] = useState(false);
  return (
    <li className="event" data-testid="raw-event" data-seq={event.seq}>
      <details onToggle={(toggled) => setOpen(toggled.currentTarget.open)}>
        <summary>
          <b>{event.kind === "event" ? event.author || "event" : event.kind}</b>
          <span className="event-line mono">{oneLine(gistOf(event))}</span>
          <time dateTime={event.timestamp} title={fullTime(event.timestamp)}>
            {clockTime(event.timestamp)}
          </time>
        </summary>
        {open && <Raw event={event} />}
      </details>
      <SeqLink id={id} seq={event.seq} />
    </li>
  );
}

/** What an event is about, in a line: what was said or called, else what it did. */
function gistOf({ kind, event }: LogEvent): Json {
  if (kind !== "event" || !isJsonObject(event)) return event ?? null;
  const { content, actions } = event;
  if (isJsonObject(content) && Array.isArray(content.parts) && content.parts.length > 0) {
    const [part] = content.parts;
    return content.parts.length === 1 && isJsonObject(part) && typeof part.text === "string"
      ? part.text
      : content.parts;
  }
  return isJsonObject(actions) ? actions : event;
}

function Raw({ event }: { event: LogEvent }) {
  return <RawJson text={writeJson(event.event, 2)} className="event-raw" />;
}
