//! Words, found wherever they were said.

use serde_json::{Value, json};

use hotseat_testkit::{TestServer, sample};

async fn said(server: &TestServer, session: &str, id: &str, text: &str) {
    let path = format!("/api/v1/sessions/{session}/events");
    server.api.post(&path, &sample::agent_event(id, "root", text)).await.json(201);
}

async fn search(server: &TestServer, query: &str) -> Value {
    server.api.get(&format!("/api/v1/search?{query}")).await.json(200)
}

/// Where words were found: the sessions and the places.
fn places(page: &Value) -> Vec<(&str, u64)> {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|hit| (hit["session_id"].as_str().unwrap(), hit["seq"].as_u64().unwrap())).collect()
}

#[tokio::test]
async fn a_hit_says_where_and_shows_the_words() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let path = format!("/api/v1/sessions/{id}/events");
    server.api.post(&path, &sample::user_event("u", "Plan a trip")).await.json(201);
    said(&server, &id, "a", "The Eiffel tower is in Paris").await;
    let found = search(&server, "q=eiffel").await;
    let at = server.api.events(&id).await[1]["timestamp"].clone();
    let hit = json!({"session_id": id, "title": "Plan a trip", "seq": 2, "kind": "event",
        "author": "root", "timestamp": at, "snippet": "The \u{2}Eiffel\u{3} tower is in Paris"});
    assert_eq!(found, json!({"items": [hit], "next_cursor": null}));
}

#[tokio::test]
async fn all_words_must_occur_as_beginnings_of_words() {
    let server = TestServer::scratch().await;
    let (one, two) = (server.api.session().await, server.api.session().await);
    said(&server, &one, "1", "Blue whales sing").await;
    said(&server, &two, "1", "A blue house").await;
    let message = json!({"role": "user", "content": "whales again"});
    let path = format!("/api/v1/sessions/{two}/messages");
    server.api.post(&path, &message).await.json(201);
    let (one, two) = (one.as_str(), two.as_str());
    assert_eq!(places(&search(&server, "q=blue").await), [(two, 1), (one, 1)], "newest first");
    assert_eq!(places(&search(&server, "q=BLUE%20wha").await), [(one, 1)]);
    assert_eq!(places(&search(&server, "q=whales").await), [(two, 2), (one, 1)]);
    let within = search(&server, &format!("q=whales&session_id={one}")).await;
    assert_eq!(places(&within), [(one, 1)]);
    let within = search(&server, &format!("q=whales&sessionId={two}")).await;
    assert_eq!(places(&within), [(two, 2)]);
    for nothing in ["q=hales", "q=", "q=%20*%20", "q=NOT%20blue%20OR%20whales", "q=%22"] {
        assert_eq!(search(&server, nothing).await["items"], json!([]), "{nothing}");
    }
}

#[tokio::test]
async fn what_was_found_goes_page_by_page() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    for n in 1..=5 {
        said(&server, &id, &n.to_string(), "again").await;
    }
    let (mut seen, mut query) = (Vec::new(), "q=again&limit=2".to_owned());
    loop {
        let page = search(&server, &query).await;
        assert!(places(&page).len() <= 2, "{page}");
        seen.extend(places(&page).into_iter().map(|(_, seq)| seq));
        said(&server, &id, &format!("late-{}", seen.len()), "again").await;
        match page["next_cursor"].as_str() {
            Some(cursor) => query = format!("q=again&limit=2&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, [5, 4, 3, 2, 1], "what comes meanwhile shifts nothing");
    assert_eq!(search(&server, "q=again&limit=0").await["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_gone_is_not_found() {
    let server = TestServer::scratch().await;
    let (cleared, deleted) = (server.api.session().await, server.api.session().await);
    said(&server, &cleared, "1", "secret").await;
    said(&server, &deleted, "1", "secret").await;
    assert_eq!(search(&server, "q=secret").await["items"].as_array().unwrap().len(), 2);
    server.api.delete(&format!("/api/v1/sessions/{cleared}/events")).await.json(200);
    server.api.delete(&format!("/api/v1/sessions/{deleted}")).await;
    assert_eq!(search(&server, "q=secret").await["items"], json!([]));
}

#[tokio::test]
async fn a_search_that_means_nothing_is_refused() {
    let server = TestServer::scratch().await;
    for query in ["", "q=x&cursor=elsewhere", "q=x&limit=many"] {
        let path = format!("/api/v1/search?{query}");
        server.api.get(&path).await.problem(400, "bad_request");
    }
    let answer = server.api.get("/api/v1/search?q=x&session_id=nowhere").await;
    answer.problem(404, "session_not_found");
    let stranger = server.api.without_token();
    stranger.get("/api/v1/search?q=x").await.problem(401, "unauthenticated");
}
