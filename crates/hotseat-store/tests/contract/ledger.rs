//! What is kept beside the log: state, messages, requests to the user, figures, search.

use hotseat_core::{Kind, NewEvent, Seq};
use hotseat_store::{
    AdkSessionQuery, AppendError, Created, Expected, NewSession, SearchQuery, Session, Store,
};
use serde_json::{Value, json};

use crate::log::{append, at, created, event, id, log, new_session, raw, said, session};
use crate::suite;

suite!(
    a_state_is_the_last_value_of_each_key,
    shared_state_is_shared_by_app_and_by_user_and_outlives_sessions,
    the_simulator_shares_no_state,
    a_session_begins_with_a_state_in_one_commit,
    an_append_after_an_event_that_was_not_seen_is_refused,
    the_same_event_again_is_never_stale,
    adk_lists_sessions_by_their_last_update,
    what_was_said_becomes_messages,
    a_message_with_a_known_id_replaces_it,
    a_request_to_the_user_is_open_until_it_is_answered,
    cleared_events_leave_messages_and_a_mark,
    a_session_that_waits_is_not_cleared,
    what_was_cleared_can_be_appended_again,
    a_rebuild_leaves_shared_state_alone,
    a_session_made_again_is_another_incarnation,
    words_are_found_wherever_they_were_said,
    a_search_goes_page_by_page,
    deleted_words_are_not_found,
    figures_count_events_tools_and_tokens,
    visits_change_nothing_but_the_last_access,
    another_client_is_worth_a_warning_once_in_a_while,
    too_many_failed_attempts_flag_a_session,
    apps_with_sessions_are_listed,
);

/// A session as ADK's session service makes it.
fn adk_session(n: u128, user: &str) -> NewSession {
    NewSession {
        source: "adk".to_owned(),
        user_id: user.to_owned(),
        adk_id: Some(format!("adk-{n}")),
        ..new_session(n)
    }
}

fn delta(event_id: &str, delta: &Value) -> NewEvent {
    let payload = json!({"author": "root", "actions": {"stateDelta": delta}});
    NewEvent { payload: raw(&payload.to_string()), ..event(event_id) }
}

async fn state(store: &Store, n: u128) -> Value {
    Value::Object(store.session_state(id(n)).await.unwrap())
}

async fn a_state_is_the_last_value_of_each_key(store: Store) {
    created(&store, 1).await;
    let first = delta("a", &json!({"step": {"deep": 1}, "name": "Ada", "temp:draft": 1}));
    let second = delta("b", &json!({"step": {"other": 2}, "gone": null}));
    append(&store, id(1), vec![first, second]).await;
    let expected = json!({"step": {"other": 2}, "name": "Ada", "gone": null});
    assert_eq!(state(&store, 1).await, expected, "whole values replace each other");

    let big = r#"{"author":"root","actions":{"state_delta":{"n":1180591620717411303424,"x":0.30000000000000004}}}"#;
    append(&store, id(1), vec![NewEvent { payload: raw(big), ..event("c") }]).await;
    assert_eq!(state(&store, 1).await["n"].to_string(), "1180591620717411303424");
    assert_eq!(state(&store, 1).await["x"].to_string(), "0.30000000000000004");

    let nested = NewEvent {
        parent_call_id: Some("call".to_owned()),
        ..delta("d", &json!({"name": "inside a tool"}))
    };
    append(&store, id(1), vec![nested]).await;
    assert_eq!(state(&store, 1).await["name"], "Ada");
}

