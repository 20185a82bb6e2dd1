// A tool's result: one line at first, then as tree, raw text or Markdown, as the reader likes. What was chosen for an
// entry is remembered while the page is open.
import { lazy, type ReactNode, Suspense } from "react";
import type { Json } from "../api/types";
import { writeJson } from "../json/json";
import { useRemembered } from "./expanded";
import { Inline } from "./Inline";
import { embeddedJson, looksLikeMarkdown } from "./kind";
import { LongText } from "./LongText";
import { unwrapResult } from "./oneLine";
import { Tree } from "./Tree";

const Markdown = lazy(() => import("./Markdown"));

type View = "tree" | "raw" | "markdown";

export function Output({ result, place, head }: { result: Json; place: string; head: ReactNode }) {
  const value = unwrapResult(result);
  const text = typeof value === "string" ? value : undefined;
  const json = text === undefined ? value : embeddedJson(text);
  const views: View[] = json !== undefined ? ["tree", "raw", "markdown"] : ["raw", "markdown"];
  const first: View = json !== undefined ? "tree" : looksLikeMarkdown(text ?? "") ? "markdown" : "raw";
  const [view, setView] = useRemembered<View>(`${place}.view`, first);
  return (
    <>
      <div className="entry-head">
        {head}
        <span className="spring" />
        <span className="views">
          {views.map((name) => (
            <button key={name} type="button" aria-pressed={view === name} onClick={() => setView(name)}>
              {name}
            </button>
          ))}
        </span>
      </div>
      <div className="entry-body">
        <Shown view={view} value={json ?? value} text={text ?? writeJson(value, 2)} place={place} />
      </div>
    </>
  );
}

function Shown({ view, value, text, place }: { view: View; value: Json; text: string; place: string }) {
  switch (view) {
    case "tree":
      return isSmall(value) ? (
        <div className="mono">
          <Inline value={value} />
        </div>
      ) : (
        <Tree value={value} />
      );
    case "raw":
      return <LongText text={text} place={place} mono />;
    case "markdown":
      return (
        <Suspense fallback={<LongText text={text} place={place} />}>
          <Markdown text={text} />
        </Suspense>
      );
  }
}

/** Values that fit on a line stay on a line. */
function isSmall(value: Json): boolean {
  return typeof value !== "object" || value === null || writeJson(value).length <= 90;
}
