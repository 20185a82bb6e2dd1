//! What the tests of the server and of the binary are written with.
//!
//! Everything here talks over real sockets: a server in this process
//! ([`TestServer`]) or the real program ([`HotseatProcess`]), called through
//! [`Api`] over HTTP, SSE and gRPC, a worker whose part a test plays
//! ([`ScriptedWorker`]), and model providers that follow a script
//! ([`providers::Provider`]). Nothing sleeps: whoever waits, waits for an event, and
//! gives up with a panic after [`PATIENCE`].
//!
//! A dev-dependency only. It panics where a program would return an error.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on must stop where it stands"
)]

mod accounts;
mod answer;
mod api;
mod patience;
mod process;
pub mod proto;
pub mod providers;
pub mod sample;
mod seed;
mod server;
mod sse;
mod worker;

pub use accounts::{Accounts, Mischief};
pub use answer::Answer;
pub use api::{Api, Bearer, Connection, Grpc};
pub use patience::{PATIENCE, soon};
pub use process::{Ended, HotseatProcess, Launch};
pub use seed::seeded;
pub use server::TestServer;
pub use sse::{Message, SseReader};
pub use worker::ScriptedWorker;
