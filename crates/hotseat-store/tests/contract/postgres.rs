//! What only PostgreSQL promises: many processes, and connections that may be lost.

use std::collections::BTreeSet;
use std::time::Duration;

use hotseat_core::Seq;
use hotseat_store::{
    AppendError, Change, Created, Expected, Limits, MAX_SIGNAL_BYTES, SignalTooLarge, Store,
    StoreError,
};
use hotseat_testkit::{Cut, Proxy, TestDatabase};
use tokio::time::timeout;

use crate::log::{
    answer, append, created, event, id, ids, log, new_session, request, said, seqs, session,
};

/// How long a test waits for what should come at once.
const SOON: Duration = Duration::from_secs(20);

async fn open(database: &TestDatabase) -> Store {
    Store::postgres(&database.url(), Limits::default()).await.unwrap()
}

#[tokio::test]
async fn replicas_that_start_at_once_set_the_database_up_once() {
    let database = TestDatabase::create();
    let opened = (0..8).map(|_| open(&database));
    let stores = futures_util::future::join_all(opened).await;
    created(&stores[0], 1).await;
    for store in &stores {
        assert_eq!(session(store, id(1)).await.last_seq, Seq::START);
    }
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_refused() {
    let database = TestDatabase::create();
    drop(open(&database).await);
    database.query("UPDATE hotseat_schema SET version = 99");
    let refused = Store::postgres(&database.url(), Limits::default()).await.unwrap_err();
    let refused = refused.to_string();
    assert!(
        refused.contains("schema version 99") && refused.contains("newer hotseat"),
        "{refused}"
    );
}

#[tokio::test]
async fn a_database_that_is_not_there_is_named_without_its_password() {
    let url = "postgres://me:secret@127.0.0.1:1/nowhere";
    let refused = Store::postgres(url, Limits::default()).await.unwrap_err();
    assert!(refused.to_string().contains("127.0.0.1:1/nowhere"), "{refused}");
    assert!(!format!("{refused:?}").contains("secret"));
}

#[tokio::test]
async fn what_one_replica_writes_wakes_the_readers_of_another() {
    let database = TestDatabase::create();
    let (one, two) = (open(&database).await, open(&database).await);
    created(&one, 1).await;
    let mut changes = two.changes();
    let mut head = two.watch(id(1));
    append(&one, id(1), vec![said("a", "Hello")]).await;
    timeout(SOON, head.wait_for(|head| *head == Seq::new(1))).await.unwrap().unwrap();
    assert_eq!(ids(&two, id(1)).await, ["a"]);

    assert!(one.delete_session(id(1)).await.unwrap());
    let ended = timeout(SOON, async { while head.changed().await.is_ok() {} }).await;
    assert!(ended.is_ok(), "a stream ends with its session");
    let deleted = Change::Deleted { session: id(1), user_id: "local".to_owned() };
    let told = async { while changes.recv().await.unwrap() != deleted {} };
    timeout(SOON, told).await.unwrap();
}

#[tokio::test]
async fn what_was_missed_is_found_by_looking() {
    let database = TestDatabase::create();
    let store = open(&database).await;
    created(&store, 1).await;
    let mut head = store.watch(id(1));
    // As by a replica that died between its commit and telling of it.
    database.query("UPDATE sessions SET last_seq = 7");
    timeout(SOON, head.wait_for(|head| *head == Seq::new(7))).await.unwrap().unwrap();
}

#[tokio::test]
async fn listeners_are_told_to_look_again_after_the_line_was_lost() {
    let database = TestDatabase::create();
    let store = open(&database).await;
    let mut changes = store.changes();
    database.disconnect_all();
    assert_eq!(timeout(SOON, changes.recv()).await.unwrap().unwrap(), Change::Missed);
}

#[tokio::test]
async fn replicas_that_write_to_one_session_take_turns() {
    let database = TestDatabase::create();
    let stores = [open(&database).await, open(&database).await, open(&database).await];
    for n in [1, 2] {
        created(&stores[0], n).await;
    }
    append(&stores[0], id(2), vec![request(1)]).await;
    let writers: Vec<_> = (0..12_usize)
        .map(|writer| {
            let store = stores[writer % 3].clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    let events = (0..=n % 3).map(|k| event(&format!("{writer}-{n}-{k}")));
                    append(&store, id(1), events.collect()).await;
                }
                let mut answer = answer(1);
                answer.event_id = format!("answer-{writer}");
                store.append(id(2), Expected::Any, vec![answer]).await
            })
        })
        .collect();
    let mut won = 0;
    for writer in writers {
        match writer.await.unwrap() {
            Ok(_) => won += 1,
            Err(AppendError::TurnAnswered { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, 1);
    let log = log(&stores[1], id(1)).await;
    assert_eq!(seqs(&log), (1..=log.len() as u64).collect::<Vec<_>>());
    assert_eq!(log.len(), 12 * 19);
    let different: BTreeSet<_> = log.iter().map(|event| &event.event_id).collect();
    assert_eq!(different.len(), log.len());
}

#[tokio::test]
async fn many_replicas_that_create_one_session_make_one() {
    let database = TestDatabase::create();
    let stores = [open(&database).await, open(&database).await];
    let creators: Vec<_> = (0..16_usize)
        .map(|n| {
            let store = stores[n % 2].clone();
            tokio::spawn(async move { store.create_session(new_session(1)).await.unwrap() })
        })
        .collect();
    let mut new = 0;
    for creator in creators {
        new += usize::from(matches!(creator.await.unwrap(), Created::New(_)));
    }
    assert_eq!(new, 1);
}

#[tokio::test]
async fn an_append_whose_commit_was_cut_off_is_answered_truly() {
    let database = TestDatabase::create();
    let proxy = Proxy::to(database.address()).await;
    let url = database.url_through(proxy.port);
    let store = Store::postgres(&url, Limits::default()).await.unwrap();
    created(&store, 1).await;
    let mut last = Seq::START;
    for (n, cut) in [(1, Cut::After), (2, Cut::Before), (3, Cut::After)] {
        proxy.cut_next_commit(cut);
        let events = vec![event(&format!("{n}-a")), event(&format!("{n}-b"))];
        // A place is expected, so that doing it twice could not go unnoticed.
        let appended = store.append(id(1), Expected::Exactly(last), events).await.unwrap();
        assert!(proxy.was_cut());
        assert_eq!((appended.new, appended.last_seq), (2, last.next().next()), "{cut:?}");
        last = appended.last_seq;
    }
    assert_eq!(ids(&store, id(1)).await, ["1-a", "1-b", "2-a", "2-b", "3-a", "3-b"]);
    let figures = store.figures(crate::log::at(0)).await.unwrap();
    assert_eq!(figures.minutes.iter().map(|minute| minute.events).sum::<u64>(), 6);
}

#[tokio::test]
async fn a_session_whose_creation_was_cut_off_is_new_once() {
    let database = TestDatabase::create();
    let proxy = Proxy::to(database.address()).await;
    let url = database.url_through(proxy.port);
    let store = Store::postgres(&url, Limits::default()).await.unwrap();
    for (n, cut) in [(1, Cut::After), (2, Cut::Before)] {
        proxy.cut_next_commit(cut);
        let made = store.create_session(new_session(n)).await.unwrap();
        assert!(proxy.was_cut() && matches!(made, Created::New(_)), "{cut:?}");
    }
    proxy.cut_next_commit(Cut::After);
    assert!(store.delete_session(id(1)).await.unwrap());
    assert!(proxy.was_cut());
    assert!(!store.delete_session(id(1)).await.unwrap());
}

#[tokio::test]
async fn acknowledged_events_are_there_once_however_often_connections_are_lost() {
    let database = TestDatabase::create();
    let store = open(&database).await;
    created(&store, 1).await;
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let store = store.clone();
            tokio::spawn(async move {
                for n in 0..25 {
                    let appended =
                        append(&store, id(1), vec![event(&format!("{writer}-{n}"))]).await;
                    assert_eq!(appended.new, 1);
                    assert!(session(&store, id(1)).await.last_seq >= appended.last_seq);
                }
            })
        })
        .collect();
    while !writers.iter().all(tokio::task::JoinHandle::is_finished) {
        let seen = session(&store, id(1)).await.last_seq;
        database.disconnect_all();
        // Let some through, so that it ends.
        while session(&store, id(1)).await.last_seq < Seq::new((seen.get() + 20).min(200)) {}
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(seqs(&log(&store, id(1)).await), (1..=200).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_write_that_cannot_be_decided_fails_clearly() {
    let database = TestDatabase::create();
    let proxy = Proxy::to(database.address()).await;
    let url = database.url_through(proxy.port);
    let store = Store::postgres(&url, Limits::default()).await.unwrap();
    created(&store, 1).await;
    proxy.close();
    // Nothing but time passes now.
    tokio::time::pause();
    let refused = store.append(id(1), Expected::Any, vec![event("a")]).await.unwrap_err();
    assert!(matches!(refused, AppendError::Store(StoreError::Undecided { .. })), "{refused}");
    let unread = store.session(id(1)).await.unwrap_err();
    assert!(matches!(unread, StoreError::Undecided { .. }), "{unread}");
}

#[tokio::test]
async fn a_signal_reaches_whoever_listens_in_any_replica() {
    let database = TestDatabase::create();
    let (one, two) = (open(&database).await, open(&database).await);
    let (mut here, mut there) = (one.signals(), two.signals());
    // Together far more than fits in one notification.
    let all: Vec<Vec<u8>> = (0..20_u8)
        .map(|n| vec![n; MAX_SIGNAL_BYTES])
        .chain([b"it's \\ a \0 signal".to_vec(), vec![]])
        .collect();
    for bytes in &all {
        one.signal(id(1), bytes).unwrap();
    }
    for listener in [&mut here, &mut there] {
        for bytes in &all {
            let heard = timeout(SOON, listener.recv()).await.unwrap().unwrap();
            assert_eq!((heard.session, &*heard.bytes), (id(1), &bytes[..]));
        }
    }
    assert!(here.try_recv().is_err(), "nobody hears themselves twice");
    let too_large = vec![0; MAX_SIGNAL_BYTES + 1];
    assert_eq!(one.signal(id(1), &too_large), Err(SignalTooLarge(MAX_SIGNAL_BYTES + 1)));
}

#[tokio::test]
async fn more_changes_than_can_be_named_are_found_all_the_same() {
    let database = TestDatabase::create();
    let (one, two) = (open(&database).await, open(&database).await);
    let sessions = 1..=400;
    let created = sessions.clone().map(|n| created(&one, n));
    futures_util::future::join_all(created).await;
    let heads: Vec<_> = sessions.clone().map(|n| two.watch(id(n))).collect();
    let appended = sessions.map(|n| append(&one, id(n), vec![event("a")]));
    futures_util::future::join_all(appended).await;
    for mut head in heads {
        timeout(SOON, head.wait_for(|head| *head == Seq::new(1))).await.unwrap().unwrap();
    }
}
