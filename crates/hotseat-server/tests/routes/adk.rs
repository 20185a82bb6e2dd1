//! The routes of ADK's own API server.

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::{Answer, ScriptedWorker, TestServer, sample};

const SESSIONS: &str = "/apps/notes/users/ada/sessions";

fn path(id: &str) -> String {
    format!("{SESSIONS}/{id}")
}

fn ids(sessions: &Value) -> Vec<&str> {
    sessions.as_array().unwrap().iter().map(|session| session["id"].as_str().unwrap()).collect()
}

async fn patch(server: &TestServer, path: &str, body: &Value) -> Answer {
    server.api.send(server.api.request(Method::PATCH, path).json(body)).await
}

/// An event of `author` that happened at `seconds`.
fn event_at(id: &str, author: &str, seconds: f64) -> Value {
    let mut event = sample::agent_event(id, author, id);
    event["timestamp"] = json!(seconds);
    event
}

#[tokio::test]
async fn apps_are_those_with_an_agent_and_those_with_sessions() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    server.api.post(SESSIONS, &json!({})).await.json(200);
    for plain in ["/list-apps", "/list-apps?detailed=false"] {
        assert_eq!(server.api.get(plain).await.json(200), json!(["math_app", "notes"]));
    }
    let detailed = server.api.get("/list-apps?detailed=true").await.json(200);
    let expected = json!({"apps": [
        {"name": "math_app", "rootAgentName": "math", "description": "Adds.", "language": "python"},
        {"name": "notes", "rootAgentName": "notes", "description": "", "language": "python"},
    ]});
    assert_eq!(detailed, expected);
}

#[tokio::test]
async fn a_session_is_written_as_adk_writes_it() {
    let server = TestServer::sqlite().await;
    let created = server.api.post(&path("s-1"), &json!({"step": 1})).await.json(200);
    let at = created["lastUpdateTime"].as_f64().unwrap();
    assert!(at > 1_700_000_000.0, "{at}");
    let expected = json!({
        "id": "s-1", "appName": "notes", "userId": "ada", "state": {"step": 1}, "events": [],
        "lastUpdateTime": at,
    });
    assert_eq!(created, expected);
    assert_eq!(server.api.get(&path("s-1")).await.json(200), expected);
    assert_eq!(server.api.get(SESSIONS).await.json(200), json!([expected]));
}

#[tokio::test]
async fn a_session_without_an_id_gets_one() {
    let server = TestServer::scratch().await;
    let bare = server.api.send(server.api.request(Method::POST, SESSIONS)).await.json(200);
    for created in [
        bare,
        server.api.post(SESSIONS, &json!({})).await.json(200),
        server.api.post(SESSIONS, &json!(null)).await.json(200),
        server.api.post(SESSIONS, &json!({"sessionId": "  "})).await.json(200),
    ] {
        let id = created["id"].as_str().unwrap();
        assert!(uuid(id), "{id}");
        assert_eq!(server.api.get(&path(id)).await.json(200), created);
    }
}

fn uuid(text: &str) -> bool {
    text.len() == 36 && text.bytes().filter(|byte| *byte == b'-').count() == 4
}

#[tokio::test]
async fn a_session_begins_with_what_it_is_given() {
    let server = TestServer::sqlite().await;
    for (key, id) in [("sessionId", "camel"), ("session_id", "snake")] {
        let mut event = event_at(id, "root", 10.0);
        event["actions"]["stateDelta"] = json!({"step": 2});
        let body = json!({key: id, "state": {"step": 1, "temp:x": 1}, "events": [event]});
        let created = server.api.post(SESSIONS, &body).await.json(200);
        assert_eq!(created["id"], id);
        assert_eq!(created["state"], json!({"step": 2}));
        assert_eq!(created["events"], json!([event]));
        assert_eq!(created["lastUpdateTime"], 10.0);
        assert_eq!(server.api.get(&path(id)).await.json(200), created);
    }
}

