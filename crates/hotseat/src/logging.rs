//! The log, on stderr, and the traces beside it.
//!
//! Each has a filter of its own, so that a quiet log does not silence the traces.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer, fmt, registry};

use crate::args::LogFormat;
use crate::telemetry::Telemetry;

pub(crate) fn start(
    format: LogFormat,
    level: Option<&str>,
    telemetry: Option<&Telemetry>,
) -> Result<()> {
    let level = level.unwrap_or("info");
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
    registry().with(lines.with_filter(filter)).with(telemetry.map(Telemetry::layer)).init();
    Ok(())
}
