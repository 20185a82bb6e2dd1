//! What is said of a measurement.

use std::time::Duration;

use serde_json::{Value, json};

/// How many there were, how long they took, and how many failed.
#[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
pub(crate) fn report(mut times: Vec<Duration>, lasted: Duration, errors: usize) -> Value {
    times.sort_unstable();
    let rate = times.len() as f64 / lasted.as_secs_f64();
    let at = |percent: usize| {
        let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    json!({"count": times.len(), "per_second": rate, "p50_ms": at(50), "p99_ms": at(99),
        "errors": errors})
}
