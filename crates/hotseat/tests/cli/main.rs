//! The program as a user meets it: started, stopped, killed, called from scripts.

#[cfg(test)]
mod crash;
#[cfg(test)]
mod doctor;
#[cfg(test)]
mod evalset;
#[cfg(test)]
mod nginx;
#[cfg(test)]
mod replicas;
#[cfg(test)]
mod restart;
#[cfg(test)]
mod serve;
#[cfg(test)]
mod sessions;
#[cfg(test)]
mod soak;
#[cfg(test)]
mod store;
#[cfg(test)]
mod users;
#[cfg(test)]
mod web;

/// The program under test.
#[cfg(test)]
const HOTSEAT: &str = env!("CARGO_BIN_EXE_hotseat");
