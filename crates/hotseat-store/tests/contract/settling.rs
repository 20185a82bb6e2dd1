//! What is derived from events follows them later; nobody may notice.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hotseat_core::{NewEvent, SessionId};
use hotseat_store::{
    AdkEventQuery, AdkSessionQuery, EventQuery, Expected, NewSession, Running, SearchQuery,
    SessionQuery, Sort, Store, TurnQuery, Waiting,
};
use serde_json::json;

use crate::log::{
    answer, append, at, created, event, id, ids, log, new_session, raw, request, run, said, seqs,
    session,
};
use crate::suite;

suite!(
    an_append_is_seen_at_once_by_whoever_reads,
    a_list_holds_what_was_acknowledged_before_it_while_others_write,
    a_session_is_whole_for_whoever_reads_it_while_it_is_settled,
    what_is_rebuilt_is_the_same_settled_or_not,
    a_session_that_comes_again_knows_nothing_of_the_one_before,
    a_refused_append_of_several_leaves_what_waits_as_it_was,
);

pub(crate) fn told(event_id: &str, payload: &serde_json::Value) -> NewEvent {
    NewEvent { payload: raw(&payload.to_string()), ..event(event_id) }
}

async fn listed(store: &Store, query: SessionQuery) -> Vec<(SessionId, u64)> {
    let page = store.sessions(query).await.unwrap();
    page.items.iter().map(|session| (session.id, session.last_seq.get())).collect()
}

/// Every way to read, right after the append that it has to show, many times over so that
/// nothing of it is settled by chance.
async fn an_append_is_seen_at_once_by_whoever_reads(store: Store) {
    for n in 1..=20 {
        let new = NewSession { source: "plugin".to_owned(), ..new_session(n) };
        store.create_session(new).await.unwrap();
        append(&store, id(n), vec![said("hello", &format!("unheard{n} of"))]).await;
        assert_eq!(session(&store, id(n)).await.last_seq.get(), 1);
        let title = session(&store, id(n)).await.title.unwrap();
        assert_eq!(title, format!("unheard{n} of"));

        append(&store, id(n), vec![run(n, "queued")]).await;
        let running = SessionQuery { running: Running::Only, ..SessionQuery::default() };
        assert!(listed(&store, running).await.contains(&(id(n), 2)));

        append(&store, id(n), vec![event("a")]).await;
        let text = SessionQuery { text: Some(title.clone()), ..SessionQuery::default() };
        assert_eq!(listed(&store, text).await, [(id(n), 3)]);

        append(&store, id(n), vec![said("words", &format!("findable{n}"))]).await;
        let words = SearchQuery { text: format!("findable{n}"), ..SearchQuery::default() };
        let hits = store.search(words).await.unwrap().hits;
        assert_eq!((hits.len(), hits[0].title.as_ref()), (1, Some(&title)));

        let before = store.figures(at(0)).await.unwrap();
        let delta = json!({"author": "root", "timestamp": 9.5, "actions": {"state_delta": {"k": n}},
            "usage_metadata": {"prompt_token_count": 7}});
        append(&store, id(n), vec![event("b"), told("state", &delta)]).await;
        let after = store.figures(at(0)).await.unwrap();
        assert_eq!(after.totals.entries, before.totals.entries + 2);
        assert_eq!(after.prompt_tokens, before.prompt_tokens + 7);
        let counted = |figures: &hotseat_store::Figures| -> u64 {
            figures.minutes.iter().map(|minute| minute.events).sum()
        };
        assert_eq!(counted(&after), counted(&before) + 2);

        append(&store, id(n), vec![event("c")]).await;
        let apps = AdkSessionQuery { app_name: "app".to_owned(), ..AdkSessionQuery::default() };
        let apps = store.adk_sessions(apps).await.unwrap().sessions;
        let (adk, state) = apps.iter().find(|(session, _)| session.id == id(n)).unwrap();
        assert_eq!((adk.last_seq.get(), state["k"].to_string()), (7, n.to_string()));

        append(&store, id(n), vec![event("d"), request(n)]).await;
        let waiting = SessionQuery { waiting: Waiting::Only, ..SessionQuery::default() };
        assert!(listed(&store, waiting).await.contains(&(id(n), 9)));
        let turns = TurnQuery { session: Some(id(n)), ..TurnQuery::default() };
        assert_eq!(store.turns(turns).await.unwrap().len(), 1);

        append(&store, id(n), vec![event("e")]).await;
        assert_eq!(store.session_state(id(n)).await.unwrap()["k"].to_string(), n.to_string());
        assert_eq!(store.messages(id(n)).await.unwrap().len(), 2);
        let whole = AdkEventQuery {
            after: hotseat_core::Seq::START,
            recent: None,
            not_before: None,
            max_bytes: usize::MAX,
        };
        let read = store.adk_session(id(n), whole).await.unwrap().unwrap();
        assert_eq!((read.session.last_seq.get(), read.events.len()), (10, 8));
        let recent = AdkEventQuery { recent: Some(1), ..whole };
        let read = store.adk_session(id(n), recent).await.unwrap().unwrap();
        assert_eq!(read.events[0].seq.get(), 6, "the latest by its own time");
        let by_time = EventQuery { sort: Sort::Time, limit: 100, ..EventQuery::default() };
        assert_eq!(store.events(id(n), by_time).await.unwrap().len(), 10);
    }
}

