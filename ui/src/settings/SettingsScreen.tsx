// Settings of this browser: how the page looks, whether it may call, and the keys.
import { Checkbox, useMantineColorScheme } from "@mantine/core";
import { useState } from "react";
import { notify, permission, turnNotifications, wantsNotifications } from "../live/notify";
import { Shortcuts } from "../shell/Help";
import "./settings.css";

export default function SettingsScreen() {
  return (
    <div className="settings">
      <h1>Settings</h1>
      <p className="quiet">Kept in this browser.</p>
      <Appearance />
      <Notifications />
      <section aria-labelledby="settings-keys">
        <h2 id="settings-keys">Keys</h2>
        <Shortcuts />
      </section>
      <section aria-labelledby="settings-api">
        <h2 id="settings-api">API</h2>
        <p>
          The page uses only the public API, and so can you: <a href="/docs">/docs</a> shows it. Programs send the token
          of the link that <code>hotseat web</code> printed as <code>Authorization: Bearer …</code>.
        </p>
      </section>
    </div>
  );
}

const SCHEMES = [
  ["auto", "As the system"],
  ["light", "Light"],
  ["dark", "Dark"],
] as const;

function Appearance() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <section aria-labelledby="settings-appearance">
      <h2 id="settings-appearance">Appearance</h2>
      <div className="segments settings-segments" role="radiogroup" aria-labelledby="settings-appearance">
        {SCHEMES.map(([scheme, label]) => (
          <button
            key={scheme}
            type="button"
            role="radio"
            aria-checked={colorScheme === scheme}
            data-testid={`scheme-${scheme}`}
            onClick={() => setColorScheme(scheme)}
          >
            {label}
          </button>
        ))}
      </div>
    </section>
  );
}

function Notifications() {
  const [on, setOn] = useState(wantsNotifications);
  const [allowed, setAllowed] = useState(permission);
  const change = async (wanted: boolean) => {
    setAllowed(await turnNotifications(wanted));
    setOn(wantsNotifications());
  };
  return (
    <section aria-labelledby="settings-notify">
      <h2 id="settings-notify">Notifications</h2>
      <Checkbox
        size="xs"
        data-testid="notify-switch"
        label="Tell me when a request waits and this page is out of sight"
        description={
          allowed === "unsupported"
            ? "This browser has no notifications here; they need HTTPS or localhost."
            : allowed === "denied"
              ? "The browser does not allow it. Change that in its settings for this page."
              : "The browser asks you once. The number in the tab's title is there either way."
        }
        disabled={allowed === "unsupported" || allowed === "denied"}
        checked={on}
        onChange={(event) => void change(event.currentTarget.checked)}
      />
      {on && (
        <button
          type="button"
          className="btn"
          onClick={() => notify("Hotseat", "This is how a waiting request looks.", "hotseat-try")}
        >
          Try it
        </button>
      )}
    </section>
  );
}
