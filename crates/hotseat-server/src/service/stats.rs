//! Figures about everything the server keeps.

use hotseat_core::rfc3339;
use hotseat_store::{Figures, Latency, RemovalReason};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::admission::MAX_FAILED_ATTEMPTS;
use super::enumeration::WINDOW;
use super::keeping::CleanupStatus;
use super::{App, ServiceError};
use crate::clock;

/// What an event takes in memory on average, by the estimate of those who kept them there.
const ESTIMATED_EVENT_BYTES: f64 = 600.0;

/// Minutes that are listed.
const MINUTES: i64 = 60;

/// Figures about everything.
#[derive(Debug, Serialize, utoipa::ToSchema)]
pub(crate) struct Stats {
    total_sessions: u64,
    active_sessions: u64,
    completed_sessions: u64,
    max_sessions: Option<u64>,
    total_messages: u64,
    /// Raw ADK events.
    total_events: u64,
    /// Entries of all logs, of every kind.
    total_entries: u64,
    /// Bytes of payloads, as they arrived.
    total_bytes: u64,
    /// Bytes of the database.
    store_bytes: u64,
    /// What the events would take in memory, at 600 bytes each.
    estimated_events_memory_kb: f64,
    avg_messages_per_session: f64,
    avg_events_per_session: f64,
    flagged_sessions: u64,
    sessions_with_warnings: u64,
    total_failed_attempts: u64,
    /// Events that were too large, since the server started.
    refused_events: u64,
    /// How often a caller began to ask for many sessions that are not theirs, since the start.
    total_enumeration_attempts: u64,
    security_features: SecurityFeatures,
    security_thresholds: SecurityThresholds,
    latency: Latencies,
    cleanup_status: Cleanup,
    config: Limits,
    /// The last hour; minutes without events are left out.
    events_per_minute: Vec<Minute>,
    tools: Vec<Tool>,
    tokens: Tokens,
    largest_sessions: Vec<Size>,
}

