//! Sessions over HTTP.

use serde_json::{Value, json};

use hotseat_testkit::{ScriptedWorker, TestServer, sample};

fn ids(list: &Value) -> Vec<String> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_session_can_be_created_from_nothing() {
    let server = TestServer::scratch().await;
    let created = server.api.post("/api/v1/sessions", &json!({})).await.json(201);
    let id = created["id"].as_str().unwrap();
    let at = created["created_at"].as_str().unwrap();
    assert!(at.len() == 24 && at.ends_with('Z') && at.contains('.'), "{at}");
    let expected = json!({
        "id": id, "agent": null, "app_name": "hotseat", "user_id": "local", "description": null,
        "title": null, "status": "active", "state": "awaiting_query", "source": "web",
        "created_at": at, "updated_at": at, "last_seq": 0, "removed_through": 0,
        "pending_turns": 0, "open_requests": 0, "run": null, "adk_id": id, "event_count": 0,
        "message_count": 0, "bytes": 0, "progress": null, "current_phase": null,
        "final_report": null, "error": null, "flagged": false,
    });
    assert_eq!(created, expected);
    assert_eq!(server.api.show(id).await, expected);
}

#[tokio::test]
async fn a_session_takes_what_is_said_of_it() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    for (key, value) in [("user_id", "ada"), ("userId", "bob")] {
        let body = json!({"agent": " math ", "description": "A sum", key: value});
        let created = server.api.post("/api/v1/sessions", &body).await.json(201);
        assert_eq!((&created["agent"], &created["app_name"]), (&json!("math"), &json!("math_app")));
        assert_eq!(
            (&created["description"], &created["user_id"]),
            (&json!("A sum"), &json!(value))
        );
    }
}

#[tokio::test]
async fn descriptions_are_cut_at_500_characters() {
    let server = TestServer::scratch().await;
    for (given, kept) in [
        ("ü".repeat(501), json!("ü".repeat(500))),
        ("x".repeat(500), json!("x".repeat(500))),
        ("  ".to_owned(), json!(null)),
        (String::new(), json!(null)),
    ] {
        let id = server.api.session_with(&json!({"description": given})).await;
        assert_eq!(server.api.show(&id).await["description"], kept);
    }
}

#[tokio::test]
async fn agents_must_have_a_name_and_a_worker() {
    let server = TestServer::scratch().await;
    let create =
        async |agent: &str| server.api.post("/api/v1/sessions", &json!({"agent": agent})).await;
    create("").await.problem(422, "invalid");
    create(" \t").await.problem(422, "invalid");
    let long = create(&"x".repeat(101)).await.problem(422, "invalid");
    assert_eq!(long["detail"], "the agent name has 101 characters, more than 100");
    create("nobody").await.problem(409, "no_worker");
    assert_eq!(server.api.get("/api/v1/sessions").await.json(200)["items"], json!([]));
}

