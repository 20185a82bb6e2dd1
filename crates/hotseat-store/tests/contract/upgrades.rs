//! Files of older versions.

use hotseat_store::{EventQuery, Limits, SearchQuery, Sort, Store};
use rusqlite::Connection;

use crate::log::{answer, append, event, id, ids, log, seqs, session, turn};

/// A file of the second version, with events that were in its indexes and events that were not.
#[tokio::test]
async fn a_file_of_the_second_version_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(include_str!("../../src/sqlite/migrations/0001_sessions_events_turns.sql"))
        .unwrap();
    old.execute_batch(include_str!("../../src/sqlite/migrations/0002_ledger.sql")).unwrap();
    old.pragma_update(None, "user_version", 2).unwrap();
    let key = id(1).to_string();
    old.execute(
        "INSERT INTO sessions (id, created_at, agent, app_name, user_id, source, updated_at, title, \
         last_seq, pending_turns, event_head, event_count, message_count, bytes, incarnation) \
         VALUES (?1, 1767607200000, 'root', 'app', 'local', 'web', 1767607200004, 'Hello', 4, 1, 3, \
         3, 1, 300, 42)",
        [&key],
    )
    .unwrap();
    for (seq, (settled, kind, time)) in (1_i64..).zip([
        (1, "event", 7.5),
        (1, "event", 0.0),
        (0, "event", 3.0),
        (0, "request", 9.0),
    ]) {
        let turn = (kind == "request").then(|| crate::log::turn(1).to_string());
        let payload = r#"{"author":"user","content":{"parts":[{"text":"Hello"}]}}"#;
        old.execute(
            "INSERT INTO events (id, settled, session_id, seq, event_id, timestamp, time, kind, \
             turn_id, agent_name, author, invocation_id, size, payload) VALUES (?2 + 10, ?3, ?1, ?2, \
             ?4, 1767607200000, ?5, ?6, ?7, 'root', 'user', 'i', 75, ?8)",
            rusqlite::params![key, seq, settled, format!("e{seq}"), time, kind, turn, payload],
        )
        .unwrap();
    }
    old.execute("UPDATE places SET settled_through = 12, indexed_through = 10", []).unwrap();
    old.execute(
        "INSERT INTO turns (session_id, turn_id, request_seq) VALUES (?1, ?2, 4)",
        [&key, &crate::log::turn(1).to_string()],
    )
    .unwrap();
    drop(old);

    let store = Store::sqlite(&path, Limits::default()).unwrap();
    assert_eq!(ids(&store, id(1)).await, ["e1", "e2", "e3", "e4"]);
    let kept = session(&store, id(1)).await;
    assert_eq!((kept.last_seq.get(), kept.pending_turns, kept.incarnation), (4, 1, 42));
    let by_time = EventQuery { sort: Sort::Time, ..EventQuery::default() };
    assert_eq!(seqs(&store.events(id(1), by_time).await.unwrap()), [2, 3, 1, 4]);
    let of_invocation = EventQuery { invocation_id: Some("i".to_owned()), ..EventQuery::default() };
    assert_eq!(store.events(id(1), of_invocation).await.unwrap().len(), 4);
    let again = ["e1", "e2", "e3"].map(event).to_vec();
    assert_eq!(append(&store, id(1), again).await.new, 0, "they are known");
    assert_eq!(append(&store, id(1), vec![event("e5"), answer(1)]).await.new, 2);
    let words = SearchQuery { text: "hello".to_owned(), ..SearchQuery::default() };
    assert_eq!(store.search(words).await.unwrap().hits.len(), 3);
    assert!(store.delete_session(id(1)).await.unwrap());
    let connection = Connection::open(&path).unwrap();
    for table in ["events", "event_places", "event_times", "event_identities", "turns"] {
        let sql = format!("SELECT count(*) FROM {table}");
        assert_eq!(connection.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap(), 0);
    }
}

