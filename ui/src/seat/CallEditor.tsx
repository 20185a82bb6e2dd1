// Choosing tools and filling in their arguments. Calls put aside stand above the form and can be taken up again.
import { Textarea } from "@mantine/core";
import type { Tool } from "../api/types";
import { FormOrJson } from "../form/FormOrJson";
import type { PartError } from "../form/pointer";
import { clean } from "../form/value";
import { Cross } from "../shell/icons";
import { argumentsLine } from "../value/oneLine";
import { type Draft, errorsOfCall, formFor, parametersOf } from "./draft";
import { focusFirst } from "./focus";
import { ToolChips } from "./ToolChips";

interface CallEditorProps {
  draft: Draft;
  tools: Tool[];
  setDraft: (change: Partial<Draft>) => void;
  tried: boolean;
  onTried: (tried: boolean) => void;
  errors: PartError[];
}

export function CallEditor(props: CallEditorProps) {
  const { draft, tools, setDraft, tried, errors } = props;
  const tool = tools.find((candidate) => candidate.name === draft.tool);
  return (
    <>
      {draft.calls.length > 0 && <PutAside {...props} />}
      <ToolChips
        tools={tools}
        chosen={draft.tool}
        onChoose={(name) => {
          setDraft({ tool: name });
          props.onTried(false);
          setTimeout(focusFirst, 0);
        }}
      />
      {tool && (
        <>
          {tool.description && <div className="tool-description">{tool.description}</div>}
          {tool.error && (
            <div className="note note-bad" data-testid="tool-error">
              The tool could not be declared: {tool.error} It can be called, but nothing is known about its arguments.
            </div>
          )}
          <div className="seat-form" data-testid="tool-form" key={tool.name}>
            <FormOrJson
              schema={parametersOf(tool)}
              edited={formFor(draft, tool)}
              onChange={(edited) => setDraft({ forms: { ...draft.forms, [tool.name]: edited } })}
              mode={draft.mode}
              showAll={tried}
              serverErrors={errorsOfCall(errors, draft, draft.calls.length)}
              label={`Arguments of ${tool.name} as JSON`}
            />
          </div>
        </>
      )}
      <WithText draft={draft} setDraft={setDraft} />
    </>
  );
}

/** Text that goes along with the calls, as models often send. */
function WithText({ draft, setDraft }: Pick<CallEditorProps, "draft" | "setDraft">) {
  if (!draft.withText) {
    return (
      <button type="button" className="not-set" onClick={() => setDraft({ withText: true })}>
        + say something with the call
      </button>
    );
  }
  return (
    <div className="with-text">
      <div className="field-head">
        <label htmlFor="with-text">Text with the call</label>
        <button type="button" className="link" onClick={() => setDraft({ withText: false })}>
          leave out
        </button>
      </div>
      <Textarea
        id="with-text"
        autosize
        minRows={2}
        maxRows={8}
        value={draft.text}
        onChange={(event) => setDraft({ text: event.currentTarget.value })}
      />
    </div>
  );
}

function PutAside({ draft, setDraft, errors, onTried }: CallEditorProps) {
  const without = (index: number) => draft.calls.filter((_, place) => place !== index);
  const edit = (index: number) => {
    const call = draft.calls[index];
    if (!call) return;
    setDraft({ calls: without(index), tool: call.tool, forms: { ...draft.forms, [call.tool]: call.edited } });
    onTried(false);
  };
  return (
    <ol className="put-aside" aria-label="Calls of this answer">
      {draft.calls.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: calls have no identity but their place.
        <li key={index} className={errorsOfCall(errors, draft, index).length > 0 ? "bad" : undefined}>
          <button type="button" className="mono" title="Edit this call" onClick={() => edit(index)}>
            <b>{call.tool}</b>
            {argumentsLine(clean(call.edited.value) as never).map((argument) => (
              <span key={argument.name}>
                {argument.name}: {argument.text}
              </span>
            ))}
          </button>
          <button type="button" aria-label={`Remove ${call.tool}`} onClick={() => setDraft({ calls: without(index) })}>
            <Cross />
          </button>
        </li>
      ))}
    </ol>
  );
}
