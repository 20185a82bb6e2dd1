// Sends the decision and says what became of it. A request that was answered elsewhere is left behind with a friendly
// note; complaints about arguments go back to their fields.
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, errorText } from "../api/client";
import { actions, askAgain, keys } from "../api/queries";
import type { Page, Session, Turn } from "../api/types";
import { type PartError, partError } from "../form/pointer";
import { dropWish, wishCompletion } from "../live/completion";
import { completeIfWished } from "../live/Live";
import { type Draft, offerOf, saveDraft, toDecision } from "./draft";
import type { TurnPanelProps } from "./TurnPanel";

export function useDecision({ turn, request, questions, onGone }: TurnPanelProps) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const [errors, setErrors] = useState<PartError[]>([]);
  const [failure, setFailure] = useState<string | null>(null);

  const moveOn = () => {
    saveDraft(turn.turn_id, undefined);
    client.setQueryData<Page<Turn>>(
      keys.turns(turn.session_id),
      (page) => page && { ...page, items: page.items.filter((other) => other.turn_id !== turn.turn_id) },
    );
    void askAgain(client, keys.turns(turn.session_id));
    void askAgain(client, keys.waiting);
  };

  const send = async (draft: Draft, completes: boolean) => {
    setBusy(true);
    setErrors([]);
    setFailure(null);
    try {
      const accepted = await actions.decide(turn, toDecision(draft, offerOf(request)));
      if (draft.choice === "final" && completes) wishCompletion(turn.session_id, accepted.seq, questions > 0);
      else if (draft.choice === "final") dropWish(turn.session_id);
      moveOn();
      const session = client.getQueryData<Session>(keys.session(turn.session_id));
      if (session) completeIfWished(client, session);
    } catch (failed) {
      setBusy(false);
      if (failed instanceof ApiError && isGone(failed)) {
        onGone(GONE[failed.code] ?? failed.message);
        moveOn();
      } else if (failed instanceof ApiError && failed.problem.errors?.length) {
        const found = failed.problem.errors.map(partError);
        setErrors(found);
        setFailure(generalFailure(failed, found));
      } else {
        setFailure(errorText(failed));
      }
    }
  };

  const forget = () => {
    if (errors.length > 0) setErrors([]);
    if (failure) setFailure(null);
  };

  return { send, busy, errors, failure, forget };
}

const GONE: Record<string, string> = {
  turn_answered: "This request was answered in another tab. What you see now is what came after it.",
  turn_not_head: "Another request of this session has to be answered first. Here it is.",
  turn_not_found: "This request is no longer there.",
};

function isGone(error: ApiError): boolean {
  return error.code in GONE;
}

function generalFailure(error: ApiError, found: PartError[]): string | null {
  const loose = found.filter((item) => item.part === null);
  if (loose.length > 0) return loose.map((item) => `${item.path} ${item.message}`.trim()).join("; ");
  return found.length > 0 ? null : error.message;
}
