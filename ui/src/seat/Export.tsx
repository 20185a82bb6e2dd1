// The golden trace of a completed session: what would be written and where, then what was written and how to run it.
import { Modal } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { errorText } from "../api/client";
import { actions, useGoldenTrace } from "../api/queries";
import type { GoldenTrace, Session } from "../api/types";
import { Command } from "../shell/Command";
import { Case } from "./Case";
import { evalCommand } from "./evalCommand";

export function GoldenTracePanel({ session }: { session: Session }) {
  return (
    <div className="seat-quiet">
      <header className="seat-head">
        <h2>Golden trace</h2>
        <p className="quiet">
          The session is completed. Export it into an EvalSet file that <code>adk eval</code> runs.
        </p>
      </header>
      <div className="seat-body">
        <Trace session={session} />
        <Link className="link" href="/agents">
          Start another session
        </Link>
      </div>
    </div>
  );
}

export function ExportDialogue(props: { session: Session; opened: boolean; onClose: () => void }) {
  return (
    <Modal
      opened={props.opened}
      onClose={props.onClose}
      title="Export the golden trace"
      size="lg"
      transitionProps={{ duration: 0 }}
    >
      {props.opened && <Trace session={props.session} />}
    </Modal>
  );
}

function Trace({ session }: { session: Session }) {
  const preview = useGoldenTrace(session.id);
  const [result, setResult] = useState<GoldenTrace | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const write = async () => {
    setBusy(true);
    setError(null);
    try {
      setResult(await actions.exportTrace(session.id));
      void preview.refetch();
    } catch (failed) {
      setError(errorText(failed));
    } finally {
      setBusy(false);
    }
  };
  const trace = result ?? preview.data;
  return (
    <div className="trace">
      {preview.isError && !trace && <div className="note note-bad">{errorText(preview.error)}</div>}
      {trace && (
        <dl className="facts">
          <dt>File</dt>
          <dd className="mono">{trace.path}</dd>
          <dt>Case</dt>
          <dd className="mono">{trace.eval_id}</dd>
        </dl>
      )}
      {result ? (
        <Written trace={result} app={session.app_name} />
      ) : (
        <div>
          <button
            type="button"
            className="btn btn-strong"
            data-testid="export-button"
            disabled={busy || !trace}
            onClick={() => void write()}
          >
            {busy ? "Exporting…" : preview.data?.exists ? "Export: add to the file" : "Export: create the file"}
          </button>
        </div>
      )}
      {error && (
        <div className="note note-bad" role="alert">
          {error}
        </div>
      )}
      {trace && <Case value={trace.case} />}
    </div>
  );
}

const DONE = {
  created: "Created the file with this case.",
  appended: "Added to the file.",
  updated: "Updated the case in the file.",
};

function Written({ trace, app }: { trace: GoldenTrace; app: string }) {
  return (
    <div className="note" data-testid="export-result" role="status">
      <p>{DONE[trace.action ?? "appended"]} Run it with:</p>
      <Command text={evalCommand(trace, app)} />
    </div>
  );
}
