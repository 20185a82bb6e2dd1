//! Whatever is done to a store, it answers what its logs say.

use std::fmt::Write as _;

use hotseat_core::{Event, Kind, Message, NewEvent, Seq, SessionId, SessionStatus};
use hotseat_store::{
    EventQuery, Expected, Limits, NewSession, Order, Running, Session, SessionQuery, Sort, Store,
    TurnQuery, Waiting,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::database::Database;
use crate::log::{
    answer, at, completion, dismissal, event, id, log, new_session, raw, request, run, said, seqs,
};
use crate::summary::Summary;

/// Something to do to a store.
#[derive(Debug, Clone)]
enum Step {
    Create { session: u128, at: i64, agent: Option<String> },
    Append { session: u128, expected: Option<u64>, events: Vec<NewEvent> },
    Delete { session: u128 },
    Index,
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
        3 => (0..12_u8, 0..3_u8, -2..3_i8).prop_map(|(n, key, value)| {
            let delta = json!({"author": "root", "actions": {"state_delta": {
                format!("key-{key}"): value, "temp:never": 1}}});
            NewEvent { payload: raw(&delta.to_string()), ..event(&format!("state-{n}")) }
        }),
        2 => (0..4_u8, any::<bool>()).prop_map(|(n, asks)| asking(n, asks)),
        2 => (0..8_u8, 0..3_u8).prop_map(|(n, phase)| {
            let told = json!({"type": "research_progress", "current_phase": format!("phase {phase}"),
                "overall_progress": f64::from(n) * 7.5});
            NewEvent { payload: raw(&told.to_string()), ..event(&format!("told-{n}")) }
        }),
        1 => (0..4_u8).prop_map(|n| {
            let message = json!({"id": format!("m-{n}"), "role": "user", "content": "Words"});
            NewEvent {
                kind: Kind::Message,
                payload: raw(&message.to_string()),
                ..event(&format!("message-{n}"))
            }
        }),
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
            branch: (milliseconds % 3 == 0).then(|| "left".to_owned()),
            ..event
        }
    })
}

/// ADK asks the user for something, or the user answers.
fn asking(n: u8, asks: bool) -> NewEvent {
    let call = json!({"id": format!("ask-{n}"), "name": "adk_request_confirmation"});
    let (author, part) = if asks {
        ("root", json!({"function_call": call}))
    } else {
        ("user", json!({"function_response": call}))
    };
    let payload = json!({"author": author, "content": {"parts": [part]}});
    NewEvent {
        author: author.to_owned(),
        payload: raw(&payload.to_string()),
        ..event(&format!("ask-{n}-{asks}"))
    }
}

fn event_query() -> impl Strategy<Value = EventQuery> {
    (
        (0..8_u64, prop::option::of(-20..40_i64), prop::option::of(-20..40_i64)),
        prop::sample::subsequence(Kind::ALL.to_vec(), 0..=3),
        prop::option::of(0..3_u8),
        prop::option::of(prop::sample::select(vec!["user", "root", "human"])),
        (prop::option::of(Just("left")), prop::option::weighted(0.2, Just("research_progress"))),
        (any::<bool>(), any::<bool>()),
        0..6_usize,
    )
        .prop_map(
            |(
                (after, later, not_before),
                kinds,
                invocation,
                author,
                (branch, told),
                sorted,
                limit,
            )| {
                let seconds = |milliseconds| at(milliseconds).as_duration().as_secs_f64();
                EventQuery {
                    after: Seq::new(after),
                    later_than: later.map(seconds),
                    not_before: not_before.map(seconds),
                    kinds,
                    invocation_id: invocation.map(|n| format!("e-{n}")),
                    author: author.map(str::to_owned),
                    branch: branch.map(str::to_owned),
                    event_type: told.map(str::to_owned),
                    sort: if sorted.0 { Sort::Time } else { Sort::Arrival },
                    order: if sorted.1 { Order::Descending } else { Order::Ascending },
                    limit,
                    max_bytes: 0,
                }
            },
        )
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
        2 => Just(Step::Index),
        3 => (session(), event_query()).prop_map(|(session, query)| Step::Events { session, query }),
        2 => session_query().prop_map(Step::Sessions),
        2 => (prop::option::of(session()), any::<bool>()).prop_map(|(session, answered)| {
            Step::Turns(TurnQuery { session: session.map(id), user_id: None, answered })
        }),
    ]
}

