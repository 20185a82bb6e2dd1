// The views of a session besides its stream; loaded when one is opened.
import type { Session } from "../api/types";
import type { StreamState } from "../stream/fold";
import { AgentsView } from "./AgentsView";
import { EventsView } from "./EventsView";
import { StateView } from "./StateView";
import "./inspect.css";

interface InspectProps {
  view: "state" | "events" | "agents";
  session: Session;
  stream: StreamState;
}

export default function Inspect({ view, session, stream }: InspectProps) {
  switch (view) {
    case "state":
      return <StateView session={session} />;
    case "events":
      return <EventsView session={session} />;
    case "agents":
      return <AgentsView session={session} stream={stream} />;
  }
}
