//! What is done often goes by the key of a session, so that it costs the same however many
//! sessions there are, and stays on one machine where they are spread over many.

use hotseat_core::Seq;
use hotseat_store::{AdkEventQuery, EventQuery, Expected, Limits, Order, Store, TurnQuery};
use hotseat_testkit::TestDatabase;
use serde_json::json;

use crate::log::{answer, append, created, event, id, log, new_session, raw, request, said};

/// The tables that grow with sessions.
const TABLES: [&str; 8] = [
    "sessions",
    "events",
    "turns",
    "asks",
    "session_state",
    "messages",
    "session_access",
    "search",
];

/// Everything that happens in the course of a conversation.
async fn hot_path(store: &Store) {
    for n in 1..=3 {
        created(store, n).await;
    }
    let mut adk = new_session(4);
    "adk".clone_into(&mut adk.source);
    store.create_session(adk).await.unwrap();
    for round in 0..7 {
        let told = json!({"author": "root", "actions": {"state_delta": {"k": round, "app:k": 1}},
            "long_running_tool_ids": ["c"], "content": {"parts": [{"function_call":
            {"id": format!("c{round}"), "name": "adk_request_confirmation", "args": {}}}]}});
        let progress = json!({"type": "research_progress", "overall_progress": 45.5});
        let with = |name: &str, payload: &serde_json::Value| {
            let name = format!("{name}-{round}");
            hotseat_core::NewEvent { payload: raw(&payload.to_string()), ..event(&name) }
        };
        for n in 1..=4 {
            let turn = round + 100 * n;
            append(store, id(n), vec![said(&format!("s{round}"), "Hello"), request(turn)]).await;
            append(store, id(n), vec![answer(turn), with("t", &told), with("p", &progress)]).await;
            let head = store.session(id(n)).await.unwrap().unwrap().event_head;
            let next = vec![event(&format!("e{round}"))];
            store.append(id(n), Expected::EventHead(head), next).await.unwrap();
            log(store, id(n)).await;
            let recent = AdkEventQuery {
                after: Seq::START,
                recent: Some(3),
                not_before: None,
                max_bytes: usize::MAX,
            };
            store.adk_session(id(n), recent).await.unwrap();
            store.adk_session(id(n), AdkEventQuery { recent: None, ..recent }).await.unwrap();
            store.messages(id(n)).await.unwrap();
            store.turns(TurnQuery { session: Some(id(n)), ..TurnQuery::default() }).await.unwrap();
            let newest = EventQuery { order: Order::Descending, limit: 1, ..EventQuery::default() };
            store.events(id(n), newest).await.unwrap();
        }
    }
}

#[tokio::test]
async fn no_query_of_a_conversation_is_without_its_session() {
    let database = TestDatabase::create();
    drop(Store::postgres(&database.url(), Limits::default()).await.unwrap());
    database.watch_plans();
    let store = Store::postgres(&database.url(), Limits::default()).await.unwrap();
    hot_path(&store).await;
    let mut looked_at = 0;
    for plan in database.plans() {
        let lines: Vec<&str> = plan.lines().collect();
        for (number, line) in lines.iter().enumerate() {
            let Some((_, table)) = line.split_once(" on ") else { continue };
            let table = table.split_whitespace().next().unwrap_or_default();
            if !line.contains("Scan") || !TABLES.contains(&table) {
                continue;
            }
            looked_at += 1;
            let next = lines.get(number + 1).copied().unwrap_or_default();
            let by_session = next.contains("Cond: ") && next.contains("session_id");
            assert!(!line.contains("Seq Scan") && by_session, "{plan}");
        }
    }
    assert!(looked_at > 100, "only {looked_at} scans were seen");
}
