// A JSON value as a tree: open by default, every branch can be folded, long lists and texts are cut until asked for.
// Strings that hold JSON or Markdown are shown as such, with the text itself one click away. The branch under the
// pointer or the focus offers its value and its path for copying. Depth is bounded, so no value can hang the page.
import { TextInput } from "@mantine/core";
import { createContext, lazy, Suspense, useContext, useMemo, useRef, useState } from "react";
import type { Json } from "../api/types";
import { Exact, writeJson } from "../json/json";
import { copyText } from "../shell/Command";
import { useRemembered } from "./expanded";
import { Inline } from "./Inline";
import { embeddedJson, looksLikeMarkdown } from "./kind";
import { fits } from "./preview";
import { findInTree, pathText, type TreePath, valueAt } from "./treeSearch";
import "./value.css";

const Markdown = lazy(() => import("./Markdown"));

const CHILDREN_AT_ONCE = 100;
const MORE_CHILDREN = 1000;
const TEXT_AT_ONCE = 300;
const OPEN_DEPTH = 6;
const LINE = 72;
const TOOLS_FROM = 160;

interface TreeProps {
  value: Json;
  /** Where what is folded is remembered. Without it, it is forgotten with the tree. */
  place: string;
}

interface Shared {
  place: string;
  /** What "expand all" and "collapse all" said last; single branches may differ. */
  all: { open: boolean; since: number } | null;
  hits: ReadonlySet<string> | null;
}

const TreeContext = createContext<Shared>({ place: "", all: null, hits: null });

export function Tree({ value, place }: TreeProps) {
  const [all, setAll] = useRemembered<Shared["all"]>(`${place}.all`, null);
  const [query, setQuery] = useState("");
  const hits = useMemo(() => (query.trim() === "" ? null : findInTree(value, query.trim())), [value, query]);
  const [at, setAt] = useState<{ path: string; top: number } | null>(null);
  const root = useRef<HTMLDivElement>(null);
  const shared = useMemo(() => ({ place, all, hits: hits?.open ?? null }), [place, all, hits]);
  const big = useMemo(() => typeof value === "object" && value !== null && !fits(value, TOOLS_FROM), [value]);
  const note = (target: EventTarget) => {
    const node = target instanceof Element ? target.closest<HTMLElement>("[data-path]") : null;
    const path = node?.dataset.path;
    // Between two branches, on the way to the buttons for example, the last one stays.
    if (!node || path === undefined || !root.current) return;
    const top = node.getBoundingClientRect().top - root.current.getBoundingClientRect().top;
    setAt((before) => (before?.path === path ? before : { path, top }));
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notices which branch is looked at.
    <div
      ref={root}
      className="tree mono"
      onMouseOver={(event) => note(event.target)}
      onMouseLeave={() => setAt(null)}
      onFocus={(event) => note(event.target)}
    >
      {big && (
        <div className="tree-tools">
          <TextInput
            aria-label="Search in this value"
            placeholder="Search in this value"
            value={query}
            onChange={(event) => setQuery(event.currentTarget.value)}
          />
          {hits && <span className="quiet">{hits.count === 1 ? "1 match" : `${hits.count} matches`}</span>}
          <button
            type="button"
            className="link"
            onClick={() => setAll({ open: true, since: Date.now() })}
            data-testid="tree-expand"
          >
            expand all
          </button>
          <button
            type="button"
            className="link"
            onClick={() => setAll({ open: false, since: Date.now() })}
            data-testid="tree-collapse"
          >
            collapse all
          </button>
        </div>
      )}
      <TreeContext value={shared}>
        <Node value={value} depth={0} path={[]} />
      </TreeContext>
      {at && <CopyTools key={at.path} value={value} path={JSON.parse(at.path) as TreePath} top={at.top} />}
    </div>
  );
}

/** Value and path of the branch that is looked at; over the end of its line, so that nothing moves. */
function CopyTools({ value, path, top }: { value: Json; path: TreePath; top: number }) {
  const [done, setDone] = useState<string | null>(null);
  const copy = async (what: string, text: string) => {
    await copyText(text);
    setDone(what);
    setTimeout(() => setDone(null), 1200);
  };
  const found = () => {
    const item = valueAt(value, path);
    return typeof item === "string" ? item : writeJson(item, 2);
  };
  const words = pathText(path);
  return (
    <span className="tree-copy" style={{ top }}>
      <button type="button" title={`Copy the value of ${words}`} onClick={() => void copy("value", found())}>
        {done === "value" ? "copied" : "copy value"}
      </button>
      <button type="button" title={words} onClick={() => void copy("path", words)}>
        {done === "path" ? "copied" : "copy path"}
      </button>
    </span>
  );
}

interface NodeProps {
  name?: string;
  value: Json;
  depth: number;
  path: TreePath;
}

