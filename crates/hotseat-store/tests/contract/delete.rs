//! Deletion, and the wake-ups of those who watch.

use hotseat_core::Seq;
use hotseat_store::{Change, SessionQuery, Store, TurnQuery};

use crate::log::{append, created, event, id, ids, log, refusal, request, session, turn};
use crate::suite;

suite!(
    deletion_removes_everything,
    a_deleted_session_can_be_created_again_from_nothing,
    an_append_wakes_those_who_watch,
    deletion_ends_those_who_watch,
    a_refused_append_wakes_nobody,
    changes_tell_of_every_session,
);

async fn deletion_removes_everything(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    for n in [1, 2] {
        append(&store, id(n), vec![event("a"), request(1)]).await;
    }
    assert!(store.delete_session(id(1)).await.unwrap());
    assert!(!store.delete_session(id(1)).await.unwrap(), "it is gone already");

    assert!(store.session(id(1)).await.unwrap().is_none());
    assert!(log(&store, id(1)).await.is_empty());
    assert!(store.turn(id(1), turn(1)).await.unwrap().is_none());
    let turns = store.turns(TurnQuery { answered: true, ..TurnQuery::default() }).await.unwrap();
    assert!(turns.iter().all(|turn| turn.session_id == id(2)) && turns.len() == 1);
    assert_eq!(store.sessions(SessionQuery::default()).await.unwrap().items.len(), 1);
    let counts = store.counts().await.unwrap();
    assert_eq!((counts.sessions, counts.pending_turns), (1, 1));
    let refused = refusal(&store, id(1), vec![event("b")]).await;
    assert_eq!(refused, format!("there is no session {}", id(1)));
    assert_eq!(ids(&store, id(2)).await, ["a", "request-1"]);
}

async fn a_deleted_session_can_be_created_again_from_nothing(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), request(1)]).await;
    store.delete_session(id(1)).await.unwrap();
    created(&store, 1).await;
    assert_eq!(session(&store, id(1)).await.last_seq, Seq::START);
    assert_eq!(append(&store, id(1), vec![event("a"), request(1)]).await.seqs[1], Seq::new(2));
}

async fn an_append_wakes_those_who_watch(store: Store) {
    created(&store, 1).await;
    let (mut one, mut two) = (store.watch(id(1)), store.watch(id(1)));
    append(&store, id(1), vec![event("a"), event("b")]).await;
    for watcher in [&mut one, &mut two] {
        watcher.changed().await.unwrap();
        assert_eq!(*watcher.borrow_and_update(), Seq::new(2));
        assert_eq!(log(&store, id(1)).await.len(), 2, "woken after the commit");
    }
}

async fn deletion_ends_those_who_watch(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    let (mut watcher, mut other) = (store.watch(id(1)), store.watch(id(2)));
    store.delete_session(id(1)).await.unwrap();
    assert!(watcher.changed().await.is_err());
    append(&store, id(2), vec![event("a")]).await;
    assert!(other.changed().await.is_ok());
}

async fn a_refused_append_wakes_nobody(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a")]).await;
    let mut watcher = store.watch(id(1));
    watcher.borrow_and_update();
    refusal(&store, id(1), vec![event("b"), crate::log::answer(1)]).await;
    append(&store, id(1), vec![event("a")]).await;
    assert!(!watcher.has_changed().unwrap());
}

async fn changes_tell_of_every_session(store: Store) {
    let mut changes = store.changes();
    created(&store, 1).await;
    created(&store, 2).await;
    created(&store, 2).await;
    append(&store, id(2), vec![event("a")]).await;
    store.delete_session(id(1)).await.unwrap();
    store.delete_session(id(1)).await.unwrap();
    let mut told = Vec::new();
    while let Ok(change) = changes.try_recv() {
        told.push(change);
    }
    let user_id = crate::log::new_session(1).user_id;
    let deleted = Change::Deleted { session: id(1), user_id };
    let expected = [Change::Grew(id(1)), Change::Grew(id(2)), Change::Grew(id(2)), deleted];
    assert_eq!(told, expected);
}