const WRITERS: u128 = 8;

/// Sessions that are written to, each with `events` events.
struct Writing {
    acknowledged: Arc<Vec<AtomicU64>>,
    writers: Vec<tokio::task::JoinHandle<()>>,
}

impl Writing {
    async fn begin(store: &Store, events: u64, at_once: usize) -> Self {
        let acknowledged: Arc<Vec<AtomicU64>> =
            Arc::new((0..WRITERS).map(|_| AtomicU64::new(0)).collect());
        for n in 0..WRITERS {
            created(store, n).await;
        }
        let write = |n: u128| {
            let (store, acknowledged) = (store.clone(), Arc::clone(&acknowledged));
            tokio::spawn(async move {
                for k in (0..events).step_by(at_once) {
                    let next = k + at_once as u64;
                    append(&store, id(n), (k..next).map(|k| event(&k.to_string())).collect()).await;
                    acknowledged[usize::try_from(n).unwrap()].store(next, Ordering::SeqCst);
                }
            })
        };
        let writers = (0..WRITERS).map(write).collect();
        Self { acknowledged, writers }
    }

    fn is_over(&self) -> bool {
        self.writers.iter().all(tokio::task::JoinHandle::is_finished)
    }

    fn promised(&self, session: u128) -> u64 {
        self.acknowledged[usize::try_from(session).unwrap()].load(Ordering::SeqCst)
    }

    async fn end(self) {
        for writer in self.writers {
            writer.await.unwrap();
        }
    }
}

async fn a_list_holds_what_was_acknowledged_before_it_while_others_write(store: Store) {
    let writing = Writing::begin(&store, 300, 1).await;
    while !writing.is_over() {
        let before: Vec<_> = (0..WRITERS).map(|n| writing.promised(n)).collect();
        for (session, last) in listed(&store, SessionQuery::default()).await {
            let promised = before[usize::try_from(session.uuid().as_u128()).unwrap()];
            assert!(last >= promised, "{last} of {promised}");
        }
        let entries = store.figures(at(0)).await.unwrap().totals.entries;
        assert!(entries >= before.iter().sum::<u64>());
    }
    writing.end().await;
    let figures = store.figures(at(0)).await.unwrap();
    assert_eq!(figures.minutes.iter().map(|minute| minute.events).sum::<u64>(), 2400);
    for n in 0..WRITERS {
        assert_eq!(seqs(&log(&store, id(n)).await), (1..=300).collect::<Vec<_>>());
    }
}

