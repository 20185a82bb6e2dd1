//! Copying a store into another, and comparing two.

use std::any::Any;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use hotseat_core::{Kind, NewEvent, Role};
use hotseat_store::{
    Act, AuditQuery, CopyError, Expected, Gate, Intrusion, Limits, NewToken, Progress, SearchQuery,
    Store, Sweep, Visit,
};
use serde_json::json;

use crate::database::Database;
use crate::log::{
    answer, append, at, completion, created, event, id, ids, log, new_session, raw, request, run,
    said, session,
};
use crate::settling::everything;

fn limits() -> Limits {
    Limits { max_events_per_session: Some(30), compress_over_bytes: Some(200), ..Limits::default() }
}

fn with(event_id: &str, payload: &str) -> NewEvent {
    NewEvent { payload: raw(payload), ..event(event_id) }
}

/// A store with everything in it that is hard to carry.
async fn fill(store: &Store) {
    for n in 1..=4 {
        created(store, n).await;
    }
    let mut adk = new_session(5);
    "adk".clone_into(&mut adk.source);
    adk.adk_id = Some("of ADK's own, with ü".to_owned());
    store.create_session(adk).await.unwrap();
    let nasty = [
        r#"{"author": "user",  "content": {"parts":[{"text":"nul \u0000 and 😀 \u0041"}]}, "x":1e2}"#,
        r#"{"author":"root","n":123456789012345678901234567890,"f":1.50,"a":{"b":[{}],"b":2}}"#,
        r#"{"author":"root","actions":{"state_delta":{"k\u0000":1180591620717411303424,"app:x":[1],"user:y":null}},"unknown":{"deep":[[[]]]}}"#,
        r#"{"type":"research_progress","overall_progress":45.5,"current_phase":"p\u0000"}"#,
    ];
    for n in [1, 5] {
        let events = (0..).zip(nasty).map(|(k, payload)| with(&format!("nasty-{k}\0"), payload));
        append(store, id(n), events.collect()).await;
    }
    let large = format!(r#"{{"author":"root","text":"{}"}}"#, "again and ".repeat(300));
    append(store, id(1), vec![with("large", &large), request(1), request(2), answer(1)]).await;
    let usage = json!({"author": "root", "usage_metadata": {"prompt_token_count": 7,
        "candidates_token_count": 2}, "content": {"parts": [{"function_response":
        {"id": "c", "name": "tool", "response": {"error": "no"}}}]}});
    append(store, id(2), vec![run(1, "queued"), with("usage", &usage.to_string())]).await;
    let message = NewEvent {
        kind: Kind::Message,
        ..with("m", r#"{"role":"user","content":"by hand","metadata":{"k":"v"}}"#)
    };
    append(store, id(3), vec![message, said("s", "Findable words"), completion()]).await;
    // So many that the oldest go, and only their messages stay.
    append(store, id(4), (0..50).map(|n| said(&format!("s{n}"), &format!("word{n}"))).collect())
        .await;
    let visit = Visit {
        session: id(1),
        at: at(5),
        client_ip: Some("::1".to_owned()),
        user_agent: None,
        watched: true,
    };
    store.visited(vec![visit]).await.unwrap();
    let intrusion =
        Intrusion { session: id(2), at: at(6), flag_after: 1, message: "who?".to_owned() };
    store.intruded(intrusion).await.unwrap();
    let (name, act) =
        (|name: &str| name.parse().unwrap(), || Act { actor: "owner\0".to_owned(), at: at(7) });
    for (user, role) in [("ada", Role::Admin), ("bob", Role::Viewer)] {
        store.add_user(name(user), role, act()).await.unwrap();
    }
    let token = NewToken {
        user: name("ada"),
        hash: [7; 32],
        prefix: "hs_".to_owned(),
        label: "for ü".to_owned(),
        expires_at: Some(at(99)),
    };
    store.add_token(token, act()).await.unwrap();
    store.revoke_user(name("bob"), act()).await.unwrap();
    created(store, 9).await;
    store.sweep(Sweep { untouched_since: None, empty_since: Some(at(1)) }).await.unwrap();
}

/// What is there of all sessions, but for the size of the database.
async fn all(store: &Store) -> Vec<String> {
    let mut all = Vec::new();
    for n in 1..=5 {
        all.push(everything(store, id(n)).await);
        all.push(format!("{:?}", log(store, id(n)).await));
    }
    let search = SearchQuery { text: "word".to_owned(), ..SearchQuery::default() };
    let hits = store.search(search).await.unwrap().hits;
    all.extend(hits.iter().map(|hit| format!("{} {} {}", hit.session_id, hit.seq, hit.snippet)));
    all.push(format!("{:?}", store.shared_state("app", None).await.unwrap()));
    all.push(format!("{:?}", store.figures(at(-60_000_000)).await.unwrap().removals));
    all.push(format!("{:?}", store.users().await.unwrap()));
    all.push(format!("{:?}", store.bearer([7; 32]).await.unwrap()));
    all.push(format!("{:?}", store.audit_entries(AuditQuery::default()).await.unwrap()));
    let access = store.access((1..=5).map(id).collect()).await.unwrap();
    all.push(format!("{:?} {:?}", access.get(&id(1)), access.get(&id(2))));
    all
}

#[tokio::test]
async fn a_store_goes_to_postgres_and_back_as_it_was() {
    let (here, there, back) = (Database::sqlite(), Database::postgres(), Database::sqlite());
    let (here, there, back) =
        (here.open(limits()).await, there.open(limits()).await, back.open(limits()).await);
    fill(&here).await;
    let mut seen = Vec::new();
    assert_eq!(here.copy_to(&there, |progress| seen.push(progress)).await.unwrap(), 5);
    let steps: Vec<_> = (0..=5).map(|done| Progress { done, all: 5 }).collect();
    assert_eq!(seen, steps);
    assert_eq!(here.differences(&there, |_| {}).await.unwrap(), (vec![], false));
    assert_eq!(all(&there).await, all(&here).await);
    there.copy_to(&back, |_| {}).await.unwrap();
    assert_eq!(here.differences(&back, |_| {}).await.unwrap(), (vec![], false));
    assert_eq!(all(&back).await, all(&here).await);
    // Each goes on from there.
    for store in [&there, &back] {
        assert_eq!(append(store, id(1), vec![event("large")]).await.new, 0, "it is known");
        let last = session(store, id(1)).await.last_seq;
        let next = vec![answer(2), said("next", "word of the day")];
        store.append(id(1), Expected::Exactly(last), next).await.unwrap();
        let search = SearchQuery { text: "word".to_owned(), ..SearchQuery::default() };
        let hits = store.search(search).await.unwrap().hits;
        assert_eq!(hits[0].session_id, id(1), "what is new comes first");
        assert_eq!(ids(store, id(1)).await.last().unwrap(), "next");
        store.rebuild(id(1)).await.unwrap();
        let act = Act { actor: "owner".to_owned(), at: at(8) };
        store.add_user("cyd".parse().unwrap(), Role::Viewer, act).await.unwrap();
        let last = store.audit_entries(AuditQuery::default()).await.unwrap();
        assert_eq!(last.last().unwrap().subject, "cyd");
    }
    let (different, _) = here.differences(&back, |_| {}).await.unwrap();
    assert_eq!(different, [id(1)]);
}

#[tokio::test]
async fn what_postgres_took_in_is_the_same_in_a_file() {
    let (here, there) = (Database::postgres(), Database::sqlite());
    let (here, there) = (here.open(limits()).await, there.open(limits()).await);
    fill(&here).await;
    here.copy_to(&there, |_| {}).await.unwrap();
    assert_eq!(here.differences(&there, |_| {}).await.unwrap(), (vec![], false));
    assert_eq!(all(&there).await, all(&here).await);
}

#[tokio::test]
async fn a_store_is_not_copied_into_one_that_holds_something() {
    let (here, there) = (Database::sqlite(), Database::postgres());
    let (here, there) = (here.open(limits()).await, there.open(limits()).await);
    created(&here, 1).await;
    created(&there, 2).await;
    let refused = here.copy_to(&there, |_| {}).await.unwrap_err();
    let words = "the target holds 1 sessions that are no copy of this store's";
    assert!(refused.to_string().starts_with(words), "{refused}");
    assert!(there.session(id(1)).await.unwrap().is_none());
    let (different, common) = here.differences(&there, |_| {}).await.unwrap();
    assert_eq!((different, common), (vec![id(1), id(2)], false));
}

/// Lets so many calls through, and then none.
#[derive(Debug)]
struct Cut {
    left: AtomicUsize,
    over: Arc<tokio::sync::Notify>,
}

impl Gate for Cut {
    fn pass(&self) -> Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>> {
        let left =
            self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1));
        if left.is_ok() {
            return Box::pin(std::future::ready(Box::new(()) as _));
        }
        self.over.notify_one();
        Box::pin(std::future::pending())
    }
}

