// The line above the stream: search in the session, and everything open or folded at once.
import { TextInput } from "@mantine/core";
import { type RefObject, useEffect } from "react";
import { Down, FoldAll, Search, UnfoldAll, Up } from "../shell/icons";
import { modKey } from "../shell/keys";
import { rememberForAll } from "../value/expanded";
import type { StreamState } from "./fold";

export interface Finding {
  query: string;
  count: number;
  /** Which of them is looked at; -1 before the first. */
  at: number;
}

interface StreamToolsProps {
  stream: StreamState;
  sessionId: string;
  finding: Finding;
  field: RefObject<HTMLInputElement | null>;
  onQuery: (query: string) => void;
  onStep: (by: number) => void;
}

export function StreamTools({ stream, sessionId, finding, field, onQuery, onStep }: StreamToolsProps) {
  const turns = stream.requests.length;
  const { query, count, at } = finding;
  return (
    <div className="stream-tools">
      <TextInput
        ref={field}
        className="stream-search"
        aria-label="Search in this session"
        placeholder={`Search in this session (${modKey}F)`}
        data-testid="stream-search"
        leftSection={<Search />}
        value={query}
        onChange={(event) => onQuery(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") {
            event.preventDefault();
            onStep(event.shiftKey ? -1 : 1);
          }
          if (event.key === "Escape") {
            onQuery("");
            event.currentTarget.blur();
          }
        }}
      />
      {query !== "" && (
        <>
          <span className="mono" data-testid="search-count" role="status">
            {count === 0 ? "0/0" : `${at + 1}/${count}`}
          </span>
          <button type="button" className="icon-button" aria-label="Previous match" onClick={() => onStep(-1)}>
            <Up />
          </button>
          <button type="button" className="icon-button" aria-label="Next match" onClick={() => onStep(1)}>
            <Down />
          </button>
        </>
      )}
      <span className="spring" />
      {turns > 0 && (
        <span className="quiet stream-count" title="How many requests were made in this session">
          {turns === 1 ? "1 request" : `${turns} requests`}
        </span>
      )}
      <button
        type="button"
        className="icon-button"
        aria-label="Collapse all"
        title="Collapse all entries"
        data-testid="collapse-all"
        onClick={() => rememberForAll(sessionId, { [`${sessionId}.fold`]: "folded" })}
      >
        <FoldAll />
      </button>
      <button
        type="button"
        className="icon-button"
        aria-label="Expand all"
        title="Expand all entries"
        data-testid="expand-all"
        onClick={() => rememberForAll(sessionId, { [`${sessionId}.fold`]: "open" })}
      >
        <UnfoldAll />
      </button>
    </div>
  );
}

const NAME = "hotseat-search";

/** Marks the words where they are in sight; the cards themselves stay untouched. */
export function useHighlights(frame: RefObject<HTMLElement | null>, query: string): void {
  // After every drawing, because scrolling brings new cards.
  useEffect(() => {
    if (typeof Highlight === "undefined" || !CSS.highlights) return;
    CSS.highlights.delete(NAME);
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0 || !frame.current) return;
    CSS.highlights.set(NAME, new Highlight(...rangesOf(frame.current, words)));
  });
  useEffect(
    () => () => {
      if (typeof Highlight !== "undefined") CSS.highlights?.delete(NAME);
    },
    [],
  );
}

function rangesOf(root: HTMLElement, words: string[]): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < 500; node = walker.nextNode()) {
    const text = node.textContent?.toLowerCase() ?? "";
    for (const word of words) {
      for (let at = text.indexOf(word); at >= 0 && ranges.length < 500; at = text.indexOf(word, at + word.length)) {
        const range = new Range();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
      }
    }
  }
  return ranges;
}
