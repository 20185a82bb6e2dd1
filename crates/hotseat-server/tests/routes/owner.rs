//! Whose sessions a caller sees, on every route there is.

use reqwest::Method;
use serde_json::{Value, json};

use hotseat_testkit::proto::{Agent, LoadProblem, Register};
use hotseat_testkit::{Answer, Api, ScriptedWorker, TestServer, sample, soon};

use crate::openapi::operations;

pub(crate) const UNKNOWN: &str = "00000000-0000-4000-8000-00000000000f";

/// What a route shows to a user who is not the owner of the installation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rule {
    /// To anybody, even without a token.
    Public,
    /// The same to every user; nothing in it is of a session.
    Anyone,
    /// What is theirs.
    TheirOwn,
    /// A session, if it is theirs.
    OwnSession,
    /// What is below an ADK user, if that is them.
    OwnUser,
    /// An agent, in sessions of their own; here there is none.
    Agent,
    /// Nothing.
    OwnerOnly,
}

/// A route that is not in here fails the test: somebody has to decide.
#[rustfmt::skip]
const RULES: &[(&str, &str, Rule)] = &[
    ("GET", "/health", Rule::Public),
    ("GET", "/health/agent", Rule::Public),
    ("GET", "/ready", Rule::Public),
    ("POST", "/agent/{name}/chat", Rule::Agent),
    ("POST", "/agent/{name}/chat/multipart", Rule::Agent),
    ("POST", "/agent/{name}/chat/stream", Rule::Agent),
    ("POST", "/agent/{name}/chat/stream/multipart", Rule::Agent),
    ("GET", "/agent/{name}/sessions/{session_id}", Rule::Agent),
    ("POST", "/ag-ui/{agent}", Rule::Agent),
    ("GET", "/ag-ui/{agent}/capabilities", Rule::Agent),
    ("GET", "/ag-ui/{agent}/threads/{thread}", Rule::Agent),
    ("GET", "/ag-ui/{agent}/threads/{thread}/runs/{run}", Rule::Agent),
    ("POST", "/ag-ui/{agent}/threads/{thread}/cancel", Rule::Agent),
    ("POST", "/run", Rule::OwnUser),
    ("POST", "/run_sse", Rule::OwnUser),
    // Of REST sessions; any other is left alone, and nobody is told whether it is there.
    ("DELETE", "/sessions/{session_id}", Rule::TheirOwn),
    ("GET", "/api/v1/agents", Rule::Anyone),
    ("GET", "/api/v1/csrf", Rule::Anyone),
    ("GET", "/api/v1/me", Rule::Anyone),
    ("GET", "/list-apps", Rule::Anyone),
    ("GET", "/api/v1/sessions", Rule::TheirOwn),
    ("POST", "/api/v1/sessions", Rule::TheirOwn),
    ("GET", "/api/v1/search", Rule::TheirOwn),
    ("GET", "/api/v1/turns", Rule::TheirOwn),
    ("GET", "/api/v1/stream", Rule::TheirOwn),
    ("GET", "/api/v1/sessions/{id}", Rule::OwnSession),
    ("DELETE", "/api/v1/sessions/{id}", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/artifacts", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/artifacts/{name}", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/backfill", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/binding", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/cancel", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/complete", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/events", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/events", Rule::OwnSession),
    ("DELETE", "/api/v1/sessions/{id}/events", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/events/summary", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/fork", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/messages", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/messages", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/query", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/rebuild", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/record", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/stream", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/tools/{call_id}/cancel", Rule::OwnSession),
    ("GET", "/api/v1/sessions/{id}/turns", Rule::OwnSession),
    ("PUT", "/api/v1/sessions/{id}/turns/{turn_id}/claim", Rule::OwnSession),
    ("DELETE", "/api/v1/sessions/{id}/turns/{turn_id}/claim", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/turns/{turn_id}/hand-over", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/typing", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/turns/{turn_id}/decision", Rule::OwnSession),
    ("POST", "/api/v1/sessions/{id}/turns/{turn_id}/dismiss", Rule::OwnSession),
    ("GET", "/apps/{app}/users/{user}/sessions", Rule::OwnUser),
    ("POST", "/apps/{app}/users/{user}/sessions", Rule::OwnUser),
    ("GET", "/apps/{app}/users/{user}/sessions/{session}", Rule::OwnUser),
    ("POST", "/apps/{app}/users/{user}/sessions/{session}", Rule::OwnUser),
    ("PATCH", "/apps/{app}/users/{user}/sessions/{session}", Rule::OwnUser),
    ("DELETE", "/apps/{app}/users/{user}/sessions/{session}", Rule::OwnUser),
    ("GET", "/api/v1/sessions/{id}/export", Rule::OwnerOnly),
    ("POST", "/api/v1/sessions/{id}/export", Rule::OwnerOnly),
    ("GET", "/api/v1/eval-runs", Rule::OwnerOnly),
    ("GET", "/api/v1/eval-runs/{id}", Rule::OwnerOnly),
    ("GET", "/api/v1/eval-sets", Rule::OwnerOnly),
    ("GET", "/api/v1/eval-sets/file", Rule::OwnerOnly),
    ("PUT", "/api/v1/eval-sets/case", Rule::OwnerOnly),
    ("DELETE", "/api/v1/eval-sets/case", Rule::OwnerOnly),
    ("POST", "/api/v1/eval-sets/run", Rule::OwnerOnly),
    ("POST", "/api/v1/eval-sets/validate", Rule::OwnerOnly),
    ("GET", "/api/v1/stats", Rule::OwnerOnly),
    ("GET", "/metrics", Rule::OwnerOnly),
    ("GET", "/api/v1/users", Rule::OwnerOnly),
    ("POST", "/api/v1/users", Rule::OwnerOnly),
    ("DELETE", "/api/v1/users/{name}", Rule::OwnerOnly),
    ("PUT", "/api/v1/users/{name}/role", Rule::OwnerOnly),
    ("GET", "/api/v1/users/{name}/tokens", Rule::OwnerOnly),
    ("POST", "/api/v1/users/{name}/tokens", Rule::OwnerOnly),
    ("DELETE", "/api/v1/tokens/{id}", Rule::OwnerOnly),
    ("GET", "/api/v1/audit", Rule::OwnerOnly),
    ("GET", "/api/v1/audit/export", Rule::OwnerOnly),
];

/// Every operation of the document, with what was decided for it.
pub(crate) fn decided() -> Vec<(Method, String, Rule)> {
    let decide = |(method, path): (Method, String)| {
        let rule = RULES.iter().find(|(known, at, _)| *known == method.as_str() && *at == path);
        let (_, _, rule) =
            rule.unwrap_or_else(|| panic!("{method} {path}: who may do this? Decide in RULES"));
        (method, path, *rule)
    };
    operations().into_iter().map(decide).collect()
}

/// Asks for an operation with a body that its route takes.
pub(crate) async fn ask(
    api: &Api,
    method: &Method,
    path: &str,
    session: &str,
    user: &str,
) -> Answer {
    let last = path.rsplit('/').next().unwrap();
    let body = match (method.as_str(), last) {
        ("POST", "query") => json!({"text": "hello"}),
        ("POST", "fork") => json!({"turn_id": UNKNOWN}),
        ("POST", "messages") => json!({"content": "hello"}),
        ("POST", "events") => sample::user_event("e-1", "hello"),
        ("POST", "decision") => sample::says("5"),
        ("POST", "hand-over") => json!({"to": "somebody"}),
        ("POST", "users") => json!({"name": "somebody", "role": "viewer"}),
        ("PUT", "role") => json!({"role": "viewer"}),
        ("PATCH", "{session}") => json!({"stateDelta": {"a": 1}}),
        ("PUT", "case") => json!({"path": "x", "case": {}}),
        ("POST", "validate") => json!({"path": "x"}),
        ("POST", "run" | "run_sse") if !path.starts_with("/api/") => json!({
            "appName": "app", "userId": user, "sessionId": session,
            "newMessage": {"role": "user", "parts": [{"text": "hello"}]},
        }),
        ("POST", "run") => json!({"path": "x", "agent": "x"}),
        ("POST", "chat" | "stream" | "multipart") => json!({"message": "hello"}),
        ("POST", "{agent}") => json!({"threadId": "t", "runId": "r", "messages": []}),
        _ => json!({}),
    };
    let query = match last {
        "search" => "?q=hello",
        "file" => "?path=x",
        "case" if method == Method::DELETE => "?path=x&eval_id=x",
        _ => "",
    };
    let path = path.replace("{id}", session).replace("{turn_id}", UNKNOWN);
    let path = path.replace("{call_id}", "c-1").replace("{name}", "a.txt").replace("{app}", "app");
    let path = path.replace("{user}", user).replace("{session}", session);
    let path = path.replace("{session_id}", "01ARZ3NDEKTSV4RRFFQ69G5FAV").replace("{run}", "r");
    let path = path.replace("{agent}", "nobody").replace("{thread}", session);
    let request = api.request(method.clone(), &format!("{path}{query}"));
    api.send(if *method == Method::GET { request } else { request.json(&body) }).await
}

/// A refusal without what differs from request to request.
fn words(answer: &Answer, id: &str) -> Value {
    let mut problem: Value = serde_json::from_str(&answer.body).unwrap();
    problem["instance"] = Value::Null;
    problem["detail"] = json!(problem["detail"].as_str().unwrap().replace(id, "ID"));
    problem
}

#[tokio::test]
async fn every_route_has_a_rule_and_keeps_it() {
    let server = TestServer::scratch().await;
    let bob = server.user("bob");
    let secret = bob.session_with(&json!({"description": "hello secret plan"})).await;
    bob.post(&format!("/api/v1/sessions/{secret}/messages"), &json!({"content": "hello"})).await;
    let before = bob.show(&secret).await;
    for (number, (method, path, rule)) in decided().into_iter().enumerate() {
        // Somebody else each time: one user who asked for all of it would be slowed down.
        let name = format!("alice{number}");
        let alice = server.user(&name);
        let route = format!("{method} {path}");
        match rule {
            Rule::Public => {
                let status = alice.without_token().get(&path).await.status.as_u16();
                assert!(matches!(status, 200 | 503), "{route}: {status}");
            }
            Rule::Anyone => {
                let answer = ask(&alice, &method, &path, UNKNOWN, &name).await;
                assert_eq!(answer.status, 200, "{route}");
            }
            Rule::TheirOwn if path == "/api/v1/stream" => {} // It has no end; see below.
            Rule::TheirOwn => {
                let answer = ask(&alice, &method, &path, UNKNOWN, &name).await;
                assert!(answer.status.is_success(), "{route}: {}", answer.body);
                assert!(!answer.body.contains(&secret), "{route}: {}", answer.body);
                assert!(!answer.body.contains("secret plan"), "{route}: {}", answer.body);
            }
            Rule::OwnSession => {
                let theirs = ask(&alice, &method, &path, &secret, &name).await;
                let nobodys = ask(&alice, &method, &path, UNKNOWN, &name).await;
                theirs.problem(404, "session_not_found");
                assert_eq!(words(&theirs, &secret), words(&nobodys, UNKNOWN), "{route}");
            }
            Rule::OwnUser => {
                let answer = ask(&alice, &method, &path, &secret, "bob").await;
                assert_eq!(answer.status, 404, "{route}: {}", answer.body);
                let nobodys = ask(&alice, &method, &path, UNKNOWN, "bob").await;
                assert_eq!(words(&answer, &secret), words(&nobodys, UNKNOWN), "{route}");
            }
            Rule::Agent => {
                let answer = ask(&alice, &method, &path, &secret, &name).await;
                answer.problem(404, "unknown_agent");
            }
            Rule::OwnerOnly => {
                let own = alice.session().await;
                for session in [own.as_str(), &secret, UNKNOWN] {
                    let answer = ask(&alice, &method, &path, session, &name).await;
                    answer.problem(403, "owner_only");
                }
            }
        }
    }
    assert_eq!(bob.show(&secret).await["updated_at"], before["updated_at"], "refused is not done");
    assert_eq!(bob.show(&secret).await["last_seq"], before["last_seq"]);
    assert_eq!(bob.get("/api/v1/sessions").await.json(200)["items"].as_array().unwrap().len(), 1);
}

/// That strangers are refused would prove little if everybody were.
#[tokio::test]
async fn users_and_the_owner_do_with_a_session_what_strangers_may_not() {
    let server = TestServer::scratch().await;
    let bob = server.user("bob");
    for (method, path, rule) in decided() {
        let endless = path.ends_with("/stream");
        if endless || !matches!(rule, Rule::OwnSession | Rule::OwnUser | Rule::TheirOwn) {
            continue;
        }
        for api in [&bob, &server.api] {
            let session = bob.session_with(&json!({"user_id": "bob"})).await;
            if rule == Rule::OwnUser && method == Method::POST && path.ends_with("{session}") {
                continue; // The session would be there already.
            }
            let adk = json!({"session_id": session});
            bob.post("/apps/app/users/bob/sessions", &adk).await.json(200);
            let answer = ask(api, &method, &path, &session, "bob").await;
            assert!(!answer.body.contains("session_not_found"), "{method} {path} {}", answer.body);
            assert!(![401, 403].contains(&answer.status.as_u16()), "{method} {path}");
        }
    }
}

/// The golden trace goes into a file of the owner's; the conversation is its user's.
#[tokio::test]
async fn the_session_json_is_its_users() {
    let server = TestServer::scratch().await;
    let (alice, bob) = (server.user("alice"), server.user("bob"));
    let path = format!("/api/v1/sessions/{}/export?format=session", bob.session().await);
    assert_eq!(bob.get(&path).await.json(200)["userId"], "bob");
    alice.get(&path).await.problem(404, "session_not_found");
}

/// Where files are and what went wrong with them is the owner's business.
#[tokio::test]
async fn users_see_agents_without_the_owners_files() {
    let server = TestServer::scratch().await;
    let register = Register {
        agents: vec![Agent {
            name: "math".to_owned(),
            eval_set_path: "/home/owner/math.evalset.json".to_owned(),
            ..Default::default()
        }],
        problems: vec![LoadProblem { source: "broken".to_owned(), ..Default::default() }],
        ..ScriptedWorker::registering("w-1", "math")
    };
    let _worker = ScriptedWorker::attach_as(&server.api, register).await.unwrap();
    let told = server.user("alice").get("/api/v1/agents").await.json(200);
    assert_eq!((&told["items"][0]["name"], &told["problems"]), (&json!("math"), &json!([])));
    assert_eq!(told["items"][0]["eval_set_path"], Value::Null);
    let told = server.api.get("/api/v1/agents").await.json(200);
    assert_eq!(told["items"][0]["eval_set_path"], "/home/owner/math.evalset.json");
    let alice = server.user("alice");
    let register = ScriptedWorker::registering("w-2", "math");
    let refused = ScriptedWorker::attach_as(&alice, register);
    assert_eq!(refused.await.unwrap_err().code(), tonic::Code::PermissionDenied);
}

#[tokio::test]
async fn a_new_session_is_its_makers() {
    let server = TestServer::scratch().await;
    let alice = server.user("alice");
    let own = alice.session().await;
    assert_eq!(alice.show(&own).await["user_id"], "alice");
    let named = alice.session_with(&json!({"user_id": "alice"})).await;
    assert_eq!(server.api.show(&named).await["user_id"], "alice");
    let other = alice.post("/api/v1/sessions", &json!({"user_id": "bob"})).await;
    other.problem(403, "other_user");
    let theirs = server.api.session_with(&json!({"user_id": "bob"})).await;
    assert_eq!(server.api.show(&theirs).await["user_id"], "bob");
    for id in [own, named] {
        assert!((20..=128).contains(&id.len()), "{id}");
    }
}

#[tokio::test]
async fn lists_hold_what_is_the_callers() {
    let server = TestServer::scratch().await;
    let (alice, bob) = (server.user("alice"), server.user("bob"));
    let mut ids = Vec::new();
    for api in [&alice, &bob] {
        let id = api.session().await;
        api.post(&format!("/api/v1/sessions/{id}/events"), &sample::user_event("e-1", "walnut"))
            .await
            .json(201);
        server.api.grpc().await.ask(&id).await;
        api.post("/apps/app/users/alice/sessions", &json!({"session_id": "a"})).await;
        api.post("/apps/app/users/bob/sessions", &json!({"session_id": "b"})).await;
        ids.push(id);
    }
    let ids_in = |list: &Value, field: &str| -> Vec<String> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item[field].as_str().unwrap().to_owned()).collect()
    };
    for (api, own) in [(&alice, &ids[0]), (&bob, &ids[1])] {
        let sessions = api.get("/api/v1/sessions").await.json(200);
        let sessions = ids_in(&sessions, "id");
        assert!(sessions.contains(own) && sessions.len() == 2, "{sessions:?}");
        for (path, field) in
            [("/api/v1/turns", "session_id"), ("/api/v1/search?q=walnut", "session_id")]
        {
            assert_eq!(
                ids_in(&api.get(path).await.json(200), field),
                std::slice::from_ref(own),
                "{path}"
            );
        }
    }
    let of_bob = alice.get("/api/v1/sessions?user_id=bob").await.json(200);
    assert_eq!(of_bob["items"], json!([]));
    let search = format!("/api/v1/search?q=walnut&session_id={}", ids[1]);
    alice.get(&search).await.problem(404, "session_not_found");
    let adk = alice.get("/apps/app/users/alice/sessions").await.json(200);
    assert_eq!(adk.as_array().unwrap().len(), 1);
    assert_eq!(alice.get("/list-apps").await.json(200), json!([]), "of others' sessions");
    assert_eq!(ids_in(&server.api.get("/api/v1/turns").await.json(200), "session_id").len(), 2);
}

