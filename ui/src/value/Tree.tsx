// A JSON value as a tree: open by default, every branch can be folded, long lists and texts are cut until asked for.
// Strings that hold JSON or Markdown say so and can be opened in place. Depth is bounded, so no value can hang the page.
import { lazy, Suspense, useState } from "react";
import type { Json } from "../api/types";
import { Exact, writeJson } from "../json/json";
import { Inline } from "./Inline";
import { embeddedJson, looksLikeMarkdown } from "./kind";
import "./value.css";

const Markdown = lazy(() => import("./Markdown"));

const CHILDREN_AT_ONCE = 100;
const TEXT_AT_ONCE = 300;
const OPEN_DEPTH = 6;
const LINE = 72;

export function Tree({ value }: { value: Json }) {
  return (
    <div className="tree mono">
      <Node value={value} depth={0} />
    </div>
  );
}

interface NodeProps {
  name?: string;
  value: Json;
  depth: number;
}

function Node({ name, value, depth }: NodeProps) {
  if (typeof value === "string") return <Text name={name} text={value} depth={depth} />;
  if (typeof value !== "object" || value === null || value instanceof Exact) {
    return (
      <div className="leaf">
        <Name name={name} />
        <span className="atom">{String(value)}</span>
      </div>
    );
  }
  if (fitsOnLine(value)) {
    return (
      <div className="leaf">
        <Name name={name} />
        <Inline value={value} />
      </div>
    );
  }
  return <Branch name={name} value={value} depth={depth} />;
}

/** Short lists and objects of plain values read better in one line. */
function fitsOnLine(value: Json[] | { [key: string]: Json }): boolean {
  const items = Object.values(value);
  return (
    items.every((item) => typeof item !== "object" || item === null || item instanceof Exact) &&
    writeJson(value).length <= LINE
  );
}

function Branch({ name, value, depth }: NodeProps & { value: Json[] | { [key: string]: Json } }) {
  const entries: [string, Json][] = Array.isArray(value)
    ? value.map((item, index) => [String(index), item])
    : Object.entries(value);
  const [open, setOpen] = useState(depth < OPEN_DEPTH && entries.length <= CHILDREN_AT_ONCE);
  const [shown, setShown] = useState(CHILDREN_AT_ONCE);
  const [left, right] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  if (entries.length === 0) {
    return (
      <div className="leaf">
        <Name name={name} />
        {left}
        {right}
      </div>
    );
  }
  return (
    <div>
      <button type="button" className="branch" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="twist">{open ? "▾" : "▸"}</span>
        <Name name={name} />
        {left}
        {!open && `… ${right}`}
        <span className="quiet"> {entries.length}</span>
      </button>
      {open && (
        <div className="twigs">
          {entries.slice(0, shown).map(([key, item]) => (
            <Node key={key} name={key} value={item} depth={depth + 1} />
          ))}
          {entries.length > shown && (
            <button type="button" className="link" onClick={() => setShown(shown + 1000)}>
              Show more ({entries.length - shown})
            </button>
          )}
        </div>
      )}
    </div>
  );
}

type Look = "text" | "JSON" | "Markdown";

function Text({ name, text, depth }: { name?: string; text: string; depth: number }) {
  const [whole, setWhole] = useState(false);
  const [look, setLook] = useState<Look>("text");
  const json = depth < 20 ? embeddedJson(text) : undefined;
  const other: Look | null = json !== undefined ? "JSON" : looksLikeMarkdown(text) ? "Markdown" : null;
  const cut = text.length > TEXT_AT_ONCE && !whole;
  return (
    <div className="leaf">
      <Name name={name} />
      {look === "JSON" && json !== undefined ? (
        <Node value={json} depth={depth + 1} />
      ) : look === "Markdown" ? (
        <Suspense fallback={text}>
          <Markdown text={text} />
        </Suspense>
      ) : (
        <span className="text">"{cut ? `${text.slice(0, TEXT_AT_ONCE)}…` : text}"</span>
      )}
      {other && (
        <button type="button" className="pill" onClick={() => setLook(look === "text" ? other : "text")}>
          {look === "text" ? other : "text"}
        </button>
      )}
      {cut && look === "text" && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          Show more ({text.length.toLocaleString("en")} characters)
        </button>
      )}
    </div>
  );
}

function Name({ name }: { name?: string }) {
  return name === undefined ? null : <span className="name">{name}: </span>;
}
