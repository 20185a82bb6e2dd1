//! Whoever watches a session may be answered without a read; the answer is what a read gives.

use hotseat_core::{Event, Kind, NewEvent, Seq};
use hotseat_store::{EventQuery, Limits, Order, Store};
use proptest::prelude::*;

use crate::database::Database;
use crate::log::{append, created, event, id, raw, run, said};
use crate::suite;

suite!(
    what_was_cleared_is_shown_to_nobody,
    a_session_that_comes_again_shows_nothing_of_the_one_before,
    a_watcher_that_comes_later_sees_what_was_before,
    however_much_is_appended_watchers_see_all_of_it,
);

mod in_databases {
    use super::what_was_trimmed_is_shown_to_nobody;
    use crate::suite;

    suite!(in databases: what_was_trimmed_is_shown_to_nobody);
}

fn following(after: u64) -> EventQuery {
    EventQuery { after: Seq::new(after), ..EventQuery::default() }
}

/// Ids and places.
fn named(events: &[Event]) -> Vec<(u64, String)> {
    events.iter().map(|event| (event.seq.get(), event.event_id.clone())).collect()
}

/// What follows, and the same as the log itself has it: newest first is always read from it.
async fn both(store: &Store, after: u64) -> (Vec<(u64, String)>, Vec<(u64, String)>) {
    let followed = store.events(id(1), following(after)).await.unwrap();
    let newest_first = EventQuery { order: Order::Descending, ..EventQuery::default() };
    let mut read = store.events(id(1), newest_first).await.unwrap();
    read.retain(|event| event.seq > Seq::new(after));
    read.reverse();
    (named(&followed), named(&read))
}

async fn what_was_cleared_is_shown_to_nobody(store: Store) {
    created(&store, 1).await;
    let _watched = store.watch(id(1));
    append(&store, id(1), vec![event("a"), event("b")]).await;
    store.clear_events(id(1)).await.unwrap();
    assert!(store.events(id(1), following(0)).await.unwrap().is_empty());
    append(&store, id(1), vec![event("c")]).await;
    assert_eq!(named(&store.events(id(1), following(0)).await.unwrap()), [(3, "c".to_owned())]);
}

async fn a_session_that_comes_again_shows_nothing_of_the_one_before(store: Store) {
    created(&store, 1).await;
    let _watched = store.watch(id(1));
    append(&store, id(1), vec![event("a"), event("b")]).await;
    store.delete_session(id(1)).await.unwrap();
    created(&store, 1).await;
    let _again = store.watch(id(1));
    assert!(store.events(id(1), following(0)).await.unwrap().is_empty());
    append(&store, id(1), vec![event("c")]).await;
    assert_eq!(named(&store.events(id(1), following(0)).await.unwrap()), [(1, "c".to_owned())]);
}

async fn a_watcher_that_comes_later_sees_what_was_before(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a")]).await;
    let _watched = store.watch(id(1));
    append(&store, id(1), vec![event("b")]).await;
    let (followed, read) = both(&store, 0).await;
    assert_eq!((followed.len(), &followed), (2, &read));
}

async fn however_much_is_appended_watchers_see_all_of_it(store: Store) {
    created(&store, 1).await;
    let _watched = store.watch(id(1));
    for n in 0..100 {
        // Some are so large that few of them are kept.
        let payload = raw(&format!(r#"{{"author":"{}"}}"#, "x".repeat((n % 7) * 3000)));
        append(&store, id(1), vec![NewEvent { payload, ..event(&format!("e{n}")) }]).await;
        for after in [0, n as u64 / 2, n as u64] {
            let (followed, read) = both(&store, after).await;
            assert_eq!(followed, read);
        }
    }
}

async fn what_was_trimmed_is_shown_to_nobody(database: &Database) {
    let store =
        database.open(Limits { max_events_per_session: Some(3), ..Limits::default() }).await;
    created(&store, 1).await;
    let _watched = store.watch(id(1));
    for n in 0..9 {
        append(&store, id(1), vec![event(&format!("e{n}"))]).await;
        let (followed, read) = both(&store, 0).await;
        assert_eq!(followed, read);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    /// Kinds, limits and bytes are heeded in the same way.
    #[test]
    fn a_watcher_gets_what_a_read_would_give(
        kinds in prop::sample::subsequence(vec![Kind::Event, Kind::Run, Kind::ToolRun], 0..=2),
        after in 0..8_u64,
        limit in 0..6_usize,
        max_bytes in prop_oneof![Just(0_usize), 1..200_usize],
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let query = EventQuery { after: Seq::new(after), kinds, limit, max_bytes, ..EventQuery::default() };
            let mut answers = Vec::new();
            for watched in [true, false] {
                let store = Store::scratch(Limits::default()).unwrap();
                created(&store, 1).await;
                let _watching = watched.then(|| store.watch(id(1)));
                append(&store, id(1), vec![run(1, "queued"), said("a", "Hello")]).await;
                append(&store, id(1), vec![event("b")]).await;
                append(&store, id(1), vec![said("c", "A longer word"), run(1, "finished")]).await;
                answers.push(named(&store.events(id(1), query.clone()).await.unwrap()));
            }
            assert_eq!(answers[0], answers[1]);
        });
    }
}
