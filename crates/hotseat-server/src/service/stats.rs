//! Figures about everything the server keeps.

use hotseat_core::{Role, rfc3339};
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

/// What is counted right now.
#[derive(Debug)]
pub(crate) struct Meter {
    pub(crate) figures: Figures,
    pub(crate) pending_turns: u64,
    /// Agents with a connected worker.
    pub(crate) agents: u64,
    /// Streams that are being read.
    pub(crate) streams: u64,
    /// Sessions that were talked in lately over REST.
    pub(crate) conversations: u64,
    pub(crate) append: Latency,
    pub(crate) read: Latency,
}

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
        self.needs(Role::Viewer)?;
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

    /// What is counted right now, for those who keep the figures themselves.
    pub(crate) async fn meter(&self) -> Result<Meter, ServiceError> {
        self.needs(Role::Viewer)?;
        let agents = self.workers.list().items.iter().filter(|agent| agent.connected).count();
        Ok(Meter {
            figures: self.store.figures(clock::now()).await?,
            pending_turns: self.store.counts().await?.pending_turns,
            agents: agents as u64,
            streams: self.followers.count() as u64,
            conversations: self.active_guests().await? as u64,
            append: self.store.append_latency(),
            read: self.store.read_latency(),
        })
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
