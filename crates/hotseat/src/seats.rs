//! Who sits in the seats: what the command line and `hotseat.toml` say of it.
//!
//! Recordings are read now, so that one that cannot be is told before anything starts.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use hotseat_core::{Player, Recording, Seat};
use hotseat_server::SeatConfig;

/// What was decided, where `given` is for all agents, `agents` for some by name, and
/// `otherwise` for those that nobody says anything of.
pub(crate) fn decide(
    given: Option<String>,
    agents: &BTreeMap<String, String>,
    otherwise: Seat,
) -> Result<SeatConfig> {
    let mut seats = SeatConfig { default: otherwise, ..SeatConfig::default() };
    if let Some(given) = given {
        let (chosen, recording) = read(&given, "--seat replay:FILE")?;
        seats.chosen = Some(chosen);
        seats.recording = recording;
    }
    for (agent, given) in agents {
        let hint = format!("{agent} = \"replay:FILE\"");
        let (seat, recording) =
            read(given, &hint).with_context(|| format!("[seats] of `{agent}` is of no use"))?;
        seats.agents.insert(agent.clone(), seat);
        seats.recordings.extend(recording.map(|recording| (agent.clone(), recording)));
    }
    Ok(seats)
}

/// A seat as it is written: `human`, `model`, or `replay:FILE` with what is in the file.
fn read(given: &str, hint: &str) -> Result<(Seat, Option<Player>)> {
    let (word, file) = match given.split_once(':') {
        Some((word, file)) => (word, Some(file)),
        None => (given, None),
    };
    let seat: Seat = word
        .parse()
        .with_context(|| format!("`{given}` is no seat\nhint: use human, model or replay:FILE"))?;
    let recording = match (seat, file) {
        (Seat::Replay, Some(file)) => Some(Arc::new(recording(Path::new(file))?).player(None)?),
        (Seat::Replay, None) => {
            bail!("the seat `replay` needs a file\nhint: {hint}, an EvalSet or a session")
        }
        (Seat::Human | Seat::Model, Some(_)) => {
            bail!("the seat `{word}` takes no file\nhint: use human, model or replay:FILE")
        }
        (Seat::Human | Seat::Model, None) => None,
    };
    Ok((seat, recording))
}

fn recording(file: &Path) -> Result<Recording> {
    let bytes = std::fs::read(file)
        .with_context(|| format!("the recording {} could not be read", file.display()))?;
    Recording::read(&bytes).with_context(|| format!("{} is no recording", file.display()))
}
