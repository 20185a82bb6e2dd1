//! The log, on stderr.

use std::io::IsTerminal;

use anyhow::{Context, Result};
use tracing_subscriber::EnvFilter;

use crate::args::LogFormat;

pub(crate) fn start(format: LogFormat, level: Option<&str>) -> Result<()> {
    let level = level.unwrap_or("info");
    let filter = EnvFilter::try_new(level)
        .with_context(|| format!("`{level}` is not a log level or filter"))?;
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => {
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            builder.with_target(false).with_ansi(colour).init();
        }
        LogFormat::Json => builder.json().init(),
    }
    Ok(())
}
