//! The server: use cases, and the front doors to them on one port.
//!
//! `service/` holds the use cases and imports no transport. `http/` and `grpc/`
//! translate between callers and use cases, each with its own wire types, and
//! add nothing to what is allowed. Only this crate knows HTTP, SSE and gRPC.

mod clock;
mod config;
mod desk;
mod door;
mod error;
mod grpc;
mod http;
mod identity;
mod network;
mod oidc;
mod pace;
mod proto;
mod punctual;
mod serve;
mod service;
#[cfg(test)]
mod simulation;
mod socket;
mod tls;

pub use config::{Access, Config, LedgerConfig, PeopleConfig, STALLED_AFTER, TrustedProxy};
pub use desk::{Desk, DeskError, SessionFilter};
pub use door::Door;
pub use http::{Needs, PERMISSIONS, openapi};
pub use identity::{InstallationKey, user_token};
pub use network::{InvalidNetwork, Network};
pub use oidc::OidcConfig;
pub use serve::serve;
pub use service::{Agent, AgentList, App, LoadProblem, SeatConfig, ServeConfig};
pub use tls::{Tls, TlsError};
