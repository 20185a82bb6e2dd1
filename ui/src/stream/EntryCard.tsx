// One card of the stream. The type of an entry is said by a word, a colour and the shape of its content, so none of
// them is needed alone.
import { lazy, Suspense } from "react";
import { clockTime } from "../time/format";
import { embeddedJson, looksLikeMarkdown } from "../value/kind";
import { LongText } from "../value/LongText";
import { Output } from "../value/Output";
import { Tree } from "../value/Tree";
import { CallCardView } from "./CallCard";
import type { Card, EntryCard as Single } from "./fold";
import { AnsweredBy, ErrorBody, Frame, Head } from "./parts";

const Markdown = lazy(() => import("../value/Markdown"));

export function EntryCard({ card, sessionId, depth }: { card: Card; sessionId: string; depth: number }) {
  const place = `${sessionId}.${card.key}`;
  switch (card.type) {
    case "tool_call":
      return <CallCardView card={card} sessionId={sessionId} place={place} />;
    case "outcome":
      return (
        <Frame type={card.outcome.type} colour="mute">
          {card.outcome.type === "tool_error" ? (
            <ErrorBody error={card.outcome} place={place} />
          ) : (
            <Output result={card.outcome.result} place={place} head={<b>Output of a call that is not here</b>} />
          )}
        </Frame>
      );
    default:
      return <SingleView card={card} place={place} depth={depth} />;
  }
}

function SingleView({ card, place, depth }: { card: Single; place: string; depth: number }) {
  const { entry } = card;
  switch (entry.type) {
    case "transfer":
      return (
        <div className="transfer" data-testid="entry-transfer" title={`#${entry.seq} · ${clockTime(entry.timestamp)}`}>
          <span>
            transferred to <b>{entry.to_agent}</b>
          </span>
        </div>
      );
    case "user_query":
      return (
        <Frame type={entry.type} colour="blue">
          <Head word="User query" seq={entry.seq} time={entry.timestamp} />
          <Said text={entry.content} place={place} />
        </Frame>
      );
    case "agent_text":
      return (
        <Frame type={entry.type} colour="mute">
          <Head word="Agent text" seq={entry.seq} time={entry.timestamp} name={entry.agent_name} />
          <Said text={entry.content} place={place} />
        </Frame>
      );
    case "final_response":
      return (
        <Frame type={entry.type} colour="violet">
          <Head word="Final response" seq={entry.seq} time={entry.timestamp} name={depth > 0 ? entry.agent_name : null}>
            <AnsweredBy by={entry.answered_by} after={entry.answered_after_ms} />
          </Head>
          <Said text={entry.content} place={place} />
        </Frame>
      );
    case "run_error":
      return (
        <Frame type={entry.type} colour="red">
          <Head word="Run error" seq={entry.seq} time={entry.timestamp} />
          <ErrorBody error={entry} place={place} />
        </Frame>
      );
  }
}

function Said({ text, place }: { text: string; place: string }) {
  const json = embeddedJson(text);
  if (json !== undefined) {
    return (
      <div className="entry-body">
        <Tree value={json} />
      </div>
    );
  }
  const plain = <LongText text={text} place={place} />;
  return (
    <div className="entry-body">
      {looksLikeMarkdown(text) && text.length < 20_000 ? (
        <Suspense fallback={plain}>
          <Markdown text={text} />
        </Suspense>
      ) : (
        plain
      )}
    </div>
  );
}
