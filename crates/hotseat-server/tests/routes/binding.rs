//! Tokens of users and of sessions, and what they are good for.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::Method;
use serde_json::{Value, json};
use sha2::Sha256;
use tonic::Code;

use hotseat_testkit::{Api, TestServer, proto, sample, soon};

const UNKNOWN: &str = "00000000-0000-4000-8000-00000000000f";
const HOUR: i64 = 60 * 60;
const DAY: i64 = 24 * HOUR;

/// The seal, written down once more: tokens that are out there depend on it.
fn seal(parts: &[&[u8]]) -> String {
    let mut mac = Hmac::<Sha256>::new_from_slice(&[7; 32]).unwrap();
    for part in parts {
        mac.update(&(part.len() as u64).to_be_bytes());
        mac.update(part);
    }
    BASE64.encode(mac.finalize().into_bytes())
}

fn now() -> i64 {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// A user token that was made `ago` seconds ago for `life` seconds.
fn user_token(user: &str, ago: i64, life: i64) -> String {
    let (issued, expires) = (now() - ago, now() - ago + life);
    let parts: [&[u8]; 4] =
        [b"user", user.as_bytes(), &issued.to_be_bytes(), &expires.to_be_bytes()];
    format!("hsu_{}.{issued}.{expires}.{}", BASE64.encode(user), seal(&parts))
}

/// A binding that was made `ago` seconds ago.
fn binding(session: &str, user: &str, ago: i64) -> String {
    let issued = now() - ago;
    let parts: [&[u8]; 4] =
        [b"binding", session.as_bytes(), user.as_bytes(), &issued.to_be_bytes()];
    format!("hsb_{session}.{}.{issued}.{}", BASE64.encode(user), seal(&parts))
}

fn csrf_token(user: &str, ago: i64) -> String {
    let issued = now() - ago;
    let parts: [&[u8]; 5] = [b"csrf", b"user", b"", user.as_bytes(), &issued.to_be_bytes()];
    format!("hsc_{issued}.{}", seal(&parts))
}

fn with(server: &TestServer, token: impl Into<String>) -> Api {
    Api::new(server.api.url.clone(), Some(token.into()))
}

fn cookie(server: &TestServer, token: &str) -> String {
    format!("hotseat_{}={token}", server.address().rsplit(':').next().unwrap())
}

#[tokio::test]
async fn a_user_token_says_who_somebody_is_until_it_expires() {
    let server = TestServer::scratch().await;
    let alice = with(&server, user_token("alice", 0, DAY));
    let id = alice.session().await;
    assert_eq!(alice.show(&id).await["user_id"], "alice");
    let same = with(
        &server,
        hotseat_server::user_token(&TestServer::KEY, "alice", std::time::Duration::from_mins(1)),
    );
    assert_eq!(same.show(&id).await["id"], id.as_str());
    let old = with(&server, user_token("alice", DAY, DAY));
    old.get("/api/v1/sessions").await.problem(401, "token_expired");
    let genuine = user_token("alice", 0, DAY);
    for forged in [
        genuine.replace(&BASE64.encode("alice"), &BASE64.encode("bob")),
        genuine[..genuine.len() - 1].to_owned(),
        "hsu_".to_owned(),
        "hsu_a.b.c.d".to_owned(),
    ] {
        with(&server, forged).get("/api/v1/sessions").await.problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn a_user_token_is_renewed_in_the_second_half_of_its_life() {
    let server = TestServer::scratch().await;
    let young = with(&server, user_token("alice", DAY / 2 - HOUR, DAY));
    assert_eq!(young.get("/api/v1/sessions").await.header("x-hotseat-token"), "");
    let old = with(&server, user_token("alice", DAY / 2 + HOUR, DAY));
    let answer = old.get("/api/v1/sessions").await;
    assert_eq!(answer.header("set-cookie"), "", "it did not come as a cookie");
    let renewed = with(&server, answer.header("x-hotseat-token"));
    assert_eq!(renewed.get("/api/v1/sessions").await.status, 200);
    assert_eq!(renewed.get("/api/v1/sessions").await.header("x-hotseat-token"), "");

    let stranger = server.api.without_token();
    let token = user_token("alice", DAY / 2 + HOUR, DAY);
    let request = stranger.request(Method::GET, "/api/v1/sessions");
    let answer = stranger.send(request.header("cookie", cookie(&server, &token))).await;
    let renewed = answer.header("x-hotseat-token");
    let expected =
        format!("{}; Path=/; HttpOnly; SameSite=Strict; Max-Age=86400", cookie(&server, renewed));
    assert_eq!(answer.header("set-cookie"), expected);
}

#[tokio::test]
async fn a_link_with_a_user_token_becomes_a_cookie_for_as_long() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    let token = user_token("alice", 0, HOUR);
    let answer = stranger.get(&format!("/sessions?token={token}")).await;
    assert_eq!((answer.status.as_u16(), answer.header("location")), (303, "/sessions"));
    let set = answer.header("set-cookie");
    assert!(set.starts_with(&cookie(&server, &token)), "{set}");
    let life: i64 = set.rsplit("Max-Age=").next().unwrap().parse().unwrap();
    assert!((HOUR - 60..=HOUR).contains(&life), "{set}");
    let expired = user_token("alice", DAY, HOUR);
    assert_eq!(stranger.get(&format!("/?token={expired}")).await.header("set-cookie"), "");
}

#[tokio::test]
async fn a_binding_admits_to_one_session_and_to_nothing_else() {
    let server = TestServer::scratch().await;
    let alice = server.user("alice");
    let (id, other) = (alice.session().await, alice.session().await);
    let bound = alice.post(&format!("/api/v1/sessions/{id}/binding"), &json!({})).await;
    assert_eq!(bound.header("cache-control"), "no-store");
    let bound = bound.json(200);
    assert!(bound["expires_at"].is_string() && bound["csrf_token"].is_string(), "{bound}");
    let bound = with(&server, bound["binding_token"].as_str().unwrap());

    assert_eq!(bound.show(&id).await["user_id"], "alice");
    let events = format!("/api/v1/sessions/{id}/events");
    bound.post(&events, &sample::user_event("e-1", "walnut")).await.json(201);
    let mut stream = bound.stream(&format!("/api/v1/sessions/{id}/stream")).await;
    assert_eq!(stream.next().await.unwrap().seq(), 1);
    let mut grpc = bound.grpc().await;
    let show = |id: &str| proto::GetSessionRequest { session_id: id.to_owned() };
    assert_eq!(grpc.seat.get_session(show(&id)).await.unwrap().into_inner().id, id);

    bound.get(&format!("/api/v1/sessions/{other}")).await.problem(404, "session_not_found");
    assert_eq!(grpc.seat.get_session(show(&other)).await.unwrap_err().code(), Code::NotFound);
    let sessions = bound.get("/api/v1/sessions").await.json(200);
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1);
    assert_eq!(sessions["items"][0]["id"], id.as_str());
    let found = bound.get("/api/v1/search?q=walnut").await.json(200);
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    bound.post("/api/v1/sessions", &json!({})).await.problem(403, "bound_to_session");
    let adk = bound.post("/apps/app/users/alice/sessions", &json!({})).await;
    adk.problem(403, "bound_to_session");
    bound.get("/api/v1/stats").await.problem(403, "owner_only");
}

#[tokio::test]
async fn a_binding_is_renewed_when_it_is_used_and_expires_when_it_is_not() {
    let server = TestServer::scratch().await;
    let id = server.user("alice").session().await;
    let path = format!("/api/v1/sessions/{id}");
    for (ago, renewed) in [(0, false), (HOUR - 60, false), (HOUR + 60, true), (DAY - 60, true)] {
        let answer = with(&server, binding(&id, "alice", ago)).get(&path).await;
        assert_eq!(answer.status, 200);
        let token = answer.header("x-hotseat-binding").to_owned();
        assert_eq!(!token.is_empty(), renewed, "{ago}");
        if renewed {
            assert_eq!(with(&server, token).get(&path).await.status, 200);
        }
    }
    let refused = with(&server, binding(&id, "alice", DAY + 60)).get(&path).await;
    refused.problem(401, "binding_expired");
    let elsewhere = with(&server, binding(UNKNOWN, "alice", 2 * HOUR));
    let gone = elsewhere.get(&format!("/api/v1/sessions/{UNKNOWN}")).await;
    gone.problem(404, "session_not_found");
    assert_eq!(gone.header("x-hotseat-binding"), "", "what is gone needs no binding");
    // The session of another user under the same id is not what was bound.
    let other = with(&server, binding(&id, "bob", 0)).get(&path).await;
    other.problem(404, "session_not_found");
}

#[tokio::test]
async fn a_forged_binding_is_refused_and_held_against_nobody_but_noted() {
    let server = TestServer::scratch().await;
    let alice = server.user("alice");
    let id = alice.session().await;
    let path = format!("/api/v1/sessions/{id}");
    let genuine = binding(&id, "alice", 0);
    let mut forged = genuine.clone();
    let last = if forged.pop() == Some('A') { 'B' } else { 'A' };
    forged.push(last);
    for token in [&forged, &genuine.replace(&BASE64.encode("alice"), &BASE64.encode("mallory"))] {
        with(&server, token).get(&path).await.problem(401, "binding_invalid");
    }
    for malformed in ["hsb_", "hsb_x.y", "hsb_...."] {
        with(&server, malformed).get(&path).await.problem(401, "binding_invalid");
    }
    // One that has only expired is no attempt on anything.
    with(&server, binding(&id, "alice", 2 * DAY)).get(&path).await.problem(401, "binding_expired");
    let mut grpc = with(&server, forged).grpc().await;
    let show = proto::GetSessionRequest { session_id: id.clone() };
    assert_eq!(grpc.seat.get_session(show).await.unwrap_err().code(), Code::Unauthenticated);
    soon("noted attempts", async {
        loop {
            let security = security(&alice, &id).await;
            if security["failed_access_attempts"] == 3 {
                assert_eq!(security["is_security_flagged"], false);
                return;
            }
        }
    })
    .await;
    // A cookie cannot carry a binding: a browser would send it wherever it is asked to.
    let request = alice.without_token().request(Method::GET, &path);
    let request = request.header("cookie", cookie(&server, &genuine));
    alice.send(request).await.problem(401, "unauthenticated");
}

async fn security(api: &Api, id: &str) -> Value {
    api.get(&format!("/api/v1/sessions/{id}?include=security")).await.json(200)["security"].clone()
}

#[tokio::test]
async fn another_client_is_a_warning_and_no_refusal() {
    let server = TestServer::scratch().await;
    let alice = server.user("alice");
    let id = alice.session().await;
    let path = format!("/api/v1/sessions/{id}?include=security");
    let from = |program: &str| {
        let request = alice.request(Method::GET, &path).header("user-agent", program);
        let request = request.header("x-forwarded-for", "203.0.113.9");
        alice.send(request)
    };
    for program in ["first", "first"] {
        let view = from(program).await.json(200);
        assert_eq!(view["security"]["security_warnings"], json!([]));
    }
    // The owner looks after sessions with programs of their own.
    server.api.show(&id).await;
    let view = from("second").await.json(200);
    let warnings = view["security"]["security_warnings"].as_array().unwrap();
    assert_eq!((warnings.len(), &warnings[0]["code"]), (1, &json!("client_changed")), "{view}");
    assert_eq!(view["security"]["is_security_flagged"], false);
    assert_eq!(view["security"]["failed_access_attempts"], 0);

    let id = id.parse().unwrap();
    let access = server.store.access(vec![id]).await.unwrap().remove(&id).unwrap();
    assert_eq!(access.user_agent.as_deref(), Some("second"));
    let ip = access.client_ip.as_deref();
    assert_eq!(ip, Some("127.0.0.1"), "what a header says of the address is not believed");
}

#[tokio::test]
async fn a_change_that_comes_with_a_cookie_must_come_from_our_page() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    let own = format!("http://{}", server.address());
    let alice = user_token("alice", 0, DAY);
    let given = {
        let request = stranger.request(Method::GET, "/api/v1/csrf");
        let answer = stranger.send(request.header("cookie", cookie(&server, &alice))).await;
        assert_eq!(answer.header("cache-control"), "no-store");
        answer.json(200)["csrf_token"].as_str().unwrap().to_owned()
    };
    let post = |name: &str, value: &str| {
        let request = stranger.request(Method::POST, "/api/v1/sessions").json(&json!({}));
        let request = request.header("cookie", cookie(&server, &alice));
        stranger.send(request.header(name, value))
    };
    for (name, value) in [
        ("origin", own.as_str()),
        ("sec-fetch-site", "same-origin"),
        ("x-csrf-token", &given),
        ("x-csrf-token", &csrf_token("alice", HOUR - 60)),
    ] {
        assert_eq!(post(name, value).await.status, 201, "{name}: {value}");
    }
    for (name, value) in [
        ("x-nothing", ""),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "none"),
        ("x-csrf-token", "wrong"),
        ("x-csrf-token", &csrf_token("alice", HOUR)),
        ("x-csrf-token", &csrf_token("bob", 0)),
    ] {
        post(name, value).await.problem(403, "csrf");
    }
    post("origin", "http://evil.example").await.problem(403, "foreign_origin");
    // The owner's cookie is a cookie, too; a bearer token is sent on purpose.
    let request = stranger.request(Method::POST, "/api/v1/sessions").json(&json!({}));
    let request = request.header("cookie", cookie(&server, TestServer::TOKEN));
    stranger.send(request).await.problem(403, "csrf");
    server.api.session().await;
    // Reading changes nothing.
    let request = stranger.request(Method::GET, "/api/v1/sessions");
    let request = request.header("cookie", cookie(&server, &alice));
    let sessions = stranger.send(request).await.json(200);
    assert_eq!(sessions["items"].as_array().unwrap().len(), 4, "refused is not done");
}
