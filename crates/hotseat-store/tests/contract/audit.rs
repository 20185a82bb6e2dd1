//! What was done by whom.

use hotseat_store::{
    Answerer, AuditAction, AuditEntry, AuditQuery, NewAuditEntry, Order, Store, claim_on,
};
use serde_json::json;

use crate::log::{answer, append, at, created, id, request, turn};
use crate::suite;

suite!(
    entries_are_listed_as_they_were_written,
    pages_follow_each_other_in_both_orders,
    entries_are_chosen_by_actor_action_and_session,
    an_entry_outlives_its_session,
    many_who_write_at_once_get_a_place_each,
    an_answer_is_in_the_audit_if_it_is_in_the_log,
);

fn entry(actor: &str, action: AuditAction, session: Option<u128>) -> NewAuditEntry {
    NewAuditEntry {
        at: at(7),
        actor: actor.to_owned(),
        action,
        subject: "turn:1".to_owned(),
        session: session.map(id),
        detail: json!({"n": 1}),
    }
}

async fn written(store: &Store, entries: Vec<NewAuditEntry>) {
    for entry in entries {
        store.audit(entry).await.unwrap();
    }
}

async fn list(store: &Store, query: AuditQuery) -> Vec<AuditEntry> {
    store.audit_entries(query).await.unwrap()
}

fn seqs(entries: &[AuditEntry]) -> Vec<u64> {
    entries.iter().map(|entry| entry.seq).collect()
}

async fn entries_are_listed_as_they_were_written(store: Store) {
    assert!(list(&store, AuditQuery::default()).await.is_empty());
    for action in AuditAction::ALL {
        written(&store, vec![entry("ada", *action, Some(1))]).await;
    }
    let limit = AuditAction::ALL.len();
    let entries = list(&store, AuditQuery { limit, ..AuditQuery::default() }).await;
    let words: Vec<_> = entries.iter().map(|entry| entry.action.as_str()).collect();
    assert_eq!(words, AuditAction::ALL.iter().map(|action| action.as_str()).collect::<Vec<_>>());
    let first = AuditEntry {
        seq: entries[0].seq,
        at: at(7),
        actor: "ada".to_owned(),
        action: "user.added".to_owned(),
        subject: "turn:1".to_owned(),
        session: Some(id(1)),
        detail: json!({"n": 1}),
    };
    assert_eq!(entries[0], first);
}

async fn pages_follow_each_other_in_both_orders(store: Store) {
    written(&store, (0..5).map(|_| entry("ada", AuditAction::TurnDecided, None)).collect()).await;
    let all = seqs(&list(&store, AuditQuery::default()).await);
    assert!(all.is_sorted() && all.len() == 5);
    for order in [Order::Ascending, Order::Descending] {
        let (mut after, mut seen) = (None, Vec::new());
        loop {
            let query = AuditQuery { after, order, limit: 2, ..AuditQuery::default() };
            let page = seqs(&list(&store, query).await);
            let Some(last) = page.last() else { break };
            after = Some(*last);
            seen.extend(page);
        }
        if order == Order::Descending {
            seen.reverse();
        }
        assert_eq!(seen, all);
    }
}

async fn entries_are_chosen_by_actor_action_and_session(store: Store) {
    written(
        &store,
        vec![
            entry("ada", AuditAction::TurnDecided, Some(1)),
            entry("bob", AuditAction::TurnDecided, Some(2)),
            entry("bob", AuditAction::TurnClaimed, Some(2)),
            entry("bob", AuditAction::UserAdded, None),
        ],
    )
    .await;
    let of = |actor: Option<&str>, action: Option<&str>, session: Option<u128>| AuditQuery {
        actor: actor.map(str::to_owned),
        action: action.map(str::to_owned),
        session: session.map(id),
        ..AuditQuery::default()
    };
    for (query, expected) in [
        (of(Some("bob"), None, None), 3),
        (of(None, Some("turn.decided"), None), 2),
        (of(None, None, Some(2)), 2),
        (of(Some("bob"), Some("turn.decided"), Some(2)), 1),
        (of(Some("eve"), None, None), 0),
        (of(Some("ada"), None, Some(2)), 0),
    ] {
        assert_eq!(list(&store, query.clone()).await.len(), expected, "{query:?}");
    }
}

async fn an_entry_outlives_its_session(store: Store) {
    created(&store, 1).await;
    written(&store, vec![entry("ada", AuditAction::SessionDeleted, Some(1))]).await;
    store.delete_session(id(1)).await.unwrap();
    assert_eq!(list(&store, AuditQuery::default()).await.len(), 1);
}

async fn many_who_write_at_once_get_a_place_each(store: Store) {
    let writing: Vec<_> = (0..20)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.audit(entry("a", AuditAction::SignedIn, None)).await })
        })
        .collect();
    for written in writing {
        written.await.unwrap().unwrap();
    }
    let mut places = seqs(&list(&store, AuditQuery::default()).await);
    places.dedup();
    assert_eq!(places.len(), 20);
}

async fn an_answer_is_in_the_audit_if_it_is_in_the_log(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![request(1), request(2)]).await;
    let by = |noted| Answerer { name: "ada".to_owned(), now: at(9), worker: None, noted };
    let decided = Some(AuditAction::TurnDecided);
    // Not the head, so it is refused.
    store.answer(id(1), answer(2), by(decided)).await.unwrap_err();
    for _sent_again in [false, true] {
        store.answer(id(1), answer(1), by(decided)).await.unwrap();
    }
    // Nobody's act.
    store.answer(id(1), answer(2), by(None)).await.unwrap();
    let [entry] = &list(&store, AuditQuery::default()).await[..] else { panic!("one entry") };
    let expected = AuditEntry {
        seq: entry.seq,
        at: at(9),
        actor: "ada".to_owned(),
        action: "turn.decided".to_owned(),
        subject: claim_on(turn(1)),
        session: Some(id(1)),
        detail: json!({"seq": 3}),
    };
    assert_eq!(*entry, expected);
}
