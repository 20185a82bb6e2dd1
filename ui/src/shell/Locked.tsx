// Shown when the server does not know this browser. The token is in the printed link; there is nothing to type here.
import { Command } from "./Command";

export function Locked() {
  return (
    <main className="message-page" data-testid="locked">
      <h1>
        Open the link that <code>hotseat web</code> printed
      </h1>
      <p>
        This browser has no token for the server, or an old one. The terminal that runs Hotseat shows a link that ends
        in <code className="whole">?token=…</code>. Open it once, and this page works. If you cannot find it, start
        Hotseat again:
      </p>
      <Command text="hotseat web path/to/agents" />
      <button type="button" className="btn" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}
