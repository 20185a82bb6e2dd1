//! Randomness that can be had again.

/// Where a seed is given to repeat a failed test.
const VARIABLE: &str = "HOTSEAT_TEST_SEED";

/// A generator with a seed of its own, which is printed: the runner shows it when the test fails.
#[expect(clippy::print_stderr, reason = "shown by the runner when the test fails")]
pub fn seeded() -> fastrand::Rng {
    let seed = match std::env::var(VARIABLE) {
        Ok(seed) => seed.parse().expect("the seed is a number"),
        Err(_) => fastrand::u64(..),
    };
    eprintln!("seed: {seed}; repeat with {VARIABLE}={seed}");
    fastrand::Rng::with_seed(seed)
}
