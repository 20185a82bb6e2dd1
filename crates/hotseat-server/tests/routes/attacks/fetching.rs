//! Addresses in what people send, which the server must not go to.

use std::io::ErrorKind;
use std::net::TcpListener;

use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};

use crate::native::{Desk, agui};

/// Something inside the network that only the server could reach.
struct Inside(TcpListener);

impl Inside {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn url(&self) -> String {
        format!("http://{}/latest/meta-data", self.0.local_addr().unwrap())
    }

    #[track_caller]
    fn assert_untouched(&self, by: &str) {
        let visit = self.0.accept().map(|(_, from)| from);
        let error = visit.expect_err(by);
        assert_eq!(error.kind(), ErrorKind::WouldBlock, "{by}");
    }
}

fn run(desk_request: &Value, uri: &str) -> Value {
    let mut request = desk_request.clone();
    request["newMessage"]["parts"] = json!([
        {"text": "What is this?"},
        {"fileData": {"fileUri": uri, "mimeType": "image/png"}},
    ]);
    request
}

/// A file that is named by its address is the provider's to fetch, or nobody's. The server
/// goes nowhere, and reads nothing of its own machine for it.
#[tokio::test]
async fn a_file_that_is_only_named_is_not_fetched() {
    let inside = Inside::new();
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret.png");
    std::fs::write(&secret, "wanderfalke").unwrap();
    let desk = Desk::with_model(Script::always(Reply::text("Nothing."))).await;
    let usual = desk.adk_request("Hi").await;
    let uris = [
        inside.url(),
        format!("file://{}", secret.display()),
        secret.display().to_string(),
        format!("gs://{}", inside.0.local_addr().unwrap()),
    ];
    for (number, uri) in uris.iter().enumerate() {
        let told = desk.api().post("/run", &run(&usual, uri)).await;
        // The agent may say that its model takes no such file.
        let refused = told.body.contains("refers to a file that is not an image on the web");
        assert!(told.status.is_success() || refused, "{}", told.body);
        assert!(!told.body.contains("wanderfalke"), "{}", told.body);
        let thread = format!("t-{number}");
        let mut input = agui(&thread, &thread, "");
        let source = json!({"type": "url", "value": uri, "mimeType": "image/png"});
        input["messages"][0]["content"] =
            json!([{"type": "text", "text": "What is this?"}, {"type": "image", "source": source}]);
        let mut stream = desk.post_stream("/ag-ui/desk", &input).await;
        while let Some(event) = stream.next().await {
            assert!(!event.data().to_string().contains("wanderfalke"), "{event:?}");
        }
    }
    inside.assert_untouched("a file in a message");
    let asked = desk.provider.asked();
    assert!(!asked.is_empty(), "the messages themselves got through");
    for asked in asked {
        let body = asked.body.to_string();
        // In base64 it begins like this.
        assert!(!body.contains("wanderfalke") && !body.contains("d2FuZGVyZmFsa2"), "{body}");
    }
}

/// Where tools come from is said by files on the server's machine alone.
#[tokio::test]
async fn a_caller_cannot_name_a_server_of_tools() {
    let inside = Inside::new();
    let desk = Desk::with_model(Script::always(Reply::text("Nothing."))).await;
    let servers = json!([{"type": "mcp", "name": "x", "url": inside.url(),
        "command": ["sh", "-c", "exit"]}]);
    let config = json!({"tools": servers, "mcp": servers, "mcp_servers": servers});
    let mut input = agui("t", "r", "Hi");
    input["forwardedProps"] = config.clone();
    input["context"] = json!([{"description": "mcp_servers", "value": servers.to_string()}]);
    let mut stream = desk.post_stream("/ag-ui/desk", &input).await;
    while stream.next().await.is_some() {}
    let mut said = config.clone();
    said["message"] = json!("Hi");
    desk.chat(&said).await;
    let mut session = config.clone();
    session["agent"] = json!("desk");
    session["state"] = config;
    desk.api().post("/api/v1/sessions", &session).await;
    inside.assert_untouched("a server of tools");
}
