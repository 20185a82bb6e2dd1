//! Creating sessions, and appending to them.

use hotseat_core::Seq;
use hotseat_store::{Created, Expected, NewSession, Store};

use crate::log::{
    answer, append, at, completion, created, event, id, ids, log, new_session, refusal, request,
    run, said, seqs, session,
};
use crate::suite;

suite!(
    a_new_session_is_there_and_empty,
    creating_the_same_session_again_changes_nothing,
    events_are_numbered_from_one_without_gaps,
    an_append_that_fails_in_the_middle_leaves_nothing,
    whatever_is_refused_behind_something_leaves_nothing,
    a_session_whose_beginning_is_refused_is_not_made,
    a_stale_append_is_refused_whole,
    an_append_at_the_expected_place_is_taken,
    an_event_that_is_there_is_skipped,
    an_event_given_twice_in_one_append_is_taken_once,
    the_same_event_id_in_two_sessions_is_two_events,
    an_unknown_session_takes_nothing,
    nothing_follows_completion,
    an_empty_append_changes_nothing,
    updated_at_never_goes_back_and_reading_leaves_it,
);

async fn a_new_session_is_there_and_empty(store: Store) {
    let Created::New(new) = store.create_session(new_session(1)).await.unwrap() else {
        panic!("the session is new");
    };
    assert_eq!(new, session(&store, id(1)).await);
    assert_eq!((new.last_seq, new.pending_turns, new.run), (Seq::START, 0, None));
    assert_eq!((new.created_at, new.updated_at), (at(0), at(0)));
    assert!(log(&store, id(1)).await.is_empty());
    assert!(store.session(id(2)).await.unwrap().is_none());
}

async fn creating_the_same_session_again_changes_nothing(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![said("a", "hello")]).await;
    let before = session(&store, id(1)).await;

    let mut other = new_session(1);
    other.description = Some("another".to_owned());
    other.user_id = "eve".to_owned();
    let again = store.create_session(other).await.unwrap();

    assert!(matches!(&again, Created::Existing(existing) if *existing == before));
    assert_eq!(session(&store, id(1)).await, before);
    assert_eq!(ids(&store, id(1)).await, ["a"]);
}

async fn events_are_numbered_from_one_without_gaps(store: Store) {
    created(&store, 1).await;
    let first = append(&store, id(1), vec![event("a")]).await;
    let second = append(&store, id(1), vec![event("b"), event("c")]).await;
    assert_eq!(first.seqs, [Seq::new(1)]);
    assert_eq!(second.seqs, [Seq::new(2), Seq::new(3)]);
    assert_eq!((second.last_seq, second.new), (Seq::new(3), 2));
    assert_eq!(seqs(&log(&store, id(1)).await), [1, 2, 3]);
    assert_eq!(ids(&store, id(1)).await, ["a", "b", "c"]);
    assert_eq!(session(&store, id(1)).await.last_seq, Seq::new(3));
}

async fn an_append_that_fails_in_the_middle_leaves_nothing(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a")]).await;
    let before = session(&store, id(1)).await;

    let unknown_turn = answer(7);
    let refused =
        refusal(&store, id(1), vec![said("b", "hi"), request(1), unknown_turn, event("c")]).await;

    assert_eq!(refused, format!("session {} has no turn {}", id(1), crate::log::turn(7)));
    assert_eq!(session(&store, id(1)).await, before);
    assert_eq!(ids(&store, id(1)).await, ["a"]);
    assert!(store.turn(id(1), crate::log::turn(1)).await.unwrap().is_none());
    // What was refused is not remembered either: the same events are new afterwards.
    assert_eq!(append(&store, id(1), vec![said("b", "hi"), request(1)]).await.new, 2);
    assert_eq!(seqs(&log(&store, id(1)).await), [1, 2, 3]);
}

async fn whatever_is_refused_behind_something_leaves_nothing(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![run(1, "queued")]).await;
    let before = session(&store, id(1)).await;
    for refused in [run(2, "queued"), answer(7), completion()] {
        refusal(&store, id(1), vec![said("b", "hi"), refused]).await;
        assert_eq!(session(&store, id(1)).await, before);
    }
    created(&store, 2).await;
    let before = session(&store, id(2)).await;
    refusal(&store, id(2), vec![completion(), said("b", "hi")]).await;
    assert_eq!(session(&store, id(2)).await, before);
    assert!(log(&store, id(2)).await.is_empty());
}

async fn a_session_whose_beginning_is_refused_is_not_made(store: Store) {
    for opening in [vec![answer(7)], vec![said("a", "hi"), answer(7)]] {
        let refused = store.create_session(NewSession { opening, ..new_session(1) }).await;
        let problem = refused.unwrap_err().to_string();
        assert_eq!(problem, format!("session {} has no turn {}", id(1), crate::log::turn(7)));
        assert!(store.session(id(1)).await.unwrap().is_none());
    }
    let opening = vec![run(1, "queued"), said("a", "hi")];
    let made = store.create_session(NewSession { opening, ..new_session(1) }).await.unwrap();
    let Created::New(made) = made else { panic!("the session is new") };
    assert_eq!(made, session(&store, id(1)).await);
    assert_eq!(made.last_seq, Seq::new(2));
}

