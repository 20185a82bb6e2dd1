//! Copying a store into another, and comparing two.

use hotseat_core::{Kind, NewEvent, Role};
use hotseat_store::{
    Act, AuditQuery, CopyError, Expected, Intrusion, Limits, NewToken, Progress, SearchQuery,
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
    assert!(matches!(refused, CopyError::NotEmpty { sessions: 1 }), "{refused}");
    assert!(there.session(id(1)).await.unwrap().is_none());
    let (different, common) = here.differences(&there, |_| {}).await.unwrap();
    assert_eq!((different, common), (vec![id(1), id(2)], false));
}
