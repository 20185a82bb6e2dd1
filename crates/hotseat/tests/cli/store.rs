//! Servers over PostgreSQL, and the way there.

use hotseat_testkit::{Launch, TestDatabase, sample};
use serde_json::json;

use crate::HOTSEAT;

fn over(database: &TestDatabase) -> Launch {
    // In the environment, where other users of the machine cannot read a password.
    Launch::new(HOTSEAT).variable("HOTSEAT_STORE", &database.url())
}

#[tokio::test]
async fn a_store_is_copied_to_postgres_and_served_from_there() {
    let database = TestDatabase::create();
    let launch = Launch::new(HOTSEAT);
    let hotseat = launch.start();
    let id = hotseat.api.session_with(&json!({"description": "Holiday plans"})).await;
    let log = json!([sample::user_event("u", "2 + 3?"), sample::agent_event("a", "root", "5")]);
    hotseat.api.post(&format!("/api/v1/sessions/{id}/events"), &log).await.json(201);
    let before = hotseat.api.events(&id).await;
    hotseat.signal("TERM");

    let copy = ["store", "copy", "sqlite://.hotseat/hotseat.db", &database.url(), "--verify"];
    let copied = launch.call(&copy);
    assert_eq!((copied.code, copied.stderr.as_str()), (Some(0), ""), "{copied:?}");
    let place = database.url().rsplit_once('@').unwrap().1.to_owned();
    assert_eq!(copied.stdout, format!("copied 1 sessions to {place}\nboth hold the same\n"));
    let again = launch.call(&copy);
    assert_eq!((again.code, &again.stdout), (Some(0), &copied.stdout), "as if it had been cut off");

    let hotseat = over(&database).start();
    assert_eq!(hotseat.api.events(&id).await, before);
    let listed = over(&database).call(&["sessions", "list"]);
    assert!(listed.stdout.starts_with(&id) && listed.stdout.contains("Holiday plans"));
    hotseat.api.session().await;
    let refused = launch.call(&copy);
    assert_eq!(refused.code, Some(1));
    assert_eq!(
        refused.stderr,
        "error: the target holds 1 sessions that are no copy of this store's: copy into an empty store\n"
    );
}

#[tokio::test]
async fn any_server_over_one_database_takes_any_request() {
    let database = TestDatabase::create();
    let (one, two) = (over(&database).start(), over(&database).start());
    let id = one.api.session().await;
    let mut stream = two.api.stream(&format!("/api/v1/sessions/{id}/stream")).await;
    stream.until("history_complete").await;
    let turn = one.api.grpc().await.ask(&id).await;
    assert_eq!(stream.next_of("event").await.data()["kind"], "request");
    let pending = two.api.pending(&id).await;
    assert_eq!(pending[0]["turn_id"], turn.as_str());
    two.api.decide(&id, &turn, &sample::says("5")).await.json(200);
    let late = one.api.decide(&id, &turn, &sample::says("6")).await;
    assert_eq!(late.status, 409);
    assert_eq!(one.api.events(&id).await, two.api.events(&id).await);
}

#[test]
fn a_database_that_is_not_there_is_a_clear_error() {
    let refused = Launch::new(HOTSEAT).argument("--store=postgres://me:secret@127.0.0.1:1/x").run();
    assert_eq!(refused.code, Some(1));
    let words = "error: could not open the store 127.0.0.1:1/x: check that PostgreSQL runs there";
    assert!(refused.stderr.contains(words), "{}", refused.stderr);
    assert!(!refused.stderr.contains("secret"));
}
