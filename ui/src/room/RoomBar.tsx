// Above the answer, where several people share the seat: who holds the turn, and what can be done about it.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { errorText } from "../api/client";
import { actions, askAgain, keys } from "../api/queries";
import type { Room, Turn } from "../api/types";
import { claimOn, others, typingWords, useKeptClaim, useMe } from "./room";
import "./room.css";

interface RoomBarProps {
  turn: Turn;
  room: Room | null;
  onNote: (note: string) => void;
}

export function RoomBar({ turn, room, onNote }: RoomBarProps) {
  const client = useQueryClient();
  const me = useMe();
  const claim = claimOn(turn, room);
  const mine = claim !== null && claim.holder === me?.name;
  const company = others(room, me);
  const fail = (error: unknown) => onNote(errorText(error));
  useKeptClaim(turn, mine, fail);
  const [giving, setGiving] = useState(false);
  const act = (done: Promise<unknown>) =>
    void done.then(() => askAgain(client, keys.turns(turn.session_id))).catch(fail);
  // Whoever is alone with the installation's own token has nobody to tell anything.
  if (!me || (me.name === "owner" && !claim && company.length === 0)) return null;
  if (me.role !== "developer" && me.role !== "admin") return claim ? <Holder name={claim.holder} mine={false} /> : null;
  const typing = typingWords(room, me);
  return (
    <div className="room" data-testid="room">
      <Holder name={claim?.holder ?? null} mine={mine} />
      <span className="spring" />
      {!claim && (
        <button type="button" className="link" data-testid="claim" onClick={() => act(actions.claim(turn))}>
          claim
        </button>
      )}
      {claim && (mine || me.role === "admin") && (
        <button type="button" className="link" data-testid="release" onClick={() => act(actions.release(turn))}>
          {mine ? "release" : "take away"}
        </button>
      )}
      {(mine || !claim) && (
        <button type="button" className="link" data-testid="hand-over" onClick={() => setGiving(!giving)}>
          hand over
        </button>
      )}
      {giving && (
        <HandOver
          names={company}
          onGive={(to) => {
            setGiving(false);
            act(actions.handOver(turn, to));
          }}
        />
      )}
      <p className="room-typing quiet" aria-live="polite" data-testid="typing">
        {typing}
      </p>
    </div>
  );
}

function Holder({ name, mine }: { name: string | null; mine: boolean }) {
  if (mine) return <span className="chip room-mine">claimed by you</span>;
  if (name) {
    return (
      <span className="chip room-taken" data-testid="claimed-by">
        claimed by {name}
      </span>
    );
  }
  return <span className="quiet">anybody may answer</span>;
}

function HandOver({ names, onGive }: { names: string[]; onGive: (to: string) => void }) {
  const [to, setTo] = useState(names[0] ?? "");
  const give = (event: FormEvent) => {
    event.preventDefault();
    if (to.trim()) onGive(to.trim());
  };
  return (
    <form className="room-give" onSubmit={give}>
      <input
        aria-label="Hand over to"
        placeholder="name"
        list="room-present"
        value={to}
        onChange={(event) => setTo(event.target.value)}
      />
      <datalist id="room-present">
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="submit" className="btn" data-testid="give">
        Hand over
      </button>
    </form>
  );
}
