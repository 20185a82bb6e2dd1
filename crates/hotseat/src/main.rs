//! The `hotseat` command.
//!
//! Arguments, configuration, logging, wiring and exit codes; everything else is
//! in the crates below. stdout is data, stderr is everything else. Exit codes:
//! 0 ok, 1 failed, 2 usage, 130 interrupted.

mod args;
mod data;
mod doctor;
mod evalset;
mod import;
mod init;
mod logging;
mod oidc;
mod opening;
mod output;
mod people;
mod seats;
mod serve;
mod server;
mod sessions;
mod settings;
mod store;
mod telemetry;
mod token;
mod users;
mod web;
mod worker;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Args, Command};

/// Requests begin on one thread and end on another; this one gives memory back without a
/// lock that all threads share. On Linux it takes the place of `malloc` itself, for SQLite too,
/// and `malloc` need not be told to align what is aligned anyway.
#[cfg(not(target_os = "linux"))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
#[cfg(target_os = "linux")]
use mimalloc as _;

fn main() -> ExitCode {
    let args = Args::parse_from(args::with_dashes(std::env::args_os()));
    let result = match args.command {
        Command::Web(web) => web::run(web),
        Command::Serve(serve) => serve::run(serve),
        Command::Sessions(sessions) => sessions::run(sessions),
        Command::Store(store) => store::run(store),
        Command::Evalset(evalset) => evalset::run(evalset),
        Command::Init(init) => init::run(init),
        Command::Token(token) => token::run(token),
        Command::Users(users) => users::run(users),
        Command::Doctor(web) => doctor::run(web),
    };
    match result {
        Ok(code) => code,
        Err(error) if output::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stderr, reason = "this is the command's one error message")]
fn report(error: &anyhow::Error) {
    eprintln!("error: {error:#}");
}
