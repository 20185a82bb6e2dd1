//! The program as a user meets it: started, stopped, killed.

#[cfg(test)]
mod crash;
#[cfg(test)]
mod web;

/// The program under test.
#[cfg(test)]
const HOTSEAT: &str = env!("CARGO_BIN_EXE_hotseat");