/// Copies until the target has been called so often, and says whether that was enough.
async fn copy_cut_off(here: &Store, there: &Store, calls: usize) -> bool {
    let over = Arc::new(tokio::sync::Notify::new());
    let left = AtomicUsize::new(calls);
    let (there, _) = there.apart(Arc::new(Cut { left, over: Arc::clone(&over) }));
    tokio::select! {
        copied = here.copy_to(&there, |_| {}) => { copied.unwrap(); true }
        () = over.notified() => false,
    }
}

/// A store in which a session takes several steps to copy.
async fn fill_more(store: &Store) {
    fill(store).await;
    created(store, 6).await;
    let many = (0..1_100).map(|n| said(&format!("m{n}"), "many")).collect();
    append(store, id(6), many).await;
}

#[tokio::test]
async fn a_copy_that_was_cut_off_anywhere_goes_on_where_it_was() {
    let here = Store::scratch(Limits::default()).unwrap();
    fill_more(&here).await;
    let mut cuts = 0;
    loop {
        let there = Store::scratch(Limits::default()).unwrap();
        if copy_cut_off(&here, &there, cuts).await {
            break;
        }
        // Not at the first attempt either, and never twice what is there.
        copy_cut_off(&here, &there, cuts + 3).await;
        assert_eq!(here.copy_to(&there, |_| {}).await.unwrap(), 6, "after {cuts} calls");
        let compared = here.differences(&there, |_| {}).await.unwrap();
        assert_eq!(compared, (vec![], false), "after {cuts} calls");
        cuts += 1;
    }
    assert!(cuts > 15, "there are many places to cut it off");
}

