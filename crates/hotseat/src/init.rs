//! `hotseat init`: make ADK's own commands keep their sessions here.
//!
//! ADK looks for a `services.yaml` in the folder of the agents and learns from it
//! which class a URI scheme stands for. A file that is there is added to, not replaced.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::output;

/// What ADK has to know.
const SERVICE: &str = "  - scheme: hotseat
    type: session
    class: hotseat.adk.HotseatSessionService
";

#[derive(Debug, clap::Args)]
pub(crate) struct Init {
    /// The folder that is given to `adk web` or `adk api_server`.
    #[arg(default_value = ".", value_name = "AGENTS_FOLDER")]
    folder: PathBuf,
}

#[expect(clippy::needless_pass_by_value, reason = "the arguments of a command end with it")]
pub(crate) fn run(init: Init) -> Result<ExitCode> {
    let folder = &init.folder;
    if !folder.is_dir() {
        bail!("{} is no folder\nhint: name the folder of your agents", folder.display());
    }
    let path = ["services.yaml", "services.yml"]
        .map(|name| folder.join(name))
        .into_iter()
        .find(|path| path.exists())
        .unwrap_or_else(|| folder.join("services.yaml"));
    let before = read(&path)?;
    match with_service(&before) {
        Added::Already => output::line(&format!("{} knows hotseat already", path.display()))?,
        Added::No => bail!(
            "{} has another form than expected\nhint: add this below `services:`\n{SERVICE}",
            path.display()
        ),
        Added::Yes(text) => {
            std::fs::write(&path, text)
                .with_context(|| format!("{} could not be written", path.display()))?;
            output::line(&format!("wrote {}", path.display()))?;
        }
    }
    output::line(&format!(
        "now: adk web --session_service_uri hotseat://127.0.0.1:4687 {}",
        folder.display()
    ))?;
    Ok(ExitCode::SUCCESS)
}

fn read(path: &Path) -> Result<String> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(text),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error).with_context(|| format!("{} could not be read", path.display())),
    }
}

/// What became of the file's text.
#[derive(Debug, PartialEq, Eq)]
enum Added {
    Yes(String),
    Already,
    No,
}

/// The text with our service in it. Only the form that people write is understood:
/// a list under `services:` at the beginning of a line.
fn with_service(text: &str) -> Added {
    let says = |line: &str, key: &str, value: &str| {
        let line = line.trim_start_matches(['-', ' ']);
        line.split_once(':').is_some_and(|(name, rest)| {
            name.trim() == key && rest.trim().trim_matches(['"', '\'']) == value
        })
    };
    if text.lines().any(|line| says(line, "scheme", "hotseat")) {
        return Added::Already;
    }
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    if !text.lines().any(|line| is_code(&line)) {
        return Added::Yes(format!("{text}services:\n{SERVICE}"));
    }
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let Some(place) = lines.iter().position(|line| line.trim_end() == "services:") else {
        return Added::No;
    };
    // Items that stand at the margin would not go together with ours.
    if lines[place + 1..]
        .iter()
        .find(|line| is_code(line))
        .is_some_and(|line| line.starts_with('-'))
    {
        return Added::No;
    }
    lines.insert(place + 1, SERVICE);
    Added::Yes(lines.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_or_added_to_and_never_twice() {
        let Added::Yes(new) = with_service("") else { panic!("an empty file takes it") };
        assert_eq!(new, format!("services:\n{SERVICE}"));
        assert_eq!(with_service(&new), Added::Already);

        let there = "# ours\nservices:\n  - scheme: mine\n    type: memory\n    class: a.B\n";
        let Added::Yes(both) = with_service(there) else { panic!("a list takes it") };
        assert!(both.contains("scheme: mine") && both.starts_with("# ours\nservices:\n"));
        assert_eq!(with_service(&both), Added::Already);
    }

    #[test]
    fn a_file_of_another_form_is_left_alone() {
        assert_eq!(with_service("services: [{scheme: mine}]\n"), Added::No);
        assert_eq!(with_service("services:\n- scheme: mine\n"), Added::No);
        assert_eq!(with_service("other: 1\n"), Added::No);
        assert_eq!(with_service("services:\n- scheme: \"hotseat\"\n"), Added::Already);
    }
}
