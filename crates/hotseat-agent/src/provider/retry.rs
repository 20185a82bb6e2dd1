//! How long to wait before a request is repeated, and when not to.

use std::time::Duration;

use crate::ModelError;

/// The first pause; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// The longest pause that we choose.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// The longest pause that a provider may ask for. Who asks for more is out of
/// quota rather than busy, which a person should hear of at once.
const LONGEST_ASKED: Duration = Duration::from_mins(1);

/// The pause before the request is sent again after `failures` failures; none if
/// it should not be.
pub(super) fn pause(error: &ModelError, failures: u32, retries: u32) -> Option<Duration> {
    if failures > retries || !error.retryable() {
        return None;
    }
    if let ModelError::Refused { retry_after: Some(asked), .. } = error {
        return (*asked <= LONGEST_ASKED).then_some(*asked);
    }
    let doubled = FIRST_PAUSE.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1)));
    // Many agents that failed together must not come back together.
    Some(doubled.min(LONGEST_PAUSE).mul_f64(0.5 + fastrand::f64() / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(status: u16, retry_after: Option<u64>) -> ModelError {
        let retry_after = retry_after.map(Duration::from_secs);
        ModelError::Refused { provider: "x", status, message: String::new(), retry_after }
    }

    #[test]
    fn only_passing_failures_are_retried_and_only_so_often() {
        for status in [408, 409, 429, 500, 503, 529] {
            assert!(pause(&refused(status, None), 3, 3).is_some(), "{status}");
            assert_eq!(pause(&refused(status, None), 4, 3), None, "{status}");
        }
        for status in [301, 400, 401, 403, 404, 413, 422] {
            assert_eq!(pause(&refused(status, None), 1, 3), None, "{status}");
        }
    }

    #[test]
    fn pauses_grow_to_a_limit() {
        for (failures, full) in [(1, 0.5), (2, 1.0), (3, 2.0), (40, 20.0)] {
            let pause = pause(&refused(500, None), failures, 99).unwrap().as_secs_f64();
            assert!((full / 2.0..=full).contains(&pause), "{failures}: {pause}");
        }
    }

    #[test]
    fn a_provider_is_waited_for_as_long_as_it_asks_but_not_for_hours() {
        assert_eq!(pause(&refused(429, Some(30)), 1, 3), Some(Duration::from_secs(30)));
        assert_eq!(pause(&refused(429, Some(3600)), 1, 3), None);
    }
}
