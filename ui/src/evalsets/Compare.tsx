// Two cases beside each other. What differs is said in words and marked, so colour is not needed to see it.
import type { JsonObject } from "../api/types";
import { argumentText } from "../golden/CaseView";
import {
  type ComparedInvocation,
  type ComparedUse,
  compareCases,
  type Difference,
  readCase,
  type ToolUse,
} from "../golden/evalCase";

interface CompareProps {
  cases: JsonObject[];
  left: string;
  right: string;
  onClose: () => void;
}

export function Compare({ cases, left, right, onClose }: CompareProps) {
  const find = (id: string) => cases.find((golden) => readCase(golden).evalId === id) ?? null;
  const [a, b] = [find(left), find(right)];
  if (!a || !b) {
    return (
      <div className="message-page">
        <h2>One of the cases is not in this file any more</h2>
        <button type="button" className="btn" onClick={onClose}>
          Back to the file
        </button>
      </div>
    );
  }
  const compared = compareCases(a, b);
  const count = compared.reduce((sum, invocation) => sum + differences(invocation), 0);
  return (
    <section className="file-view" data-testid="comparison">
      <header>
        <button type="button" className="btn" onClick={onClose}>
          ← Back to the file
        </button>
        <h2>{count === 0 ? "No differences" : count === 1 ? "1 difference" : `${count} differences`}</h2>
      </header>
      <table className="compare">
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">
              <code>{left}</code>
            </th>
            <th scope="col">
              <code>{right}</code>
            </th>
          </tr>
        </thead>
        {compared.map((invocation, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: invocations have no identity but their place.
          <tbody key={index}>
            <TextRow
              step="User query"
              difference={invocation.query}
              left={invocation.left?.query}
              right={invocation.right?.query}
            />
            {invocation.uses.map((use, place) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: see above.
              <UseRow key={place} use={use} />
            ))}
            <TextRow
              step="Final response"
              difference={invocation.response}
              left={invocation.left?.response}
              right={invocation.right?.response}
            />
          </tbody>
        ))}
      </table>
    </section>
  );
}

function differences({ query, response, uses }: ComparedInvocation): number {
  return [query, response, ...uses.map((use) => use.difference)].filter((difference) => difference !== "same").length;
}

const WORDS: Record<Difference, string> = {
  same: "",
  differs: "differs",
  left: "only left",
  right: "only right",
};

function Mark({ difference }: { difference: Difference }) {
  return difference === "same" ? null : <span className={`chip chip-${difference}`}>{WORDS[difference]}</span>;
}

interface TextRowProps {
  step: string;
  difference: Difference;
  left?: string;
  right?: string;
}

function TextRow({ step, difference, left, right }: TextRowProps) {
  return (
    <tr className={`compared-${difference}`} data-testid={`compared-${difference}`}>
      <th scope="row">
        {step} <Mark difference={difference} />
      </th>
      <td>{left}</td>
      <td>{right}</td>
    </tr>
  );
}

function UseRow({ use }: { use: ComparedUse }) {
  return (
    <tr className={`compared-${use.difference}`} data-testid={`compared-${use.difference}`}>
      <th scope="row">
        Tool call <Mark difference={use.difference} />
        {use.args.length > 0 && <span className="quiet"> {use.args.join(", ")}</span>}
      </th>
      <td>
        <Use use={use.left} />
      </td>
      <td>
        <Use use={use.right} />
      </td>
    </tr>
  );
}

function Use({ use }: { use: ToolUse | null }) {
  if (!use) return null;
  return (
    <span className="mono">
      {use.name}({argumentText(use.args)})
    </span>
  );
}
