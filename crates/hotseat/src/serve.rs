//! `hotseat serve`: one agent, offered over AG-UI and REST.
//!
//! What is printed can be used as printed: the lines that name the agent come when it is there,
//! with the name that its code gave it and with whoever really answers for its model.

use std::process::ExitCode;

use anyhow::Result;
use hotseat_core::Seat;

use crate::args::Serve;
use crate::server::{self, Running, Voice};
use crate::settings::Settings;

pub(crate) fn run(serve: Serve) -> Result<ExitCode> {
    let settings = Settings::of_serve(serve)?;
    let agent = settings.agents.first().cloned().unwrap_or_default();
    let banner = Banner { agent, rest: settings.serve.rest, agui: settings.serve.agui };
    server::run(settings, banner)
}

/// What somebody needs to know to talk to the agent.
struct Banner {
    /// The agent, as it was given.
    agent: String,
    rest: bool,
    agui: bool,
}

impl Voice for Banner {
    #[expect(clippy::print_stderr, reason = "this is what the user came for")]
    fn listens(&self, running: &Running) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        eprintln!("Hotseat {version} serves {}. Ctrl-C stops it.", self.agent);
        eprintln!("The page, where sessions are seen and a person answers:");
        server::print_link(&running.link)
    }

    #[expect(clippy::print_stderr, reason = "this is what the user came for")]
    fn agent_is_ready(&self, running: &Running, agent: &str, seat: Seat) {
        let Running { url, token, .. } = running;
        let mut lines = vec![format!("{agent} is ready, with {} in the seat.", sitter(seat))];
        if self.agui {
            lines.push(format!("  AG-UI   POST {url}/ag-ui/{agent}"));
        }
        if self.rest {
            let token = token.as_ref();
            let header = token.map(|token| format!(" -H 'Authorization: Bearer {token}'"));
            let header = header.unwrap_or_default();
            lines.push(format!("  REST    POST {url}/agent/{agent}/chat, …/chat/stream"));
            lines.push(format!("  docs    {url}/docs"));
            lines.push(format!(
                "  try it: curl {url}/agent/{agent}/chat{header} --json '{{\"message\": \"Hello\"}}'"
            ));
        }
        // In one piece, or lines of the log would come between.
        eprintln!("{}", lines.join("\n"));
    }
}

fn sitter(seat: Seat) -> &'static str {
    match seat {
        Seat::Human => "a person",
        Seat::Model => "its model",
        Seat::Replay => "a recording",
    }
}
