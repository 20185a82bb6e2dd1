//! A database that goes away under load: it restarts, it crashes, or the line to it goes dead
//! without anybody saying so.

use std::time::Duration;

use hotseat_core::Seq;
use hotseat_store::{AppendError, Expected, Limits, Store, StoreError};
use hotseat_testkit::{Fall, LoneDatabase, Proxy, TestDatabase};
use tokio::sync::watch;
use tokio::time::timeout;

use crate::log::{answer, append, created, event, id, ids, log, request, seqs, session};

/// Far more than a reader needs to hear of something.
const SOON: Duration = Duration::from_secs(30);

const WRITERS: usize = 6;

/// Appends until it is told to stop; every one of them has to be acknowledged, however long
/// the database is away, and to be new. Gives how many there were.
async fn write(
    store: Store,
    writer: usize,
    enough: watch::Receiver<bool>,
    acks: watch::Sender<u64>,
) -> usize {
    let mut n = 0;
    while !*enough.borrow() {
        let events = vec![event(&format!("{writer}-{n}-a")), event(&format!("{writer}-{n}-b"))];
        let appended = append(&store, id(1), events).await;
        assert_eq!(appended.new, 2, "what was never acknowledged is written once");
        acks.send_modify(|acks| *acks += 1);
        n += 1;
    }
    n
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_restarts_under_load_is_a_pause() {
    let mut database = LoneDatabase::start();
    let url = database.url();
    let open = || Store::postgres(&url, Limits::default());
    let (one, two) = (open().await.unwrap(), open().await.unwrap());
    created(&one, 1).await;
    append(&one, id(1), vec![request(1)]).await;
    let mut head = two.watch(id(1));
    let (enough, until) = watch::channel(false);
    let (acks, mut acknowledged) = watch::channel(0);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = [&one, &two][writer % 2].clone();
            tokio::spawn(write(store, writer, until.clone(), acks.clone()))
        })
        .collect();
    for how in [Fall::Stopped, Fall::Crashed, Fall::Crashed] {
        let before = *acknowledged.borrow();
        acknowledged.wait_for(|acks| *acks >= before + 20).await.unwrap();
        tokio::task::block_in_place(|| {
            database.fall(how);
            database.rise();
        });
    }
    let before = *acknowledged.borrow();
    acknowledged.wait_for(|acks| *acks >= before + 20).await.unwrap();
    enough.send_replace(true);
    let mut written = 0;
    for writer in writers {
        written += 2 * writer.await.unwrap();
    }

    let there = log(&one, id(1)).await;
    assert_eq!(seqs(&there), (1..=written as u64 + 1).collect::<Vec<_>>());
    for writer in 0..WRITERS {
        let own: Vec<_> = there
            .iter()
            .filter(|event| event.event_id.starts_with(&format!("{writer}-")))
            .map(|event| event.event_id.clone())
            .collect();
        let expected: Vec<_> = (0..own.len() / 2)
            .flat_map(|n| [format!("{writer}-{n}-a"), format!("{writer}-{n}-b")])
            .collect();
        assert_eq!(own, expected, "the order of one writer is kept");
    }
    // The turn that waited all along is answered, and the other replica's readers hear of it.
    let last = append(&one, id(1), vec![answer(1)]).await.last_seq;
    timeout(SOON, head.wait_for(|head| *head == last)).await.unwrap().unwrap();
}

/// The line goes dead without a word: what is sent is swallowed, and nothing comes.
#[tokio::test]
async fn a_line_that_goes_dead_is_given_up_and_a_new_one_is_found() {
    let database = TestDatabase::create();
    let proxy = Proxy::to(database.address()).await;
    let far = Store::postgres(&database.url_through(proxy.port), Limits::default()).await.unwrap();
    let near = Store::postgres(&database.url(), Limits::default()).await.unwrap();
    created(&far, 1).await;
    append(&far, id(1), vec![event("before")]).await;
    let mut head = far.watch(id(1));
    proxy.swallow();
    // Nothing but time passes on that line now.
    tokio::time::pause();
    let refused = far.append(id(1), Expected::Any, vec![event("lost")]).await.unwrap_err();
    assert!(matches!(refused, AppendError::Store(StoreError::Undecided { .. })), "{refused}");
    let unread = far.session(id(1)).await.unwrap_err();
    assert!(matches!(unread, StoreError::Undecided { .. }), "{unread}");
    tokio::time::resume();
    append(&near, id(1), vec![event("meanwhile")]).await;

    // New connections get through again; those that were swallowed stay dead for ever.
    proxy.carry_new();
    let last = append(&far, id(1), vec![event("lost"), event("after")]).await.last_seq;
    assert_eq!(last, Seq::new(4));
    assert_eq!(ids(&near, id(1)).await, ["before", "meanwhile", "lost", "after"]);
    assert_eq!(session(&far, id(1)).await.last_seq, last);
    // Whoever watches from there hears of what others write, too.
    let last = append(&near, id(1), vec![event("told")]).await.last_seq;
    timeout(SOON, head.wait_for(|head| *head == last)).await.unwrap().unwrap();
}
