//! What the clients of a soak have seen, counted together.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// What goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Phase {
    /// Clients connect, and nothing is counted yet.
    Warm,
    /// Nothing may go wrong, and everything is measured.
    Steady,
    /// The server is killed now and then, and calls fail.
    Killed,
    /// Clients end.
    Over,
}

/// Times in microseconds.
#[derive(Debug, Default)]
pub(super) struct Times(Mutex<Vec<u32>>);

impl Times {
    fn add(&self, time: Duration) {
        let time = u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(time);
    }

    /// How many, and the usual and the worst in milliseconds.
    pub(super) fn figures(&self) -> Value {
        let mut times = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        times.sort_unstable();
        let at = |percent: usize| {
            let place = (times.len() * percent / 100).min(times.len().saturating_sub(1));
            times.get(place).map_or(0.0, |time| f64::from(time / 10) / 100.0)
        };
        json!({"count": times.len(), "p50_ms": at(50), "p99_ms": at(99), "max_ms": at(100)})
    }
}

/// All of it.
#[derive(Debug)]
pub(super) struct Tally {
    began: Instant,
    phase: AtomicU8,
    pub(super) appends: Times,
    pub(super) hand_offs: Times,
    pub(super) streams: Times,
    /// Calls that failed while nothing was killed, and the first of them.
    errors: AtomicU64,
    first_error: Mutex<Option<String>>,
    /// Clients that are connected for the first time.
    pub(super) connected: AtomicU64,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            began: Instant::now(),
            phase: AtomicU8::new(Phase::Warm as u8),
            appends: Times::default(),
            hand_offs: Times::default(),
            streams: Times::default(),
            errors: AtomicU64::new(0),
            first_error: Mutex::default(),
            connected: AtomicU64::new(0),
        }
    }

    pub(super) fn set(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    fn is(&self, phase: Phase) -> bool {
        self.phase.load(Ordering::Relaxed) == phase as u8
    }

    pub(super) fn is_over(&self) -> bool {
        self.is(Phase::Over)
    }

    /// Microseconds since the soak began, to be sent along.
    pub(super) fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Notes a time that counts if everything is steady.
    pub(super) fn took(&self, times: &Times, time: Duration) {
        if self.is(Phase::Steady) {
            times.add(time);
        }
    }

    /// Notes that something sent at `sent` has arrived.
    pub(super) fn arrived(&self, sent: u64) {
        self.took(&self.streams, Duration::from_micros(self.now().saturating_sub(sent)));
    }

    /// Notes that a call failed, which it may while the server is being killed.
    pub(super) fn failed(&self, what: &str, why: &dyn std::fmt::Display) {
        if self.is(Phase::Warm) || self.is(Phase::Steady) {
            self.errors.fetch_add(1, Ordering::Relaxed);
            let mut first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| format!("{what}: {why}"));
        }
    }

    pub(super) fn errors(&self) -> (u64, Option<String>) {
        let first = self.first_error.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (self.errors.load(Ordering::Relaxed), first)
    }
}
