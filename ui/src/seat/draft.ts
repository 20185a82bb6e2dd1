// The answer that is being written for one turn. Kept per turn in this tab's storage with every change, so events,
// other tabs and reloads never cost a word. Turning it into a decision is pure, and errors find their way back.
import type { Decision, FieldError, JsonSchema, Part, Tool } from "../api/types";
import { check } from "../form/check";
import { type Edited, jsonProblem } from "../form/edited";
import type { PartError } from "../form/pointer";
import { asSchema, isForObject } from "../form/schema";
import { startValue, toArgs, toOutput } from "../form/value";
import { writeJson as json } from "../json/json";
import { readJson, writeJson } from "../shell/storage";

export interface CallDraft {
  tool: string;
  edited: Edited;
}

export interface Draft {
  choice: "tool" | "final";
  /** The tool whose form is open. */
  tool: string | null;
  /** What was entered for each tool, also those not chosen in the end. */
  forms: Record<string, Edited>;
  /** Calls put aside with "another call"; they go first. */
  calls: CallDraft[];
  withText: boolean;
  text: string;
  finalText: string;
  finalEdited: Edited | null;
  /** Null until chosen. */
  keepOpen: boolean | null;
  mode: "form" | "json";
}

export function startDraft(tools: Tool[]): Draft {
  const only = tools.length === 1 ? tools[0] : undefined;
  return {
    choice: tools.length > 0 ? "tool" : "final",
    tool: only?.name ?? null,
    forms: {},
    calls: [],
    withText: false,
    text: "",
    finalText: "",
    finalEdited: null,
    keepOpen: null,
    mode: "form",
  };
}

/** Whether a final response leaves the session open: it does while the user is asked something, unless chosen otherwise. */
export function keepsOpen(draft: Draft, questions: number): boolean {
  return draft.keepOpen ?? questions > 0;
}

const key = (turnId: string) => `hotseat.draft.${turnId}`;

export function loadDraft(turnId: string): Draft | undefined {
  return readJson(sessionStorage, key(turnId));
}

export function saveDraft(turnId: string, draft: Draft | undefined): void {
  writeJson(sessionStorage, key(turnId), draft);
}

export function parametersOf(tool: Tool): JsonSchema {
  return tool.parameters ?? { type: "object", properties: {} };
}

export function formFor(draft: Draft, tool: Tool): Edited {
  const schema = asSchema(parametersOf(tool));
  return draft.forms[tool.name] ?? { value: startValue(schema, schema) ?? {}, text: null };
}

/** The calls this draft would make, in order; the open form is the last. */
export function callsOf(draft: Draft, tools: Tool[]): CallDraft[] {
  const open = tools.find((tool) => tool.name === draft.tool);
  return open ? [...draft.calls, { tool: open.name, edited: formFor(draft, open) }] : draft.calls;
}

/** ADK adds this tool where an agent has both tools and an output schema: calling it is the final response. */
export const FINAL_TOOL = "set_model_response";

/** What a turn offers: tools to call, and the form of the final response, which may be a tool of ADK's own. */
export interface Offer {
  tools: Tool[];
  output: JsonSchema | null;
  finalTool: Tool | null;
}

export function offerOf(request: { tools?: Tool[] | null; output_schema?: JsonSchema | null }): Offer {
  const all = request.tools ?? [];
  const finalTool = all.find((tool) => tool.name === FINAL_TOOL) ?? null;
  return {
    tools: all.filter((tool) => tool !== finalTool),
    output: finalTool ? parametersOf(finalTool) : (request.output_schema ?? null),
    finalTool,
  };
}

export function toDecision(draft: Draft, { tools, output, finalTool }: Offer): Decision {
  const parts: Part[] = [];
  if (draft.choice === "final") {
    const value = output && finalValue(draft, output);
    if (finalTool) parts.push({ function_call: { name: finalTool.name, args: toArgs(value, asSchema(output)) } });
    else parts.push({ text: output ? json(toOutput(value, asSchema(output))) : draft.finalText });
  } else {
    if (hasText(draft)) parts.push({ text: draft.text });
    for (const call of callsOf(draft, tools)) {
      const tool = tools.find((candidate) => candidate.name === call.tool);
      const schema = tool && asSchema(parametersOf(tool));
      parts.push({ function_call: { name: call.tool, args: toArgs(call.edited.value, schema) } });
    }
  }
  return { candidates: [{ role: "model", parts }] };
}

export function finalEdited(draft: Draft, output: JsonSchema): Edited {
  const schema = asSchema(output);
  return draft.finalEdited ?? { value: startValue(schema, schema), text: null };
}

function finalValue(draft: Draft, output: JsonSchema): unknown {
  return finalEdited(draft, output).value;
}

/** What keeps the draft from being sent, before the server is asked; null if nothing does. */
export function problemOf(draft: Draft, { tools, output }: Offer): string | null {
  if (draft.choice === "final") {
    if (!output) return draft.finalText.trim() === "" ? "Write the response first." : null;
    return editedProblem(finalEdited(draft, output), output);
  }
  const calls = callsOf(draft, tools);
  if (calls.length === 0) return "Choose a tool first.";
  for (const call of calls) {
    const tool = tools.find((candidate) => candidate.name === call.tool);
    const problem = tool && editedProblem(call.edited, parametersOf(tool));
    if (problem) return problem;
  }
  return null;
}

export function editedProblem(edited: Edited, schema: JsonSchema): string | null {
  if (jsonProblem(edited, isForObject(schema))) return "The JSON is not complete.";
  return check(asSchema(schema), edited.value).length > 0 ? "Some fields need another look." : null;
}

/** The server's complaints about one call, by its place among the calls. */
export function errorsOfCall(errors: PartError[], draft: Draft, index: number): FieldError[] {
  const part = index + (draft.choice === "tool" && hasText(draft) ? 1 : 0);
  return errors.filter((error) => error.part === part);
}

function hasText(draft: Draft): boolean {
  return draft.withText && draft.text.trim() !== "";
}