#[tokio::test]
async fn events_of_an_older_file_are_found_by_their_type() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let old = Connection::open(&path).unwrap();
    for version in [
        include_str!("../../src/sqlite/migrations/0001_sessions_events_turns.sql"),
        include_str!("../../src/sqlite/migrations/0002_ledger.sql"),
        include_str!("../../src/sqlite/migrations/0003_settling.sql"),
    ] {
        old.execute_batch(version).unwrap();
    }
    old.pragma_update(None, "user_version", 3).unwrap();
    let key = id(1).to_string();
    old.execute(
        "INSERT INTO sessions (id, created_at, app_name, user_id, source, updated_at, last_seq) \
         VALUES (?1, 1767607200000, 'app', 'local', 'web', 1767607200004, 4)",
        [&key],
    )
    .unwrap();
    let note = br#"{"type":"note","author":"root"}"#;
    let compressed = zstd::bulk::compress(note, 1).unwrap();
    let text = |bytes: &[u8]| rusqlite::types::Value::Text(String::from_utf8_lossy(bytes).into());
    for (seq, (kind, payload)) in (1_i64..).zip([
        ("event", text(note)),
        ("event", rusqlite::types::Value::Blob(compressed)),
        ("event", text(br#"{"author":"root"}"#)),
        ("message", text(note)),
    ]) {
        old.execute(
            "INSERT INTO events (id, session_id, seq, event_id, timestamp, time, kind, agent_name, \
             author, size, payload) VALUES (?2, ?1, ?2, ?2, 1767607200000, 1, ?3, 'root', 'root', 1, ?4)",
            rusqlite::params![key, seq, kind, payload],
        )
        .unwrap();
    }
    drop(old);
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    let notes = EventQuery { event_type: Some("note".to_owned()), ..EventQuery::default() };
    assert_eq!(seqs(&store.events(id(1), notes).await.unwrap()), [1, 2]);
}

/// A file of the first version, as it was written then.
#[tokio::test]
async fn a_file_of_an_older_version_is_brought_up_to_date_with_all_that_is_in_it() {
    const FIRST: &str = include_str!("../../src/sqlite/migrations/0001_sessions_events_turns.sql");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let old = Connection::open(&path).unwrap();
    old.execute_batch(FIRST).unwrap();
    old.pragma_update(None, "user_version", 1).unwrap();
    old.execute(
        "INSERT INTO sessions (id, created_at, agent, app_name, user_id, source, updated_at, title, \
         last_seq, pending_turns) VALUES (?1, 1767607200000, 'root', 'app', 'local', 'web', \
         1767607200009, 'Hello', 3, 1)",
        [id(1).to_string()],
    )
    .unwrap();
    let payloads = [
        (
            "event",
            "user",
            r#"{"author":"user","timestamp":7.5,"content":{"parts":[{"text":"Hello"}]}}"#,
        ),
        (
            "event",
            "root",
            r#"{"author":"root","actions":{"stateDelta":{"n":1180591620717411303424}}}"#,
        ),
        ("request", "root", r#"{"request":{"contents":[]}}"#),
    ];
    for (seq, (kind, author, payload)) in (1_i64..).zip(payloads) {
        let turn = (kind == "request").then(|| crate::log::turn(1).to_string());
        old.execute(
            "INSERT INTO events (session_id, seq, event_id, timestamp, kind, turn_id, agent_name, \
             author, payload) VALUES (?1, ?2, ?3, 1767607200000 + ?2, ?4, ?5, 'root', ?6, ?7)",
            rusqlite::params![
                id(1).to_string(),
                seq,
                format!("e{seq}"),
                kind,
                turn,
                author,
                payload
            ],
        )
        .unwrap();
    }
    old.execute(
        "INSERT INTO turns (session_id, turn_id, request_seq) VALUES (?1, ?2, 3)",
        [id(1).to_string(), crate::log::turn(1).to_string()],
    )
    .unwrap();
    drop(old);

    let store = Store::sqlite(&path, Limits::default()).unwrap();
    let kept: Vec<_> =
        log(&store, id(1)).await.iter().map(|event| event.payload.get().to_owned()).collect();
    assert_eq!(kept, payloads.map(|(_, _, payload)| payload.to_owned()));
    let upgraded = session(&store, id(1)).await;
    assert_eq!((upgraded.event_count, upgraded.message_count, upgraded.pending_turns), (2, 1, 1));
    assert_eq!(upgraded.title.as_deref(), Some("Hello"));
    let state = store.session_state(id(1)).await.unwrap();
    assert_eq!(state["n"].to_string(), "1180591620717411303424");
    assert_eq!(store.messages(id(1)).await.unwrap()[0].timestamp.as_millisecond(), 7500);
    assert_eq!(append(&store, id(1), vec![event("e2"), answer(1)]).await.new, 1);
    let found = SearchQuery { text: "hello".to_owned(), ..Default::default() };
    assert_eq!(store.search(found).await.unwrap().hits.len(), 1);
}

/// The last version that found settled events by the id of their session.
#[tokio::test]
async fn what_was_settled_by_sessions_ids_is_found_by_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hotseat.db");
    let old = Connection::open(&path).unwrap();
    for version in [
        include_str!("../../src/sqlite/migrations/0001_sessions_events_turns.sql"),
        include_str!("../../src/sqlite/migrations/0002_ledger.sql"),
        include_str!("../../src/sqlite/migrations/0003_settling.sql"),
        include_str!("../../src/sqlite/migrations/0004_epochs.sql"),
        include_str!("../../src/sqlite/migrations/0005_people.sql"),
        include_str!("../../src/sqlite/migrations/0006_event_types.sql"),
    ] {
        old.execute_batch(version).unwrap();
    }
    old.pragma_update(None, "user_version", 6).unwrap();
    let key = "0190163d-8694-739b-aea5-966c26f8ad91";
    old.execute_batch(&format!(
        "INSERT INTO sessions (id, created_at, app_name, user_id, source, updated_at, last_seq, \
             settled_seq, event_head, event_count, pending_turns) \
         VALUES ('{key}', 1767607200000, 'app', 'local', 'web', 1767607200004, 2, 2, 1, 1, 1);
         INSERT INTO events (id, session_id, seq, event_id, timestamp, time, kind, turn_id, agent_name, \
             author, size, payload) \
         VALUES (1, '{key}', 1, 'e-1', 1767607200000, 1, 'event', NULL, 'root', 'root', 17, '{{\"author\":\"root\"}}'),
                (2, '{key}', 2, 'r', 1767607200000, 2, 'request', '{turn}', 'root', 'root', 2, '{{}}');
         INSERT INTO turns VALUES ('{key}', '{turn}', 2, NULL, 1767607200000);
         INSERT INTO event_places VALUES ('{key}', 1, 1, 1, 'event', 'root', NULL, NULL),
                                         ('{key}', 2, 2, 2, 'request', 'root', NULL, NULL);
         INSERT INTO event_times VALUES ('{key}', 1, 1, 1), ('{key}', 2, 2, 2);
         INSERT INTO event_identities VALUES (8359238186475280135, 1);
         UPDATE places SET settled_through = 2;",
        turn = turn(1),
    ))
    .unwrap();
    drop(old);
    let store = Store::sqlite(&path, Limits::default()).unwrap();
    let session = key.parse().unwrap();
    let by_time = EventQuery { sort: Sort::Time, ..EventQuery::default() };
    for query in [EventQuery::default(), by_time] {
        assert_eq!(seqs(&store.events(session, query).await.unwrap()), [1, 2]);
    }
    assert_eq!(append(&store, session, vec![event("e-1")]).await.new, 0, "it is known");
    assert_eq!(append(&store, session, vec![answer(1)]).await.new, 1, "the turn still waits");
    assert!(store.delete_session(session).await.unwrap());
}
