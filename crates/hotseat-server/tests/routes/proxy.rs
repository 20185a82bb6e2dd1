//! A proxy in front that says who somebody is.

use hotseat_core::Role;
use hotseat_server::TrustedProxy;
use hotseat_testkit::{Answer, TestServer};
use reqwest::Method;
use serde_json::json;

async fn behind(network: &str, role: Option<Role>) -> TestServer {
    let proxy = TrustedProxy {
        header: "x-forwarded-user".parse().unwrap(),
        networks: vec![network.parse().unwrap()],
        role,
    };
    TestServer::told(|config| config.people.proxy = Some(proxy)).await
}

async fn me(server: &TestServer, name: &str) -> Answer {
    let nobody = server.api.without_token();
    let request = nobody.request(Method::GET, "/api/v1/me").header("x-forwarded-user", name);
    nobody.send(request).await
}

#[tokio::test]
async fn a_trusted_proxy_is_believed_and_strangers_get_its_role() {
    let server = behind("127.0.0.0/8", Some(Role::Viewer)).await;
    server.member("ada", "developer").await;
    assert_eq!(me(&server, "ada").await.json(200)["role"], "developer");
    let known = me(&server, " Grace@Example.org ").await.json(200);
    assert_eq!(known, json!({"name": "grace@example.org", "role": "viewer"}));
    me(&server, "grace@example.org").await.json(200);
    let users = server.api.get("/api/v1/users").await.json(200);
    assert_eq!(users["items"].as_array().unwrap().len(), 2);
    for name in ["", "owner", "a b", "héloïse"] {
        me(&server, name).await.problem(403, "stranger");
    }
    server.api.delete("/api/v1/users/ada").await.json(200);
    me(&server, "ada").await.problem(403, "stranger");
}

#[tokio::test]
async fn the_header_means_nothing_from_elsewhere_and_twice() {
    let server = behind("10.0.0.0/8", Some(Role::Admin)).await;
    me(&server, "ada").await.problem(401, "unauthenticated");
    let server = behind("127.0.0.1", Some(Role::Admin)).await;
    let nobody = server.api.without_token();
    let twice = nobody
        .request(Method::GET, "/api/v1/me")
        .header("x-forwarded-user", "ada")
        .header("x-forwarded-user", "bob");
    nobody.send(twice).await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn without_a_role_strangers_are_refused() {
    let server = behind("127.0.0.1", None).await;
    me(&server, "ada").await.problem(403, "stranger");
    server.member("ada", "viewer").await;
    me(&server, "ada").await.json(200);
    // A token that somebody shows wins.
    let request = server.api.request(Method::GET, "/api/v1/me").header("x-forwarded-user", "ada");
    assert_eq!(server.api.send(request).await.json(200)["name"], "owner");
}

#[tokio::test]
async fn a_change_through_the_proxy_must_come_from_a_page_of_ours() {
    let server = behind("127.0.0.1", Some(Role::Developer)).await;
    let nobody = server.api.without_token();
    let change = || {
        let request = nobody.request(Method::POST, "/api/v1/sessions");
        request.header("x-forwarded-user", "ada").json(&json!({}))
    };
    nobody.send(change()).await.problem(403, "csrf");
    let ours = nobody.send(change().header("sec-fetch-site", "same-origin")).await.json(201);
    assert_eq!(ours["user_id"], "ada");
}
