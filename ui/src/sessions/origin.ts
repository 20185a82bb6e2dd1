// Where a session comes from: who speaks as its user. The page itself, the user's own program, or a front end that
// talks to an agent Hotseat runs. The source says most of it; ADK's own routes and programs that keep their ADK sessions
// here are both `adk`, and only the runs in the log tell them apart.
import type { Session } from "../api/types";
import type { StreamState } from "../stream/fold";

/** The ways by which a front end reaches an agent. */
export type Protocol = "AG-UI" | "REST" | "ADK";

export type Origin =
  | { by: "page" }
  /** The user's own program, with the plugin in it or with its sessions kept here. */
  | { by: "program"; with: "plugin" | "sessions" }
  | { by: "front end"; protocol: Protocol };

/** What the log says about the runs of a session. */
export type Runs = Pick<StreamState, "hosted" | "protocol">;

export function originOf({ source }: Pick<Session, "source">, runs: Runs): Origin {
  switch (source) {
    case "web":
      return { by: "page" };
    case "plugin":
      return { by: "program", with: "plugin" };
    case "rest":
      return { by: "front end", protocol: "REST" };
    case "ag-ui":
      return { by: "front end", protocol: "AG-UI" };
    case "adk":
      // A front end may go on over AG-UI with what began elsewhere.
      if (runs.protocol === "ag-ui") return { by: "front end", protocol: "AG-UI" };
      return runs.hosted ? { by: "front end", protocol: "ADK" } : { by: "program", with: "sessions" };
  }
}

/** A word and its explanation for what did not begin on this page. */
export interface OriginMark {
  text: string;
  title: string;
}

export function originMark(origin: Origin): OriginMark | null {
  if (origin.by === "page") return null;
  if (origin.by === "front end") {
    return { text: origin.protocol, title: `A front end talks to this agent over ${channelOf(origin.protocol)}` };
  }
  return origin.with === "plugin"
    ? { text: "plugin", title: "Your program drives this session, with the Hotseat plugin" }
    : { text: "ADK", title: "Your program keeps its ADK session here" };
}

/** The same where only the source is known, as in lists. */
export function sourceMark({ source }: Pick<Session, "source">): OriginMark | null {
  if (source !== "adk") return originMark(originOf({ source }, { hosted: false, protocol: null }));
  return { text: "ADK", title: "A front end over ADK's API, or a program that keeps its ADK session here" };
}

export function channelOf(protocol: Protocol): string {
  return protocol === "ADK" ? "ADK's API" : protocol;
}

/** Whether the final answer of a turn ends the session: only the page's own conversations have one. */
export function endsWithAnswer(session: Pick<Session, "source">, turn: { parent_call_id?: string | null }): boolean {
  return session.source === "web" && !turn.parent_call_id;
}

/** Whether what ADK asks the user is answered here. REST has no words for it, so the page has to. */
export function answersAsksHere({ source }: Pick<Session, "source">): boolean {
  return source === "web" || source === "rest";
}
