// An EvalCase at a glance: what the user said, which tools were called with what, how it ended.
import type { Json, JsonObject } from "../api/types";
import { writeJson } from "../json/json";
import { Copy } from "../shell/Command";
import { argumentsLine, oneLine } from "../value/oneLine";
import { readCase } from "./evalCase";
import "./golden.css";

export function CaseView({ value }: { value: Json }) {
  return (
    <div className="case">
      {readCase(value).invocations.map((invocation, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: invocations have no identity but their place.
        <ol className="case-steps" key={index}>
          <li className="step-blue">
            <b>User query</b> <span>{oneLine(invocation.query)}</span>
          </li>
          {invocation.uses.map((use, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: see above.
            <li key={place} className="step-amber">
              <b>Tool call</b>{" "}
              <span className="mono">
                {use.name}({argumentText(use.args)})
              </span>
            </li>
          ))}
          <li className="step-violet">
            <b>Final response</b> <span>{oneLine(invocation.response)}</span>
          </li>
        </ol>
      ))}
    </div>
  );
}

const SHOWN_AT_ONCE = 100_000;

/** The exact JSON, to the letter. */
export function CaseJson({ value }: { value: Json }) {
  const text = writeJson(value, 2);
  return (
    <div className="case-json">
      <Copy text={text} label="Copy JSON" />
      <pre className="mono" data-testid="case-json">
        {text.length > SHOWN_AT_ONCE ? `${text.slice(0, SHOWN_AT_ONCE)}…` : text}
      </pre>
    </div>
  );
}

export function argumentText(args: JsonObject): string {
  return argumentsLine(args)
    .map(({ name, text }) => `${name}: ${text}`)
    .join(", ");
}