#[tokio::test]
async fn the_stream_of_changes_tells_of_own_sessions_only() {
    let server = TestServer::scratch().await;
    let (alice, bob) = (server.user("alice"), server.user("bob"));
    let mut changes = alice.stream("/api/v1/stream").await;
    changes.next_of("ready").await;
    let theirs = bob.session().await;
    bob.delete(&format!("/api/v1/sessions/{theirs}")).await;
    let own = alice.session().await;
    alice.delete(&format!("/api/v1/sessions/{own}")).await;
    let mut told = Vec::new();
    while told.last().is_none_or(|(event, _): &(String, Value)| event != "session_deleted") {
        let message = changes.next().await.unwrap();
        told.push((message.event.clone(), message.data()["id"].clone()));
    }
    assert!(told.iter().all(|(_, id)| *id == own.as_str()), "{told:?}");
    let security = format!("/api/v1/sessions/{}?include=security", bob.session().await);
    let security = bob.get(&security).await.json(200)["security"].clone();
    assert_eq!(security["failed_access_attempts"], 0, "being told of nothing is no attempt");
}

#[tokio::test]
async fn writing_changes_no_owner_and_brings_nothing_back() {
    let server = TestServer::scratch().await;
    let bob = server.user("bob");
    let id = bob.session().await;
    let events = format!("/api/v1/sessions/{id}/events");
    server.api.post(&events, &sample::user_event("e-1", "hello")).await.json(201);
    assert_eq!(server.api.show(&id).await["user_id"], "bob");
    let path = format!("/api/v1/sessions/{id}");
    assert_eq!(bob.delete(&path).await.status, 204);
    for api in [&bob, &server.api] {
        api.post(&events, &sample::user_event("e-2", "late"))
            .await
            .problem(404, "session_not_found");
        api.delete(&path).await.problem(404, "session_not_found");
        api.get(&path).await.problem(404, "session_not_found");
    }
}

