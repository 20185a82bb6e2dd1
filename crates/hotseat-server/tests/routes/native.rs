//! Agents that the server itself runs, with a scripted provider for a model: every seat
//! over every protocol, and what happens when something goes wrong.

mod crowd;
pub(crate) mod desk;
mod failures;
mod front_end;
mod human;
mod model;
mod recording;
mod restart;
mod wellness;

pub(crate) use desk::{Desk, agui, message, texts, until_turn, uuid_of};
