//! Whatever is done to them, memory and SQLite answer the same.

use std::fmt::Write as _;

use hotseat_core::{Kind, NewEvent, Seq, SessionStatus};
use hotseat_store::{
    EventQuery, Expected, NewSession, Order, Running, SessionQuery, Store, TurnQuery, Waiting,
};
use proptest::prelude::*;

use crate::log::{
    answer, at, completion, dismissal, event, id, log, new_session, request, run, said,
};
use crate::summary::Summary;

/// Something to do to a store.
#[derive(Debug, Clone)]
enum Step {
    Create { session: u128, at: i64, agent: Option<String> },
    Append { session: u128, expected: Option<u64>, events: Vec<NewEvent> },
    Delete { session: u128 },
    Events { session: u128, query: EventQuery },
    Sessions(SessionQuery),
    Turns(TurnQuery),
}

fn session() -> impl Strategy<Value = u128> {
    0..4_u128
}

/// Few ids, so that steps meet.
fn new_event() -> impl Strategy<Value = NewEvent> {
    let plain = prop_oneof![
        4 => (0..12_u8).prop_map(|n| event(&format!("event-{n}"))),
        2 => (0..4_u8).prop_map(|n| said(&format!("said-{n}"), &format!("Words, number {n}"))),
        4 => (0..6_u128).prop_map(request),
        3 => (0..6_u128).prop_map(answer),
        2 => (0..6_u128).prop_map(dismissal),
        3 => (0..3_u128, prop::sample::select(vec!["queued", "started", "finished", "cancelled"]))
            .prop_map(|(n, status)| run(n, status)),
        1 => Just(completion()),
    ];
    (plain, -20..40_i64, prop::option::of(0..3_u8)).prop_map(|(event, milliseconds, invocation)| {
        NewEvent {
            timestamp: at(milliseconds),
            invocation_id: invocation.map(|n| format!("e-{n}")),
            ..event
        }
    })
}

fn event_query() -> impl Strategy<Value = EventQuery> {
    (
        0..8_u64,
        prop::option::of(-20..40_i64),
        prop::sample::subsequence(Kind::ALL.to_vec(), 0..=3),
        prop::option::of(0..3_u8),
        prop::option::of(prop::sample::select(vec!["user", "root", "human"])),
        any::<bool>(),
        0..6_usize,
    )
        .prop_map(|(after, after_timestamp, kinds, invocation, author, backwards, limit)| {
            EventQuery {
                after: Seq::new(after),
                after_timestamp: after_timestamp.map(at),
                kinds,
                invocation_id: invocation.map(|n| format!("e-{n}")),
                author: author.map(str::to_owned),
                order: if backwards { Order::Descending } else { Order::Ascending },
                limit,
            }
        })
}

fn session_query() -> impl Strategy<Value = SessionQuery> {
    (
        0..4_usize,
        prop::option::of(prop::sample::select(vec!["words", "NUMBER 1", "math", "0000", "%", "_"])),
        prop::option::of(prop::sample::select(vec![
            SessionStatus::Active,
            SessionStatus::Completed,
        ])),
        prop::option::of(Just("math".to_owned())),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(limit, text, status, agent, waiting, running)| SessionQuery {
            limit,
            text: text.map(str::to_owned),
            status,
            agent,
            waiting: if waiting { Waiting::Only } else { Waiting::Either },
            running: if running { Running::Only } else { Running::Either },
            ..SessionQuery::default()
        })
}

fn step() -> impl Strategy<Value = Step> {
    let agent = prop::option::of(prop::sample::select(vec!["math".to_owned(), "_".to_owned()]));
    prop_oneof![
        3 => (session(), -20..40_i64, agent)
            .prop_map(|(session, at, agent)| Step::Create { session, at, agent }),
        10 => (session(), prop::option::weighted(0.2, 0..6_u64), prop::collection::vec(new_event(), 0..5))
            .prop_map(|(session, expected, events)| Step::Append { session, expected, events }),
        1 => session().prop_map(|session| Step::Delete { session }),
        3 => (session(), event_query()).prop_map(|(session, query)| Step::Events { session, query }),
        2 => session_query().prop_map(Step::Sessions),
        2 => (prop::option::of(session()), any::<bool>()).prop_map(|(session, answered)| {
            Step::Turns(TurnQuery { session: session.map(id), answered })
        }),
    ]
}

/// Takes a step and gives everything it answered, as text.
async fn take(store: &Store, step: Step) -> String {
    match step {
        Step::Create { session, at: milliseconds, agent } => {
            let new = NewSession { created_at: at(milliseconds), agent, ..new_session(session) };
            format!("{:?}", store.create_session(new).await)
        }
        Step::Append { session, expected, events } => {
            let expected = expected.map_or(Expected::Any, |n| Expected::Exactly(Seq::new(n)));
            format!("{:?}", store.append(id(session), expected, events).await)
        }
        Step::Delete { session } => format!("{:?}", store.delete_session(id(session)).await),
        Step::Events { session, query } => {
            format!("{:?}", store.events(id(session), query).await)
        }
        Step::Sessions(mut query) => {
            let mut pages = String::new();
            loop {
                let page = store.sessions(query.clone()).await.unwrap();
                write!(pages, "{page:?}").unwrap();
                match page.next {
                    Some(next) => query.cursor = Some(next),
                    None => return pages,
                }
            }
        }
        Step::Turns(query) => format!("{:?}", store.turns(query).await),
    }
}

/// All that a store holds, as text; every summary is checked against its log.
async fn contents(store: &Store) -> String {
    let all = SessionQuery { limit: 100, ..SessionQuery::default() };
    let sessions = store.sessions(all).await.unwrap().items;
    let mut text = format!("{:?} {:?}", store.counts().await.unwrap(), sessions);
    for session in sessions {
        let log = log(store, session.id).await;
        assert_eq!(Summary::stored(&session), Summary::computed(session.created_at, &log));
        write!(text, "{log:?}").unwrap();
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        // What failed is printed; a file of old failures would hide whether it still can.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn memory_and_sqlite_answer_the_same(steps in prop::collection::vec(step(), 1..40)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let folder = tempfile::tempdir().unwrap();
            let sqlite = Store::sqlite(&folder.path().join("hotseat.db")).unwrap();
            let memory = Store::memory();
            for step in steps {
                let shown = format!("{step:?}");
                let answers = (take(&memory, step.clone()).await, take(&sqlite, step).await);
                assert_eq!(answers.0, answers.1, "{shown}");
            }
            assert_eq!(contents(&memory).await, contents(&sqlite).await);
        });
    }
}
