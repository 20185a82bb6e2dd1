//! Many writers at once.

use std::collections::BTreeSet;

use hotseat_store::{AppendError, Expected, Store};

use crate::log::{answer, append, at, created, event, id, log, request, seqs, session};
use crate::suite;
use crate::summary::Summary;

suite!(
    every_acknowledged_event_is_there_once_and_in_its_place,
    one_of_many_answers_wins,
    writers_that_expect_a_place_take_turns,
    many_creators_of_one_session_make_one,
);

const WRITERS: usize = 16;

async fn every_acknowledged_event_is_there_once_and_in_its_place(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut acknowledged = Vec::new();
            for n in 0..20 {
                let target = id(1 + (n % 2));
                let ids: Vec<_> = (0..=n % 3).map(|part| format!("{writer}-{n}-{part}")).collect();
                let events = ids.iter().map(|id| event(id)).collect();
                let appended = append(&store, target, events).await;
                assert_eq!(appended.new, ids.len());
                acknowledged.extend(appended.seqs.into_iter().zip(ids).map(|ack| (target, ack)));
            }
            acknowledged
        })
    });
    let mut acknowledged = Vec::new();
    for writer in writers.collect::<Vec<_>>() {
        acknowledged.extend(writer.await.unwrap());
    }
    for n in [1, 2] {
        let log = log(&store, id(n)).await;
        let gapless: Vec<u64> = (1..=log.len() as u64).collect();
        assert_eq!(seqs(&log), gapless);
        let there: BTreeSet<_> =
            log.iter().map(|event| (event.seq, event.event_id.clone())).collect();
        let promised: BTreeSet<_> = acknowledged
            .iter()
            .filter(|(session, _)| *session == id(n))
            .map(|(_, acknowledged)| acknowledged.clone())
            .collect();
        assert_eq!(there, promised);
        let stored = Summary::stored(&session(&store, id(n)).await);
        assert_eq!(stored, Summary::computed(at(0), &log));
    }
}

async fn one_of_many_answers_wins(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![request(1)]).await;
    let writers = (0..WRITERS).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            let mut answer = answer(1);
            answer.event_id = format!("answer-{writer}");
            store.append(id(1), Expected::Any, vec![answer]).await
        })
    });
    let mut won = 0;
    for writer in writers.collect::<Vec<_>>() {
        match writer.await.unwrap() {
            Ok(_) => won += 1,
            Err(AppendError::TurnAnswered { .. }) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won, 1);
    assert_eq!(log(&store, id(1)).await.len(), 2);
}

async fn writers_that_expect_a_place_take_turns(store: Store) {
    created(&store, 1).await;
    let writers = (0..4).map(|writer| {
        let store = store.clone();
        tokio::spawn(async move {
            for n in 0..10 {
                loop {
                    let seen = session(&store, id(1)).await.last_seq;
                    let event = event(&format!("{writer}-{n}"));
                    match store.append(id(1), Expected::Exactly(seen), vec![event]).await {
                        Ok(appended) => {
                            assert_eq!(appended.last_seq, seen.next());
                            break;
                        }
                        Err(AppendError::Conflict { expected, actual, .. }) => {
                            assert!(expected == seen && actual > seen);
                        }
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    assert_eq!(log(&store, id(1)).await.len(), 40);
}

async fn many_creators_of_one_session_make_one(store: Store) {
    let creators = (0..WRITERS).map(|_| {
        let store = store.clone();
        tokio::spawn(async move { store.create_session(crate::log::new_session(1)).await.unwrap() })
    });
    let mut new = 0;
    for creator in creators.collect::<Vec<_>>() {
        new += usize::from(matches!(creator.await.unwrap(), hotseat_store::Created::New(_)));
    }
    assert_eq!(new, 1);
}
