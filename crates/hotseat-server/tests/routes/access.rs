//! Who may come in.

use reqwest::Method;
use serde_json::json;
use tonic::Code;

use hotseat_testkit::{TestServer, proto};

use crate::openapi::operations;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

#[tokio::test]
async fn every_route_but_health_needs_the_token() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    let mut checked = 0;
    for (method, path) in operations() {
        if matches!(path.as_str(), "/health" | "/health/agent" | "/ready") {
            continue;
        }
        let path = path.replace("{id}", UNKNOWN).replace("{turn_id}", UNKNOWN);
        for authorization in ["", "Bearer wrong", "Bearer", "Basic token-of-the-tests"] {
            let request = stranger.request(method.clone(), &path);
            let request = request.header("authorization", authorization).json(&json!({}));
            stranger.send(request).await.problem(401, "unauthenticated");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
    for path in ["/docs", "/docs/", "/api/v1/openapi.json", "/metrics", "/api/nothing"] {
        stranger.get(path).await.problem(401, "unauthenticated");
    }
}

#[tokio::test]
async fn the_token_comes_as_a_bearer_or_as_our_cookie() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    let port = server.address().rsplit(':').next().unwrap();
    let token = TestServer::TOKEN;
    for (name, value, status) in [
        ("authorization", format!("Bearer {token}"), 200),
        ("authorization", format!("bearer {token}"), 200),
        ("cookie", format!("hotseat_{port}={token}"), 200),
        ("cookie", format!("theme=dark; hotseat_{port}={token}; x=y"), 200),
        ("cookie", format!("hotseat_{port}=wrong"), 401),
        ("cookie", format!("hotseat_1={token}"), 401),
        ("authorization", format!("Bearer {token}x"), 401),
        ("authorization", format!("Bearer {}", &token[1..]), 401),
    ] {
        let request = stranger.request(Method::GET, "/api/v1/sessions").header(name, &value);
        assert_eq!(stranger.send(request).await.status, status, "{name}: {value}");
    }
    // In an address, tokens end up in logs; only the page's own addresses take one, once.
    let path = format!("/api/v1/sessions?token={token}");
    stranger.get(&path).await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn the_printed_link_becomes_a_cookie() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    let token = TestServer::TOKEN;
    for (asked, location) in [
        (format!("/?token={token}"), "/"),
        (format!("/sessions/7?a=1&token={token}&b=2"), "/sessions/7?a=1&b=2"),
        (format!("/docs?token={token}"), "/docs"),
        (format!("//evil.example/x?token={token}"), "/evil.example/x"),
    ] {
        let answer = stranger.get(&asked).await;
        assert_eq!((answer.status.as_u16(), answer.header("location")), (303, location), "{asked}");
        let cookie = answer.header("set-cookie");
        let port = server.address().rsplit(':').next().unwrap();
        assert!(cookie.starts_with(&format!("hotseat_{port}={token}; ")), "{cookie}");
        for flag in ["HttpOnly", "SameSite=Strict", "Path=/"] {
            assert!(cookie.split("; ").any(|part| part == flag), "{cookie} lacks {flag}");
        }
        assert_eq!(answer.header("cache-control"), "no-store");
    }
    let wrong = stranger.get("/?token=wrong").await;
    assert_ne!(wrong.status, 303);
    assert_eq!(wrong.header("set-cookie"), "");
}

#[tokio::test]
async fn only_known_hosts_are_answered() {
    let server = TestServer::scratch().await;
    for (host, status) in [
        ("localhost", 200),
        ("localhost:80", 200),
        ("127.0.0.1:1", 200),
        ("[::1]:4687", 200),
        ("hotseat.example", 200),
        ("HOTSEAT.example:9", 200),
        ("evil.example", 421),
        ("localhost.evil.example", 421),
        ("127.0.0.1.evil.example:4687", 421),
        ("0.0.0.0", 421),
    ] {
        for path in ["/api/v1/agents", "/health"] {
            let request = server.api.request(Method::GET, path).header("host", host);
            let answer = server.api.send(request).await;
            assert_eq!(answer.status, status, "{host}");
            if status == 421 {
                answer.problem(421, "unknown_host");
            }
        }
    }
}

#[tokio::test]
async fn pages_of_other_origins_change_nothing() {
    let server = TestServer::scratch().await;
    let own = format!("http://{}", server.address());
    for (origin, status) in [
        (own.as_str(), 201),
        ("http://pages.example", 201),
        ("http://evil.example", 403),
        ("https://pages.example", 403),
        ("null", 403),
        ("http://127.0.0.1:1", 403),
    ] {
        let request = server.api.request(Method::POST, "/api/v1/sessions");
        let answer = server.api.send(request.header("origin", origin).json(&json!({}))).await;
        assert_eq!(answer.status, status, "{origin}");
        if status == 403 {
            answer.problem(403, "foreign_origin");
        }
    }
    let sessions = server.api.get("/api/v1/sessions").await.json(200);
    assert_eq!(sessions["items"].as_array().unwrap().len(), 2, "refused is not done");
}

#[tokio::test]
async fn only_allowed_origins_may_read() {
    let server = TestServer::scratch().await;
    for (origin, allowed) in
        [("http://pages.example", "http://pages.example"), ("http://evil.example", "")]
    {
        for method in [Method::GET, Method::OPTIONS] {
            let request = server.api.request(method.clone(), "/api/v1/sessions");
            let answer = server.api.send(request.header("origin", origin)).await;
            assert_eq!(answer.header("access-control-allow-origin"), allowed, "{method} {origin}");
            assert_eq!(answer.header("access-control-allow-credentials"), "");
        }
    }
    let request = server.api.request(Method::OPTIONS, "/api/v1/sessions");
    let preflight = server.api.send(request.header("origin", "http://pages.example")).await;
    assert_eq!(preflight.status, 204);
    assert!(preflight.header("access-control-allow-headers").contains("authorization"));
}

