//! `hotseat web`: the server, the page and the worker.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Web;
use crate::server;
use crate::settings::Settings;

#[expect(clippy::print_stderr, reason = "this is what the user came for")]
pub(crate) fn run(web: Web) -> Result<ExitCode> {
    server::run(Settings::of_web(web)?, |running| {
        eprintln!(
            "Hotseat {} is ready. Open this link; Ctrl-C stops it.",
            env!("CARGO_PKG_VERSION")
        );
        server::print_link(running.link)
    })
}
