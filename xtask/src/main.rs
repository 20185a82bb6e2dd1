//! `cargo xtask`: what this repository does to itself.
//!
//! * `codegen` writes what is generated from the contracts;
//! * `codegen --check` fails if that is out of date;
//! * `tidy` fails if an invariant that can be checked does not hold.

mod codegen;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<()> {
    match words {
        ["codegen"] => codegen::write(&root()),
        ["codegen", "--check"] => codegen::check(&root()),
        ["tidy"] => tidy::check(&root()),
        _ => bail!("usage: cargo xtask codegen [--check] | tidy"),
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_owned).unwrap_or_default()
}

#[expect(clippy::print_stderr, reason = "this is the command's one error message")]
fn complain(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