/// A browser asks without credentials whether it may ask with them.
#[tokio::test]
async fn a_preflight_needs_no_token_but_an_allowed_origin() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    let preflight = |origin: &str, host: &str| {
        let request = stranger.request(Method::OPTIONS, "/api/v1/eval-sets/case");
        let request = request.header("access-control-request-method", "PUT");
        stranger.send(request.header("origin", origin).header("host", host))
    };
    let allowed = preflight("http://pages.example", "localhost").await;
    assert_eq!((allowed.status.as_u16(), allowed.body.as_str()), (204, ""));
    assert_eq!(allowed.header("access-control-allow-origin"), "http://pages.example");
    assert_eq!(allowed.header("vary"), "origin");
    for method in ["GET", "POST", "PUT", "DELETE"] {
        assert!(allowed.header("access-control-allow-methods").contains(method), "{method}");
    }
    for header in ["authorization", "content-type", "last-event-id"] {
        assert!(allowed.header("access-control-allow-headers").contains(header), "{header}");
    }

    for origin in ["http://evil.example", "https://pages.example", "null"] {
        let refused = preflight(origin, "localhost").await;
        refused.problem(401, "unauthenticated");
        assert_eq!(refused.header("access-control-allow-origin"), "");
        assert_eq!(refused.header("access-control-allow-methods"), "");
    }
    preflight("http://pages.example", "evil.example").await.problem(421, "unknown_host");
    // Only the question is free: what it asks for still needs the token.
    let request = stranger.request(Method::GET, "/api/v1/sessions");
    let read = stranger.send(request.header("origin", "http://pages.example")).await;
    read.problem(401, "unauthenticated");
    assert_eq!(read.header("access-control-allow-origin"), "http://pages.example");
}

#[tokio::test]
async fn answers_may_not_be_framed_or_guessed_at() {
    let server = TestServer::scratch().await;
    let api = &server.api;
    let sessions = |method| api.request(method, "/api/v1/sessions");
    for (status, request) in [
        (200, sessions(Method::GET)),
        (401, api.without_token().request(Method::GET, "/api/v1/sessions")),
        (403, sessions(Method::POST).header("origin", "http://evil.example")),
        (404, api.request(Method::GET, "/api/v1/sessions/nobody")),
        (405, sessions(Method::PATCH)),
        (421, sessions(Method::GET).header("host", "evil.example")),
        (422, sessions(Method::POST).json(&json!({"agent": ""}))),
    ] {
        let answer = api.send(request).await;
        assert_eq!(answer.status, status, "{}", answer.body);
        assert_eq!(answer.header("x-content-type-options"), "nosniff", "{status}");
        assert_eq!(answer.header("x-frame-options"), "DENY", "{status}");
        assert_eq!(answer.header("referrer-policy"), "same-origin", "{status}");
    }
}

#[tokio::test]
async fn grpc_without_the_token_is_unauthenticated() {
    let server = TestServer::scratch().await;
    let session_id = server.api.session().await;
    let mut wrong = server.api.clone();
    wrong.token = Some("wrong".to_owned());
    for stranger in [server.api.without_token(), wrong] {
        let mut grpc = stranger.grpc().await;
        let show = proto::GetSessionRequest { session_id: session_id.clone() };
        let refused = grpc.seat.get_session(show).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated, "{refused}");
        let list =
            proto::ListEventsRequest { session_id: session_id.clone(), ..Default::default() };
        let refused = grpc.sessions.list_events(list).await.unwrap_err();
        assert_eq!(refused.code(), Code::Unauthenticated);
        let attach = grpc.worker.attach(tokio_stream::empty());
        assert_eq!(attach.await.unwrap_err().code(), Code::Unauthenticated);
    }
}

/// The gRPC services do not look at the content type themselves, so a caller must
/// not get past the door by giving another one.
#[tokio::test]
async fn grpc_under_another_content_type_needs_the_token_too() {
    let server = TestServer::scratch().await;
    let stranger = server.api.without_token();
    // An empty message: five bytes of frame, nothing in it.
    let create = |content_type: Option<&str>| {
        let request = stranger.request(Method::POST, "/hotseat.v1.Seat/CreateSession");
        let request = request.header("te", "trailers").body(vec![0_u8; 5]);
        match content_type {
            Some(content_type) => request.header("content-type", content_type),
            None => request,
        }
    };
    for content_type in
        [None, Some("application/json"), Some("Application/GRPC"), Some("text/plain")]
    {
        let answer = stranger.send(create(content_type)).await;
        answer.problem(401, "unauthenticated");
        let sessions = server.api.get("/api/v1/sessions").await.json(200);
        assert_eq!(sessions["items"], json!([]), "{content_type:?} got in: {answer:?}");
    }
}

#[tokio::test]
async fn other_spellings_of_a_path_do_not_get_past_the_door() {
    let server = TestServer::scratch().await;
    server.api.session_with(&json!({"description": "secret plan"})).await;
    let stranger = server.api.without_token();
    for path in [
        "//api/v1/sessions",
        "/%61pi/v1/sessions",
        "/API/v1/sessions",
        "/./api/v1/sessions",
        "/x/../api/v1/sessions",
        "/api%2Fv1%2Fsessions",
        "/;/api/v1/sessions",
    ] {
        let answer = stranger.get(path).await;
        assert!(!answer.body.contains("secret plan"), "{path}");
    }
}
