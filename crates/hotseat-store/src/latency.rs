//! How long the store takes, counted in buckets that grow by a quarter.
//!
//! Counting is one atomic addition, so it can be done for every call. A percentile
//! is exact to within one bucket.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Buckets: from 10 µs in steps of a quarter to about 70 s.
const BUCKETS: usize = 72;

/// The upper end of the first bucket, in milliseconds.
const FIRST_MS: f64 = 0.01;

/// How much wider each bucket is than the one before.
const STEP: f64 = 1.25;

/// The times of one sort of call.
#[derive(Debug)]
pub(crate) struct Histogram {
    buckets: [AtomicU64; BUCKETS],
    total_us: AtomicU64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { buckets: [const { AtomicU64::new(0) }; BUCKETS], total_us: AtomicU64::new(0) }
    }
}

/// What a histogram says.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Latency {
    /// Calls.
    pub count: u64,
    /// Their sum.
    pub total_ms: f64,
    /// Half of them took no longer.
    pub p50_ms: f64,
    /// Of a hundred, 95 took no longer.
    pub p95_ms: f64,
    /// Of a hundred, 99 took no longer.
    pub p99_ms: f64,
}

impl Histogram {
    pub(crate) fn record(&self, took: Duration) {
        let bucket = bucket_of(took.as_secs_f64() * 1000.0);
        self.buckets[bucket].fetch_add(1, Ordering::Relaxed);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.total_us.fetch_add(micros, Ordering::Relaxed);
    }

    pub(crate) fn latency(&self) -> Latency {
        let counts: Vec<u64> =
            self.buckets.iter().map(|bucket| bucket.load(Ordering::Relaxed)).collect();
        let count = counts.iter().sum();
        let total = Duration::from_micros(self.total_us.load(Ordering::Relaxed));
        Latency {
            count,
            total_ms: total.as_secs_f64() * 1000.0,
            p50_ms: percentile(&counts, count, 50),
            p95_ms: percentile(&counts, count, 95),
            p99_ms: percentile(&counts, count, 99),
        }
    }
}

/// The upper end of a bucket, in milliseconds.
fn upper_ms(bucket: usize) -> f64 {
    FIRST_MS * STEP.powi(i32::try_from(bucket).unwrap_or(i32::MAX))
}

fn bucket_of(milliseconds: f64) -> usize {
    (0..BUCKETS - 1).find(|bucket| milliseconds <= upper_ms(*bucket)).unwrap_or(BUCKETS - 1)
}

fn percentile(counts: &[u64], count: u64, percent: u64) -> f64 {
    let wanted = (count * percent).div_ceil(100);
    let mut seen = 0;
    for (bucket, calls) in counts.iter().enumerate() {
        seen += calls;
        if wanted > 0 && seen >= wanted {
            return upper_ms(bucket);
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_within_a_quarter_of_the_truth() {
        let histogram = Histogram::default();
        assert_eq!(histogram.latency(), Latency::default());
        for n in 1..=1000 {
            histogram.record(Duration::from_micros(n * 100));
        }
        let latency = histogram.latency();
        assert_eq!(latency.count, 1000);
        for (measured, truth) in
            [(latency.p50_ms, 50.0), (latency.p95_ms, 95.0), (latency.p99_ms, 99.0)]
        {
            assert!(measured >= truth && measured <= truth * STEP, "{measured} for {truth}");
        }
        assert!((latency.total_ms - 50_050.0).abs() < 1.0);
    }

    #[test]
    fn the_longest_call_has_a_bucket() {
        let histogram = Histogram::default();
        histogram.record(Duration::from_secs(100_000));
        assert_eq!(histogram.latency().count, 1);
    }
}
