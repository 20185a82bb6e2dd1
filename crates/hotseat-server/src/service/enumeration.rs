//! Callers who ask for one session after the other that is not theirs.
//!
//! Finding a session by trying is hopeless, since ids are random. Somebody who tries
//! is slowed down all the same, and their attempts are told. Everything here is
//! bounded: whoever floods the server with attempts must not fill its memory.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// How far back attempts count.
pub(super) const WINDOW: Duration = Duration::from_mins(1);

/// Attempts in the window that are taken for mistakes.
const TOLERATED: usize = 20;

/// The first delay; it doubles with each attempt.
const FIRST_DELAY: Duration = Duration::from_millis(100);

/// The longest delay.
const LONGEST_DELAY: Duration = Duration::from_secs(2);

/// Attempts that are remembered of one suspect: as many as make a difference.
const REMEMBERED: usize = TOLERATED + 8;

/// Suspects that are remembered. Beyond this, the one that was quiet for longest goes.
const MAX_SUSPECTS: usize = 1024;

/// Answers that may wait at the same time.
const MAX_WAITING: usize = 64;

/// Attempts that may wait to be noted.
const MAX_NOTING: usize = 256;

/// Who tries: a user, wherever they are, or an address that shows tokens that are not
/// genuine. What an address did is not held against those who come from it as somebody.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Suspect {
    User(Arc<str>),
    Ip(IpAddr),
}

/// Too many answers wait already.
#[derive(Debug)]
pub(crate) struct TooMany;

/// What is remembered of attempts.
#[derive(Debug, Clone)]
pub(crate) struct Enumeration {
    suspects: Arc<Mutex<HashMap<Suspect, VecDeque<Instant>>>>,
    attempts: Arc<AtomicU64>,
    waiting: Arc<Semaphore>,
    noting: Arc<Semaphore>,
}

impl Default for Enumeration {
    fn default() -> Self {
        Self {
            suspects: Arc::default(),
            attempts: Arc::default(),
            waiting: Arc::new(Semaphore::new(MAX_WAITING)),
            noting: Arc::new(Semaphore::new(MAX_NOTING)),
        }
    }
}

impl Enumeration {
    /// Remembers that `suspect` asked for something that is not there for them.
    pub(super) fn missed(&self, suspect: Suspect, shown: &str) {
        let now = Instant::now();
        let mut suspects = self.suspects.lock().unwrap_or_else(PoisonError::into_inner);
        if suspects.len() >= MAX_SUSPECTS && !suspects.contains_key(&suspect) {
            make_room(&mut suspects, now);
        }
        let misses = suspects.entry(suspect).or_default();
        let before = in_window(misses, now);
        misses.push_back(now);
        if misses.len() > REMEMBERED {
            misses.pop_front();
        }
        drop(suspects);
        // Told when it begins, not with each attempt.
        if before == TOLERATED {
            self.attempts.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(
                event = "enumeration_attempt",
                session = shown,
                "a caller asks for many sessions that are not theirs"
            );
        }
    }

    /// How often somebody began to ask for too many.
    pub(super) fn attempts(&self) -> u64 {
        self.attempts.load(Ordering::Relaxed)
    }

    /// A place among the attempts that wait to be noted.
    pub(super) fn place_to_note(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.noting).try_acquire_owned().ok()
    }

    /// Lets `suspect` wait for as long as they earned.
    pub(crate) async fn slow_down(&self, suspect: &Suspect) -> Result<(), TooMany> {
        let delay = self.delay(suspect);
        if delay.is_zero() {
            return Ok(());
        }
        let _place = self.waiting.try_acquire().map_err(|_| TooMany)?;
        tokio::time::sleep(delay).await;
        Ok(())
    }

    fn delay(&self, suspect: &Suspect) -> Duration {
        let suspects = self.suspects.lock().unwrap_or_else(PoisonError::into_inner);
        let misses = suspects.get(suspect).map_or(0, |misses| in_window(misses, Instant::now()));
        let Some(excess) = misses.checked_sub(TOLERATED + 1) else { return Duration::ZERO };
        let doubled = u32::try_from(excess).ok().and_then(|excess| 2_u32.checked_pow(excess));
        let delay = doubled.map_or(LONGEST_DELAY, |factor| FIRST_DELAY.saturating_mul(factor));
        delay.min(LONGEST_DELAY)
    }
}

fn in_window(misses: &VecDeque<Instant>, now: Instant) -> usize {
    misses.iter().filter(|at| now.duration_since(**at) < WINDOW).count()
}

fn make_room(suspects: &mut HashMap<Suspect, VecDeque<Instant>>, now: Instant) {
    suspects.retain(|_, misses| in_window(misses, now) > 0);
    if suspects.len() < MAX_SUSPECTS {
        return;
    }
    let quietest = suspects.iter().min_by_key(|(_, misses)| misses.back().copied());
    if let Some(suspect) = quietest.map(|(suspect, _)| suspect.clone()) {
        suspects.remove(&suspect);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alice() -> Suspect {
        Suspect::User("alice".into())
    }

    #[tokio::test(start_paused = true)]
    async fn mistakes_are_tolerated_and_more_is_slowed_down() {
        let enumeration = Enumeration::default();
        for _ in 0..TOLERATED {
            enumeration.missed(alice(), "");
        }
        assert_eq!((enumeration.delay(&alice()), enumeration.attempts()), (Duration::ZERO, 0));
        let delays: Vec<_> = (0..7)
            .map(|_| {
                enumeration.missed(alice(), "");
                enumeration.delay(&alice()).as_millis()
            })
            .collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 2000, 2000]);
        assert_eq!(enumeration.attempts(), 1, "told once");
        assert_eq!(enumeration.delay(&Suspect::User("bob".into())), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn a_minute_later_all_is_forgiven() {
        let enumeration = Enumeration::default();
        for _ in 0..2 * TOLERATED {
            enumeration.missed(alice(), "");
        }
        assert_eq!(enumeration.delay(&alice()), LONGEST_DELAY);
        tokio::time::advance(WINDOW).await;
        assert_eq!(enumeration.delay(&alice()), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn memory_and_waiting_answers_are_bounded() {
        let enumeration = Enumeration::default();
        for n in 0..2 * MAX_SUSPECTS {
            enumeration.missed(Suspect::User(n.to_string().into()), "");
        }
        for _ in 0..10 * REMEMBERED {
            enumeration.missed(alice(), "");
        }
        let suspects = enumeration.suspects.lock().unwrap().clone();
        assert_eq!((suspects.len(), suspects[&alice()].len()), (MAX_SUSPECTS, REMEMBERED));
        let all = enumeration.waiting.try_acquire_many(u32::try_from(MAX_WAITING).unwrap());
        assert!(enumeration.slow_down(&alice()).await.is_err());
        drop(all);
        assert!(enumeration.slow_down(&alice()).await.is_ok());
    }
}
