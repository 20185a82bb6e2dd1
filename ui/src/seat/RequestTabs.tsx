// The request as the model would see it: what it is told, what was said, what it can call, how it is set. And the
// session's state, and the raw object.
import type { Content, Json, JsonObject, Part, TurnRequest } from "../api/types";
import { isJsonObject, writeJson } from "../json/json";
import { LongText } from "../value/LongText";
import { Tree } from "../value/Tree";
import { RawJson } from "../value/RawJson";

export function RequestTab({ request, turnId }: { request: TurnRequest; turnId: string }) {
  const config = configOf(request);
  return (
    <div className="request">
      {request.system_instruction && (
        <section>
          <h3>Instruction</h3>
          <LongText text={request.system_instruction} place={`~${turnId}.instruction`} />
        </section>
      )}
      <section>
        <h3>Contents</h3>
        {request.contents.map((content, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: contents of a request never change.
          <ContentView key={index} content={content} place={`~${turnId}.${index}`} />
        ))}
        {request.contents.length === 0 && <p className="quiet">Nothing was said yet.</p>}
      </section>
      <section>
        <h3>Tools</h3>
        {request.tools.map((tool) => (
          <details key={tool.name}>
            <summary>
              <code>{tool.name}</code> <span className="quiet">{tool.description?.split("\n")[0]}</span>
            </summary>
            {tool.description && <p className="tool-description">{tool.description}</p>}
            {tool.error && <p className="tool-problem">{tool.error}</p>}
            {tool.parameters && <Tree value={tool.parameters as Json} place={`~${turnId}.tool.${tool.name}`} />}
          </details>
        ))}
        {request.tools.length === 0 && <p className="quiet">This agent has no tools.</p>}
      </section>
      {request.output_schema && (
        <section>
          <h3>Output schema</h3>
          <Tree value={request.output_schema as Json} place={`~${turnId}.output`} />
        </section>
      )}
      {config && (
        <section>
          <h3>Config</h3>
          <Tree value={config} place={`~${turnId}.config`} />
        </section>
      )}
    </div>
  );
}

/** The state, and what changed in it since the last request. */
export function StateTab({ request, turnId, delta }: { request: TurnRequest; turnId: string; delta: JsonObject }) {
  const state = request.state ?? {};
  const changed = Object.keys(delta);
  if (Object.keys(state).length === 0 && changed.length === 0) {
    return <p className="quiet">The session's state is empty.</p>;
  }
  return (
    <div className="request">
      {changed.length > 0 && (
        <section data-testid="state-delta">
          <h3>Changed since the last request</h3>
          <ul className="delta">
            {changed.map((key) => (
              <li key={key}>
                <b>{delta[key] === null ? "removed" : key in state ? "set" : "was set"}</b> <code>{key}</code>
                <Tree value={delta[key] ?? null} place={`~${turnId}.delta.${key}`} />
              </li>
            ))}
          </ul>
        </section>
      )}
      <section>
        <h3>State</h3>
        <Tree value={state} place={`~${turnId}.state`} />
      </section>
    </div>
  );
}

export function RawTab({ request }: { request: TurnRequest }) {
  return <RawJson text={writeJson(request.raw ?? request, 2)} className="raw" />;
}

function ContentView({ content, place }: { content: Content; place: string }) {
  return (
    <div className="content">
      <span className="content-role">{content.role ?? "user"}</span>
      <div>
        {(content.parts ?? []).map((part, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a request never change.
          <PartView key={index} part={part} place={`${place}.${index}`} />
        ))}
      </div>
    </div>
  );
}

function PartView({ part, place }: { part: Part; place: string }) {
  if (typeof part.text === "string") {
    return (
      <div className={part.thought ? "quiet" : undefined}>
        {part.thought && "thought: "}
        <LongText text={part.text} place={place} />
      </div>
    );
  }
  if (part.function_call)
    return <Named word="calls" name={part.function_call.name} value={part.function_call.args ?? {}} place={place} />;
  if (part.function_response) {
    return (
      <Named
        word="answer of"
        name={part.function_response.name}
        value={part.function_response.response ?? null}
        place={place}
      />
    );
  }
  if (part.inline_data) {
    return (
      <div className="quiet">
        {part.inline_data.mime_type ?? "data"}, {Math.round((part.inline_data.data?.length ?? 0) * 0.75)} bytes
      </div>
    );
  }
  return <Tree value={part as JsonObject} place={place} />;
}

function Named({ word, name, value, place }: { word: string; name: string; value: Json; place: string }) {
  return (
    <div>
      <span className="quiet">{word}</span> <code>{name}</code>
      <Tree value={value} place={place} />
    </div>
  );
}

function configOf(request: TurnRequest): JsonObject | null {
  const raw = request.raw;
  if (!isJsonObject(raw)) return null;
  const config = isJsonObject(raw.config) ? raw.config : {};
  const { system_instruction: _a, tools: _b, systemInstruction: _c, ...rest } = config;
  const shown: JsonObject = { ...(raw.model ? { model: raw.model } : {}), ...rest };
  const set = Object.entries(shown).filter(([, value]) => value !== null && value !== undefined);
  return set.length > 0 ? Object.fromEntries(set) : null;
}
