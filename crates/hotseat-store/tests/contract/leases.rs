//! Who holds something of a session for a while.

use std::time::Duration;

use hotseat_store::{Answerer, AppendError, Lease, LeaseRequest, Leased, Store, claim_on};

use crate::log::{self, answer, append, at, created, id, turn};
use crate::suite;

suite!(
    what_nobody_holds_is_had_and_what_somebody_holds_is_not,
    asking_again_makes_it_last_longer,
    a_lease_that_is_over_is_anybodys,
    letting_go_is_for_the_holder,
    a_lease_changes_hands_only_from_its_holder,
    the_leases_of_a_session_are_those_that_are_not_over,
    leases_of_two_sessions_have_nothing_to_do_with_each_other,
    there_is_no_lease_without_a_session,
    one_of_many_who_ask_at_once_has_it,
    a_turn_that_somebody_has_claimed_is_answered_by_nobody_else,
);

fn request(n: u128, subject: &str, holder: &str, now: i64) -> LeaseRequest {
    LeaseRequest {
        session: id(n),
        subject: subject.to_owned(),
        holder: holder.to_owned(),
        now: at(now),
        ttl: Duration::from_millis(100),
    }
}

fn lease(n: u128, subject: &str, holder: &str, since: i64, until: i64) -> Lease {
    let (subject, holder) = (subject.to_owned(), holder.to_owned());
    Lease { session: id(n), subject, holder, since: at(since), until: at(until) }
}

fn by(name: &str, now: i64) -> Answerer {
    Answerer { name: name.to_owned(), now: at(now), worker: None, noted: None }
}

async fn a_turn_that_somebody_has_claimed_is_answered_by_nobody_else(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![log::request(7)]).await;
    store.lease(request(1, &claim_on(turn(7)), "ada", 0)).await.unwrap();
    let refused = store.answer(id(1), answer(7), by("bob", 99)).await.unwrap_err();
    assert!(
        matches!(&refused, AppendError::TurnClaimed { holder, until, .. }
            if holder == "ada" && *until == at(100)),
        "{refused:?}"
    );
    store.answer(id(1), answer(7), by("ada", 99)).await.unwrap();
    append(&store, id(1), vec![log::request(8)]).await;
    store.lease(request(1, &claim_on(turn(8)), "ada", 0)).await.unwrap();
    store.answer(id(1), answer(8), by("bob", 100)).await.unwrap();
}

async fn what_nobody_holds_is_had_and_what_somebody_holds_is_not(store: Store) {
    created(&store, 1).await;
    let had = store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    let of_ada = lease(1, "turn:a", "ada", 0, 100);
    assert_eq!(had, Leased::Held(of_ada.clone()));
    let refused = store.lease(request(1, "turn:a", "bob", 99)).await.unwrap();
    assert_eq!(refused, Leased::Taken(of_ada));
    let other = store.lease(request(1, "turn:b", "bob", 99)).await.unwrap();
    assert_eq!(other, Leased::Held(lease(1, "turn:b", "bob", 99, 199)));
}

async fn asking_again_makes_it_last_longer(store: Store) {
    created(&store, 1).await;
    store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    let renewed = store.lease(request(1, "turn:a", "ada", 60)).await.unwrap();
    assert_eq!(renewed, Leased::Held(lease(1, "turn:a", "ada", 0, 160)));
    let refused = store.lease(request(1, "turn:a", "bob", 159)).await.unwrap();
    assert!(matches!(refused, Leased::Taken(_)));
}

async fn a_lease_that_is_over_is_anybodys(store: Store) {
    created(&store, 1).await;
    store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    let had = store.lease(request(1, "turn:a", "bob", 100)).await.unwrap();
    assert_eq!(had, Leased::Held(lease(1, "turn:a", "bob", 100, 200)));
    let again = store.lease(request(1, "turn:a", "ada", 200)).await.unwrap();
    assert_eq!(again, Leased::Held(lease(1, "turn:a", "ada", 200, 300)), "begun anew");
}

async fn letting_go_is_for_the_holder(store: Store) {
    created(&store, 1).await;
    store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    assert!(!store.release(id(1), "turn:a", "bob").await.unwrap());
    assert!(!store.release(id(1), "turn:b", "ada").await.unwrap());
    assert!(store.release(id(1), "turn:a", "ada").await.unwrap());
    assert!(!store.release(id(1), "turn:a", "ada").await.unwrap());
    let had = store.lease(request(1, "turn:a", "bob", 1)).await.unwrap();
    assert!(matches!(had, Leased::Held(_)));
}

async fn a_lease_changes_hands_only_from_its_holder(store: Store) {
    created(&store, 1).await;
    store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    let refused = store.hand_over(request(1, "turn:a", "eve", 10), "bob").await.unwrap();
    assert_eq!(refused, Leased::Taken(lease(1, "turn:a", "ada", 0, 100)));
    let given = store.hand_over(request(1, "turn:a", "bob", 10), "ada").await.unwrap();
    assert_eq!(given, Leased::Held(lease(1, "turn:a", "bob", 10, 110)));
    let refused = store.lease(request(1, "turn:a", "ada", 20)).await.unwrap();
    assert!(matches!(refused, Leased::Taken(_)));
    let free = store.hand_over(request(1, "turn:b", "bob", 10), "ada").await.unwrap();
    assert!(matches!(free, Leased::Held(_)));
}

async fn the_leases_of_a_session_are_those_that_are_not_over(store: Store) {
    created(&store, 1).await;
    store.lease(request(1, "turn:b", "ada", 0)).await.unwrap();
    store.lease(request(1, "turn:a", "bob", 50)).await.unwrap();
    let (a, b) = (lease(1, "turn:a", "bob", 50, 150), lease(1, "turn:b", "ada", 0, 100));
    assert_eq!(store.leases(id(1), at(99)).await.unwrap(), [a.clone(), b]);
    assert_eq!(store.leases(id(1), at(100)).await.unwrap(), [a]);
    assert!(store.leases(id(1), at(150)).await.unwrap().is_empty());
}

async fn leases_of_two_sessions_have_nothing_to_do_with_each_other(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    let had = store.lease(request(2, "turn:a", "bob", 0)).await.unwrap();
    assert!(matches!(had, Leased::Held(_)));
    assert_eq!(store.leases(id(2), at(0)).await.unwrap().len(), 1);
    assert!(store.delete_session(id(1)).await.unwrap());
    assert!(store.leases(id(1), at(0)).await.unwrap().is_empty(), "they go with it");
}

async fn there_is_no_lease_without_a_session(store: Store) {
    let refused = store.lease(request(1, "turn:a", "ada", 0)).await.unwrap();
    assert_eq!(refused, Leased::NoSession);
}

async fn one_of_many_who_ask_at_once_has_it(store: Store) {
    created(&store, 1).await;
    let asking: Vec<_> = (0..20)
        .map(|n| {
            let store = store.clone();
            tokio::spawn(async move {
                store.lease(request(1, "turn:a", &format!("replica {n}"), 0)).await.unwrap()
            })
        })
        .collect();
    let mut held = 0;
    for asked in asking {
        held += usize::from(matches!(asked.await.unwrap(), Leased::Held(_)));
    }
    assert_eq!(held, 1);
}