#[tokio::test]
async fn a_copy_to_postgres_that_was_cut_off_goes_on_where_it_was() {
    let here = Store::scratch(Limits::default()).unwrap();
    fill_more(&here).await;
    let database = Database::postgres();
    let there = database.open(Limits::default()).await;
    let mut calls = 8;
    while !copy_cut_off(&here, &there, calls).await {
        calls += 4;
    }
    assert_eq!(here.differences(&there, |_| {}).await.unwrap(), (vec![], false));
    append(&there, id(1), vec![said("next", "word")]).await;
}

#[tokio::test]
async fn a_copy_does_not_go_on_where_one_of_the_stores_was_changed() {
    let (here, there) =
        (Store::scratch(Limits::default()).unwrap(), Store::scratch(Limits::default()).unwrap());
    for n in 1..=3 {
        created(&here, n).await;
        append(&here, id(n), vec![said("a", "one"), said("b", "two")]).await;
    }
    assert!(!copy_cut_off(&here, &there, 6).await);
    let copied = there.counts().await.unwrap().sessions;
    assert!((1..3).contains(&copied), "{copied} sessions were copied");
    append(&here, id(3), vec![said("c", "three")]).await;
    let refused = here.copy_to(&there, |_| {}).await.unwrap_err();
    assert!(matches!(refused, CopyError::Changed { session } if session == id(3)), "{refused}");
    let there = Store::scratch(Limits::default()).unwrap();
    here.copy_to(&there, |_| {}).await.unwrap();
    assert_eq!(here.copy_to(&there, |_| {}).await.unwrap(), 3, "nothing is left to do");
    append(&there, id(2), vec![said("d", "four")]).await;
    let refused = here.copy_to(&there, |_| {}).await.unwrap_err();
    assert!(matches!(refused, CopyError::NotEmpty { .. }), "{refused}");
    let act = Act { actor: "owner".to_owned(), at: at(8) };
    let there = Store::scratch(Limits::default()).unwrap();
    there.add_user("cyd".parse().unwrap(), Role::Viewer, act).await.unwrap();
    let refused = here.copy_to(&there, |_| {}).await.unwrap_err();
    assert!(matches!(refused, CopyError::NotEmpty { .. }), "{refused}");
    assert_eq!(there.counts().await.unwrap().sessions, 0, "nothing was written");
}
