//! What a server remembers of the sessions it wrote to, and what others do to them meanwhile.

use hotseat_core::Seq;
use hotseat_store::{AppendError, Expected, Limits, Store};
use hotseat_testkit::TestDatabase;

use crate::log::{append, completion, created, event, id, ids, log, session};

async fn open(database: &TestDatabase) -> Store {
    Store::postgres(&database.url(), Limits::default()).await.unwrap()
}

/// Two servers, of which the first has made a session and appended to it.
async fn two_servers(database: &TestDatabase) -> (Store, Store) {
    let (one, two) = (open(database).await, open(database).await);
    created(&one, 1).await;
    for name in ["a", "b"] {
        append(&one, id(1), vec![event(name)]).await;
    }
    (one, two)
}

/// How often the rows of sessions were locked and read before they were written.
fn asked(database: &TestDatabase) -> usize {
    database.plans().iter().filter(|plan| plan.contains("LockRows")).count()
}

#[tokio::test]
async fn who_was_the_last_to_write_does_not_ask_again() {
    let database = TestDatabase::create();
    drop(open(&database).await);
    database.watch_plans();
    let (one, two) = two_servers(&database).await;
    let before = asked(&database);
    for name in ["c", "d", "e"] {
        append(&one, id(1), vec![event(name)]).await;
    }
    assert_eq!(asked(&database), before);

    // Two that take turns are never sure, so each of them asks, and does nothing in vain.
    for n in 0..4 {
        for store in [&two, &one] {
            append(store, id(1), vec![event(&format!("{n}-{}", asked(&database)))]).await;
        }
    }
    assert_eq!(asked(&database), before + 8);
    // Who is alone again is sure again.
    append(&one, id(1), vec![event("y")]).await;
    append(&one, id(1), vec![event("z")]).await;
    assert_eq!(asked(&database), before + 9);
    assert_eq!(ids(&two, id(1)).await.len(), 15);
}

#[tokio::test]
async fn an_event_that_is_there_already_is_found_also_by_who_remembers_the_session() {
    let database = TestDatabase::create();
    let (one, two) = two_servers(&database).await;
    let again = append(&one, id(1), vec![event("a")]).await;
    assert_eq!((again.new, again.seqs), (0, vec![Seq::new(1)]));
    append(&two, id(1), vec![event("theirs")]).await;
    let again = append(&one, id(1), vec![event("theirs"), event("ours")]).await;
    assert_eq!((again.new, again.seqs), (1, vec![Seq::new(3), Seq::new(4)]));
    assert_eq!(ids(&one, id(1)).await, ["a", "b", "theirs", "ours"]);
}

#[tokio::test]
async fn what_another_server_did_to_a_session_counts() {
    let database = TestDatabase::create();
    let (one, two) = two_servers(&database).await;
    append(&two, id(1), vec![completion()]).await;
    let refused = one.append(id(1), Expected::Any, vec![event("late")]).await.unwrap_err();
    assert!(matches!(refused, AppendError::Completed { .. }), "{refused}");

    assert!(two.delete_session(id(1)).await.unwrap());
    let refused = one.append(id(1), Expected::Any, vec![event("later")]).await.unwrap_err();
    assert!(matches!(refused, AppendError::NoSession { .. }), "{refused}");
}

#[tokio::test]
async fn a_session_that_was_made_anew_is_not_taken_for_the_one_before() {
    let database = TestDatabase::create();
    let (one, two) = two_servers(&database).await;
    assert!(two.delete_session(id(1)).await.unwrap());
    created(&two, 1).await;
    // As many as before, so that nothing tells the two apart but that one is newer, and larger.
    let long = ["x", "y"].map(|name| name.repeat(100));
    for name in &long {
        append(&two, id(1), vec![event(name)]).await;
    }
    let before = session(&two, id(1)).await;
    assert_eq!(append(&one, id(1), vec![event("z")]).await.last_seq, Seq::new(3));
    assert_eq!(ids(&two, id(1)).await, [&long[0], &long[1], "z"]);
    assert!(session(&two, id(1)).await.bytes > before.bytes);
}

#[tokio::test]
async fn a_summary_that_another_server_changed_is_not_put_back() {
    let database = TestDatabase::create();
    let (one, two) = two_servers(&database).await;
    assert_eq!(two.clear_events(id(1)).await.unwrap(), 2);
    append(&one, id(1), vec![event("c")]).await;
    let left = session(&two, id(1)).await;
    assert_eq!((left.last_seq, left.removed_through), (Seq::new(3), Seq::new(2)));
    assert_eq!((left.event_count, log(&two, id(1)).await.len()), (1, 1));
}