async fn shared_state_is_shared_by_app_and_by_user_and_outlives_sessions(store: Store) {
    for (n, user) in [(1, "ada"), (2, "ada"), (3, "bob")] {
        store.create_session(adk_session(n, user)).await.unwrap();
    }
    append(
        &store,
        id(1),
        vec![delta("a", &json!({"app:theme": "dark", "user:name": "Ada", "own": 1}))],
    )
    .await;
    assert_eq!(state(&store, 1).await, json!({"own": 1}));
    store.delete_session(id(1)).await.unwrap();

    let shared = store.shared_state("app", None).await.unwrap();
    assert_eq!(Value::Object(shared.app), json!({"theme": "dark"}));
    assert_eq!(Value::Object(shared.users["ada"].clone()), json!({"name": "Ada"}));
    assert!(!shared.users.contains_key("bob"));
    let of_bob = store.shared_state("app", Some("bob")).await.unwrap();
    assert_eq!((of_bob.app.len(), of_bob.users.len()), (1, 0));
    assert_eq!(store.shared_state("other", None).await.unwrap().app.len(), 0);
}

async fn the_simulator_shares_no_state(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![delta("a", &json!({"app:theme": "dark"}))]).await;
    assert_eq!(state(&store, 1).await, json!({"app:theme": "dark"}));
    assert!(store.shared_state("app", None).await.unwrap().app.is_empty());
}

