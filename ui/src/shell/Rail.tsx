// The rail: where the screens are, how much waits, how the page looks, and whether it is live.
import { Tooltip, useMantineColorScheme } from "@mantine/core";
import type { ReactNode } from "react";
import { Link, useLocation } from "wouter";
import { useConnection } from "../live/Live";
import { Agents, Bars, Check, Gear, Half, List, Moon, Question, Sun } from "./icons";

export function Rail({ waiting, onHelp }: { waiting: number; onHelp: () => void }) {
  return (
    <nav className="rail" aria-label="Screens">
      <Link href="/" className="logo" aria-label="Hotseat, start">
        H
      </Link>
      <RailLink href="/sessions" label="Sessions" count={waiting}>
        <List />
      </RailLink>
      <RailLink href="/agents" label="Agents">
        <Agents />
      </RailLink>
      <RailLink href="/eval-sets" label="Eval sets">
        <Check />
      </RailLink>
      <RailLink href="/stats" label="Stats">
        <Bars />
      </RailLink>
      <span className="spring" />
      <ThemeButton />
      <RailLink href="/settings" label="Settings">
        <Gear />
      </RailLink>
      <Tooltip label="Help and keys (?)" position="right">
        <button type="button" className="rail-button" aria-label="Help and keys" onClick={onHelp}>
          <Question />
        </button>
      </Tooltip>
      <ConnectionDot />
    </nav>
  );
}

function RailLink(props: { href: string; label: string; count?: number; children: ReactNode }) {
  const [at] = useLocation();
  const here = at === props.href || at.startsWith(`${props.href}/`);
  const label = props.count ? `${props.label}, ${props.count} waiting for you in all of them` : props.label;
  return (
    <Tooltip label={label} position="right">
      <Link href={props.href} className="rail-button" aria-label={label} aria-current={here ? "page" : undefined}>
        {props.children}
        {props.count ? <span className="badge rail-badge">{props.count}</span> : null}
      </Link>
    </Tooltip>
  );
}

const NEXT = { auto: "light", light: "dark", dark: "auto" } as const;
const WORDS = { auto: "as the system", light: "light", dark: "dark" } as const;

function ThemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const label = `Appearance: ${WORDS[colorScheme]}`;
  return (
    <Tooltip label={label} position="right">
      <button
        type="button"
        className="rail-button theme-button"
        aria-label={label}
        data-testid="theme-toggle"
        onClick={() => setColorScheme(NEXT[colorScheme])}
      >
        {colorScheme === "auto" ? <Half /> : colorScheme === "light" ? <Sun /> : <Moon />}
      </button>
    </Tooltip>
  );
}

const STATES = {
  live: { word: "Live", hint: "Connected: everything appears as it happens." },
  connecting: { word: "Wait", hint: "Connecting to the server." },
  waiting: { word: "Offline", hint: "The server does not answer. Trying again; check that `hotseat web` is running." },
} as const;

function ConnectionDot() {
  const state = useConnection();
  const { word, hint } = STATES[state];
  return (
    <Tooltip label={hint} position="right">
      <div className={`connection connection-${state}`} data-testid="connection-state" role="status">
        <span className="dot" />
        {word}
      </div>
    </Tooltip>
  );
}
