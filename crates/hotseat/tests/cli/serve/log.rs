//! What the log says of requests, and what it does not.

use serde_json::{Value, json};

use hotseat_testkit::Launch;
use hotseat_testkit::providers::{Provider, Reply, Script};

use super::{KEY, desk, started};

/// Has a short conversation and gives the log, line by line, as JSON.
async fn logged(launch: Launch) -> (Vec<Value>, String) {
    let hotseat = started(&launch.argument("--log-format=json")).await;
    let api = &hotseat.api;
    let request = api.request("POST".parse().unwrap(), "/agent/desk/chat");
    let request =
        request.header("x-request-id", "my-request.1").json(&json!({"message": "My secret"}));
    let answer = api.send(request).await;
    assert_eq!(answer.header("x-request-id"), "my-request.1");
    let session = answer.json(200)["session_id"].as_str().unwrap().to_owned();
    let odd = api.request("GET".parse().unwrap(), "/health").header("x-request-id", "no good id");
    let given = api.send(odd).await.header("x-request-id").to_owned();
    assert_eq!(given.len(), 36, "an id that could do harm is replaced: {given}");
    let listed = api.get("/api/v1/sessions").await.json(200);
    let id = listed["items"][0]["id"].as_str().unwrap().to_owned();
    let refused = json!({"message": " ", "session_id": session});
    let problem = api.post("/agent/desk/chat", &refused).await.problem(422, "invalid");
    let instance = problem["instance"].as_str().unwrap().to_owned();
    api.delete(&format!("/sessions/{session}")).await;
    let stderr = hotseat.signal("TERM").stderr;
    assert!(!stderr.contains(KEY) && !stderr.contains(&session), "{stderr}");
    let lines: Vec<Value> =
        stderr.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert_joined(&lines, &id, &instance);
    (lines, stderr)
}

/// Checks that the lines of a conversation name its session in part, as all lines do, and that
/// the one of a refusal is found by what the refusal called itself.
fn assert_joined(lines: &[Value], session: &str, instance: &str) {
    let chats = lines.iter().filter(|line| line["fields"]["path"] == "/agent/desk/chat");
    let mut chats = chats.map(|line| &line["fields"]);
    let (said, refused) = (chats.next().unwrap(), chats.next().unwrap());
    for fields in [said, refused] {
        let shown = fields["session.id"].as_str().unwrap();
        assert!(shown.len() == 8 && session.starts_with(shown), "{fields}");
    }
    assert_eq!(refused["request.id"], instance.strip_prefix("urn:uuid:").unwrap());
    assert_eq!((&said["problem"], &refused["problem"]), (&Value::Null, &json!("invalid")));
}

async fn provider() -> Provider {
    Provider::start(Script::of([Reply::text("Hidden answer.")])).await
}

#[tokio::test]
async fn every_request_has_a_line_without_what_was_said() {
    let provider = provider().await;
    let (lines, stderr) = logged(desk(&provider)).await;
    let line = lines.iter().find(|line| line["fields"]["request.id"] == "my-request.1");
    let fields = &line.unwrap_or_else(|| panic!("{stderr}"))["fields"];
    assert_eq!(
        (&fields["method"], &fields["path"], &fields["status"]),
        (&json!("POST"), &json!("/agent/desk/chat"), &json!(200))
    );
    assert!(fields["milliseconds"].is_u64(), "{fields}");
    let deleted = lines.iter().find(|line| line["fields"]["method"] == "DELETE").unwrap();
    assert_eq!(deleted["fields"]["status"], 204);
    assert!(!stderr.contains("My secret") && !stderr.contains("Hidden answer"), "{stderr}");
}

#[tokio::test]
async fn what_was_said_is_logged_if_that_is_wished_for() {
    let provider = provider().await;
    let (lines, stderr) = logged(desk(&provider).argument("--debug")).await;
    for text in ["My secret", "Hidden answer."] {
        assert!(lines.iter().any(|line| line["fields"]["text"] == text), "{stderr}");
    }
}