/// Somebody has everything settled all the time, under the eyes of readers.
async fn a_session_is_whole_for_whoever_reads_it_while_it_is_settled(store: Store) {
    let writing = Writing::begin(&store, 600, 4).await;
    let settling = tokio::spawn({
        let store = store.clone();
        async move {
            loop {
                store.index().await.unwrap();
                tokio::task::yield_now().await;
            }
        }
    });
    for n in (0..WRITERS).cycle() {
        let over = writing.is_over();
        let promised = writing.promised(n);
        let read = seqs(&log(&store, id(n)).await);
        assert_eq!(read, (1..=read.len() as u64).collect::<Vec<_>>());
        assert!(read.len() as u64 >= promised, "{} of {promised}", read.len());
        assert!(session(&store, id(n)).await.last_seq.get() >= read.len() as u64);
        if over && n + 1 == WRITERS {
            break;
        }
    }
    settling.abort();
    writing.end().await;
}

async fn what_is_rebuilt_is_the_same_settled_or_not(store: Store) {
    created(&store, 1).await;
    let progress = json!({"type": "research_progress", "overall_progress": 45.5});
    append(&store, id(1), vec![said("a", "Hello"), told("b", &progress)]).await;
    append(&store, id(1), vec![said("c", "Again"), event("d")]).await;
    let before = everything(&store, id(1)).await;
    store.rebuild(id(1)).await.unwrap();
    assert_eq!(everything(&store, id(1)).await, before);
    append(&store, id(1), vec![said("e", "More")]).await;
    let before = everything(&store, id(1)).await;
    store.index().await.unwrap();
    store.rebuild(id(1)).await.unwrap();
    assert_eq!(everything(&store, id(1)).await, before);
}

async fn a_session_that_comes_again_knows_nothing_of_the_one_before(store: Store) {
    for settled in [false, true] {
        created(&store, 1).await;
        append(&store, id(1), vec![said("a", "Hello")]).await;
        if settled {
            store.index().await.unwrap();
        }
        assert!(store.delete_session(id(1)).await.unwrap());
        created(&store, 1).await;
        assert_eq!(session(&store, id(1)).await.title, None);
        assert_eq!(append(&store, id(1), vec![event("a")]).await.new, 1);
        assert_eq!(ids(&store, id(1)).await, ["a"]);
        assert!(store.delete_session(id(1)).await.unwrap());
    }
}

async fn a_refused_append_of_several_leaves_what_waits_as_it_was(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![said("a", "Hello"), request(1)]).await;
    append(&store, id(1), vec![event("b")]).await;
    let before = everything(&store, id(1)).await;
    let refused = vec![event("c"), said("d", "Never"), answer(1), answer(1)];
    let again = store.append(id(1), Expected::Any, refused).await;
    // The same answer sent again is no refusal; another one is.
    assert!(again.is_ok());
    let before_second = everything(&store, id(1)).await;
    assert_ne!(before, before_second);
    let mut other = answer(1);
    other.event_id = "another".to_owned();
    let refused = store.append(id(1), Expected::Any, vec![event("e"), other]).await;
    assert!(refused.is_err());
    assert_eq!(everything(&store, id(1)).await, before_second);
    assert_eq!(append(&store, id(1), vec![event("e")]).await.new, 1);
}

/// All that a store says of a session, as text.
pub(crate) async fn everything(store: &Store, id: SessionId) -> String {
    let figures = store.figures(at(0)).await.unwrap();
    format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        session(store, id).await,
        log(store, id).await,
        store.session_state(id).await.unwrap(),
        store.messages(id).await.unwrap(),
        store.turns(TurnQuery { answered: true, ..TurnQuery::default() }).await.unwrap(),
        (figures.minutes, figures.tools, figures.prompt_tokens),
        (figures.totals.entries, figures.totals.bytes, figures.totals.messages),
    )
}
