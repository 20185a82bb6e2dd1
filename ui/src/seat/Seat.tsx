// The seat: one fixed place that shows what the person can do now. A waiting request comes first; then running tools,
// the working agent, the place for another message, and at last the golden trace.
import { useEffect, useMemo, useState } from "react";
import { useTurns } from "../api/queries";
import type { Room, Session } from "../api/types";
import { hasWish } from "../live/Live";
import { answersAsksHere, originOf } from "../sessions/origin";
import { openAsks, type StreamState } from "../stream/fold";
import { AskPanel } from "./AskPanel";
import { Composer } from "./Composer";
import { GoldenTracePanel } from "./Export";
import { OthersDrive } from "./OthersDrive";
import { TurnPanel } from "./TurnPanel";
import { Working } from "./Working";
import "./seat.css";

interface SeatProps {
  session: Session;
  stream: StreamState;
  /** Who else is here. */
  room: Room | null;
}

export function Seat({ session, stream, room }: SeatProps) {
  const turns = useTurns(session.id).data?.items ?? [];
  const head = turns.find((turn) => turn.head) ?? turns[0];
  const asks = useMemo(() => openAsks(stream.cards), [stream.cards]);
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
          delta={stream.deltas[head.turn_id] ?? {}}
          inside={insideOf(stream, head.parent_call_id)}
          session={session}
          room={room}
          questions={asks.length}
          onGone={setNote}
        />
      ) : asks.length > 0 && !session.run && answersAsksHere(session) ? (
        <AskPanel key={asks[0]?.ask.call_id} session={session} asks={asks} />
      ) : session.run || stream.run || stream.running.length > 0 || hasWish(session.id) ? (
        <Working session={session} stream={stream} />
      ) : session.source !== "web" ? (
        <OthersDrive session={session} origin={originOf(session, stream)} />
      ) : (
        <Composer session={session} stream={stream} />
      )}
    </>
  );
}

function insideOf(stream: StreamState, callId: string | null | undefined): string | null {
  if (!callId) return null;
  const card = stream.cards.find((candidate) => candidate.type === "tool_call" && candidate.call.call_id === callId);
  return card?.type === "tool_call" ? card.call.tool_name : null;
}
