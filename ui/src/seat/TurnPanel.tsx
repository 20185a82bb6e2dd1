// A waiting request: who asks, since when, what is next; then the answer, and the request as the model would see it.
import { useEffect, useState } from "react";
import { errorText } from "../api/client";
import { actions, useArtifacts, useWaiting } from "../api/queries";
import type { JsonObject, Room, Session, Turn, TurnRequest } from "../api/types";
import { RoomBar } from "../room/RoomBar";
import { Confirm } from "../shell/Confirm";
import { isTyping } from "../shell/keys";
import { stopwatch } from "../time/format";
import { useSecond } from "../time/useNow";
import { AnswerTab } from "./AnswerTab";
import { Artifacts } from "./Artifacts";
import { focusFirst } from "./focus";
import { RawTab, RequestTab, StateTab } from "./RequestTabs";

type Tab = "answer" | "request" | "state" | "artifacts" | "raw";
const TABS: [Tab, string][] = [
  ["answer", "Answer"],
  ["request", "Request"],
  ["state", "State"],
  ["artifacts", "Artifacts"],
  ["raw", "Raw"],
];

export interface TurnPanelProps {
  turn: Turn;
  request: TurnRequest;
  queue: Turn[];
  number: number;
  /** What changed in the state since the request before this one. */
  delta: JsonObject;
  /** The tool call inside which the agent asks, if it is an agent called as a tool. */
  inside: string | null;
  session: Session;
  /** Who else is here. */
  room: Room | null;
  /** How many questions to the user are open. */
  questions: number;
  onGone: (note: string) => void;
}

export function TurnPanel(props: TurnPanelProps) {
  const { turn, request, delta, session } = props;
  const [tab, setTab] = useState<Tab>("answer");
  useEffect(() => {
    // On a touch screen the focus would bring up the keyboard over the request.
    if (matchMedia("(hover: none)").matches) return;
    if (!isTyping() && !document.querySelector("[role=dialog]")) focusFirst();
  }, []);
  return (
    <>
      <TurnHead {...props} />
      <div className="seat-tabs" role="tablist" aria-label="The request">
        {TABS.map(([name, label]) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={tab === name}
            onClick={() => setTab(name)}
          >
            {label}
            {name === "state" && <StateCount delta={delta} />}
            {name === "artifacts" && <ArtifactCount session={session} />}
          </button>
        ))}
      </div>
      {tab === "answer" ? (
        <AnswerTab {...props} />
      ) : (
        <div className="seat-body" role="tabpanel" aria-labelledby={`tab-${tab}`}>
          {tab === "request" && <RequestTab request={request} turnId={turn.turn_id} />}
          {tab === "state" && <StateTab request={request} turnId={turn.turn_id} delta={delta} />}
          {tab === "artifacts" && <Artifacts session={session} />}
          {tab === "raw" && <RawTab request={request} />}
        </div>
      )}
    </>
  );
}

function TurnHead({ turn, queue, number, inside, room, onGone }: TurnPanelProps) {
  const now = useSecond();
  const [asking, setAsking] = useState(false);
  const dismiss = () => {
    setAsking(false);
    actions.dismiss(turn).catch((failed: unknown) => onGone(errorText(failed)));
  };
  const next = queue.find((other) => other.turn_id !== turn.turn_id);
  const elsewhere = useWaiting().data?.find((other) => other.session_id !== turn.session_id);
  return (
    <header className="seat-head seat-hot" data-testid="turn-head">
      <div className="seat-line">
        <span className="pulse" aria-hidden="true" />
        <h2>
          Your turn as <code>{turn.agent_name}</code>
        </h2>
        <span className="spring" />
        <span className="mono" title="Waiting for you">
          {stopwatch(now - Date.parse(turn.created_at))}
        </span>
      </div>
      <button type="button" className="link seat-dismiss" data-testid="dismiss" onClick={() => setAsking(true)}>
        dismiss
      </button>
      <Confirm
        opened={asking}
        title="Dismiss this request?"
        text="It is not answered. The agent sees an error in the place of an answer and decides itself what to do."
        action="Dismiss request"
        onClose={() => setAsking(false)}
        onYes={dismiss}
      />
      <p className="quiet">
        {inside && (
          <>
            inside <b>{inside}</b> ·{" "}
          </>
        )}
        {number > 0 && `request ${number} of this session · `}
        <span data-testid="queue-length">{queueWords(turn, queue)}</span>
        {next && (
          <>
            {" "}
            · next: <b>{next.agent_name}</b>
          </>
        )}
        {!next && elsewhere && (
          <>
            {" "}
            · next elsewhere: <b>{elsewhere.agent_name}</b>
          </>
        )}
      </p>
      <RoomBar turn={turn} room={room} onNote={onGone} />
    </header>
  );
}

/** A queue is worth telling only if there is one. */
function queueWords(turn: Turn, queue: Turn[]): string {
  const place = queue.findIndex((other) => other.turn_id === turn.turn_id) + 1;
  return queue.length > 1 ? `${place} of ${queue.length} in queue` : "1 in queue";
}

function StateCount({ delta }: { delta: JsonObject }) {
  const count = Object.keys(delta).length;
  return count > 0 ? <span className="chip">+{count}</span> : null;
}

function ArtifactCount({ session }: { session: Session }) {
  const count = useArtifacts(session.id, session.last_seq).data?.items.length ?? 0;
  return count > 0 ? <span className="chip">{count}</span> : null;
}
