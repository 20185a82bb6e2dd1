//! Turns, leases and streams under faults, with every choice made by one seed.
//!
//! Several servers stand over one real store, in one thread and in virtual time. Programs ask,
//! people claim and answer, others watch; meanwhile servers crash, wake-ups are lost, late or
//! doubled, and clocks jump. `stage` decides what happens next, `world` is what everybody shares,
//! `cast` says what they do, `verdict` says what must be true.
//! `docs/decisions/0016-simulation.md` says why it is made like this.
//!
//! A seed that fails is named; `HOTSEAT_TEST_SEED` plays it alone.

mod cast;
mod stage;
mod turnstile;
mod verdict;
mod world;

use std::panic::AssertUnwindSafe;

use hotseat_core::Role;
use hotseat_store::{Act, Limits, Store};
use jiff::Timestamp;
use tokio::runtime::{Builder, Runtime};

use self::stage::Stage;
pub(crate) use self::world::{new_id, now};

/// How many seeds are played, unless `HOTSEAT_SIMULATIONS` says otherwise.
const SEEDS: u64 = 1_000;

/// Names of those who answer.
const PEOPLE: [&str; 3] = ["ada", "ben", "cleo"];

/// When virtual time begins, in seconds.
const BEGINNING: i64 = 1_767_607_200;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok().map(|text| text.parse().unwrap())
}

/// One thread without a clock of its own, and a store that knows the people.
fn theatre() -> (Runtime, Store) {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let store = Store::scratch(Limits::default()).unwrap();
    runtime.block_on(async {
        for name in PEOPLE {
            let at = Timestamp::from_second(BEGINNING).unwrap();
            let act = Act { actor: "owner".to_owned(), at };
            store.add_user(name.parse().unwrap(), Role::Developer, act).await.unwrap();
        }
    });
    (runtime, store)
}

/// Plays half of the seeds, from `first` on, over one store: their sessions are different ones.
#[expect(clippy::print_stderr, reason = "shown by the runner when the test fails")]
fn play(first: u64) {
    let count = number("HOTSEAT_SIMULATIONS").unwrap_or(SEEDS).div_ceil(2);
    let seeds = match number("HOTSEAT_TEST_SEED") {
        Some(seed) => seed..seed + 1,
        None => first..first + count,
    };
    let (runtime, store) = theatre();
    for seed in seeds {
        let played = AssertUnwindSafe(|| runtime.block_on(Stage::new(&store, seed).play()));
        if let Err(failure) = std::panic::catch_unwind(played) {
            eprintln!("seed {seed} failed; repeat it with HOTSEAT_TEST_SEED={seed}");
            std::panic::resume_unwind(failure);
        }
    }
}

/// The first half of the seeds; the other one is played beside it.
#[test]
fn whatever_fails_turns_are_answered_once_and_readers_see_the_log() {
    play(0);
}

#[test]
fn whatever_fails_turns_are_answered_once_and_readers_see_the_log_in_the_other_half() {
    play(1 << 32);
}

/// Or a seed that fails could not be looked into.
#[test]
fn a_seed_is_one_story() {
    let stories = || {
        let (runtime, store) = theatre();
        let play = |seed| runtime.block_on(Stage::new(&store, seed).play());
        (1..=20).map(play).collect::<Vec<_>>()
    };
    assert_eq!(stories(), stories());
}
