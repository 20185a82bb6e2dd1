//! `hotseat web`: the server, the page and the worker.

use std::process::ExitCode;

use anyhow::Result;
use hotseat_core::Seat;

use crate::args::Web;
use crate::server::{self, Running, Voice};
use crate::settings::Settings;

pub(crate) fn run(web: Web) -> Result<ExitCode> {
    server::run(Settings::of_web(web)?, Greeting)
}

/// The link is all that somebody needs to know.
struct Greeting;

impl Voice for Greeting {
    #[expect(clippy::print_stderr, reason = "this is what the user came for")]
    fn listens(&self, running: &Running) -> Result<()> {
        eprintln!(
            "Hotseat {} is ready. Open this link; Ctrl-C stops it.",
            env!("CARGO_PKG_VERSION")
        );
        server::print_link(&running.link)
    }

    fn agent_is_ready(&self, _: &Running, _: &str, _: Seat) {
        // The page shows it, and there may be many.
    }
}
