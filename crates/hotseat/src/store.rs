//! `hotseat store`: a store as a whole.

use std::io::{IsTerminal, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Subcommand;
use hotseat_store::{Address, Limits, Progress, Store};

use crate::output;
use crate::settings::store_address;

/// Characters of the bar.
const BAR: u64 = 30;

/// Sessions that are named when they differ.
const NAMED: usize = 20;

#[derive(Debug, clap::Args)]
pub(crate) struct StoreCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Copy everything from one store into another, which has to be empty. A copy that was cut
    /// off goes on when it is begun again. Stop the servers of both before.
    Copy {
        /// The store to read, as sqlite://FILE or postgres://USER@HOST/DATABASE.
        from: String,
        /// The store to write, as sqlite://FILE or postgres://USER@HOST/DATABASE.
        to: String,
        /// Afterwards read both and compare a hash of every session.
        #[arg(long)]
        verify: bool,
    },
}

pub(crate) fn run(command: StoreCommand) -> Result<ExitCode> {
    let What::Copy { from, to, verify } = command.what;
    let here = std::env::current_dir().context("the working folder is gone")?;
    let (from, to) = (store_address(Some(&from), &here)?, store_address(Some(&to), &here)?);
    if let Address::Sqlite(file) = &from {
        anyhow::ensure!(file.exists(), "there is no store at {}", file.display());
    }
    anyhow::ensure!(from != to, "a store cannot be copied into itself");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(copy(&from, &to, verify))
}

async fn copy(from: &Address, to: &Address, verify: bool) -> Result<ExitCode> {
    // Nothing may be trimmed on the way.
    let source = Store::open(from, Limits::default()).await?;
    let target = Store::open(to, Limits::default()).await?;
    let copied = source.copy_to(&target, show("copying")).await?;
    output::line(&format!("copied {copied} sessions to {to}"))?;
    if !verify {
        return Ok(ExitCode::SUCCESS);
    }
    let (different, common) = source.differences(&target, show("comparing")).await?;
    if different.is_empty() && !common {
        output::line("both hold the same")?;
        return Ok(ExitCode::SUCCESS);
    }
    for session in different.iter().take(NAMED) {
        output::line(&format!("{session} differs"))?;
    }
    anyhow::bail!(
        "{} sessions differ{}: was one of the stores written to meanwhile?\n\
         hint: stop the servers of both, empty the target and copy again",
        different.len(),
        if common { ", and so do shared state or figures" } else { "" }
    )
}

/// A bar on a terminal, and nothing where nobody looks.
fn show(what: &'static str) -> impl FnMut(Progress) {
    let terminal = std::io::stderr().is_terminal();
    move |Progress { done, all }| {
        if !terminal {
            return;
        }
        let full = usize::try_from((done * BAR).checked_div(all).unwrap_or(BAR)).unwrap_or(0);
        let empty = usize::try_from(BAR).unwrap_or(0) - full;
        let end = if done == all { "\n" } else { "" };
        let (full, empty) = ("#".repeat(full), " ".repeat(empty));
        let mut stderr = std::io::stderr().lock();
        // A bar that cannot be drawn is no reason to stop.
        let _ = write!(stderr, "\r{what} [{full}{empty}] {done}/{all} sessions{end}");
        let _ = stderr.flush();
    }
}