async fn a_session_begins_with_a_state_in_one_commit(store: Store) {
    let opening = NewEvent {
        kind: Kind::Session,
        payload: raw(r#"{"state":{"step":1,"app:theme":"dark","temp:x":1}}"#),
        ..event("opening")
    };
    let new = NewSession { opening: vec![opening], ..adk_session(1, "ada") };
    let Created::New(made) = store.create_session(new.clone()).await.unwrap() else {
        panic!("it is new")
    };
    assert_eq!((made.last_seq, made.event_count, made.event_head), (Seq::new(1), 0, Seq::START));
    assert_eq!(state(&store, 1).await, json!({"step": 1}));
    assert!(matches!(store.create_session(new).await.unwrap(), Created::Existing(_)));
    assert_eq!(log(&store, id(1)).await.len(), 1);
}

async fn an_append_after_an_event_that_was_not_seen_is_refused(store: Store) {
    created(&store, 1).await;
    let after = |seq| Expected::EventHead(Seq::new(seq));
    let first = store.append(id(1), after(0), vec![event("a")]).await.unwrap();
    assert_eq!(first.event_head, Seq::new(1));
    let stale = store.append(id(1), after(0), vec![event("b")]).await.unwrap_err();
    assert!(matches!(stale, AppendError::Conflict { .. }), "{stale}");
    // What is no ADK event is in nobody's way, nor what happens inside a tool.
    let nested = NewEvent { parent_call_id: Some("call".to_owned()), ..event("inside") };
    append(&store, id(1), vec![crate::log::request(1), nested]).await;
    store.append(id(1), after(1), vec![event("b")]).await.unwrap();
}

async fn the_same_event_again_is_never_stale(store: Store) {
    created(&store, 1).await;
    let after = |seq| Expected::EventHead(Seq::new(seq));
    store.append(id(1), after(0), vec![event("a")]).await.unwrap();
    let again = store.append(id(1), after(0), vec![event("a")]).await.unwrap();
    assert_eq!((again.new, again.event_head), (0, Seq::new(1)));
}

async fn adk_lists_sessions_by_their_last_update(store: Store) {
    for (n, user) in [(1, "ada"), (2, "bob"), (3, "ada"), (4, "ada")] {
        store.create_session(adk_session(n, user)).await.unwrap();
    }
    let other = NewSession { app_name: "other".to_owned(), ..adk_session(5, "ada") };
    store.create_session(other).await.unwrap();
    for (n, seconds) in [(1, "1900000003.5"), (3, "1900000001"), (2, "1900000002")] {
        let payload = format!(r#"{{"author":"root","timestamp":{seconds}}}"#);
        append(&store, id(n), vec![NewEvent { payload: raw(&payload), ..event("a") }]).await;
    }
    let listed = async |user: Option<&str>, limit| {
        let mut query = AdkSessionQuery {
            app_name: "app".to_owned(),
            user_id: user.map(str::to_owned),
            after: None,
            limit,
        };
        let mut names = Vec::new();
        loop {
            let page = store.adk_sessions(query.clone()).await.unwrap();
            names.extend(page.sessions.iter().map(|(session, _)| session.adk_id()));
            match page.next {
                Some(next) => query.after = Some(next.to_string().parse().unwrap()),
                None => return names,
            }
        }
    };
    for limit in [0, 1, 2] {
        assert_eq!(listed(None, limit).await, ["adk-4", "adk-3", "adk-2", "adk-1"]);
        assert_eq!(listed(Some("ada"), limit).await, ["adk-4", "adk-3", "adk-1"]);
    }
}

async fn what_was_said_becomes_messages(store: Store) {
    created(&store, 1).await;
    let answered =
        r#"{"author":"root","timestamp":1700000000.5,"content":{"parts":[{"text":"It is 5."}]}}"#;
    let answer = NewEvent { payload: raw(answered), ..event("answer") };
    append(&store, id(1), vec![said("query", "What is 2 + 3?"), event("silent"), answer]).await;
    let messages = store.messages(id(1)).await.unwrap();
    let told: Vec<_> =
        messages.iter().map(|message| (message.role.as_str(), message.content.as_str())).collect();
    assert_eq!(told, [("user", "What is 2 + 3?"), ("assistant", "It is 5.")]);
    assert_eq!(messages[1].timestamp.as_millisecond(), 1_700_000_000_500);
    let session = session(&store, id(1)).await;
    assert_eq!((session.message_count, session.event_count), (2, 3));
}

async fn a_message_with_a_known_id_replaces_it(store: Store) {
    created(&store, 1).await;
    let message = |event_id: &str, content: &str| NewEvent {
        kind: Kind::Message,
        payload: raw(&json!({"id": "m", "role": "user", "content": content}).to_string()),
        ..event(event_id)
    };
    append(&store, id(1), vec![message("a", "First"), message("b", "Second")]).await;
    let messages = store.messages(id(1)).await.unwrap();
    assert_eq!(messages.len(), 1);
    assert_eq!(messages[0].content, "Second");
    assert_eq!(session(&store, id(1)).await.title.as_deref(), Some("First"));
}

async fn a_request_to_the_user_is_open_until_it_is_answered(store: Store) {
    created(&store, 1).await;
    let part = |author: &str, part: Value| {
        let payload = json!({"author": author, "content": {"parts": [part]}});
        let payload = raw(&payload.to_string());
        NewEvent { author: author.to_owned(), payload, ..event(author) }
    };
    let call = json!({"id": "ask", "name": "adk_request_confirmation", "args": {}});
    append(&store, id(1), vec![part("root", json!({"functionCall": call}))]).await;
    assert_eq!(session(&store, id(1)).await.open_requests, 1);
    let answer = json!({"id": "ask", "name": "adk_request_confirmation", "response": {}});
    append(&store, id(1), vec![part("user", json!({"functionResponse": answer}))]).await;
    assert_eq!(session(&store, id(1)).await.open_requests, 0);
}

async fn cleared_events_leave_messages_and_a_mark(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![said("a", "Hello"), delta("b", &json!({"step": 1}))]).await;
    assert_eq!(store.clear_events(id(1)).await.unwrap(), 2);
    assert!(log(&store, id(1)).await.is_empty());
    let cleared = session(&store, id(1)).await;
    assert_eq!((cleared.removed_through, cleared.last_seq), (Seq::new(2), Seq::new(2)));
    assert_eq!((cleared.event_count, cleared.bytes, cleared.message_count), (0, 0, 1));
    assert_eq!(store.messages(id(1)).await.unwrap()[0].content, "Hello");

    append(&store, id(1), vec![said("c", "Again")]).await;
    assert_eq!(log(&store, id(1)).await[0].seq, Seq::new(3));
    let before = session(&store, id(1)).await;
    store.rebuild(id(1)).await.unwrap();
    assert_eq!(session(&store, id(1)).await, before, "what is gone cannot be derived, and stays");
    assert_eq!(store.messages(id(1)).await.unwrap().len(), 2);
    assert_eq!(state(&store, 1).await, json!({"step": 1}));
}

async fn a_session_that_waits_is_not_cleared(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![crate::log::request(1)]).await;
    let refused = store.clear_events(id(1)).await.unwrap_err();
    assert_eq!(refused.to_string(), format!("session {} has an open turn or run", id(1)));
}

