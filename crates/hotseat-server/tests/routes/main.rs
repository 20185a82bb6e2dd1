//! What the server answers, over real sockets: a module for each of `src/http`,
//! and for what only gRPC has.

#[cfg(test)]
mod access;
#[cfg(test)]
mod adk;
#[cfg(test)]
mod adk_grpc;
#[cfg(test)]
mod adk_run;
#[cfg(test)]
mod agents;
#[cfg(test)]
mod agui;
#[cfg(test)]
mod agui_answers;
#[cfg(test)]
mod agui_known;
#[cfg(test)]
mod agui_large;
#[cfg(test)]
mod agui_late;
#[cfg(test)]
mod agui_state;
#[cfg(test)]
mod appending;
#[cfg(test)]
mod artifacts;
#[cfg(test)]
mod attacks;
#[cfg(test)]
mod binding;
#[cfg(test)]
mod chat;
#[cfg(test)]
mod crowd;
#[cfg(test)]
mod eval_runs;
#[cfg(test)]
mod eval_sets;
#[cfg(test)]
mod events;
#[cfg(test)]
mod export;
#[cfg(test)]
mod files;
#[cfg(test)]
mod fork;
#[cfg(test)]
mod grpc;
#[cfg(test)]
mod health;
#[cfg(test)]
mod native;
#[cfg(test)]
mod openapi;
#[cfg(test)]
mod owner;
#[cfg(test)]
mod owner_grpc;
#[cfg(test)]
mod owner_work;
#[cfg(test)]
mod packed;
#[cfg(test)]
mod people;
#[cfg(test)]
mod permissions;
#[cfg(test)]
mod problem;
#[cfg(test)]
mod proxy;
#[cfg(test)]
mod races;
#[cfg(test)]
mod records;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod rooms;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod search;
#[cfg(test)]
mod seats;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod sign_in;
#[cfg(test)]
mod silence;
#[cfg(test)]
mod stats;
#[cfg(test)]
mod stopping;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod taken_over;
#[cfg(test)]
mod tls;
#[cfg(test)]
mod turns;
