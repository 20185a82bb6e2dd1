//! Native agents: agent.yaml, the loop, model providers, MCP tools.

mod model;

pub use model::{Model, ModelError, SeatAnswer};
