//! What happened since the server started, counted for those who keep the figures.
//!
//! A count is one addition that waits for nobody, so it may stand where every request
//! passes. Nothing is decided by it, and a restart begins anew, as those who read it expect.

use std::sync::atomic::{AtomicU64, Ordering};

use hotseat_core::{RunStatus, Seat};

/// The hundreds that an answer's status may have.
const CLASSES: usize = 5;

/// How a run may end.
const ENDS: [RunStatus; 3] = [RunStatus::Finished, RunStatus::Failed, RunStatus::Cancelled];

const SEATS: [Seat; 3] = [Seat::Human, Seat::Model, Seat::Replay];

/// The counts of this server.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    answers: [AtomicU64; CLASSES],
    begun: [AtomicU64; SEATS.len()],
    ended: [[AtomicU64; ENDS.len()]; SEATS.len()],
}

impl Counters {
    /// A request was answered with this status.
    pub(crate) fn answered(&self, status: u16) {
        let class = usize::from(status / 100).wrapping_sub(1);
        if let Some(count) = self.answers.get(class) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A run was taken in.
    pub(super) fn begun(&self, seat: Seat) {
        if let Some(count) = place(seat).and_then(|at| self.begun.get(at)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A run came to its end.
    pub(super) fn ended(&self, seat: Seat, status: RunStatus) {
        let end = ENDS.iter().position(|end| *end == status);
        if let (Some(seat), Some(end)) = (place(seat), end) {
            self.ended[seat][end].fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Answers by the hundreds of their status, such as `2xx`.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        self.answers.iter().zip(1..).map(|(count, class)| (format!("{class}xx"), read(count)))
    }

    /// Runs that were taken in, by seat.
    pub(crate) fn runs_begun(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        SEATS.iter().zip(&self.begun).map(|(seat, count)| (seat.as_str(), read(count)))
    }

    /// Runs that are over, by seat and by how they ended.
    pub(crate) fn runs_ended(
        &self,
    ) -> impl Iterator<Item = (&'static str, &'static str, u64)> + '_ {
        SEATS.iter().zip(&self.ended).flat_map(|(seat, ends)| {
            let ends = ENDS.iter().zip(ends);
            ends.map(|(end, count)| (seat.as_str(), end.as_str(), read(count)))
        })
    }
}

fn place(seat: Seat) -> Option<usize> {
    SEATS.iter().position(|known| *known == seat)
}

fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
