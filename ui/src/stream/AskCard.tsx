// Something ADK asked the user, and the answer: a confirmation, a credential, or some input. It is answered in the seat.
import { askHint, askTitle, askWords, responseWords } from "../seat/ask";
import { Tree } from "../value/Tree";
import { useStreamShare } from "./context";
import type { AskCard } from "./fold";
import { Frame, Head, useFolded } from "./parts";

export function AskCardView({ card, place }: { card: AskCard; place: string }) {
  const { open } = useStreamShare();
  const [folded] = useFolded(place);
  const { ask, response } = card;
  const waiting = !response && open;
  return (
    <Frame type="input_request" colour={waiting ? "hot" : "mute"} seq={card.seq}>
      <Head word={askTitle(ask)} by={ask.agent_name} seq={card.seq} time={ask.timestamp} place={place}>
        {waiting && <span className="chip chip-hot">waits for you</span>}
        {!response && !open && <span className="chip">not answered</span>}
      </Head>
      <div className="entry-body">{askWords(ask, card.tool)}</div>
      {!folded && askHint(ask) && <div className="entry-body ask-hint">{askHint(ask)}</div>}
      {!folded && response && (
        <div className="outcome" data-testid="entry-input_response" data-seq={response.seq}>
          <div className="entry-head">
            <b>{responseWords(ask, response.response)}</b>
          </div>
          {ask.request !== "credential" && hasMore(response.response) && (
            <Tree value={response.response} place={`${place}.response`} />
          )}
        </div>
      )}
    </Frame>
  );
}

function hasMore(response: unknown): boolean {
  return typeof response === "object" && response !== null && Object.keys(response).some((key) => key !== "confirmed");
}
