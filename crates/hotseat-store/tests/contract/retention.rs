//! Limits: what goes when there is too much, and how one can tell.

use hotseat_core::Seq;
use hotseat_store::{Limits, RemovalReason, Store, Sweep, Visit};

use crate::database::Database;
use crate::log::{
    append, at, created, event, id, ids, log, new_session, raw, request, said, session,
};
use crate::suite;

suite!(
    in databases:
    a_log_never_holds_more_events_than_its_limit,
    a_request_that_waits_is_never_trimmed,
    the_oldest_messages_go,
    the_session_nobody_touched_for_longest_makes_room,
    a_session_that_waits_makes_no_room,
    sessions_expire_after_their_last_touch,
    sessions_without_a_word_go_sooner,
    too_many_bytes_push_out_the_oldest,
);

async fn sweep(store: &Store, sweep: Sweep) {
    while store.sweep(sweep).await.unwrap() {}
}

async fn removed(store: &Store, reason: RemovalReason) -> (u64, u64) {
    let removals = store.figures(at(0)).await.unwrap().removals;
    let removal = removals.iter().find(|removal| removal.reason == reason);
    removal.map_or((0, 0), |removal| (removal.sessions, removal.events))
}

async fn visit(store: &Store, n: u128, milliseconds: i64) {
    let visit = Visit {
        session: id(n),
        at: at(milliseconds),
        client_ip: None,
        user_agent: None,
        watched: false,
    };
    store.visited(vec![visit]).await.unwrap();
}

async fn a_log_never_holds_more_events_than_its_limit(database: &Database) {
    let store =
        database.open(Limits { max_events_per_session: Some(3), ..Limits::default() }).await;
    created(&store, 1).await;
    for n in 1..=5 {
        append(&store, id(1), vec![event(&format!("e{n}"))]).await;
        assert!(log(&store, id(1)).await.len() <= 3);
    }
    assert_eq!(ids(&store, id(1)).await, ["e3", "e4", "e5"]);
    let kept = session(&store, id(1)).await;
    assert_eq!(
        (kept.removed_through, kept.last_seq, kept.event_count),
        (Seq::new(2), Seq::new(5), 3)
    );
    assert_eq!(removed(&store, RemovalReason::TooManyEvents).await, (0, 2));
    append(&store, id(1), (0..9).map(|n| event(&format!("f{n}"))).collect()).await;
    assert_eq!(ids(&store, id(1)).await, ["f6", "f7", "f8"]);
}

async fn a_request_that_waits_is_never_trimmed(database: &Database) {
    let store =
        database.open(Limits { max_events_per_session: Some(2), ..Limits::default() }).await;
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), request(1), event("b"), event("c"), event("d")]).await;
    assert_eq!(ids(&store, id(1)).await, ["request-1", "b", "c", "d"]);
    append(&store, id(1), vec![crate::log::answer(1)]).await;
    assert_eq!(ids(&store, id(1)).await, ["d", "answer-1"]);
    assert!(store.turns(hotseat_store::TurnQuery::default()).await.unwrap().is_empty());
}

async fn the_oldest_messages_go(database: &Database) {
    let store = database.open(Limits { max_messages_per_session: 2, ..Limits::default() }).await;
    created(&store, 1).await;
    for word in ["one", "two", "three"] {
        append(&store, id(1), vec![said(word, word)]).await;
    }
    let messages = store.messages(id(1)).await.unwrap();
    let words: Vec<_> = messages.iter().map(|message| message.content.as_str()).collect();
    assert_eq!(words, ["two", "three"]);
    assert_eq!(session(&store, id(1)).await.message_count, 2);
    assert_eq!(log(&store, id(1)).await.len(), 3, "their events stay");
}

async fn the_session_nobody_touched_for_longest_makes_room(database: &Database) {
    let store = database.open(Limits { max_sessions: Some(2), ..Limits::default() }).await;
    created(&store, 1).await;
    created(&store, 2).await;
    visit(&store, 1, 100).await;
    created(&store, 3).await;
    assert!(store.session(id(2)).await.unwrap().is_none());
    assert!(store.session(id(1)).await.unwrap().is_some());
    assert_eq!(removed(&store, RemovalReason::TooManySessions).await.0, 1);
}