async fn what_was_cleared_can_be_appended_again(store: Store) {
    created(&store, 1).await;
    append(&store, id(1), vec![event("a"), event("b")]).await;
    store.clear_events(id(1)).await.unwrap();
    assert_eq!(append(&store, id(1), vec![event("a")]).await.new, 1);
    assert_eq!(append(&store, id(1), vec![event("a")]).await.new, 0);
}

async fn a_rebuild_leaves_shared_state_alone(store: Store) {
    for n in [1, 2] {
        store.create_session(adk_session(n, "ada")).await.unwrap();
        append(
            &store,
            id(n),
            vec![delta(
                "a",
                &json!({"app:x": u64::try_from(n).unwrap(), "own": u64::try_from(n).unwrap()}),
            )],
        )
        .await;
    }
    store.rebuild(id(1)).await.unwrap();
    let shared = store.shared_state("app", None).await.unwrap();
    assert_eq!(Value::Object(shared.app), json!({"x": 2}), "the later value stays");
    assert_eq!(state(&store, 1).await, json!({"own": 1}));
}

async fn a_session_made_again_is_another_incarnation(store: Store) {
    created(&store, 1).await;
    let first = session(&store, id(1)).await.incarnation;
    store.delete_session(id(1)).await.unwrap();
    created(&store, 1).await;
    let second = session(&store, id(1)).await.incarnation;
    assert_ne!(second, first);
    let knowing = |incarnation, event_head| Expected::Incarnation { incarnation, event_head };
    let old = store.append(id(1), knowing(first, None), vec![event("a")]).await.unwrap_err();
    assert!(matches!(old, AppendError::Remade { .. }), "{old}");
    let head = Some(Seq::START);
    assert_eq!(store.append(id(1), knowing(second, head), vec![event("a")]).await.unwrap().new, 1);
    let stale = store.append(id(1), knowing(second, head), vec![event("b")]).await.unwrap_err();
    assert!(matches!(stale, AppendError::Conflict { .. }), "{stale}");
}

async fn found(store: &Store, text: &str) -> Vec<u64> {
    let query = SearchQuery { text: text.to_owned(), ..SearchQuery::default() };
    let page = store.search(query).await.unwrap();
    page.hits.iter().map(|hit| hit.seq.get()).collect()
}

async fn words_are_found_wherever_they_were_said(store: Store) {
    created(&store, 1).await;
    let call = r#"{"author":"root","content":{"parts":[{"functionCall":{"name":"find_flight","args":{"to":"Zürich"}}}]}}"#;
    let call = NewEvent { payload: raw(call), ..event("call") };
    append(&store, id(1), vec![said("a", "Book a flight to Zurich"), call]).await;
    assert_eq!(found(&store, "zürich").await, [2, 1], "newest first, whatever the accents");
    assert_eq!(found(&store, "find_flight").await, [2]);
    assert_eq!(found(&store, "boo flight").await, [1], "beginnings of words");
    assert!(found(&store, "train").await.is_empty());
    assert!(found(&store, " \"*) OR ").await.is_empty(), "not a language");
    append(&store, id(1), vec![said("b", "No, the train")]).await;
    assert_eq!(found(&store, "train").await, [3], "as soon as it is appended");

    let query = SearchQuery { text: "flight".to_owned(), ..SearchQuery::default() };
    let hits = store.search(query.clone()).await.unwrap().hits;
    assert_eq!(hits[1].snippet, "Book a \u{2}flight\u{3} to Zurich");
    assert_eq!((hits[1].author.as_str(), hits[1].kind), ("user", "event"));
    assert_eq!(hits[1].title.as_deref(), Some("Book a flight to Zurich"));
    let nobody = SearchQuery { user_id: Some("bob".to_owned()), ..query.clone() };
    assert!(store.search(nobody).await.unwrap().hits.is_empty());
    let elsewhere = SearchQuery { session: Some(id(2)), ..query };
    assert!(store.search(elsewhere).await.unwrap().hits.is_empty());
}

