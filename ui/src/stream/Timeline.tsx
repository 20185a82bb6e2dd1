// The bar at the bottom: the whole session to scale. A click goes there; a session at rest can be replayed.
import { useEffect, useMemo } from "react";
import { Pause, Play, StepBack, StepOn } from "../shell/icons";
import { stopwatch } from "../time/format";
import type { StreamState } from "./fold";
import type { Row } from "./rows";
import { restAfter, timeOf, toSegments } from "./timeline";

export interface Replay {
  /** How many rows are shown. */
  shown: number;
  playing: boolean;
}

interface TimelineProps {
  stream: StreamState;
  rows: Row[];
  selected: number;
  replay: Replay | null;
  onReplay: (replay: Replay | null) => void;
  onGo: (row: number) => void;
}

export function Timeline({ stream, rows, selected, replay, onReplay, onGo }: TimelineProps) {
  const { firstTime, lastTime } = stream;
  const segments = useMemo(() => toSegments(rows, lastTime), [rows, lastTime]);
  const atRest = stream.live && !stream.run && stream.pending.length === 0 && rows.length > 1;
  useEffect(() => {
    if (!replay?.playing) return;
    if (replay.shown >= rows.length) return onReplay({ ...replay, playing: false });
    const timer = setTimeout(
      () => onReplay({ shown: replay.shown + 1, playing: true }),
      restAfter(rows, replay.shown - 1),
    );
    return () => clearTimeout(timer);
  }, [replay, rows, onReplay]);
  if (!firstTime || !lastTime || rows.length === 0) return <footer className="timeline" />;
  const play = () => {
    if (replay?.playing) return onReplay({ ...replay, playing: false });
    const atEnd = !replay || replay.shown >= rows.length;
    onReplay({ shown: atEnd ? 1 : replay.shown, playing: true });
  };
  const step = (by: number) => {
    const shown = Math.min(Math.max((replay?.shown ?? rows.length) + by, 1), rows.length);
    onReplay({ shown, playing: false });
  };
  const at = replay ? replay.shown - 1 : selected;
  const here = rows[at];
  const start = Date.parse(firstTime);
  const elapsed = here ? Date.parse(timeOf(here.card)) - start : 0;
  return (
    <footer className="timeline" data-testid="timeline">
      {atRest && (
        <>
          <button
            type="button"
            className="icon-button"
            aria-label={replay?.playing ? "Pause replay" : "Replay"}
            title={replay?.playing ? "Pause" : "Replay the session"}
            data-testid="replay-play"
            onClick={play}
          >
            {replay?.playing ? <Pause /> : <Play />}
          </button>
          {replay && (
            <>
              <button type="button" className="icon-button" aria-label="One step back" onClick={() => step(-1)}>
                <StepBack />
              </button>
              <button
                type="button"
                className="icon-button"
                aria-label="One step on"
                data-testid="replay-step"
                onClick={() => step(1)}
              >
                <StepOn />
              </button>
            </>
          )}
        </>
      )}
      <span className="mono">{stopwatch(elapsed)}</span>
      <div
        className="timeline-bar"
        role="slider"
        tabIndex={0}
        aria-label="Position in the session"
        aria-valuemin={1}
        aria-valuemax={rows.length}
        aria-valuenow={at < 0 ? rows.length : at + 1}
        aria-valuetext={`entry ${at < 0 ? rows.length : at + 1} of ${rows.length}`}
        onKeyDown={(event) => {
          const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
          if (by === 0) return;
          event.preventDefault();
          if (replay) step(by);
          else onGo(Math.min(Math.max((at < 0 ? rows.length - 1 : at) + by, 0), rows.length - 1));
        }}
        onClick={(event) => {
          const target = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-from]") : null;
          if (!target) return;
          const from = Number(target.dataset.from);
          if (replay) onReplay({ shown: from + 1, playing: false });
          else onGo(from);
        }}
      >
        {segments.map((segment) => (
          <span
            key={segment.from}
            data-from={segment.from}
            className={`segment segment-${segment.colour}${at >= segment.from && at < segment.to ? " here" : ""}${
              replay && segment.from >= replay.shown ? " ahead" : ""
            }`}
            style={{ flexGrow: segment.weight }}
          >
            <s style={{ height: `${segment.height * 100}%` }} />
          </span>
        ))}
        {stream.pending.length > 0 && <span className="segment segment-open" title="Waiting for you" />}
      </div>
      <span className="mono">{stopwatch(Date.parse(lastTime) - start)}</span>
      {replay ? (
        <button type="button" className="link" data-testid="replay-end" onClick={() => onReplay(null)}>
          {replay.shown} of {rows.length} · end replay
        </button>
      ) : (
        <span>{stream.lastSeq === 1 ? "1 event" : `${stream.lastSeq.toLocaleString("en")} events`}</span>
      )}
    </footer>
  );
}
