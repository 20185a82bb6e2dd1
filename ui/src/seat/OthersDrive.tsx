// The seat of a session that others drive, while nothing is asked: who they are, and what to expect here.
import type { Session } from "../api/types";
import { waitingIn } from "../live/waiting";
import { channelOf, type Origin } from "../sessions/origin";

export function OthersDrive({ session, origin }: { session: Session; origin: Origin }) {
  const front = origin.by === "front end";
  return (
    <div className="seat-quiet" data-testid="others-drive">
      <header className="seat-head">
        <h2>{front ? "A front end drives this session" : "Your program drives this session"}</h2>
      </header>
      <div className="seat-body">
        {waitingIn(session) > 0 && (
          <div className="note">
            ADK asks the user something. The answer comes from {front ? "the front end" : "your program"}; the stream
            has the question.
          </div>
        )}
        <p className="quiet">
          {wordsFor(origin)} Complete the session when {front ? "the conversation is over" : "you are done"}, to export
          it as a golden trace.
        </p>
      </div>
    </div>
  );
}

function wordsFor(origin: Origin): string {
  switch (origin.by) {
    case "front end":
      return (
        `A front end talks to this agent over ${channelOf(origin.protocol)}. Its next message appears in the stream,` +
        " and when a person is in the seat, the request comes here."
      );
    case "program":
      return origin.with === "plugin"
        ? "Queries come from the program that uses the Hotseat plugin. When it asks its model something, the request appears here."
        : "Your program keeps its ADK session here, and its own model answers. Everything that happens in it appears in the stream.";
    case "page":
      return "The next message comes from this page.";
  }
}