async fn a_search_goes_page_by_page(store: Store) {
    created(&store, 1).await;
    let events = (0..5).map(|n| said(&format!("e{n}"), "again and again")).collect();
    append(&store, id(1), events).await;
    let mut query = SearchQuery { text: "again".to_owned(), limit: 2, ..SearchQuery::default() };
    let mut pages = Vec::new();
    loop {
        let page = store.search(query.clone()).await.unwrap();
        pages.push(page.hits.iter().map(|hit| hit.seq.get()).collect::<Vec<_>>());
        match page.next {
            Some(next) => query.before = Some(next),
            None => break,
        }
    }
    assert_eq!(pages, [vec![5, 4], vec![3, 2], vec![1]]);
}

async fn deleted_words_are_not_found(store: Store) {
    created(&store, 1).await;
    created(&store, 2).await;
    append(&store, id(1), vec![said("a", "secret one")]).await;
    append(&store, id(2), vec![said("a", "secret two")]).await;
    assert_eq!(found(&store, "secret").await.len(), 2);
    store.delete_session(id(1)).await.unwrap();
    assert_eq!(found(&store, "secret").await.len(), 1);
    store.clear_events(id(2)).await.unwrap();
    assert!(found(&store, "secret").await.is_empty());
    // New events may take the place of the old ones in the file, never in the index.
    append(&store, id(2), vec![said("b", "harmless")]).await;
    assert!(found(&store, "secret").await.is_empty());
    assert_eq!(found(&store, "harmless").await.len(), 1);
}

async fn figures_count_events_tools_and_tokens(store: Store) {
    created(&store, 1).await;
    let answered = |event_id: &str, response: Value| {
        let payload = json!({"author": "root", "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 2},
            "content": {"parts": [{"functionResponse": {"id": "c", "name": "add", "response": response}}]}});
        NewEvent { payload: raw(&payload.to_string()), ..event(event_id) }
    };
    let took = NewEvent {
        kind: Kind::ToolRun,
        payload: raw(
            r#"{"call_id":"c","tool_name":"add","status":"succeeded","duration_ms":12.5}"#,
        ),
        ..event("took")
    };
    let waits = json!({"author": "root", "actions": {"requestedToolConfirmations": {"w": {}}},
        "content": {"parts": [{"functionResponse": {"id": "w", "name": "pay",
            "response": {"error": "this tool must be confirmed"}}}]}});
    let waits = NewEvent { payload: raw(&waits.to_string()), ..event("waits") };
    let events = vec![
        answered("a", json!({"result": 5})),
        answered("b", json!({"error": "no"})),
        took,
        waits,
    ];
    append(&store, id(1), events).await;
    let refused = store.append(id(1), Expected::Exactly(Seq::new(1)), vec![event("x")]).await;
    assert!(refused.is_err());

    let figures = store.figures(at(-60_000)).await.unwrap();
    assert_eq!(figures.minutes.len(), 1);
    let minute = figures.minutes[0];
    assert_eq!((minute.events, minute.errors), (4, 1), "what was refused does not count");
    assert_eq!(figures.tools.len(), 1, "a tool that waits has not answered");
    assert_eq!((figures.prompt_tokens, figures.output_tokens), (20, 4));
    let add = &figures.tools[0];
    assert_eq!((add.name.as_str(), add.calls, add.errors, add.timed), ("add", 2, 1, 1));
    assert!((add.total_ms - 12.5).abs() < f64::EPSILON);
    let totals = figures.totals;
    assert_eq!((totals.sessions, totals.active, totals.events, totals.entries), (1, 1, 3, 4));
    assert_eq!(figures.largest[0].bytes, totals.bytes);
    assert!(store.figures(at(120_000)).await.unwrap().minutes.is_empty());
}

