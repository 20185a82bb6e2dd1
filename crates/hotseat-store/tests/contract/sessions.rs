//! Lists of sessions: newest first, page by page.

use hotseat_core::{SessionId, SessionStatus};
use hotseat_store::{Cursor, NewSession, Running, SessionQuery, Store, Waiting};

use crate::log::{append, at, completion, created, id, new_session, request, run, said};
use crate::suite;

suite!(
    sessions_are_listed_newest_first,
    pages_hold_every_session_once_while_others_are_added,
    pages_hold_every_session_of_one_millisecond_once,
    a_page_has_fifty_unless_told_otherwise,
    sessions_are_filtered_by_what_they_are,
    sessions_are_found_by_words,
    words_are_not_patterns,
    a_cursor_survives_its_text_and_nothing_else_is_one,
);

async fn create_at(store: &Store, n: u128, milliseconds: i64) {
    let new = NewSession { created_at: at(milliseconds), ..new_session(n) };
    store.create_session(new).await.unwrap();
}

async fn list(store: &Store, query: SessionQuery) -> Vec<SessionId> {
    let page = store.sessions(query).await.unwrap();
    page.items.into_iter().map(|session| session.id).collect()
}

/// Reads page by page to the end, doing something between two pages.
async fn pages(store: &Store, limit: usize, mut between: impl AsyncFnMut(usize)) -> Vec<SessionId> {
    let mut all = Vec::new();
    let mut query = SessionQuery { limit, ..SessionQuery::default() };
    for number in 0.. {
        let page = store.sessions(query.clone()).await.unwrap();
        assert!(page.items.len() <= limit);
        all.extend(page.items.into_iter().map(|session| session.id));
        let Some(next) = page.next else { break };
        query.cursor = Some(next.to_string().parse().unwrap());
        between(number).await;
    }
    all
}

async fn sessions_are_listed_newest_first(store: Store) {
    for (n, milliseconds) in [(1, 20), (2, 30), (3, 10)] {
        create_at(&store, n, milliseconds).await;
    }
    // Activity does not move a session: lists would jump under the reader.
    append(&store, id(3), vec![said("a", "hello")]).await;
    assert_eq!(list(&store, SessionQuery::default()).await, [id(2), id(1), id(3)]);
    assert_eq!(store.counts().await.unwrap().sessions, 3);
}

async fn pages_hold_every_session_once_while_others_are_added(store: Store) {
    for n in 0..25 {
        create_at(&store, n, i64::try_from(n).unwrap()).await;
    }
    let seen = pages(&store, 4, async |page| {
        let n = 100 + page as u128;
        create_at(&store, n, i64::try_from(n).unwrap()).await;
    })
    .await;
    let expected: Vec<_> = (0..25).rev().map(id).collect();
    assert_eq!(seen, expected);
}

async fn pages_hold_every_session_of_one_millisecond_once(store: Store) {
    for n in (0..30_u128).map(|n| n * 0x1_0000_0000_0000_0001 % 31) {
        create_at(&store, n, 5).await;
    }
    create_at(&store, 99, 4).await;
    create_at(&store, 98, 6).await;
    let whole = list(&store, SessionQuery { limit: 100, ..SessionQuery::default() }).await;
    assert_eq!((whole[0], *whole.last().unwrap()), (id(98), id(99)));
    for limit in [1, 7, 32] {
        let deleted = id(15);
        let seen = pages(&store, limit, async |page| {
            if page == 20 {
                store.delete_session(deleted).await.unwrap();
            }
        })
        .await;
        let expected: Vec<_> =
            whole.iter().copied().filter(|id| *id != deleted || seen.contains(id)).collect();
        assert_eq!(seen, expected, "pages of {limit}");
    }
}

async fn a_page_has_fifty_unless_told_otherwise(store: Store) {
    for n in 0..60 {
        create_at(&store, n, 0).await;
    }
    assert_eq!(list(&store, SessionQuery::default()).await.len(), 50);
    let all = store.sessions(SessionQuery { limit: 60, ..SessionQuery::default() }).await.unwrap();
    assert_eq!((all.items.len(), all.next), (60, None), "a full last page has no next one");
}

