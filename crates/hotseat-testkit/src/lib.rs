//! What the tests of the server and of the binary are written with.
//!
//! Everything here talks over real sockets: a server in this process
//! ([`TestServer`]) or the real program ([`HotseatProcess`]), called through
//! [`Api`] over HTTP, SSE and gRPC, a worker whose part a test plays
//! ([`ScriptedWorker`]), and model providers that follow a script
//! ([`providers::Provider`]). A real PostgreSQL gives every test a database of its own
//! ([`TestDatabase`]). Nothing sleeps: whoever waits, waits for an event, and
//! gives up with a panic after [`PATIENCE`].
//!
//! A dev-dependency only. It panics where a program would return an error.

#![expect(clippy::expect_used, reason = "a test that cannot go on must stop where it stands")]
#![cfg_attr(
    feature = "server",
    expect(clippy::unwrap_used, reason = "a test that cannot go on must stop where it stands")
)]

#[cfg(feature = "server")]
mod accounts;
#[cfg(feature = "server")]
mod answer;
#[cfg(feature = "server")]
mod api;
#[cfg(feature = "server")]
mod patience;
mod postgres;
#[cfg(feature = "server")]
mod process;
#[cfg(feature = "server")]
pub mod proto;
#[cfg(feature = "server")]
pub mod providers;
mod proxy;
#[cfg(feature = "server")]
pub mod sample;
#[cfg(feature = "server")]
mod seed;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod soak;
#[cfg(feature = "server")]
mod sse;
#[cfg(feature = "server")]
mod worker;

#[cfg(feature = "server")]
pub use accounts::{Accounts, Mischief};
#[cfg(feature = "server")]
pub use answer::Answer;
#[cfg(feature = "server")]
pub use api::{Api, Bearer, Connection, Grpc};
#[cfg(feature = "server")]
pub use patience::{PATIENCE, soon};
pub use postgres::{Fall, LoneDatabase, TestDatabase};
#[cfg(feature = "server")]
pub use process::{Ended, HotseatProcess, Launch};
pub use proxy::{Cut, Proxy};
#[cfg(feature = "server")]
pub use seed::seeded;
#[cfg(feature = "server")]
pub use server::TestServer;
#[cfg(feature = "server")]
pub use soak::Soak;
#[cfg(feature = "server")]
pub use sse::{Message, SseReader};
#[cfg(feature = "server")]
pub use worker::ScriptedWorker;
