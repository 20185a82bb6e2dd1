//! The public behaviour of `hotseat-agui`, a module for each of its own.

#[cfg(test)]
mod encoding;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod incoming;
#[cfg(test)]
mod patch;
#[cfg(test)]
mod property;
#[cfg(test)]
#[path = "../../examples/frames.rs"]
#[expect(dead_code, reason = "only the samples of the example are used here")]
mod samples;
#[cfg(test)]
mod stream;
#[cfg(test)]
mod translator;
#[cfg(test)]
mod verifier;
