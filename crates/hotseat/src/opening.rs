//! The page, opened in a browser.

use std::io::IsTerminal;
use std::process::{Command, Stdio};

/// Whether the page is opened when the server listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Opening {
    /// It is not.
    No,
    /// For whoever sits there: at a terminal, with a desktop.
    IfSomebodyIsThere,
    /// Somebody asked for it. Where it cannot be done, they are told.
    Asked,
}

impl Opening {
    /// Opens the link, or not. That it cannot is no error: the link is printed.
    pub(crate) fn carry_out(self, link: &str) {
        let wanted = match self {
            Self::No => false,
            Self::IfSomebodyIsThere => std::io::stdout().is_terminal(),
            Self::Asked => true,
        };
        if !wanted {
            return;
        }
        if let Err(problem) = open(link)
            && self == Self::Asked
        {
            tracing::warn!("the page was not opened: {problem}; open the link that is printed");
        }
    }
}

fn open(link: &str) -> Result<(), String> {
    let opener = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let desktop = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    if !desktop {
        return Err("there is no desktop here (neither DISPLAY nor WAYLAND_DISPLAY is set)".into());
    }
    Command::new(opener)
        .arg(link)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
        .map_err(|error| format!("{opener} could not be started: {error}"))
}
