//! What a run, its turns and its tools are in the traces.
//!
//! A run is a child of the request that began it, but outlives it: a person may take
//! hours. So it is joined by the ids that the traces use, not by the span itself, which
//! would keep the request open for as long. What is said is in none of them.

mod hosted;

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hotseat_agent::SeatAnswer;
use hotseat_core::{RunFailure, Seat, ToolRun, ToolRunStatus};
use opentelemetry::Context;
use opentelemetry::trace::{
    SpanContext, SpanId, TraceContextExt as _, TraceFlags, TraceId, TraceState,
};
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;

pub(crate) use self::hosted::Hosted;
use super::StartRun;

/// The request that began a run, as the traces know it, where there are any.
#[derive(Debug, Clone)]
pub(crate) struct Origin(Option<Context>);

impl Origin {
    /// What goes on now.
    pub(crate) fn here() -> Self {
        let here = Some(Span::current()).filter(|span| !span.is_none());
        Self(here.map(|span| {
            let here = span.context().span().span_context().clone();
            Context::new().with_remote_span_context(here)
        }))
    }
}

/// Makes `span` a child of what a caller's `traceparent` names, as the W3C has it.
pub(crate) fn continue_trace(span: &Span, traceparent: &str) {
    let mut fields = traceparent.trim().split('-');
    let mut field = || fields.next().unwrap_or_default();
    let (version, trace, parent, flags) = (field(), field(), field(), field());
    let (Ok(trace), Ok(parent), Ok(flags)) =
        (TraceId::from_hex(trace), SpanId::from_hex(parent), u8::from_str_radix(flags, 16))
    else {
        return;
    };
    let caller =
        SpanContext::new(trace, parent, TraceFlags::new(flags), true, TraceState::default());
    if version != "ff" && caller.is_valid() {
        // It fails where nothing is traced.
        let _ = span.set_parent(Context::new().with_remote_span_context(caller));
    }
}

/// The span of a run.
pub(super) fn of_run(start: &StartRun) -> Span {
    let span = tracing::info_span!(
        parent: None,
        "run",
        agent.name = start.agent,
        run.id = %start.run_id,
        seat = start.seat.as_str(),
        error.type = Empty,
        otel.status_code = Empty,
    );
    // It fails where nothing is traced, and then there is nothing to join.
    if let Some(origin) = &start.origin.0 {
        let _ = span.set_parent(origin.clone());
    }
    span
}

/// Notes on the span of a run that it failed: the kind of failure, not its words.
pub(super) fn failed(span: &Span, error: &RunFailure) {
    failed_as(span, &error.error_type);
}

fn failed_as(span: &Span, kind: &str) {
    span.record("error.type", kind);
    span.record("otel.status_code", "ERROR");
}

/// What is told of a turn.
#[derive(Debug)]
pub(crate) struct Turn<'a> {
    pub(crate) agent_name: &'a str,
    pub(crate) id: Option<&'a str>,
    pub(crate) model: Option<&'a str>,
}

/// The span of a turn.
pub(super) fn of_turn(turn: &Turn<'_>, seat: Seat) -> Span {
    tracing::info_span!(
        "turn",
        agent.name = turn.agent_name,
        turn.id = turn.id,
        seat = seat.as_str(),
        gen_ai.request.model = turn.model,
        gen_ai.usage.input_tokens = Empty,
        gen_ai.usage.output_tokens = Empty,
    )
}

/// Notes on the span of a turn what its answer cost.
pub(super) fn answered(span: &Span, answer: &SeatAnswer) {
    let count = |key| answer.usage.as_ref().and_then(|usage| usage.get(key)?.as_u64());
    tokens(span, count("prompt_token_count"), count("candidates_token_count"));
}

fn tokens(span: &Span, read: Option<u64>, written: Option<u64>) {
    if let Some(tokens) = read {
        span.record("gen_ai.usage.input_tokens", tokens);
    }
    if let Some(tokens) = written {
        span.record("gen_ai.usage.output_tokens", tokens);
    }
}

/// The spans of the tools that run now, by the ids of their calls.
#[derive(Debug, Default)]
pub(super) struct Tools(Mutex<HashMap<String, Span>>);

impl Tools {
    /// Opens the span of a tool that starts, and closes that of one that ends.
    pub(super) fn note(&self, run: &ToolRun) {
        let mut open = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match run.status {
            ToolRunStatus::Started => {
                let span = tracing::info_span!(
                    "tool",
                    tool.name = run.tool_name,
                    tool.call_id = run.call_id,
                    tool.status = Empty,
                    error.type = run.error_type,
                    otel.status_code = Empty,
                );
                open.insert(run.call_id.clone(), span);
            }
            ToolRunStatus::Progress | ToolRunStatus::CancelRequested => {}
            ToolRunStatus::Succeeded | ToolRunStatus::Failed | ToolRunStatus::Cancelled => {
                let Some(span) = open.remove(&run.call_id) else { return };
                span.record("tool.status", run.status.as_str());
                if let Some(kind) = &run.error_type {
                    failed_as(&span, kind);
                }
            }
        }
    }
}