async fn sessions_are_filtered_by_what_they_are(store: Store) {
    let other =
        NewSession { agent: Some("math".to_owned()), user_id: "ada".to_owned(), ..new_session(2) };
    store.create_session(other).await.unwrap();
    store.create_session(NewSession { agent: None, ..new_session(4) }).await.unwrap();
    created(&store, 1).await;
    created(&store, 3).await;
    append(&store, id(3), vec![completion()]).await;
    append(&store, id(2), vec![request(1)]).await;
    append(&store, id(1), vec![run(1, "queued")]).await;

    let query = SessionQuery::default;
    let completed = SessionQuery { status: Some(SessionStatus::Completed), ..query() };
    assert_eq!(list(&store, completed).await, [id(3)]);
    let active = SessionQuery { status: Some(SessionStatus::Active), ..query() };
    assert_eq!(list(&store, active.clone()).await, [id(4), id(2), id(1)]);
    let math = SessionQuery { agent: Some("math".to_owned()), ..query() };
    assert_eq!(list(&store, math).await, [id(2)]);
    let ada = SessionQuery { user_id: Some("ada".to_owned()), ..query() };
    assert_eq!(list(&store, ada).await, [id(2)]);
    let waiting = SessionQuery { waiting: Waiting::Only, ..query() };
    assert_eq!(list(&store, waiting).await, [id(2)]);
    let running = SessionQuery { running: Running::Only, ..query() };
    assert_eq!(list(&store, running).await, [id(1)]);
    let none = SessionQuery { waiting: Waiting::Only, user_id: Some("local".into()), ..active };
    assert!(list(&store, none).await.is_empty());
}

async fn sessions_are_found_by_words(store: Store) {
    let described = NewSession { description: Some("Budget of May".to_owned()), ..new_session(1) };
    store.create_session(described).await.unwrap();
    created(&store, 2).await;
    append(&store, id(2), vec![said("a", "How large is the BUDGET?")]).await;
    let agent = NewSession { agent: Some("budgeteer".to_owned()), ..new_session(3) };
    store.create_session(agent).await.unwrap();
    created(&store, 0xabcd_0000_0000_0000_0000_0000_0000_0000).await;

    let find = async |text: &str| {
        list(&store, SessionQuery { text: Some(text.to_owned()), ..SessionQuery::default() }).await
    };
    assert_eq!(find("budget").await, [id(3), id(2), id(1)]);
    assert_eq!(find("of may").await, [id(1)]);
    assert_eq!(find("ABCD0").await, [id(0xabcd_0000_0000_0000_0000_0000_0000_0000)]);
    assert!(find("nothing like it").await.is_empty());
}

async fn words_are_not_patterns(store: Store) {
    let texts = ["100% sure", "100 sure", "a_b", "axb", r"back\slash"];
    for (n, text) in (1..).zip(texts) {
        let new = NewSession { description: Some(text.to_owned()), ..new_session(n) };
        store.create_session(new).await.unwrap();
    }
    for (text, expected) in [("100%", 1), ("a_b", 3), (r"k\s", 5), ("%", 1), ("_", 3)] {
        let query = SessionQuery { text: Some(text.to_owned()), ..SessionQuery::default() };
        assert_eq!(list(&store, query).await, [id(expected)], "{text}");
    }
}

async fn a_cursor_survives_its_text_and_nothing_else_is_one(store: Store) {
    create_at(&store, 1, 1).await;
    create_at(&store, 2, 2).await;
    let page = store.sessions(SessionQuery { limit: 1, ..SessionQuery::default() }).await.unwrap();
    let cursor = page.next.unwrap();
    assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
    for wrong in ["", ".", "1", "zz.00000000-0000-0000-0000-000000000001", "1.2"] {
        assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
    }
}