async fn a_stale_append_is_refused_whole(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), event("b")]).await;
    for stale in [0, 1, 3] {
        let late = store
            .append(id(1), Expected::Exactly(Seq::new(stale)), vec![event("c"), event("d")])
            .await;
        assert_eq!(
            late.unwrap_err().to_string(),
            format!("session {} is at event 2, not {stale}", id(1))
        );
    }
    assert_eq!(ids(&store, id(1)).await, ["a", "b"]);
}

async fn an_append_at_the_expected_place_is_taken(store: Store) {
    created(&store, 1).await;
    store.append(id(1), Expected::Exactly(Seq::START), vec![event("a")]).await.unwrap();
    let next = store.append(id(1), Expected::Exactly(Seq::new(1)), vec![event("b")]).await;
    assert_eq!(next.unwrap().last_seq, Seq::new(2));
}

async fn an_event_that_is_there_is_skipped(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), event("b")]).await;
    let before = session(&store, id(1)).await;

    let mut changed = event("a");
    changed.author = "somebody else".to_owned();
    changed.timestamp = at(99);
    let again = append(&store, id(1), vec![event("b"), changed]).await;
    assert_eq!((again.new, again.last_seq), (0, Seq::new(2)));
    assert_eq!(again.seqs, [Seq::new(2), Seq::new(1)]);
    assert_eq!(session(&store, id(1)).await, before);

    let mixed = append(&store, id(1), vec![event("a"), event("c")]).await;
    assert_eq!((mixed.new, mixed.seqs), (1, vec![Seq::new(1), Seq::new(3)]));
    assert_eq!(ids(&store, id(1)).await, ["a", "b", "c"]);
    assert_eq!(log(&store, id(1)).await[0].author, "root");
}

async fn an_event_given_twice_in_one_append_is_taken_once(store: Store) {
    created(&store, 1).await;
    let appended = append(&store, id(1), vec![event("a"), event("a"), event("b")]).await;
    assert_eq!(appended.seqs, [Seq::new(1), Seq::new(1), Seq::new(2)]);
    assert_eq!(appended.new, 2);
}

async fn the_same_event_id_in_two_sessions_is_two_events(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    append(&store, id(1), vec![event("a")]).await;
    assert_eq!(append(&store, id(2), vec![event("a")]).await.new, 1);
}

async fn an_unknown_session_takes_nothing(store: Store) {
    let refused = refusal(&store, id(9), vec![event("a")]).await;
    assert_eq!(refused, format!("there is no session {}", id(9)));
    assert!(store.session(id(9)).await.unwrap().is_none());
    assert!(log(&store, id(9)).await.is_empty());
}

async fn nothing_follows_completion(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a")]).await;
    let together = refusal(&store, id(1), vec![completion(), event("b")]).await;
    assert_eq!(together, format!("session {} is completed", id(1)));
    assert_eq!(ids(&store, id(1)).await, ["a"], "the completion went with the rest");

    append(&store, id(1), vec![completion()]).await;
    for late in [event("b"), request(1)] {
        let refused = refusal(&store, id(1), vec![late]).await;
        assert_eq!(refused, format!("session {} is completed", id(1)));
    }
    // Saying again what is there is no addition.
    assert_eq!(append(&store, id(1), vec![event("a"), completion()]).await.new, 0);
    assert_eq!(ids(&store, id(1)).await, ["a", "completion"]);
}

async fn an_empty_append_changes_nothing(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a")]).await;
    let before = session(&store, id(1)).await;
    let nothing = append(&store, id(1), Vec::new()).await;
    assert_eq!((nothing.new, nothing.last_seq), (0, Seq::new(1)));
    assert_eq!(session(&store, id(1)).await, before);
}

async fn updated_at_never_goes_back_and_reading_leaves_it(store: Store) {
    created(&store, 1).await;
    let mut late = event("late");
    late.timestamp = at(5_000);
    let mut early = event("early");
    early.timestamp = at(-5_000);
    append(&store, id(1), vec![late]).await;
    assert_eq!(session(&store, id(1)).await.updated_at, at(5_000));
    append(&store, id(1), vec![early]).await;

    log(&store, id(1)).await;
    store.sessions(hotseat_store::SessionQuery::default()).await.unwrap();
    store.turns(hotseat_store::TurnQuery::default()).await.unwrap();
    let after = session(&store, id(1)).await;
    assert_eq!((after.updated_at, after.created_at), (at(5_000), at(0)));
    assert_eq!(log(&store, id(1)).await[1].timestamp, at(-5_000), "the event says what it said");
}
