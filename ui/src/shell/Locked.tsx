// Shown when the server does not know this browser. The token is in the printed link; there is nothing to type here.
import { useEffect, useState } from "react";
import { Command } from "./Command";

export function Locked() {
  const signIn = useSignIn();
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
      {signIn && (
        <p>
          <a className="btn" href={`/auth/login?to=${encodeURIComponent(location.pathname)}`} data-testid="sign-in">
            Sign in
          </a>{" "}
          if you have an account for this server.
        </p>
      )}
      <button type="button" className="btn" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}

/** Whether the server knows a provider of accounts. It says so to everybody. */
function useSignIn(): boolean {
  const [known, setKnown] = useState(false);
  useEffect(() => {
    fetch("/health")
      .then((answer) => answer.json())
      .then((health: { sign_in?: boolean }) => setKnown(health.sign_in === true))
      .catch(() => setKnown(false));
  }, []);
  return known;
}
