//! Conversations with much in them.

use serde_json::{Value, json};

use hotseat_testkit::{ScriptedWorker, TestServer};

use crate::agui::{heard, input, post, rest, types, user};

const MIB: usize = 1024 * 1024;

/// A third of the bytes of a song. Three of them as base64 are more than 10 MiB.
const SONG: usize = 900_000;

fn song(id: &str) -> Value {
    let source = json!({"type": "data", "value": "QUJD".repeat(SONG), "mimeType": "audio/mpeg"});
    json!({"id": id, "role": "user", "content": [{"type": "text", "text": "Listen"}, {"type": "audio", "source": source}]})
}

#[tokio::test]
async fn a_thread_with_more_files_than_a_client_can_read_at_once_is_shown_without_them() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let mut messages = Vec::new();
    for n in 1..=3 {
        messages.push(song(&format!("m{n}")));
        let mut stream = post(&server.api, &input("t", &format!("r{n}"), messages.clone())).await;
        let run = worker.run().await;
        heard(&mut worker, &run).await;
        worker.end(&run, "finished").await;
        assert_eq!(*types(&rest(&mut stream).await).last().unwrap(), "RUN_FINISHED");
    }
    let shown = post(&server.api, &input("t", "r4", messages)).await;
    let taken_up = server.api.stream("/ag-ui/math/threads/t/runs/r3").await;
    for mut stream in [shown, taken_up] {
        let events = rest(&mut stream).await;
        assert_eq!(types(&events), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
        let message = &events[1]["messages"][0];
        assert_eq!(
            (&message["id"], &message["content"][0]["text"]),
            (&json!("m1"), &json!("Listen"))
        );
        let note = "[audio of 2700000 bytes left out: the session's log has it]";
        assert_eq!(message["content"][1], json!({"type": "text", "text": note}));
    }
}

#[tokio::test]
async fn a_request_may_be_as_large_as_its_files_and_what_was_said_before() {
    let server = TestServer::scratch().await;
    let mut worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let earlier = json!({"id": "a1", "role": "assistant", "content": "x".repeat(40 * MIB)});
    let request = input("t", "r", json!([earlier, user("m1", "hello")]));
    let mut stream = post(&server.api, &request).await;
    let run = worker.run().await;
    let message: Value = serde_json::from_slice(&run.message_json).unwrap();
    assert_eq!(message["parts"], json!([{"text": "hello"}]));
    worker.end(&run, "finished").await;
    rest(&mut stream).await;
}