#[tokio::test]
async fn reading_changes_only_the_last_access() {
    let server = TestServer::scratch().await;
    let bob = server.user("bob");
    let id = bob.session().await;
    let security = format!("/api/v1/sessions/{id}?include=security");
    let mut before = bob.get(&security).await.json(200);
    assert!(before["security"]["last_access_at"].is_string(), "{before}");
    let mut after = before.clone();
    soon("a later access", async {
        while after["security"]["last_access_at"] == before["security"]["last_access_at"] {
            after = bob.get(&security).await.json(200);
        }
    })
    .await;
    for view in [&mut before, &mut after] {
        view["security"]["last_access_at"] = Value::Null;
    }
    assert_eq!(before, after);
    for secret in ["127.0.0.1", "hsu_", "hsb_", "client_ip", "user_agent"] {
        assert!(!after.to_string().contains(secret), "{secret}: {after}");
    }
}

#[tokio::test]
async fn five_failed_attempts_flag_a_session_and_are_shown() {
    let server = TestServer::scratch().await;
    let (alice, bob) = (server.user("alice"), server.user("bob"));
    let id = bob.session().await;
    let path = format!("/api/v1/sessions/{id}?include=security");
    let noted = |number: u64| {
        let (bob, path) = (bob.clone(), path.clone());
        soon("a noted attempt", async move {
            loop {
                let view = bob.get(&path).await.json(200);
                if view["security"]["failed_access_attempts"] == number {
                    return view;
                }
            }
        })
    };
    for attempt in 1..=5_u64 {
        assert_eq!(alice.get(&path).await.status, 404);
        let view = noted(attempt).await;
        assert_eq!(view["flagged"], attempt == 5, "{view}");
        let warnings = view["security"]["security_warnings"].as_array().unwrap().len();
        assert_eq!(warnings as u64, attempt);
    }
    let stats = server.api.get("/api/v1/stats").await.json(200);
    for (name, value) in [
        ("flagged_sessions", json!(1)),
        ("sessions_with_warnings", json!(1)),
        ("total_failed_attempts", json!(5)),
        ("total_enumeration_attempts", json!(0)),
        (
            "security_features",
            json!({"user_binding": true, "csrf": true, "enumeration_detection": true}),
        ),
        (
            "security_thresholds",
            json!({"max_failed_attempts": 5, "enumeration_window_seconds": 60}),
        ),
    ] {
        assert_eq!(stats[name], value, "{name}");
    }
    assert_eq!(bob.show(&id).await["id"], id.as_str(), "its user is not locked out");
}

#[tokio::test]
async fn whoever_asks_for_many_sessions_is_slowed_down() {
    let server = TestServer::scratch().await;
    let (alice, bob) = (server.user("alice"), server.user("bob"));
    let own = bob.session().await;
    let path = format!("/api/v1/sessions/{UNKNOWN}");
    for _ in 0..21 {
        alice.get(&path).await.problem(404, "session_not_found");
        server.api.get(&path).await.problem(404, "session_not_found");
    }
    let began = std::time::Instant::now();
    for _ in 0..2 {
        alice.get(&path).await.problem(404, "session_not_found");
    }
    assert!(began.elapsed().as_millis() >= 300, "100 ms, then 200");
    let stats = server.api.get("/api/v1/stats").await.json(200);
    assert_eq!(stats["total_enumeration_attempts"], 1, "the owner's mistakes are none");
    assert_eq!(bob.show(&own).await["user_id"], "bob", "others are not slowed down");
}
