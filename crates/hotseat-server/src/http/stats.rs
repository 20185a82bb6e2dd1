//! Figures about everything that is kept, for people and for Prometheus.

use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use hotseat_store::Latency;

use super::Problem;
use super::extract::Entered;
use crate::service::{Counters, Meter, Stats};

/// Figures about everything that is kept.
#[utoipa::path(get, path = "/api/v1/stats", tag = "server", responses((status = 200, body = Stats)))]
pub(super) async fn stats(Entered(app): Entered) -> Result<Json<Stats>, Problem> {
    Ok(Json(app.stats().await?))
}

/// The figures in the form that Prometheus reads.
#[utoipa::path(get, path = "/metrics", tag = "server",
    responses((status = 200, content_type = "text/plain", body = String)))]
pub(super) async fn metrics(Entered(app): Entered) -> Result<Response, Problem> {
    let headers = [(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")];
    let text = exposition(&app.meter().await?, &app.counters);
    Ok((headers, text).into_response())
}

fn exposition(meter: &Meter, counters: &Counters) -> String {
    let totals = meter.figures.totals;
    let mut text = Exposition::default();
    text.gauge("hotseat_sessions", "Sessions that are kept.", real(totals.sessions));
    text.gauge("hotseat_sessions_active", "Sessions that are not completed.", real(totals.active));
    text.gauge(
        "hotseat_sessions_flagged",
        "Sessions that somebody tried to get into.",
        real(totals.flagged),
    );
    text.gauge("hotseat_messages", "Derived messages.", real(totals.messages));
    text.gauge("hotseat_events", "Raw ADK events.", real(totals.events));
    text.gauge("hotseat_payload_bytes", "Bytes of payloads, as they arrived.", real(totals.bytes));
    text.gauge("hotseat_store_bytes", "Bytes of the database.", real(totals.file_bytes));
    text.gauge(
        "hotseat_pending_turns",
        "Turns that wait for an answer.",
        real(meter.pending_turns),
    );
    text.gauge("hotseat_agents_connected", "Agents with a connected worker.", real(meter.agents));
    text.gauge("hotseat_streams", "Streams that are being read.", real(meter.streams));
    text.gauge(
        "hotseat_rest_conversations",
        "Sessions that were talked in lately over REST.",
        real(meter.conversations),
    );
    text.gauge(
        "hotseat_failed_access_attempts",
        "Attempts to get into sessions of others.",
        real(totals.failed_attempts),
    );
    text.counter(
        "hotseat_prompt_tokens_total",
        "Tokens that models read.",
        real(meter.figures.prompt_tokens),
    );
    text.counter(
        "hotseat_output_tokens_total",
        "Tokens that models wrote.",
        real(meter.figures.output_tokens),
    );
    text.latency("hotseat_append_milliseconds", "From the call to the disk.", meter.append);
    text.latency("hotseat_read_milliseconds", "Reading events.", meter.read);
    text.family("hotseat_removed_sessions_total", "Sessions removed by retention.", "counter");
    for removal in &meter.figures.removals {
        text.sample(
            "hotseat_removed_sessions_total",
            "reason",
            removal.reason.as_str(),
            real(removal.sessions),
        );
    }
    text.family("hotseat_tool_calls_total", "Answers of tools.", "counter");
    for tool in &meter.figures.tools {
        text.sample("hotseat_tool_calls_total", "tool", &tool.name, real(tool.calls));
    }
    text.since_start(counters);
    text.0
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

    /// What is counted from the start of the server on.
    fn since_start(&mut self, counters: &Counters) {
        let requests = "hotseat_http_requests_total";
        self.family(requests, "Requests that were answered, by status.", "counter");
        for (class, count) in counters.answers() {
            self.sample(requests, "status", &class, real(count));
        }
        let begun = "hotseat_runs_begun_total";
        self.family(begun, "Runs that were taken in, by seat.", "counter");
        for (seat, count) in counters.runs_begun() {
            self.sample(begun, "seat", seat, real(count));
        }
        let ended = "hotseat_runs_ended_total";
        self.family(ended, "Runs that are over, by seat and by how they ended.", "counter");
        for (seat, status, count) in counters.runs_ended() {
            self.line(format_args!("{ended}{{seat=\"{seat}\",status=\"{status}\"}} {count}"));
        }
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

/// A count as a sample; beyond 2^53 the last digits do not matter.
#[expect(clippy::cast_precision_loss, reason = "nobody counts sessions beyond 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}