async fn a_session_that_waits_makes_no_room(database: &Database) {
    let store = database.open(Limits { max_sessions: Some(1), ..Limits::default() }).await;
    created(&store, 1).await;
    append(&store, id(1), vec![request(1)]).await;
    created(&store, 2).await;
    assert!(store.session(id(1)).await.unwrap().is_some());
    assert!(store.session(id(2)).await.unwrap().is_some());
}

async fn sessions_expire_after_their_last_touch(database: &Database) {
    let store = database.open(Limits::default()).await;
    for n in 1..=3 {
        created(&store, n).await;
        append(&store, id(n), vec![said("a", "Hello")]).await;
    }
    visit(&store, 2, 5000).await;
    append(&store, id(3), vec![request(1)]).await;
    sweep(&store, Sweep { untouched_since: Some(at(1000)), empty_since: None }).await;
    assert!(store.session(id(1)).await.unwrap().is_none());
    assert!(store.session(id(2)).await.unwrap().is_some(), "somebody read it");
    assert!(store.session(id(3)).await.unwrap().is_some(), "somebody has to answer");
    assert_eq!(removed(&store, RemovalReason::Expired).await, (1, 1));
}

async fn sessions_without_a_word_go_sooner(database: &Database) {
    let store = database.open(Limits::default()).await;
    created(&store, 1).await;
    created(&store, 2).await;
    append(&store, id(2), vec![said("a", "Hello")]).await;
    sweep(&store, Sweep { untouched_since: None, empty_since: Some(at(1000)) }).await;
    assert!(store.session(id(1)).await.unwrap().is_none());
    assert!(store.session(id(2)).await.unwrap().is_some());
    assert_eq!(removed(&store, RemovalReason::Empty).await, (1, 0));
}

async fn too_many_bytes_push_out_the_oldest(database: &Database) {
    let store = database.open(Limits { max_store_bytes: Some(2500), ..Limits::default() }).await;
    for n in 1..=4_u8 {
        let new = hotseat_store::NewSession { created_at: at(n.into()), ..new_session(n.into()) };
        store.create_session(new).await.unwrap();
        append(&store, id(n.into()), vec![said("a", &"x".repeat(1000))]).await;
    }
    sweep(&store, Sweep::default()).await;
    let left: Vec<_> = {
        let mut left = Vec::new();
        for n in 1..=4_u128 {
            left.push(store.session(id(n)).await.unwrap().is_some());
        }
        left
    };
    assert_eq!(left, [false, false, true, true]);
    assert_eq!(removed(&store, RemovalReason::TooManyBytes).await, (2, 2));
}

/// Compressed or not, a payload comes back as it was.
#[tokio::test]
async fn large_payloads_are_compressed_and_come_back_verbatim() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let limits = Limits { compress_over_bytes: Some(100), ..Limits::default() };
    let large = format!(
        r#"{{"author": "root",  "odd": [1e2, 1.50], "text": "{}ü"}}"#,
        "again ".repeat(500)
    );
    {
        let store = Store::sqlite(&path, limits).unwrap();
        created(&store, 1).await;
        let small = hotseat_core::NewEvent { payload: raw(r#"{"author":"a"}"#), ..event("small") };
        let large = hotseat_core::NewEvent { payload: raw(&large), ..event("large") };
        append(&store, id(1), vec![small, large]).await;
    }
    let kinds: Vec<(String, i64)> = rusqlite::Connection::open(&path)
        .unwrap()
        .prepare("SELECT typeof(payload), length(payload) FROM events ORDER BY seq")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!((kinds[0].0.as_str(), kinds[1].0.as_str()), ("text", "blob"));
    assert!(kinds[1].1 < 300, "{} bytes", kinds[1].1);
    let uncompressed = Limits { compress_over_bytes: None, ..Limits::default() };
    let store = Store::sqlite(&path, uncompressed).unwrap();
    assert_eq!(log(&store, id(1)).await[1].payload.get(), large);
}
