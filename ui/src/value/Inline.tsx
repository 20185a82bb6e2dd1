// A small JSON value in one line, coloured like the tree.
import { Fragment } from "react";
import type { Json } from "../api/types";
import { Exact } from "../json/json";

export function Inline({ value }: { value: Json }) {
  if (typeof value === "string") return <span className="text">{JSON.stringify(value)}</span>;
  if (typeof value !== "object" || value === null || value instanceof Exact)
    return <span className="atom">{String(value)}</span>;
  const list = Array.isArray(value);
  const entries = Object.entries(value);
  return (
    <>
      {list ? "[" : "{ "}
      {entries.map(([name, item], index) => (
        <Fragment key={name}>
          {index > 0 && ", "}
          {!list && `${name}: `}
          <Inline value={item} />
        </Fragment>
      ))}
      {list ? "]" : " }"}
    </>
  );
}
