// A value from a tool, an agent or a person: as tree, as it is, or as Markdown, as the reader likes. What is shown first
// depends on what it holds; what was chosen for an entry is remembered.
import { lazy, type ReactNode, Suspense, useMemo } from "react";
import type { Json } from "../api/types";
import { writeJson } from "../json/json";
import { useRemembered } from "./expanded";
import { Inline } from "./Inline";
import { embeddedJson, looksLikeMarkdown } from "./kind";
import { LongText } from "./LongText";
import { unwrapResult } from "./oneLine";
import { fits } from "./preview";
import { Tree } from "./Tree";

const Markdown = lazy(() => import("./Markdown"));
const MARKDOWN_UP_TO = 200_000;

type View = "tree" | "raw" | "markdown";
const WORDS: Record<View, string> = { tree: "tree", raw: "raw", markdown: "markdown" };

interface OutputProps {
  result: Json;
  place: string;
  /** The line above, with the views at its end. */
  head?: ReactNode;
  body?: boolean;
}

export function Output({ result, place, head, body = true }: OutputProps) {
  const value = unwrapResult(result);
  const text = typeof value === "string" ? value : undefined;
  const json = useMemo(() => (text === undefined ? value : embeddedJson(text)), [text, value]);
  const markdown = useMemo(() => text !== undefined && json === undefined && looksLikeMarkdown(text), [text, json]);
  const views: View[] = json !== undefined ? ["tree", "raw", "markdown"] : ["raw", "markdown"];
  const first: View = json !== undefined ? "tree" : markdown ? "markdown" : "raw";
  const [chosen, setView] = useRemembered<View>(`${place}.view`, first);
  const view = views.includes(chosen) ? chosen : first;
  // Plain words have nothing to be switched to.
  const plain = json === undefined && !markdown && view === "raw" && (text?.length ?? 0) < 200;
  const switches = !plain && (
    <span className="views" role="group" aria-label="View">
      {views.map((name) => (
        <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
          {WORDS[name]}
        </button>
      ))}
    </span>
  );
  return (
    <>
      {head && (
        <div className="entry-head">
          {head}
          <span className="spring" />
          {switches}
        </div>
      )}
      {body && (
        <div className="entry-body">
          {!head && switches}
          <Shown view={view} value={json ?? value} text={text} place={place} />
        </div>
      )}
    </>
  );
}

function Shown(props: { view: View; value: Json; text: string | undefined; place: string }) {
  const { view, value, place } = props;
  // Written out only when it is asked for: an output may have ten megabytes.
  const text = useMemo(() => (view === "tree" ? "" : (props.text ?? writeJson(value, 2))), [view, props.text, value]);
  switch (view) {
    case "tree":
      return isSmall(value) ? (
        <div className="mono">
          <Inline value={value} />
        </div>
      ) : (
        <Tree value={value} place={place} />
      );
    case "raw":
      return <LongText text={text} place={place} mono={props.text === undefined} />;
    case "markdown":
      return text.length > MARKDOWN_UP_TO ? (
        <LongText text={text} place={place} />
      ) : (
        <Suspense fallback={<LongText text={text} place={place} />}>
          <Markdown text={text} />
        </Suspense>
      );
  }
}

/** Values that fit on a line stay on a line. */
function isSmall(value: Json): boolean {
  return typeof value !== "object" || value === null || fits(value, 90);
}
