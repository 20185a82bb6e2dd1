// One card of the stream. The type of an entry is said by a word, a colour and the shape of its content, so none of
// them is needed alone.
import { clockTime } from "../time/format";
import { oneLine } from "../value/oneLine";
import { Output } from "../value/Output";
import { AskCardView } from "./AskCard";
import { CallCardView } from "./CallCard";
import { useStreamShare } from "./context";
import type { Card, EntryCard as Single } from "./fold";
import { AnsweredBy, ErrorBody, Frame, Head, StateDelta, useFolded } from "./parts";

export function EntryCard({ card }: { card: Card }) {
  const { sessionId } = useStreamShare();
  const place = `${sessionId}.${card.key}`;
  switch (card.type) {
    case "tool_call":
      return <CallCardView card={card} place={place} />;
    case "input_request":
      return <AskCardView card={card} place={place} />;
    case "outcome":
      return (
        <Frame type={card.outcome.type} colour="mute" seq={card.seq}>
          {card.outcome.type === "tool_error" ? (
            <ErrorBody error={card.outcome} place={place} />
          ) : (
            <Output result={card.outcome.result} place={place} head={<b>Output of a call that is not here</b>} />
          )}
        </Frame>
      );
    default:
      return <SingleView card={card} place={place} />;
  }
}

function SingleView({ card, place }: { card: Single; place: string }) {
  const { entry } = card;
  const head = { seq: entry.seq, time: entry.timestamp, place };
  switch (entry.type) {
    case "transfer":
      return (
        <div
          className="transfer"
          data-testid="entry-transfer"
          data-seq={entry.seq}
          title={`#${entry.seq} · ${clockTime(entry.timestamp)}`}
        >
          <span>
            transferred to <b>{entry.to_agent}</b>
          </span>
        </div>
      );
    case "user_query":
      return (
        <Frame type={entry.type} colour="blue" seq={entry.seq}>
          <Head word={card.parent === null ? "User query" : "Agent input"} {...head} />
          <Said text={entry.content} place={place} />
        </Frame>
      );
    case "agent_text":
      return (
        <Frame type={entry.type} colour="mute" seq={entry.seq}>
          <Head word="Agent text" {...head} name={entry.agent_name} />
          <Said text={entry.content} place={place} />
        </Frame>
      );
    case "final_response":
      return (
        <Frame type={entry.type} colour="violet" seq={entry.seq}>
          <Head word="Final response" {...head} by={entry.agent_name} turnId={entry.turn_id}>
            <AnsweredBy by={entry.answered_by} person={entry.person} after={entry.answered_after_ms} />
          </Head>
          <Said text={entry.content} place={place} />
          <StateDelta delta={entry.state_delta} />
        </Frame>
      );
    case "run_error":
      return (
        <Frame type={entry.type} colour="red" seq={entry.seq}>
          <Head word="Run error" {...head} by={entry.agent_name} />
          <ErrorBody error={entry} place={place} />
        </Frame>
      );
  }
}

function Said({ text, place }: { text: string; place: string }) {
  const [folded] = useFolded(place);
  if (folded) return <div className="entry-summary">{oneLine(text)}</div>;
  return <Output result={text} place={place} />;
}
