// Events per minute over the last hour. Errors hang below the line, so that they are told apart without colour too; the
// same numbers are there as a sentence and as a table.
import { useState } from "react";
import type { Stats } from "../api/types";
import { useHalfMinute } from "../time/useNow";
import { count, MINUTES, minuteOf, plotWords, plural, roundUp, toBars } from "./plot";

const STEP = 10;
const TOP = 100;
const BELOW = 34;

export function EventsPlot({ points }: { points: Stats["events_per_minute"] }) {
  const bars = toBars(points, useHalfMinute());
  const [at, setAt] = useState<number | null>(null);
  const most = roundUp(Math.max(...bars.map((bar) => bar.events)));
  const worst = roundUp(Math.max(...bars.map((bar) => bar.errors)));
  const shown = at === null ? undefined : bars[at];
  const busy = bars.filter((bar) => bar.events > 0 || bar.errors > 0);
  return (
    <figure className="plot" data-testid="events-plot">
      <figcaption>
        {shown
          ? `${minuteOf(shown.at)} · ${plural(shown.events, "event")}, ${plural(shown.errors, "error")}`
          : plotWords(bars)}
      </figcaption>
      <div className="plot-area" aria-hidden="true">
        <div className="plot-scale">
          <span>{count(most)}</span>
          <span>0</span>
          <span className="plot-scale-bad">{count(worst)}</span>
        </div>
        <svg
          viewBox={`0 0 ${MINUTES * STEP} ${TOP + BELOW}`}
          preserveAspectRatio="none"
          onPointerLeave={() => setAt(null)}
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            const place = Math.floor(((event.clientX - box.left) / box.width) * MINUTES);
            setAt(Math.min(Math.max(place, 0), MINUTES - 1));
          }}
        >
          <title>Events per minute</title>
          {[0, 0.5].map((part) => (
            <line key={part} className="plot-line" x1={0} x2={MINUTES * STEP} y1={TOP * part} y2={TOP * part} />
          ))}
          {bars.map((bar, index) => (
            <g key={bar.at}>
              {index === at && <rect className="plot-here" x={index * STEP} y={0} width={STEP} height={TOP + BELOW} />}
              <rect
                className="plot-events"
                x={index * STEP + 1.5}
                width={STEP - 3}
                y={TOP - (bar.events / most) * TOP}
                height={(bar.events / most) * TOP}
              />
              <rect
                className="plot-errors"
                x={index * STEP + 1.5}
                width={STEP - 3}
                y={TOP + 1.5}
                height={(bar.errors / worst) * (BELOW - 1.5)}
              />
            </g>
          ))}
          <line className="plot-base" x1={0} x2={MINUTES * STEP} y1={TOP} y2={TOP} />
        </svg>
        <div className="plot-times">
          {[0, 15, 30, 45].map((index) => (
            <span key={index}>{minuteOf(bars[index]?.at ?? 0)}</span>
          ))}
          <span>{minuteOf(bars[MINUTES - 1]?.at ?? 0)}</span>
        </div>
      </div>
      <div className="plot-key">
        <span className="key-events">events</span>
        <span className="key-errors">errors, below the line</span>
        <span className="spring" />
        {busy.length > 0 && (
          <details>
            <summary>As a table</summary>
            <table className="figures">
              <thead>
                <tr>
                  <th scope="col">Minute</th>
                  <th scope="col">Events</th>
                  <th scope="col">Errors</th>
                </tr>
              </thead>
              <tbody>
                {busy.toReversed().map((bar) => (
                  <tr key={bar.at}>
                    <th scope="row">{minuteOf(bar.at)}</th>
                    <td>{count(bar.events)}</td>
                    <td>{count(bar.errors)}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </details>
        )}
      </div>
    </figure>
  );
}