function Node(props: NodeProps) {
  const { name, value, path } = props;
  const hit = useContext(TreeContext).hits?.has(`=${JSON.stringify(path)}`);
  const leaf = { className: `leaf${hit ? " hit" : ""}`, "data-path": JSON.stringify(path) };
  if (typeof value === "string") return <Text {...props} text={value} leaf={leaf} />;
  if (typeof value !== "object" || value === null || value instanceof Exact) {
    return (
      <div {...leaf}>
        <Name name={name} />
        <span className="atom">{String(value)}</span>
      </div>
    );
  }
  if (fitsOnLine(value)) {
    return (
      <div {...leaf}>
        <Name name={name} />
        <Inline value={value} />
      </div>
    );
  }
  return <Branch {...props} value={value} />;
}

/** Short lists and objects of plain values read better in one line. */
function fitsOnLine(value: Json[] | { [key: string]: Json }): boolean {
  for (const key in value) {
    const item = (value as Record<string, Json>)[key];
    if (typeof item === "object" && item !== null && !(item instanceof Exact)) return false;
    if (typeof item === "string" && embeddedJson(item) !== undefined) return false;
  }
  return fits(value, LINE);
}

function Branch({ name, value, depth, path }: NodeProps & { value: Json[] | { [key: string]: Json } }) {
  const { place, all, hits } = useContext(TreeContext);
  const keys = useMemo(() => (Array.isArray(value) ? null : Object.keys(value)), [value]);
  const length = keys?.length ?? (value as Json[]).length;
  const own = JSON.stringify(path);
  const [chosen, choose] = useRemembered<{ open: boolean; since: number } | null>(`${place}.tree${own}`, null);
  const [shown, setShown] = useState(CHILDREN_AT_ONCE);
  const start = depth < OPEN_DEPTH && (length <= CHILDREN_AT_ONCE || depth === 0);
  const newest = chosen && (!all || chosen.since >= all.since) ? chosen : all;
  const open = hits ? hits.has(own) : (newest?.open ?? start);
  const [left, right] = keys ? ["{", "}"] : ["[", "]"];
  if (length === 0) {
    return (
      <div className="leaf" data-path={own}>
        <Name name={name} />
        {left}
        {right}
      </div>
    );
  }
  const children = open ? Array.from({ length: Math.min(shown, length) }, (_, index) => keys?.[index] ?? index) : [];
  return (
    <div>
      <button
        type="button"
        className={`branch${hits?.has(`=${own}`) ? " hit" : ""}`}
        data-path={own}
        aria-expanded={open}
        onClick={() => choose({ open: !open, since: Date.now() })}
      >
        <span className="twist">{open ? "▾" : "▸"}</span>
        <Name name={name} />
        {left}
        {!open && `… ${right}`}
        <span className="quiet"> {length.toLocaleString("en")}</span>
      </button>
      {open && (
        <div className="twigs">
          {children.map((key) => (
            <Node
              key={key}
              name={String(key)}
              value={(value as Record<string | number, Json>)[key] ?? null}
              depth={depth + 1}
              path={[...path, key]}
            />
          ))}
          {length > shown && (
            <button type="button" className="link" onClick={() => setShown(shown + MORE_CHILDREN)}>
              Show more ({(length - shown).toLocaleString("en")})
            </button>
          )}
        </div>
      )}
    </div>
  );
}

type Look = "text" | "JSON" | "Markdown";

interface TextProps extends NodeProps {
  text: string;
  leaf: { className: string; "data-path": string };
}

function Text({ name, text, depth, path, leaf }: TextProps) {
  const { place } = useContext(TreeContext);
  const [whole, setWhole] = useState(TEXT_AT_ONCE);
  const json = useMemo(() => (depth < 20 ? embeddedJson(text) : undefined), [text, depth]);
  const markdown = useMemo(() => json === undefined && looksLikeMarkdown(text), [text, json]);
  const other: Look | null = json !== undefined ? "JSON" : markdown ? "Markdown" : null;
  const [look, setLook] = useRemembered<Look>(`${place}.look${leaf["data-path"]}`, other ?? "text");
  const cut = text.length > whole;
  return (
    <div {...leaf}>
      <Name name={name} />
      {other && (
        <button
          type="button"
          className="pill"
          aria-label={`Show as ${look === "text" ? other : "text"}`}
          onClick={() => setLook(look === "text" ? other : "text")}
        >
          {look === "text" ? other : "raw"}
        </button>
      )}
      {look === "JSON" && json !== undefined ? (
        <Node value={json} depth={depth + 1} path={path} />
      ) : look === "Markdown" && markdown ? (
        <Suspense fallback={text.slice(0, whole)}>
          <Markdown text={text.slice(0, 20_000)} />
        </Suspense>
      ) : (
        <span className="text">"{cut ? `${text.slice(0, whole)}…` : text}"</span>
      )}
      {cut && look === "text" && (
        <button type="button" className="link" onClick={() => setWhole(whole + 50_000)}>
          Show more ({text.length.toLocaleString("en")} characters)
        </button>
      )}
    </div>
  );
}

function Name({ name }: { name?: string }) {
  return name === undefined ? null : <span className="name">{name}: </span>;
}
