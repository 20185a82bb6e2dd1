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
    feature = "clients",
    expect(clippy::unwrap_used, reason = "a test that cannot go on must stop where it stands")
)]

#[cfg(feature = "clients")]
mod accounts;
#[cfg(feature = "clients")]
mod answer;
#[cfg(feature = "clients")]
mod api;
#[cfg(feature = "clients")]
mod patience;
mod postgres;
#[cfg(feature = "clients")]
mod process;
#[cfg(feature = "clients")]
pub mod proto;
#[cfg(feature = "clients")]
pub mod providers;
mod proxy;
#[cfg(feature = "clients")]
pub mod sample;
#[cfg(feature = "clients")]
mod seed;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "clients")]
mod soak;
#[cfg(feature = "clients")]
mod sse;
#[cfg(feature = "clients")]
mod worker;

#[cfg(feature = "clients")]
pub use accounts::{Accounts, Mischief};
#[cfg(feature = "clients")]
pub use answer::Answer;
#[cfg(feature = "clients")]
pub use api::{Api, Bearer, Connection, Grpc};
#[cfg(feature = "clients")]
pub use patience::{PATIENCE, soon};
pub use postgres::{Fall, LoneDatabase, TestDatabase};
#[cfg(feature = "clients")]
pub use process::{Ended, HotseatProcess, Launch};
pub use proxy::{Cut, Proxy};
#[cfg(feature = "clients")]
pub use seed::seeded;
#[cfg(feature = "server")]
pub use server::TestServer;
#[cfg(feature = "clients")]
pub use soak::Soak;
#[cfg(feature = "clients")]
pub use sse::{Message, SseReader};
#[cfg(feature = "clients")]
pub use worker::ScriptedWorker;
