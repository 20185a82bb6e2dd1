//! Clocks that are wrong: one that jumps back under a running server, and those of several
//! servers that do not agree.

use std::time::Duration;

use hotseat_core::{NewEvent, Seq, TurnId};
use hotseat_store::{EventQuery, LeaseRequest, Leased, SessionQuery, Store};
use jiff::Timestamp;

use crate::log::{
    answer, append, at, created, event, id, ids, log, new_session, request, seqs, session,
};
use crate::suite;

suite! {
    a_clock_that_jumps_back_changes_no_order,
    a_claim_from_the_future_is_free_after_its_time,
    holders_whose_clocks_differ_keep_what_they_hold,
    every_session_is_listed_once_whatever_their_times_are,
}

const HOUR: i64 = 3_600_000;

/// An event at a time, in milliseconds.
fn event_at(event_id: &str, time: i64) -> NewEvent {
    NewEvent { timestamp: at(time), ..event(event_id) }
}

async fn a_clock_that_jumps_back_changes_no_order(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event_at("late", HOUR), event_at("early", 0)]).await;
    append(&store, id(1), vec![NewEvent { timestamp: at(-HOUR), ..request(1) }]).await;
    append(&store, id(1), vec![NewEvent { timestamp: at(-2 * HOUR), ..request(2) }]).await;
    append(&store, id(1), vec![event_at("again", HOUR)]).await;
    assert_eq!(ids(&store, id(1)).await, ["late", "early", "request-1", "request-2", "again"]);
    assert_eq!(seqs(&log(&store, id(1)).await), [1, 2, 3, 4, 5]);
    let query = EventQuery { after: Seq::new(2), ..EventQuery::default() };
    assert_eq!(seqs(&store.events(id(1), query).await.unwrap()), [3, 4, 5]);
    // The queue is the order of the log, not of the times in it.
    let refused = store.append(id(1), hotseat_store::Expected::Any, vec![answer(2)]).await;
    assert!(refused.is_err(), "only the head can be answered");
    append(&store, id(1), vec![NewEvent { timestamp: at(-3 * HOUR), ..answer(1) }]).await;
    append(&store, id(1), vec![answer(2)]).await;
    let before = session(&store, id(1)).await;
    store.rebuild(id(1)).await.unwrap();
    assert_eq!(session(&store, id(1)).await, before);
}

fn wish(holder: &str, now: Timestamp) -> LeaseRequest {
    LeaseRequest {
        session: id(1),
        subject: format!("turn:{}", TurnId::new(uuid::Uuid::from_u128(1))),
        holder: holder.to_owned(),
        now,
        ttl: Duration::from_mins(1),
    }
}

/// Whoever holds it is gone, and so is the hour that the clock went back.
async fn a_claim_from_the_future_is_free_after_its_time(store: Store) {
    created(&store, 1).await;
    let first = store.lease(wish("ada", at(HOUR))).await.unwrap();
    assert!(matches!(first, Leased::Held(_)), "{first:?}");
    let taken = store.lease(wish("ben", at(0))).await.unwrap();
    let Leased::Taken(lease) = taken else { panic!("{taken:?}") };
    assert_eq!((lease.holder.as_str(), lease.until), ("ada", at(60_000)), "a minute from now");
    let taken = store.lease(wish("ben", at(59_999))).await.unwrap();
    assert!(matches!(taken, Leased::Taken(lease) if lease.until == at(60_000)));
    let held = store.lease(wish("ben", at(60_000))).await.unwrap();
    assert!(matches!(held, Leased::Held(lease) if lease.holder == "ben"));
}

/// Two servers, ten seconds apart; the holder asks again in good time, by either of them.
async fn holders_whose_clocks_differ_keep_what_they_hold(store: Store) {
    created(&store, 1).await;
    for second in (0..300).step_by(20) {
        let ahead = if second % 40 == 0 { 10_000 } else { 0 };
        let now = at(second * 1000);
        let own = store.lease(wish("ada", at(second * 1000 + ahead))).await.unwrap();
        assert!(matches!(own, Leased::Held(_)), "{second}: {own:?}");
        let other = store.lease(wish("ben", now)).await.unwrap();
        assert!(matches!(other, Leased::Taken(_)), "{second}: {other:?}");
    }
}

async fn every_session_is_listed_once_whatever_their_times_are(store: Store) {
    for (n, time) in [(1, 2 * HOUR), (2, 0), (3, HOUR)] {
        let mut new = new_session(n);
        new.created_at = at(time);
        store.create_session(new).await.unwrap();
        append(&store, id(n), vec![event_at("a", time), event_at("b", time - HOUR)]).await;
    }
    let mut found = Vec::new();
    let mut query = SessionQuery { limit: 1, ..SessionQuery::default() };
    loop {
        let page = store.sessions(query.clone()).await.unwrap();
        found.extend(page.items.iter().map(|session| session.id));
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => break,
        }
    }
    assert_eq!(found, [id(1), id(3), id(2)]);
    for n in [1, 2, 3] {
        assert_eq!(ids(&store, id(n)).await, ["a", "b"]);
    }
}
