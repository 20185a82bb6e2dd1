//! Names that are not ours and pages that are not ours, at every door.

use hotseat_testkit::proto::seat_client::SeatClient;
use hotseat_testkit::proto::worker_client::WorkerClient;
use hotseat_testkit::proto::{CreateSessionRequest, SubscribeRequest};
use hotseat_testkit::{Api, TestServer};
use serde_json::json;
use tonic::transport::Channel;
use tonic::{Code, Request};

use super::{exchange, get};
use crate::openapi::operations;

const UNKNOWN: &str = "00000000-0000-4000-8000-000000000000";

/// A path of the document with something in the place of each variable.
fn concrete(path: &str) -> String {
    let parts = path.split('/').map(|part| if part.starts_with('{') { UNKNOWN } else { part });
    parts.collect::<Vec<_>>().join("/")
}

async fn sessions(api: &Api) -> usize {
    api.get("/api/v1/sessions").await.json(200)["items"].as_array().unwrap().len()
}

fn with_token<T>(message: T) -> Request<T> {
    let mut request = Request::new(message);
    let token = format!("Bearer {}", TestServer::TOKEN).parse().unwrap();
    request.metadata_mut().insert("authorization", token);
    request
}

/// A name that an attacker points at this machine once the page is loaded: no route,
/// plain or streaming, answers under it, whatever the caller shows.
#[tokio::test]
async fn no_route_answers_under_a_foreign_name() {
    let server = TestServer::scratch().await;
    let mut streams = 0;
    for (method, path) in operations() {
        streams += usize::from(path.contains("stream") || path.contains("sse"));
        let request = server.api.request(method.clone(), &concrete(&path));
        let answer = server.api.send(request.header("host", "evil.example").json(&json!({}))).await;
        assert_eq!(answer.status, 421, "{method} {path}: {}", answer.body);
        answer.problem(421, "unknown_host");
    }
    assert!(streams >= 3, "streams are routes of the document too: {streams}");
    for path in ["/", "/docs/", "/sessions/x", "/favicon.svg", "/?token=token-of-the-tests"] {
        let request = server.api.request("GET".parse().unwrap(), path);
        let answer = server.api.send(request.header("host", "evil.example")).await;
        answer.problem(421, "unknown_host");
        assert_eq!(answer.header("set-cookie"), "", "{path}");
    }
}

#[tokio::test]
async fn no_call_of_grpc_is_answered_under_a_foreign_name() {
    let server = TestServer::scratch().await;
    let session_id = server.api.session().await;
    for (origin, code) in
        [("http://evil.example", Code::FailedPrecondition), ("http://localhost:1", Code::Ok)]
    {
        let endpoint = Channel::from_shared(server.api.url.clone()).unwrap();
        let channel = endpoint.origin(origin.parse().unwrap()).connect().await.unwrap();
        let mut seat = SeatClient::new(channel.clone());
        let made = seat.create_session(with_token(CreateSessionRequest::default())).await;
        assert_eq!(made.map_or_else(|refused| refused.code(), |_| Code::Ok), code, "{origin}");
        let follow = SubscribeRequest { session_id: session_id.clone(), ..Default::default() };
        let followed = seat.subscribe(with_token(follow)).await;
        assert_eq!(followed.map_or_else(|refused| refused.code(), |_| Code::Ok), code, "{origin}");
        let attached = WorkerClient::new(channel).attach(with_token(tokio_stream::empty())).await;
        let refused = attached.map_or_else(|refused| refused.code(), |_| Code::Ok);
        assert_eq!(refused == Code::FailedPrecondition, code != Code::Ok, "{origin}");
    }
    assert_eq!(sessions(&server.api).await, 2, "the one that was there, and the one allowed");
}

#[tokio::test]
async fn a_request_without_a_name_or_with_two_gets_nothing() {
    let server = TestServer::scratch().await;
    let evil = "host: evil.example\r\n";
    for (target, headers) in [
        ("/health", String::new()),
        ("/health", "host:\r\n".to_owned()),
        ("/health", evil.to_owned()),
        ("/health", format!("{evil}host: localhost\r\n")),
        ("http://evil.example/health", "host: localhost\r\n".to_owned()),
        ("/health", "host: evil.example@localhost\r\n".to_owned()),
        ("/health", "host: localhost@evil.example\r\n".to_owned()),
        ("/health", "host: localhost#.evil.example\r\n".to_owned()),
    ] {
        let answer = exchange(&server, &get(target, &headers)).await;
        let status = answer.get(9..12).unwrap_or_default();
        assert!(matches!(status, "421" | "400"), "{target} {headers:?}: {answer}");
    }
    let answer = exchange(&server, &get("/health", "host: localhost\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// Whatever changes something is refused to a page of another origin, at every route.
#[tokio::test]
async fn no_route_lets_a_foreign_page_change_anything() {
    let server = TestServer::scratch().await;
    let port = server.address().rsplit(':').next().unwrap();
    for (method, path) in operations().into_iter().filter(|(method, _)| method != "GET") {
        for origin in [
            "null".to_owned(),
            "http://evil.example".to_owned(),
            "http://127.0.0.1".to_owned(),
            format!("http://localhost:{port}"),
            format!("http://127.0.0.1:{port}.evil.example"),
            format!("ftp://127.0.0.1:{port}"),
            format!("file://127.0.0.1:{port}"),
        ] {
            let request = server.api.request(method.clone(), &concrete(&path));
            let request = request.header("origin", &origin).json(&json!({}));
            let answer = server.api.send(request).await;
            assert_eq!(answer.status, 403, "{method} {path} from {origin}: {}", answer.body);
            answer.problem(403, "foreign_origin");
        }
    }
    assert_eq!(sessions(&server.api).await, 0);
}

/// Where people come over TLS, a page without it may be anybody's on the way.
#[tokio::test]
async fn a_page_without_tls_is_foreign_where_people_come_over_tls() {
    let name = "https://hotseat.example".to_owned();
    let server = TestServer::told(|config| config.people.public_url = Some(name)).await;
    for (origin, status) in [("https://hotseat.example", 201), ("http://hotseat.example", 403)] {
        let request = server.api.request("POST".parse().unwrap(), "/api/v1/sessions");
        let request = request.header("host", "hotseat.example").header("origin", origin);
        assert_eq!(server.api.send(request.json(&json!({}))).await.status, status, "{origin}");
    }
}
