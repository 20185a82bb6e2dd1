//! Calls of tools: side by side, each with its own clock and its own stop.
//!
//! A tool that fails, takes too long or answers too much does not end the run:
//! the model is told and decides what to do. Whatever happens to a call, it gets
//! exactly one result and its log ends with how it went.

use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream;
use hotseat_core::{ToolRun, ToolRunStatus};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::file::AgentLimits;
use crate::host::{Host, RunError};
use crate::mcp::Progress;
use crate::tool::{Tool, ToolSet};

/// Most steps of progress that are told of one call; the rest is left out.
const MAX_PROGRESS_TOLD: usize = 200;
/// Steps of progress that may wait to be told.
const PROGRESS_QUEUE: usize = 16;
/// Most names in the message about an unknown tool.
const MAX_NAMES_TOLD: usize = 50;

/// A call in an answer.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Map<String, Value>,
    /// The caller of the run executes it, not we.
    pub(super) is_client: bool,
}

/// What became of the calls of an answer.
pub(super) struct Outcome {
    /// One `function_response` part for each call, in their order.
    pub(super) parts: Vec<Value>,
    /// The run was stopped while they ran.
    pub(super) cancelled: bool,
}

/// How one call ended.
enum Ended {
    Succeeded(Value),
    Failed { kind: &'static str, message: String },
    Cancelled { run: bool },
}

/// Runs all calls, at most `limits.parallel_calls` at a time.
pub(super) async fn run_all(
    calls: Vec<Call>,
    tools: &ToolSet,
    limits: &AgentLimits,
    host: &dyn Host,
) -> Result<Outcome, RunError> {
    let mut running = Vec::with_capacity(calls.len());
    for call in calls {
        running.push(run_one(call, tools, limits, host));
    }
    let mut ended = stream::iter(running).buffered(limits.parallel_calls.max(1));
    let mut outcome = Outcome { parts: Vec::new(), cancelled: false };
    while let Some(call) = ended.next().await {
        let (part, cancelled) = call?;
        outcome.parts.push(part);
        outcome.cancelled |= cancelled;
    }
    Ok(outcome)
}

async fn run_one(
    call: Call,
    tools: &ToolSet,
    limits: &AgentLimits,
    host: &dyn Host,
) -> Result<(Value, bool), RunError> {
    let started = Instant::now();
    host.tool_run(entry(&call, ToolRunStatus::Started)).await?;
    let ended = match tools.get(&call.name) {
        None => Ended::Failed { kind: "UnknownTool", message: unknown(&call.name, tools) },
        Some(tool) => {
            let ended = watch(&call, tool, limits.tool_timeout, host).await?;
            within(ended, &call.name, limits.tool_output_bytes)
        }
    };
    let mut run = ToolRun {
        duration_ms: Some(started.elapsed().as_secs_f64() * 1_000.0),
        ..record(&call, ToolRunStatus::Succeeded)
    };
    let mut run_cancelled = false;
    let response = match ended {
        Ended::Succeeded(value) => value,
        Ended::Failed { kind, message } => {
            run.status = ToolRunStatus::Failed;
            run.error_type = Some(kind.to_owned());
            run.error_message = Some(message.clone());
            json!({"error": message})
        }
        Ended::Cancelled { run: whole } => {
            run.status = ToolRunStatus::Cancelled;
            run_cancelled = whole;
            json!({"error": format!("the call of `{}` was cancelled", call.name)})
        }
    };
    host.tool_run(json!(run)).await?;
    let part =
        json!({"function_response": {"id": call.id, "name": call.name, "response": response}});
    Ok((part, run_cancelled))
}

/// Waits for the tool, tells its progress, and stops it when somebody wants
/// that or its time is up. A dropped call tells its server so.
async fn watch(
    call: &Call,
    tool: &Tool,
    time_out: Duration,
    host: &dyn Host,
) -> Result<Ended, RunError> {
    let (sender, mut progress) = mpsc::channel(PROGRESS_QUEUE);
    let mut working = std::pin::pin!(tool.call(&call.args, sender));
    let mut call_cancelled = std::pin::pin!(host.cancelled(Some(&call.id)));
    let mut run_cancelled = std::pin::pin!(host.cancelled(None));
    let mut too_late = std::pin::pin!(tokio::time::sleep(time_out));
    let mut teller = Teller { call, host, told: 0 };
    loop {
        tokio::select! {
            biased;
            () = &mut run_cancelled => return Ok(Ended::Cancelled { run: true }),
            () = &mut call_cancelled => return Ok(Ended::Cancelled { run: false }),
            result = &mut working => {
                // What the tool said before it ended is told before its end.
                while let Ok(step) = progress.try_recv() {
                    teller.tell(step).await?;
                }
                return Ok(match result {
                    Ok(value) => Ended::Succeeded(value),
                    Err(message) => Ended::Failed { kind: "ToolError", message },
                });
            }
            () = &mut too_late => {
                let message = format!(
                    "`{}` did not answer within {} s",
                    call.name,
                    time_out.as_secs_f64(),
                );
                return Ok(Ended::Failed { kind: "Timeout", message });
            }
            Some(step) = progress.recv() => teller.tell(step).await?,
        }
    }
}

/// Tells the progress of a call, up to a limit.
struct Teller<'a> {
    call: &'a Call,
    host: &'a dyn Host,
    told: usize,
}

impl Teller<'_> {
    async fn tell(&mut self, step: Progress) -> Result<(), RunError> {
        self.told += 1;
        if self.told > MAX_PROGRESS_TOLD {
            return Ok(());
        }
        self.host.tool_run(progress_entry(self.call, step)).await
    }
}

/// Refuses a result that is too large, and makes an object of it.
fn within(ended: Ended, name: &str, limit: usize) -> Ended {
    let Ended::Succeeded(value) = ended else { return ended };
    let mut size = Size(0);
    // A count cannot fail, and a value can always be written.
    let _ = serde_json::to_writer(&mut size, &value);
    if size.0 > limit {
        let message = format!(
            "the result of `{name}` has {} bytes, more than the {limit} that `limits.tool_output_bytes` allows: ask for less",
            size.0
        );
        return Ended::Failed { kind: "ResultTooLarge", message };
    }
    // As ADK does with results that are no objects.
    Ended::Succeeded(if value.is_object() { value } else { json!({"result": value}) })
}

struct Size(usize);

impl std::io::Write for Size {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn unknown(name: &str, tools: &ToolSet) -> String {
    let names: Vec<&str> =
        tools.cards().iter().take(MAX_NAMES_TOLD).map(|card| card.name.as_str()).collect();
    if names.is_empty() {
        return format!("there is no tool `{name}`; this agent has none");
    }
    let more = match tools.cards().len().saturating_sub(MAX_NAMES_TOLD) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("there is no tool `{name}`; there are {}{more}", names.join(", "))
}

fn record(call: &Call, status: ToolRunStatus) -> ToolRun {
    ToolRun {
        call_id: call.id.clone(),
        tool_name: call.name.clone(),
        status,
        message: None,
        fraction: None,
        duration_ms: None,
        error_type: None,
        error_message: None,
        traceback: None,
    }
}

fn entry(call: &Call, status: ToolRunStatus) -> Value {
    json!(record(call, status))
}

fn progress_entry(call: &Call, step: Progress) -> Value {
    json!(ToolRun {
        message: step.message,
        fraction: step.fraction,
        ..record(call, ToolRunStatus::Progress)
    })
}
