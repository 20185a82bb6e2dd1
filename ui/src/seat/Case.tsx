// An EvalCase at a glance: what the user said, which tools were called with what, how it ended. The JSON is below it.
import type { Json } from "../api/types";
import { isJsonObject } from "../json/json";
import { argumentsLine, oneLine } from "../value/oneLine";
import { Tree } from "../value/Tree";

type Loose = { [key: string]: Json };

export function Case({ value }: { value: Json }) {
  const invocations = list(field(value, "conversation"));
  return (
    <div className="case">
      {invocations.map((invocation, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a case is shown once and does not change.
        <Invocation key={index} invocation={invocation} />
      ))}
      <details>
        <summary>The case as JSON</summary>
        <Tree value={value} />
      </details>
    </div>
  );
}

function Invocation({ invocation }: { invocation: Json }) {
  const uses = list(field(field(invocation, "intermediate_data"), "tool_uses"));
  return (
    <ol className="case-steps">
      <li className="step-blue">
        <b>User query</b> <span>{textOf(field(invocation, "user_content"))}</span>
      </li>
      {uses.map((use, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: see above.
        <li key={index} className="step-amber">
          <b>Tool call</b>{" "}
          <span className="mono">
            {oneLine(field(use, "name"))}({argumentText(field(use, "args"))})
          </span>
        </li>
      ))}
      <li className="step-violet">
        <b>Final response</b> <span>{textOf(field(invocation, "final_response"))}</span>
      </li>
    </ol>
  );
}

function argumentText(args: Json): string {
  return argumentsLine(object(args))
    .map(({ name, text }) => `${name}: ${text}`)
    .join(", ");
}

function textOf(content: Json): string {
  const texts = list(field(content, "parts")).map((part) => field(part, "text"));
  return oneLine(texts.filter((text) => typeof text === "string").join(" "));
}

function object(value: Json): Loose {
  return isJsonObject(value) ? value : {};
}

function field(value: Json, name: string): Json {
  return object(value)[name] ?? null;
}

function list(value: Json): Json[] {
  return Array.isArray(value) ? value : [];
}