async fn visits_change_nothing_but_the_last_access(store: Store) {
    created(&store, 1).await;
    let before: Session = session(&store, id(1)).await;
    let visit = |milliseconds| hotseat_store::Visit {
        session: id(1),
        at: at(milliseconds),
        client_ip: Some("127.0.0.1".to_owned()),
        user_agent: None,
        watched: false,
    };
    let gone = hotseat_store::Visit { session: id(9), ..visit(0) };
    store.visited(vec![visit(50), gone, visit(20)]).await.unwrap();
    assert_eq!(session(&store, id(1)).await, before);
    let access = store.access(vec![id(1), id(9)]).await.unwrap();
    assert_eq!(access.len(), 1);
    assert_eq!(access[&id(1)].last_access_at, Some(at(50)), "a late note does not go back");
    assert_eq!(access[&id(1)].client_ip.as_deref(), Some("127.0.0.1"));
}

async fn another_client_is_worth_a_warning_once_in_a_while(store: Store) {
    created(&store, 1).await;
    let minutes = 60_000;
    let visit = |at_minute: i64, ip: Option<&str>, program: &str| hotseat_store::Visit {
        session: id(1),
        at: at(at_minute * minutes),
        client_ip: ip.map(str::to_owned),
        user_agent: Some(program.to_owned()),
        watched: true,
    };
    let unwatched = hotseat_store::Visit { watched: false, ..visit(5, Some("::1"), "b") };
    let visits = vec![
        visit(0, Some("::1"), "a"),
        visit(1, Some("::1"), "a"),
        visit(2, None, "a"),
        unwatched,
        visit(6, Some("::1"), "a"),
        visit(7, Some("::2"), "b"),
        visit(80, Some("::3"), "b"),
    ];
    store.visited(visits).await.unwrap();
    let access = store.access(vec![id(1)]).await.unwrap().remove(&id(1)).unwrap();
    let told: Vec<_> =
        access.warnings.iter().map(|warning| (warning.code.as_str(), warning.at)).collect();
    let expected = [("client_changed", at(6 * minutes)), ("client_changed", at(80 * minutes))];
    assert_eq!(told, expected, "{access:?}");
    assert!(!access.flagged, "people move; nothing is held against them");
}

async fn too_many_failed_attempts_flag_a_session(store: Store) {
    created(&store, 1).await;
    let attempt = |session| hotseat_store::Intrusion {
        session,
        at: at(5),
        flag_after: 3,
        message: "user bob".to_owned(),
    };
    for (n, flagged) in [(1, false), (2, false), (3, true), (4, true)] {
        store.intruded(attempt(id(1))).await.unwrap();
        let access = store.access(vec![id(1)]).await.unwrap().remove(&id(1)).unwrap();
        assert_eq!((access.failed_attempts, access.flagged), (n, flagged));
        assert_eq!(access.warnings.len() as u64, n);
        assert_eq!(access.last_access_at, None, "nobody got in");
    }
    store.intruded(attempt(id(7))).await.unwrap();
    assert!(store.access(vec![id(7)]).await.unwrap().is_empty());
    let totals = store.figures(at(0)).await.unwrap().totals;
    assert_eq!((totals.flagged, totals.warned, totals.failed_attempts), (1, 1, 4));
}

async fn apps_with_sessions_are_listed(store: Store) {
    assert!(store.app_names().await.unwrap().is_empty());
    for (n, app) in [(1, "math"), (2, "travel"), (3, "math")] {
        let new = NewSession { app_name: app.to_owned(), ..new_session(n) };
        store.create_session(new).await.unwrap();
    }
    assert_eq!(store.app_names().await.unwrap(), ["math", "travel"]);
}