#[tokio::test]
async fn an_id_is_taken_once_by_each_user() {
    let server = TestServer::sqlite().await;
    server.api.post(&path("s"), &json!({"mine": true})).await.json(200);
    server.api.post(&path("s"), &json!({})).await.problem(409, "session_exists");
    let body = json!({"sessionId": " s "});
    server.api.post(SESSIONS, &body).await.problem(409, "session_exists");

    let bobs = "/apps/notes/users/bob/sessions/s";
    server.api.post(bobs, &json!({"mine": false})).await.json(200);
    server.api.post("/apps/other/users/ada/sessions/s", &json!({})).await.json(200);
    assert_eq!(server.api.get(&path("s")).await.json(200)["state"], json!({"mine": true}));
    server.api.delete(bobs).await.json(200);
    server.api.get(bobs).await.problem(404, "session_not_found");
    assert_eq!(server.api.get(&path("s")).await.json(200)["state"], json!({"mine": true}));
}

#[tokio::test]
async fn white_space_around_an_id_does_not_count() {
    let server = TestServer::scratch().await;
    let created = server.api.post(&path("%20s%20"), &json!({})).await.json(200);
    assert_eq!(created["id"], "s");
    for spelling in ["s", "s%20", "%09s"] {
        assert_eq!(server.api.get(&path(spelling)).await.json(200), created);
    }
}

#[tokio::test]
async fn ids_may_hold_any_characters() {
    let server = TestServer::scratch().await;
    for (written, id) in [("a%2Fb", "a/b"), ("%C3%BC%20%F0%9F%98%80", "ü 😀"), ("..", "..")] {
        let body = json!({"sessionId": id});
        server.api.post(SESSIONS, &body).await.json(200);
        if id != ".." {
            assert_eq!(server.api.get(&path(written)).await.json(200)["id"], id);
        }
    }
    let long = json!({"sessionId": "x".repeat(513)});
    server.api.post(SESSIONS, &long).await.problem(422, "invalid");
    let listed = server.api.get(SESSIONS).await.json(200);
    assert_eq!(ids(&listed).len(), 3, "{listed}");
}

#[tokio::test]
async fn sessions_are_listed_without_events_and_the_oldest_update_first() {
    let server = TestServer::sqlite().await;
    for (id, seconds) in [("late", 30.0), ("early", 10.0), ("middle", 20.0)] {
        let body = json!({"sessionId": id, "events": [event_at("e", "root", seconds)]});
        server.api.post(SESSIONS, &body).await.json(200);
    }
    server.api.post("/apps/notes/users/bob/sessions/b", &json!({})).await.json(200);
    let listed = server.api.get(SESSIONS).await.json(200);
    assert_eq!(ids(&listed), ["early", "middle", "late"]);
    let seen = listed.as_array().unwrap().iter().map(|session| &session["events"]);
    assert!(seen.into_iter().all(|events| *events == json!([])), "{listed}");
    let nobody = server.api.get("/apps/notes/users/nobody/sessions").await.json(200);
    assert_eq!(nobody, json!([]));
}

#[tokio::test]
async fn events_come_by_their_time_and_then_as_they_came() {
    let server = TestServer::scratch().await;
    let mut timeless = sample::agent_event("none", "root", "x");
    timeless.as_object_mut().unwrap().remove("timestamp");
    let events = [
        event_at("2", "root", 2.0),
        event_at("1", "root", 1.0),
        event_at("2b", "root", 2.0),
        timeless,
    ];
    let body = json!({"sessionId": "s", "events": events});
    server.api.post(SESSIONS, &body).await.json(200);
    let seen = server.api.get(&path("s")).await.json(200);
    assert_eq!(ids(&seen["events"]), ["none", "1", "2", "2b"]);
}

#[tokio::test]
async fn a_patch_changes_the_state_with_an_event_that_says_so() {
    let server = TestServer::sqlite().await;
    server.api.post(&path("s"), &json!({"step": 1, "gone": 1})).await.json(200);
    server.api.post(&path("other"), &json!({})).await.json(200);
    let bobs = "/apps/notes/users/bob/sessions/b";
    server.api.post(bobs, &json!({})).await.json(200);

    let delta =
        json!({"step": 2, "gone": null, "app:theme": "dark", "user:name": "Ada", "temp:x": 1});
    let patched = patch(&server, &path("s"), &json!({"stateDelta": delta})).await.json(200);
    let shown = json!({"step": 2, "gone": null, "app:theme": "dark", "user:name": "Ada"});
    assert_eq!(patched["state"], shown);
    let event = &patched["events"][0];
    assert_eq!((&event["author"], &event["actions"]["stateDelta"]), (&json!("user"), &delta));
    assert!(event["invocationId"].as_str().unwrap().starts_with("p-"), "{event}");
    assert_eq!(patched["lastUpdateTime"], event["timestamp"]);

    let other = server.api.get(&path("other")).await.json(200);
    assert_eq!(other["state"], json!({"app:theme": "dark", "user:name": "Ada"}));
    assert_eq!(server.api.get(bobs).await.json(200)["state"], json!({"app:theme": "dark"}));

    let again = patch(&server, &path("s"), &json!({"state_delta": {"step": 3}})).await.json(200);
    assert_eq!((&again["state"]["step"], ids(&again["events"]).len()), (&json!(3), 2));
    patch(&server, &path("s"), &json!({})).await.problem(422, "invalid");
}

