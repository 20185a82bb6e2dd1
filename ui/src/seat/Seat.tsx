// The seat: one fixed place that shows what the person can do now. A waiting request comes first; then running tools,
// the working agent, the place for another message, and at last the golden trace.
import { useEffect, useState } from "react";
import { useTurns } from "../api/queries";
import type { Session } from "../api/types";
import { hasWish } from "../live/Live";
import type { StreamState } from "../stream/fold";
import { Composer } from "./Composer";
import { GoldenTracePanel } from "./Export";
import { TurnPanel } from "./TurnPanel";
import { ProgramDrives, Working } from "./Working";
import "./seat.css";

export function Seat({ session, stream }: { session: Session; stream: StreamState }) {
  const turns = useTurns(session.id).data?.items ?? [];
  const head = turns.find((turn) => turn.head) ?? turns[0];
  const [note, setNote] = useState<string | null>(null);
  const headId = head?.turn_id;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a note belongs to the moment before the next request.
  useEffect(() => {
    if (!note) return;
    const timer = setTimeout(() => setNote(null), 8000);
    return () => clearTimeout(timer);
  }, [note, headId]);
  return (
    <>
      <div className="sr-only" aria-live="polite">
        {head ? `New request: your turn as ${head.agent_name}` : ""}
      </div>
      {note && (
        <div className="note seat-note" role="status">
          {note}
        </div>
      )}
      {session.status === "completed" ? (
        <GoldenTracePanel session={session} />
      ) : head?.request ? (
        <TurnPanel
          key={head.turn_id}
          turn={head}
          request={head.request}
          queue={turns}
          number={stream.requests.indexOf(head.turn_id) + 1}
          session={session}
          onGone={setNote}
        />
      ) : session.run || stream.run || stream.running.length > 0 || hasWish(session.id) ? (
        <Working session={session} stream={stream} />
      ) : session.source === "plugin" ? (
        <ProgramDrives />
      ) : (
        <Composer session={session} />
      )}
    </>
  );
}
