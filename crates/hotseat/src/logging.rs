//! The log, on stderr, and the traces beside it.
//!
//! Each has a filter of its own, so that a quiet log does not silence the traces.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::filter::{FilterExt as _, filter_fn};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

use crate::args::LogFormat;
use crate::telemetry::Telemetry;

/// What is logged unless it is said: MCP's library tells every handshake at length.
const LEVEL: &str = "info,rmcp=warn";

pub(crate) fn start(
    format: LogFormat,
    level: Option<&str>,
    telemetry: Option<&Telemetry>,
) -> Result<()> {
    let level = level.unwrap_or(LEVEL);
    let filter = EnvFilter::try_new(level)
        .with_context(|| format!("`{level}` is not a log level or filter"))?;
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        LogFormat::Text => {
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            lines.with_target(false).with_ansi(colour).boxed()
        }
        LogFormat::Json => lines.json().boxed(),
    };
    // Spans are for the traces: in front of every line they would hide what it says.
    let filter = filter.and(filter_fn(|metadata| !metadata.is_span()));
    let lines = registry().with(lines.with_filter(filter));
    // Without traces there is no place for them either: a layer that does nothing would still
    // have every span made for it.
    match telemetry {
        Some(telemetry) => lines.with(telemetry.layer()).init(),
        None => lines.init(),
    }
    Ok(())
}
