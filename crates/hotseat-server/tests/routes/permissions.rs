//! What each role may do, on every route there is.

use reqwest::Method;

use hotseat_server::{Needs, PERMISSIONS};
use hotseat_testkit::{Api, TestServer};

use crate::openapi::operations;
use crate::owner::ask;

const GRPC: &str = "application/grpc";

const UNKNOWN: &str = "00000000-0000-4000-8000-00000000000f";

/// What the table says of a route. One that is not in it fails here: somebody has to decide.
fn needs(method: &str, path: &str) -> Needs {
    let listed = PERMISSIONS.iter().find(|(known, at, _)| *known == method && *at == path);
    listed.unwrap_or_else(|| panic!("{method} {path}: which role? Decide in permissions.rs")).2
}

/// Whether the role was let through to the route. What the route says is not the question.
async fn let_through(api: &Api, method: &Method, path: &str, name: &str) -> bool {
    if path.ends_with("/stream") && method == Method::GET && !path.contains('{') {
        return api.request(method.clone(), path).send().await.unwrap().status() == 200;
    }
    let answer = ask(api, method, path, UNKNOWN, name).await;
    match answer.status.as_u16() {
        401 => false,
        403 => !answer.body.contains("\"code\":\"role\""),
        _ => true,
    }
}

#[tokio::test]
async fn every_route_lets_through_whom_the_table_says() {
    let server = TestServer::scratch().await;
    let viewer = server.member("vera", "viewer").await;
    let developer = server.member("dora", "developer").await;
    let admin = server.member("anna", "admin").await;
    let nobody = server.api.without_token();
    for (method, path) in operations() {
        let needs = needs(method.as_str(), &path);
        let expected = match needs {
            Needs::Public => [true, true, true, true],
            Needs::Viewer => [false, true, true, true],
            Needs::Developer => [false, false, true, true],
            Needs::Admin => [false, false, false, true],
        };
        let mut seen = Vec::new();
        for (api, name) in
            [(&nobody, "x"), (&viewer, "vera"), (&developer, "dora"), (&admin, "anna")]
        {
            seen.push(let_through(api, &method, &path, name).await);
        }
        assert_eq!(seen, expected, "{method} {path}: none, viewer, developer, admin");
    }
}

#[test]
fn the_table_names_no_route_that_is_not_there() {
    let served = operations();
    for (method, path, _) in PERMISSIONS {
        let beside = path.starts_with("/docs")
            || path.starts_with("/auth/")
            || path.starts_with("/hotseat.v1.")
            || *path == "/api/v1/openapi.json";
        let there = served.iter().any(|(known, at)| known.as_str() == *method && at == path);
        assert!(there || beside, "{method} {path} is not a route");
        let count = PERMISSIONS.iter().filter(|(m, p, _)| m == method && p == path).count();
        assert_eq!(count, 1, "{method} {path} is decided twice");
    }
}

#[tokio::test]
async fn the_browsable_documents_are_for_those_who_may_read() {
    let server = TestServer::scratch().await;
    let viewer = server.member("vera", "viewer").await;
    for path in ["/docs/", "/docs/index.html", "/api/v1/openapi.json"] {
        assert_eq!(viewer.get(path).await.status, 200, "{path}");
        assert_eq!(viewer.without_token().get(path).await.status, 401, "{path}");
    }
    assert_eq!(viewer.get("/docs").await.status, 303);
    viewer.get("/api/v1/nothing").await.problem(404, "not_found");
}

/// The calls of the contract, as they are addressed.
fn calls() -> Vec<String> {
    let contract = include_str!("../../../../proto/hotseat/v1/hotseat.proto");
    let (mut service, mut calls) = ("", Vec::new());
    for line in contract.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix("service ") {
            service = rest.trim_end_matches(" {");
        } else if let Some(rest) = line.strip_prefix("rpc ") {
            calls.push(format!("/hotseat.v1.{service}/{}", rest.split('(').next().unwrap()));
        }
    }
    assert!(calls.len() > 10);
    calls
}

#[tokio::test]
async fn every_call_of_grpc_lets_through_whom_the_table_says() {
    let server = TestServer::scratch().await;
    for (name, role) in [("vera", "viewer"), ("dora", "developer"), ("anna", "admin")] {
        let member = server.member(name, role).await;
        for call in calls() {
            let request = member.request(Method::POST, &call).header("content-type", GRPC);
            // An empty message; a stream of them may stay open, so only the head is read.
            let answer = request.body(vec![0_u8; 5]).send().await.unwrap();
            let status =
                answer.headers().get("grpc-status").map(reqwest::header::HeaderValue::as_bytes);
            let expected = match needs("POST", &call) {
                Needs::Public | Needs::Viewer => true,
                Needs::Developer => role != "viewer",
                Needs::Admin => role == "admin",
            };
            assert_eq!(status != Some(b"7"), expected, "{role} {call}");
        }
    }
}
