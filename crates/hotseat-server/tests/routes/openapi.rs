//! The OpenAPI document, which the page's types are made from.

use reqwest::Method;
use serde_json::Value;

use hotseat_testkit::TestServer;

/// Every operation of the API: its method and path.
pub(crate) fn operations() -> Vec<(Method, String)> {
    let document = serde_json::to_value(hotseat_server::openapi()).unwrap();
    let mut operations = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "put", "patch", "delete"] {
            if item.get(method).is_some() {
                let method = Method::from_bytes(method.to_uppercase().as_bytes()).unwrap();
                operations.push((method, path.clone()));
            }
        }
    }
    operations
}

#[tokio::test]
async fn the_served_document_is_the_one_that_is_generated() {
    let server = TestServer::scratch().await;
    let document = server.api.get("/api/v1/openapi.json").await.json(200);
    assert_eq!(document, serde_json::to_value(hotseat_server::openapi()).unwrap());
}

#[tokio::test]
async fn every_route_of_the_document_is_served() {
    let server = TestServer::scratch().await;
    for (method, path) in operations() {
        let concrete = path.replace("{id}", "none").replace("{turn_id}", "none");
        let concrete = concrete.replace("{call_id}", "none");
        if path.ends_with("/stream") && !path.contains('{') {
            continue; // It answers without an end.
        }
        let answer = server.api.send(server.api.request(method.clone(), &concrete)).await;
        assert_ne!(answer.status, 405, "{method} {path}");
        if answer.status == 404 {
            let problem: Value = serde_json::from_str(&answer.body).unwrap();
            assert_ne!(problem["code"], "not_found", "{method} {path} has no handler");
        }
    }
}
