//! `hotseat serve`: one agent, offered over AG-UI and REST.

use std::process::ExitCode;

use anyhow::Result;

use crate::args::Serve;
use crate::server::{self, Running};
use crate::settings::Settings;

pub(crate) fn run(serve: Serve) -> Result<ExitCode> {
    let settings = Settings::of_serve(serve)?;
    let agent = settings.agents.first().cloned().unwrap_or_default();
    let banner = Banner {
        agent,
        rest: settings.serve.rest,
        agui: settings.serve.agui,
        seat: settings.seats.chosen.unwrap_or(settings.seats.default),
    };
    server::run(settings, move |running| {
        banner.show(running);
        server::print_link(running.link)
    })
}

/// What somebody needs to know to talk to the agent.
struct Banner {
    agent: String,
    rest: bool,
    agui: bool,
    seat: hotseat_core::Seat,
}

impl Banner {
    #[expect(clippy::print_stderr, reason = "this is what the user came for")]
    fn show(&self, running: &Running<'_>) {
        let Running { url, token, agent, .. } = running;
        // An ADK agent's name is told in the log once its worker has loaded it.
        let name = agent.unwrap_or("AGENT");
        let version = env!("CARGO_PKG_VERSION");
        eprintln!(
            "Hotseat {version} serves {} with {} in the seat. Ctrl-C stops it.",
            agent.unwrap_or(&self.agent),
            self.sitter()
        );
        eprintln!();
        let header =
            token.map(|token| format!(" -H 'Authorization: Bearer {token}'")).unwrap_or_default();
        if self.agui {
            eprintln!("  AG-UI   POST {url}/ag-ui/{name}");
        }
        if self.rest {
            eprintln!("  REST    POST {url}/agent/{name}/chat, …/chat/stream");
            eprintln!("  docs    {url}/docs");
            eprintln!();
            eprintln!(
                "  try it: curl {url}/agent/{name}/chat{header} --json '{{\"message\": \"Hello\"}}'"
            );
        }
        eprintln!();
        eprintln!("The page, where sessions are seen and a person answers:");
    }

    fn sitter(&self) -> &'static str {
        match self.seat {
            hotseat_core::Seat::Human => "a person",
            hotseat_core::Seat::Model => "its model",
            hotseat_core::Seat::Replay => "a recording",
        }
    }
}
