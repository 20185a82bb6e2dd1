import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, it } from "vitest";
import { Router } from "wouter";
import type { Stats } from "../api/types";
import { parseJson } from "../json/json";
import { count, plotWords, plural, roundUp, toBars } from "./plot";
import { Figures } from "./StatsScreen";

const now = Date.parse("2026-01-01T10:30:20Z");
const point = (minute: string, events: number, errors = 0) => ({ minute: `2026-01-01T${minute}:00Z`, events, errors });

describe("events per minute", () => {
  it("fills the minutes that are left out and ends with this one", () => {
    const bars = toBars([point("10:29", 4, 1), point("10:00", 2)], now);
    expect(bars).toHaveLength(60);
    expect(bars[59]).toEqual({ at: Date.parse("2026-01-01T10:30:00Z"), events: 0, errors: 0 });
    expect(bars[58]).toMatchObject({ events: 4, errors: 1 });
    expect(bars[29]).toMatchObject({ events: 2 });
    expect(bars.reduce((sum, bar) => sum + bar.events, 0)).toBe(6);
  });

  it("follows the server's clock where it is ahead, and leaves out what is older or no time", () => {
    const bars = toBars([point("10:40", 3), point("09:00", 9), { minute: "soon", events: 1, errors: 0 }], now);
    expect(bars[59]).toMatchObject({ at: Date.parse("2026-01-01T10:40:00Z"), events: 3 });
    expect(bars.reduce((sum, bar) => sum + bar.events, 0)).toBe(3);
  });

  it("is said in a sentence", () => {
    expect(plotWords(toBars([], now))).toBe("No events in the last hour.");
    expect(plotWords(toBars([point("10:29", 1)], now))).toMatch(
      /^1 event in the last hour, no errors; most at \d\d:29 with 1\.$/,
    );
    expect(plotWords(toBars([point("10:29", 1200, 1)], now))).toContain("1,200 events in the last hour, 1 error;");
  });
});

describe("numbers", () => {
  it("of an axis are round", () => {
    expect([0, 1, 3, 7, 11, 60, 100, 101].map(roundUp)).toEqual([1, 1, 5, 10, 20, 100, 100, 200]);
  });

  it("are written for people", () => {
    expect(count(12345.678)).toBe("12,345.7");
    expect(plural(1, "hour")).toBe("1 hour");
    expect(plural(0, "hour")).toBe("0 hours");
  });
});

describe("the screen", () => {
  const fixture = parseJson(`{
    "total_sessions": 12, "active_sessions": 3, "completed_sessions": 9, "max_sessions": 1000, "total_messages": 340,
    "total_events": 20481, "total_bytes": 12400000, "store_bytes": 13100000, "sessions_with_warnings": 2, "estimated_events_memory_kb": 12110.0,
    "avg_messages_per_session": 28.333333333333332, "avg_events_per_session": 1706.75, "flagged_sessions": 1,
    "latency": {"append": {"count": 20481, "p50_ms": 0.41, "p95_ms": 1.9, "p99_ms": 12.0},
                "read": {"count": 0, "p50_ms": 0.0, "p95_ms": 0.0, "p99_ms": 0.0}},
    "cleanup_status": {"state": "idle", "last_run_at": null, "next_run_at": "2026-01-01T11:00:00Z",
                       "removed": {"expired": 1, "empty": 2, "evicted": 0, "events": 99}},
    "config": {"max_sessions": 1000, "session_ttl_hours": 24, "cleanup_interval_minutes": 60, "empty_session_minutes": null,
               "max_messages_per_session": 1, "max_events_per_session": null, "max_event_bytes": 10485760, "max_store_bytes": null},
    "events_per_minute": [{"minute": "2026-01-01T10:00:00Z", "events": 4, "errors": 1}],
    "tools": [{"name": "add", "calls": 2, "timed": 2, "errors": 0, "total_ms": 3.0, "max_ms": 2.0},
              {"name": "fetch", "calls": 10, "timed": 10, "errors": 1, "total_ms": 12500.0, "max_ms": 9000.0}],
    "tokens": {"prompt": 100, "output": 20, "total": 120},
    "largest_sessions": [{"id": "a/b", "title": "<b>Refund</b>", "events": 20000, "bytes": 12000000},
                         {"id": "c", "title": null, "events": 1, "bytes": 100}]
  }`) as unknown as Stats;
  const draw = (stats: Stats) =>
    renderToStaticMarkup(
      // biome-ignore lint/correctness/noChildrenProp: the router wants its children among its properties.
      createElement(Router, { ssrPath: "/stats", children: createElement(Figures, { stats }) }),
    );

  it("tells everything the server counted", () => {
    const html = draw(fixture);
    const text = html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
    for (const said of [
      "12 3 active, 9 completed",
      "20,481",
      "12.4 MB 13.1 MB on disk",
      "1 2 with warnings",
      "120 100 in, 20 out",
      "12 of 1,000",
      "24 hours",
    ]) {
      expect(text).toContain(said);
    }
    expect(text.indexOf("fetch")).toBeLessThan(text.indexOf(" add "));
    expect(text).toContain("1.3 s 9.0 s 13 s");
    expect(text).toContain("Read 0 – – –");
    expect(text).toContain("In a session 1 message One event");
    expect(html).toContain('href="/sessions/a%2Fb"');
    expect(html).toContain("&lt;b&gt;Refund");
  });

  it("has words for a store with nothing in it", () => {
    const text = draw({ ...fixture, tools: [], largest_sessions: [], events_per_minute: [] });
    expect(text).toContain("No tool was called yet.");
    expect(text).toContain("No sessions yet.");
    expect(text).toContain("No events in the last hour.");
  });
});