#[tokio::test]
async fn a_deleted_session_is_gone_and_what_it_shared_stays() {
    let server = TestServer::sqlite().await;
    server.api.post(&path("s"), &json!({"step": 1, "user:name": "Ada"})).await.json(200);
    assert_eq!(server.api.delete(&path("s")).await.json(200), json!(null));
    assert_eq!(server.api.get(SESSIONS).await.json(200), json!([]));
    let anew = server.api.post(&path("s"), &json!({})).await.json(200);
    assert_eq!(anew["state"], json!({"user:name": "Ada"}));
}

#[tokio::test]
async fn a_session_that_is_not_there_is_not_found() {
    let server = TestServer::scratch().await;
    for id in ["s", "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11"] {
        server.api.get(&path(id)).await.problem(404, "session_not_found");
        server.api.delete(&path(id)).await.problem(404, "session_not_found");
        let delta = json!({"stateDelta": {"step": 1}});
        patch(&server, &path(id), &delta).await.problem(404, "session_not_found");
    }
    assert_eq!(server.api.get("/list-apps").await.json(200), json!([]), "nothing was made");
}

#[tokio::test]
async fn a_session_of_the_page_is_there_under_its_own_id() {
    let server = TestServer::sqlite().await;
    let id = server.api.session_with(&json!({"user_id": "ada"})).await;
    let events = format!("/api/v1/sessions/{id}/events");
    server.api.post(&events, &sample::user_event("u", "hello")).await.json(201);

    let own = format!("/apps/hotseat/users/ada/sessions/{id}");
    let seen = server.api.get(&own).await.json(200);
    assert_eq!((&seen["id"], &seen["appName"]), (&json!(id), &json!("hotseat")));
    assert_eq!(seen["events"], json!([sample::user_event("u", "hello")]));
    assert_eq!(ids(&server.api.get("/apps/hotseat/users/ada/sessions").await.json(200)), [&id]);
    server.api.post(&own, &json!({})).await.problem(409, "session_exists");
    let bobs = format!("/apps/hotseat/users/bob/sessions/{id}");
    server.api.get(&bobs).await.problem(404, "session_not_found");
    server.api.delete(&bobs).await.problem(404, "session_not_found");
    server.api.delete(&own).await.json(200);
    server.api.get(&format!("/api/v1/sessions/{id}")).await.problem(404, "session_not_found");
}

#[tokio::test]
async fn a_session_of_adk_is_on_the_page() {
    let server = TestServer::sqlite().await;
    server.api.post(&path("s"), &json!({"step": 1})).await.json(200);
    let listed = server.api.get("/api/v1/sessions").await.json(200);
    let item = &listed["items"][0];
    assert_eq!((&item["adk_id"], &item["source"]), (&json!("s"), &json!("adk")));
    assert_eq!((&item["app_name"], &item["user_id"]), (&json!("notes"), &json!("ada")));
    let id = item["id"].as_str().unwrap();
    let shown = server.api.get(&format!("/api/v1/sessions/{id}?include=state")).await.json(200);
    assert_eq!(shown["adk_state"], json!({"step": 1}));
}

#[tokio::test]
async fn the_routes_of_adk_need_the_token() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    for path in ["/list-apps", SESSIONS, &path("s")] {
        stranger.get(path).await.problem(401, "unauthenticated");
    }
    stranger.post(SESSIONS, &json!({})).await.problem(401, "unauthenticated");
    assert_eq!(server.api.get(SESSIONS).await.json(200), json!([]));
}
