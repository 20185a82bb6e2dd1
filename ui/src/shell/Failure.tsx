// What a screen shows when it could not load: what happened, and the one thing to try.
import { errorText } from "../api/client";

export function Failure({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  return (
    <div className="message-page" role="alert">
      <h1>This could not be loaded</h1>
      <p>{errorText(error)}</p>
      <button type="button" className="btn" onClick={onRetry}>
        Try again
      </button>
    </div>
  );
}