#[tokio::test]
async fn sessions_are_listed_newest_first_in_pages() {
    let server = TestServer::sqlite().await;
    let mut created = Vec::new();
    for _ in 0..7 {
        created.push(server.api.session().await);
    }
    let whole = ids(&server.api.get("/api/v1/sessions").await.json(200));
    let mut sorted = (whole.clone(), created.clone());
    sorted.0.sort();
    sorted.1.sort();
    assert_eq!(sorted.0, sorted.1);

    let (mut seen, mut path) = (Vec::new(), "/api/v1/sessions?limit=3".to_owned());
    loop {
        let page = server.api.get(&path).await.json(200);
        seen.extend(ids(&page));
        server.api.session().await; // The newest does not shift the pages below it.
        match page["next_cursor"].as_str() {
            Some(cursor) => path = format!("/api/v1/sessions?limit=3&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(seen, whole);
}

#[tokio::test]
async fn sessions_are_filtered() {
    let server = TestServer::scratch().await;
    let mut grpc = server.api.grpc().await;
    let plain = server.api.session_with(&json!({"user_id": "ada", "description": "Sums"})).await;
    let done = server.api.session().await;
    let waiting = server.api.session().await;
    server.api.complete(&done).await;
    grpc.ask(&waiting).await;
    let list = async |query: &str| {
        ids(&server.api.get(&format!("/api/v1/sessions?{query}")).await.json(200))
    };
    assert_eq!(list("status=completed").await, [done.as_str()]);
    assert_eq!(list("state=waiting").await, [waiting.as_str()]);
    assert_eq!(list("user_id=ada").await, [plain.as_str()]);
    assert_eq!(list("userId=ada").await, [plain.as_str()]);
    assert_eq!(list("q=sUMs").await, [plain.as_str()]);
    assert_eq!(list("q=%25").await, [""; 0]);
    assert_eq!(list("agent=nobody").await, [""; 0]);
    assert_eq!(list("q=%20&status=active&limit=1").await.len(), 1);
}

#[tokio::test]
async fn history_and_events_come_along_when_asked_for() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let log = json!([sample::user_event("u", "2 + 3?"), sample::agent_event("a", "root", "5")]);
    server.api.post(&format!("/api/v1/sessions/{id}/events"), &log).await.json(201);

    let plain = server.api.show(&id).await;
    assert!(plain.get("history").is_none() && plain.get("events").is_none());
    assert_eq!((&plain["title"], &plain["last_seq"]), (&json!("2 + 3?"), &json!(2)));
    let path = format!("/api/v1/sessions/{id}?include=history,events");
    let whole = server.api.get(&path).await.json(200);
    let history = whole["history"].as_array().unwrap();
    let types: Vec<_> = history.iter().map(|entry| &entry["type"]).collect();
    assert_eq!(types, ["user_query", "final_response"]);
    assert_eq!((&history[1]["content"], &history[1]["seq"]), (&json!("5"), &json!(2)));
    assert_eq!(whole["events"][1]["event"], log[1]);
}

#[tokio::test]
async fn reading_changes_nothing() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    grpc.ask(&id).await;
    let before = server.api.show(&id).await;
    server.api.events(&id).await;
    server.api.pending(&id).await;
    server.api.get(&format!("/api/v1/sessions/{id}/export")).await;
    server
        .api
        .stream(&format!("/api/v1/sessions/{id}/stream"))
        .await
        .until("history_complete")
        .await;
    assert_eq!(server.api.show(&id).await, before);
}

#[tokio::test]
async fn a_deleted_session_is_gone() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    grpc.ask(&id).await;
    let path = format!("/api/v1/sessions/{id}");
    let answer = server.api.delete(&path).await;
    assert_eq!((answer.status.as_u16(), answer.body.as_str()), (204, ""));
    server.api.get(&path).await.problem(404, "session_not_found");
    server.api.delete(&path).await.problem(404, "session_not_found");
    let turns = server.api.get("/api/v1/turns?state=pending").await.json(200);
    assert_eq!(turns["items"], json!([]));
}

#[tokio::test]
async fn completion_is_for_good_and_ends_what_is_open() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let mut grpc = server.api.grpc().await;
    let turns = [grpc.ask(&id).await, grpc.ask(&id).await];
    assert_eq!(server.api.show(&id).await["state"], "active");

    let completed = server.api.complete(&id).await;
    assert_eq!(
        (&completed["status"], &completed["state"]),
        (&json!("completed"), &json!("completed"))
    );
    assert_eq!(completed["pending_turns"], 0);
    let log = server.api.events(&id).await;
    let kinds: Vec<_> = log.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["request", "request", "response", "response", "session"]);
    assert_eq!(log[2]["turn_id"], turns[0]);
    assert_eq!(log[2]["event"]["error"]["code"], "dismissed");

    assert_eq!(server.api.complete(&id).await, completed, "again is the same");
    assert_eq!(server.api.events(&id).await.len(), 5);
    let late = sample::user_event("late", "hello");
    let events = format!("/api/v1/sessions/{id}/events");
    server.api.post(&events, &late).await.problem(409, "session_completed");
}

/// A worker writes while a person completes: the person wins, at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn completion_does_not_lose_against_writers() {
    let server = TestServer::sqlite().await;
    let id = server.api.session().await;
    let writers: Vec<_> = (0..3)
        .map(|writer| {
            let (api, id) = (server.api.clone(), id.clone());
            tokio::spawn(async move {
                let mut grpc = api.grpc().await;
                let mut written = 0;
                loop {
                    let event = sample::agent_event(&format!("{writer}-{written}"), "root", "…");
                    if grpc.append(&id, &[event]).await.is_err() {
                        return written;
                    }
                    written += 1;
                }
            })
        })
        .collect();
    let mut grown = server.store.watch(id.parse().unwrap());
    grown.wait_for(|seq| seq.get() > 10).await.unwrap();
    let completed = server.api.complete(&id).await;
    let mut written = 0;
    for writer in writers {
        written += writer.await.unwrap();
    }
    assert_eq!(completed["last_seq"], written + 1, "nothing follows completion");
}

#[tokio::test]
async fn a_run_of_nobody_cannot_be_cancelled() {
    let server = TestServer::scratch().await;
    let id = server.api.session().await;
    let path = format!("/api/v1/sessions/{id}/cancel");
    server.api.post(&path, &json!({})).await.problem(409, "no_run");
    let path = format!("/api/v1/sessions/{id}/tools/adk-1/cancel");
    server.api.post(&path, &json!({})).await.problem(404, "tool_not_running");
}
