// Sessions: the list on the left, one session beside it. On a narrow window the list steps aside; on a phone list,
// stream and seat are three tabs.
import { useMediaQuery } from "@mantine/hooks";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { useWaiting } from "../api/queries";
import { SessionPage } from "../session/SessionPage";
import { useStored } from "../shell/storage";
import { SessionList } from "./SessionList";
import "./sessions.css";

export type Pane = "list" | "stream" | "seat";

export function SessionsScreen({ id }: { id: string | null }) {
  const phone = useMediaQuery("(max-width: 760px)", undefined, { getInitialValueInEffect: false });
  const [stored, setOpen] = useStored("hotseat.list.open", window.innerWidth > 1100);
  // Without a session there is nothing that the list could be in the way of.
  const open = stored || phone === true || id === null;
  const [pane, setPane] = useState<Pane>(id ? (location.hash ? "stream" : "seat") : "list");
  // A link to an entry shows the stream, wherever it was followed.
  useEffect(() => {
    const look = () => {
      if (location.hash) setPane("stream");
    };
    window.addEventListener("hashchange", look);
    window.addEventListener("pushState", look);
    return () => {
      window.removeEventListener("hashchange", look);
      window.removeEventListener("pushState", look);
    };
  }, []);
  return (
    <div className={`sessions pane-${pane}${open ? "" : " list-closed"}${id === null ? " no-session" : ""}`}>
      <h1 className="sr-only">Sessions</h1>
      <PaneTabs pane={pane} onPane={setPane} hasSession={id !== null} />
      <SessionList
        current={id}
        open={open}
        onOpen={setOpen}
        onPick={(what) => {
          setPane(what === "entry" ? "stream" : "seat");
          if (window.innerWidth <= 1100) setOpen(false);
        }}
      />
      {id === null ? <Nothing /> : <SessionPage key={id} id={id} />}
    </div>
  );
}

function PaneTabs({ pane, onPane, hasSession }: { pane: Pane; onPane: (pane: Pane) => void; hasSession: boolean }) {
  const panes: [Pane, string][] = [
    ["list", "Sessions"],
    ["stream", "Stream"],
    ["seat", "Seat"],
  ];
  return (
    <div className="pane-tabs" role="tablist" aria-label="Parts of the page">
      {panes.map(([name, label]) => (
        <button
          key={name}
          type="button"
          role="tab"
          aria-selected={pane === name}
          disabled={!hasSession && name !== "list"}
          onClick={() => onPane(name)}
        >
          {label}
        </button>
      ))}
    </div>
  );
}

function Nothing() {
  const head = useWaiting().data?.[0];
  return (
    <div className="message-page nothing">
      {head ? (
        <>
          <h1>Something waits for you</h1>
          <p>
            <code>{head.agent_name}</code> has asked first and waits for an answer.
          </p>
          <Link className="btn btn-hot" href={`/sessions/${head.session_id}`}>
            Answer the oldest request
          </Link>
        </>
      ) : (
        <>
          <h1>Nothing waits for you</h1>
          <p>Pick a session on the left to read it, or give an agent something to do.</p>
          <Link className="btn" href="/agents">
            Start a session
          </Link>
        </>
      )}
    </div>
  );
}