/// What protects sessions; none of it can be turned off.
#[derive(Debug, Serialize, utoipa::ToSchema)]
struct SecurityFeatures {
    user_binding: bool,
    csrf: bool,
    enumeration_detection: bool,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct SecurityThresholds {
    /// After so many, a session is flagged.
    max_failed_attempts: u64,
    enumeration_window_seconds: u64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Latencies {
    append: LatencyView,
    read: LatencyView,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct LatencyView {
    count: u64,
    p50_ms: f64,
    p95_ms: f64,
    p99_ms: f64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Cleanup {
    #[serde(flatten)]
    status: CleanupStatus,
    removed: Removed,
}

/// What was removed, ever, without being deleted by hand.
#[derive(Debug, Default, Serialize, utoipa::ToSchema)]
struct Removed {
    /// Sessions that nobody touched for too long.
    expired: u64,
    /// Sessions without a word.
    empty: u64,
    /// Sessions that had to make room.
    evicted: u64,
    /// Events, with their sessions or without.
    events: u64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Limits {
    max_sessions: Option<u64>,
    session_ttl_hours: Option<f64>,
    cleanup_interval_minutes: f64,
    empty_session_minutes: Option<f64>,
    max_messages_per_session: u64,
    max_events_per_session: Option<u64>,
    max_event_bytes: usize,
    max_store_bytes: Option<u64>,
    compress_over_bytes: Option<usize>,
    ingest: bool,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Minute {
    /// Its beginning.
    #[serde(rename = "minute")]
    begins: String,
    events: u64,
    errors: u64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Tool {
    name: String,
    calls: u64,
    errors: u64,
    /// How often its time was taken.
    timed: u64,
    total_ms: f64,
    max_ms: f64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Tokens {
    prompt: u64,
    output: u64,
    total: u64,
}

#[derive(Debug, Serialize, utoipa::ToSchema)]
struct Size {
    id: String,
    title: Option<String>,
    events: u64,
    bytes: u64,
}

impl App {
    pub(crate) async fn stats(&self) -> Result<Stats, ServiceError> {
        self.owner_only()?;
        let figures = self.store.figures(an_hour_before(clock::now())).await?;
        Ok(self.stats_of(figures))
    }

    fn stats_of(&self, figures: Figures) -> Stats {
        let totals = figures.totals;
        let average = |sum| mean(sum, totals.sessions);
        Stats {
            total_sessions: totals.sessions,
            active_sessions: totals.active,
            completed_sessions: totals.sessions.saturating_sub(totals.active),
            max_sessions: self.config.ledger.limits.max_sessions,
            total_messages: totals.messages,
            total_events: totals.events,
            total_entries: totals.entries,
            total_bytes: totals.bytes,
            store_bytes: totals.file_bytes,
            estimated_events_memory_kb: real(totals.events) * ESTIMATED_EVENT_BYTES / 1024.0,
            avg_messages_per_session: average(totals.messages),
            avg_events_per_session: average(totals.events),
            flagged_sessions: totals.flagged,
            sessions_with_warnings: totals.warned,
            total_failed_attempts: totals.failed_attempts,
            refused_events: self.keeping.refusals(),
            total_enumeration_attempts: self.enumeration.attempts(),
            security_features: SecurityFeatures {
                user_binding: true,
                csrf: true,
                enumeration_detection: true,
            },
            security_thresholds: SecurityThresholds {
                max_failed_attempts: MAX_FAILED_ATTEMPTS,
                enumeration_window_seconds: WINDOW.as_secs(),
            },
            latency: Latencies {
                append: latency(self.store.append_latency()),
                read: latency(self.store.read_latency()),
            },
            cleanup_status: Cleanup {
                status: self.keeping.cleanup_status(),
                removed: removed(&figures),
            },
            config: self.limits(),
            events_per_minute: figures
                .minutes
                .iter()
                .map(|minute| Minute {
                    begins: rfc3339(minute.minute),
                    events: minute.events,
                    errors: minute.errors,
                })
                .collect(),
            tools: figures
                .tools
                .into_iter()
                .map(|tool| Tool {
                    name: tool.name,
                    calls: tool.calls,
                    errors: tool.errors,
                    timed: tool.timed,
                    total_ms: tool.total_ms,
                    max_ms: tool.max_ms,
                })
                .collect(),
            tokens: Tokens {
                prompt: figures.prompt_tokens,
                output: figures.output_tokens,
                total: figures.prompt_tokens + figures.output_tokens,
            },
            largest_sessions: figures
                .largest
                .into_iter()
                .map(|session| Size {
                    id: session.id.to_string(),
                    title: session.title,
                    events: session.entries,
                    bytes: session.bytes,
                })
                .collect(),
        }
    }

    fn limits(&self) -> Limits {
        let ledger = &self.config.ledger;
        Limits {
            max_sessions: ledger.limits.max_sessions,
            session_ttl_hours: ledger.session_ttl.map(|ttl| ttl.as_secs_f64() / 3600.0),
            cleanup_interval_minutes: ledger.cleanup_interval.as_secs_f64() / 60.0,
            empty_session_minutes: ledger.empty_session_ttl.map(|ttl| ttl.as_secs_f64() / 60.0),
            max_messages_per_session: ledger.limits.max_messages_per_session,
            max_events_per_session: ledger.limits.max_events_per_session,
            max_event_bytes: ledger.max_event_bytes,
            max_store_bytes: ledger.limits.max_store_bytes,
            compress_over_bytes: ledger.limits.compress_over_bytes,
            ingest: ledger.ingest,
        }
    }

    /// The figures in the form that Prometheus reads.
    pub(crate) async fn metrics(&self) -> Result<String, ServiceError> {
        self.owner_only()?;
        let figures = self.store.figures(clock::now()).await?;
        let totals = figures.totals;
        let agents = self.workers.list().items.iter().filter(|agent| agent.connected).count();
        let mut text = Exposition::default();
        text.gauge("hotseat_sessions", "Sessions that are kept.", real(totals.sessions));
        text.gauge(
            "hotseat_sessions_active",
            "Sessions that are not completed.",
            real(totals.active),
        );
        text.gauge(
            "hotseat_sessions_flagged",
            "Sessions that somebody tried to get into.",
            real(totals.flagged),
        );
        text.gauge("hotseat_messages", "Derived messages.", real(totals.messages));
        text.gauge("hotseat_events", "Raw ADK events.", real(totals.events));
        text.gauge(
            "hotseat_payload_bytes",
            "Bytes of payloads, as they arrived.",
            real(totals.bytes),
        );
        text.gauge("hotseat_store_bytes", "Bytes of the database.", real(totals.file_bytes));
        text.gauge(
            "hotseat_pending_turns",
            "Turns that wait for an answer.",
            real(self.store.counts().await?.pending_turns),
        );
        text.gauge(
            "hotseat_agents_connected",
            "Agents with a connected worker.",
            real(agents as u64),
        );
        text.gauge(
            "hotseat_streams",
            "Streams that are being read.",
            real(self.followers.count() as u64),
        );
        text.gauge(
            "hotseat_failed_access_attempts",
            "Attempts to get into sessions of others.",
            real(totals.failed_attempts),
        );
        text.counter(
            "hotseat_prompt_tokens_total",
            "Tokens that models read.",
            real(figures.prompt_tokens),
        );
        text.counter(
            "hotseat_output_tokens_total",
            "Tokens that models wrote.",
            real(figures.output_tokens),
        );
        text.latency(
            "hotseat_append_milliseconds",
            "From the call to the disk.",
            self.store.append_latency(),
        );
        text.latency("hotseat_read_milliseconds", "Reading events.", self.store.read_latency());
        text.family("hotseat_removed_sessions_total", "Sessions removed by retention.", "counter");
        for removal in &figures.removals {
            text.sample(
                "hotseat_removed_sessions_total",
                "reason",
                removal.reason.as_str(),
                real(removal.sessions),
            );
        }
        text.family("hotseat_tool_calls_total", "Answers of tools.", "counter");
        for tool in &figures.tools {
            text.sample("hotseat_tool_calls_total", "tool", &tool.name, real(tool.calls));
        }
        Ok(text.0)
    }
}

/// Text in the form that Prometheus reads.
#[derive(Debug, Default)]
struct Exposition(String);

impl Exposition {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        use std::fmt::Write as _;
        // Writing into text cannot fail.
        let _ = writeln!(self.0, "{line}");
    }

    fn family(&mut self, name: &str, help: &str, kind: &str) {
        self.line(format_args!("# HELP {name} {help}"));
        self.line(format_args!("# TYPE {name} {kind}"));
    }

    fn gauge(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, help, "gauge");
        self.line(format_args!("{name} {value}"));
    }

    fn counter(&mut self, name: &str, help: &str, value: f64) {
        self.family(name, help, "counter");
        self.line(format_args!("{name} {value}"));
    }

    fn sample(&mut self, name: &str, label: &str, value: &str, number: f64) {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        self.line(format_args!("{name}{{{label}=\"{value}\"}} {number}"));
    }

    fn latency(&mut self, name: &str, help: &str, latency: Latency) {
        self.family(name, help, "summary");
        for (quantile, value) in
            [("0.5", latency.p50_ms), ("0.95", latency.p95_ms), ("0.99", latency.p99_ms)]
        {
            self.line(format_args!("{name}{{quantile=\"{quantile}\"}} {value}"));
        }
        self.line(format_args!("{name}_sum {}", latency.total_ms));
        self.line(format_args!("{name}_count {}", latency.count));
    }
}

fn an_hour_before(now: Timestamp) -> Timestamp {
    now.checked_sub(SignedDuration::from_mins(MINUTES)).unwrap_or(now)
}

/// A count as a number of JSON; beyond 2^53 the last digits do not matter.
#[expect(clippy::cast_precision_loss, reason = "nobody counts sessions beyond 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}

fn mean(sum: u64, count: u64) -> f64 {
    if count == 0 { 0.0 } else { real(sum) / real(count) }
}

fn latency(latency: Latency) -> LatencyView {
    let Latency { count, p50_ms, p95_ms, p99_ms, .. } = latency;
    LatencyView { count, p50_ms, p95_ms, p99_ms }
}

fn removed(figures: &Figures) -> Removed {
    let mut removed = Removed::default();
    for removal in &figures.removals {
        removed.events += removal.events;
        match removal.reason {
            RemovalReason::Expired => removed.expired += removal.sessions,
            RemovalReason::Empty => removed.empty += removal.sessions,
            RemovalReason::TooManySessions | RemovalReason::TooManyBytes => {
                removed.evicted += removal.sessions;
            }
            RemovalReason::TooManyEvents | RemovalReason::Cleared => {}
        }
    }
    removed
}