/// Takes a step, and checks its answer against the whole of what the store holds.
async fn take(store: &Store, step: Step) {
    match step {
        Step::Create { session, at: milliseconds, agent } => {
            let new = NewSession { created_at: at(milliseconds), agent, ..new_session(session) };
            store.create_session(new).await.unwrap();
        }
        Step::Append { session, expected, events } => {
            let expected = expected.map_or(Expected::Any, |n| Expected::Exactly(Seq::new(n)));
            let before = everything(store).await;
            if store.append(id(session), expected, events).await.is_err() {
                assert_eq!(everything(store).await, before, "a refusal leaves no trace");
            }
        }
        Step::Delete { session } => {
            let was_there = store.session(id(session)).await.unwrap().is_some();
            assert_eq!(store.delete_session(id(session)).await.unwrap(), was_there);
            assert_eq!(store.session(id(session)).await.unwrap(), None);
            assert!(log(store, id(session)).await.is_empty());
        }
        Step::Index => {
            let before = everything(store).await;
            store.index().await.unwrap();
            assert_eq!(everything(store).await, before, "an index changes nothing but speed");
        }
        Step::Events { session, query } => {
            let found = store.events(id(session), query.clone()).await.unwrap();
            let expected = filtered(log(store, id(session)).await, &query);
            assert_eq!(seqs(&found), seqs(&expected), "{query:?}");
        }
        Step::Sessions(query) => {
            let mut expected = all_sessions(store).await;
            expected.retain(|session| matches(session, &query));
            let mut found = Vec::new();
            let mut next = query;
            loop {
                let page = store.sessions(next.clone()).await.unwrap();
                found.extend(page.items);
                match page.next {
                    Some(cursor) => next.cursor = Some(cursor),
                    None => break,
                }
            }
            assert_eq!(found, expected);
        }
        Step::Turns(query) => {
            let found = store.turns(query.clone()).await.unwrap();
            let of_session = |turn: &hotseat_store::Turn| {
                query.session.is_none_or(|session| session == turn.session_id)
            };
            assert!(found.iter().all(of_session));
            assert!(query.answered || found.iter().all(|turn| turn.response.is_none()));
        }
    }
}

/// What a query must find in a log, worked out without the database.
fn filtered(mut log: Vec<Event>, query: &EventQuery) -> Vec<Event> {
    let time = |event: &Event| match event.kind {
        // The events made here tell no time of their own.
        Kind::Event => 0.0,
        _ => event.timestamp.as_duration().as_secs_f64(),
    };
    log.retain(|event| {
        let place = match query.order {
            Order::Ascending => event.seq > query.after,
            Order::Descending => query.after == Seq::START || event.seq < query.after,
        };
        place
            && query.later_than.is_none_or(|bound| time(event) > bound)
            && query.not_before.is_none_or(|bound| time(event) >= bound)
            && (query.kinds.is_empty() || query.kinds.contains(&event.kind))
            && (query.invocation_id.is_none() || query.invocation_id == event.invocation_id)
            && query.author.as_ref().is_none_or(|author| *author == event.author)
            && (query.branch.is_none() || query.branch == event.branch)
            && query.event_type.as_ref().is_none_or(|event_type| {
                event.kind == Kind::Event && event.payload.get().contains(event_type.as_str())
            })
    });
    if query.sort == Sort::Time {
        log.sort_by(|a, b| time(a).total_cmp(&time(b)).then(a.seq.cmp(&b.seq)));
    }
    if query.order == Order::Descending {
        log.reverse();
    }
    if query.limit > 0 {
        log.truncate(query.limit);
    }
    log
}

fn matches(session: &Session, query: &SessionQuery) -> bool {
    let text = query.text.as_ref().map(|text| text.to_lowercase());
    let holds = |field: &Option<String>, text: &str| {
        field.as_ref().is_some_and(|field| field.to_lowercase().contains(text))
    };
    query.status.is_none_or(|status| status == session.status)
        && (query.agent.is_none() || query.agent == session.agent)
        && (query.waiting == Waiting::Either || session.pending_turns + session.open_requests > 0)
        && (query.running == Running::Either || session.run.is_some())
        && text.is_none_or(|text| {
            holds(&session.title, &text)
                || holds(&session.description, &text)
                || holds(&session.agent, &text)
                || session.id.to_string().starts_with(&text)
        })
}

async fn all_sessions(store: &Store) -> Vec<Session> {
    let all = SessionQuery { limit: 100, ..SessionQuery::default() };
    store.sessions(all).await.unwrap().items
}

/// All that a store holds, as text.
async fn everything(store: &Store) -> String {
    let mut text = String::new();
    for session in all_sessions(store).await {
        let log = log(store, session.id).await;
        let (state, messages) = derived(store, session.id).await;
        write!(text, "{session:?}{log:?}{state:?}{messages:?}").unwrap();
    }
    text
}

async fn derived(store: &Store, session: SessionId) -> (String, Vec<Message>) {
    let state = store.session_state(session).await.unwrap();
    (Value::Object(state).to_string(), store.messages(session).await.unwrap())
}

/// Takes the steps in an empty store, and looks whether it all fits together.
async fn check(store: Store, steps: Vec<Step>) {
    for step in steps {
        take(&store, step).await;
    }
    for session in all_sessions(&store).await {
        let log = log(&store, session.id).await;
        assert_eq!(Summary::stored(&session), Summary::computed(session.created_at, &log));
        let before = derived(&store, session.id).await;
        store.rebuild(session.id).await.unwrap();
        let again = store.session(session.id).await.unwrap().unwrap();
        assert_eq!(again, session, "rebuilt equals stored");
        assert_eq!(derived(&store, session.id).await, before, "rebuilt equals stored");
    }
}

fn finish(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(work);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48,
        // What failed is printed; a file of old failures would hide whether it still can.
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_done_answers_and_summaries_are_what_the_logs_say(
        steps in prop::collection::vec(step(), 1..40)
    ) {
        finish(async { check(Store::scratch(Limits::default()).unwrap(), steps).await });
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        // Each has a database of its own.
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn whatever_is_done_answers_and_summaries_are_what_the_logs_say_on_postgres(
        steps in prop::collection::vec(step(), 1..40)
    ) {
        let database = Database::postgres();
        finish(async { check(database.open(Limits::default()).await, steps).await });
    }
}
