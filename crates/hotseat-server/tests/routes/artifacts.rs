//! Files that tools have saved, through the worker that has them.

use serde_json::{Value, json};

use hotseat_testkit::proto::Answer;
use hotseat_testkit::{ScriptedWorker, TestServer, soon};

/// A server, a worker, and the address of the artifacts of one of its sessions.
async fn saved() -> (TestServer, ScriptedWorker, String) {
    let server = TestServer::scratch().await;
    let worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let id = server.api.session_with(&json!({"agent": "math", "user_id": "ada"})).await;
    let path = format!("/api/v1/sessions/{id}/artifacts");
    (server, worker, path)
}

/// Asks for `path` while the worker answers, and gives what came and what was asked.
async fn get(
    (server, worker, _): &mut (TestServer, ScriptedWorker, String),
    path: &str,
    answer: Answer,
) -> (hotseat_testkit::Answer, Value) {
    let what = if path.ends_with("/artifacts") { "artifacts" } else { "artifact" };
    let answering = async {
        let (ask, question) = worker.asked(what).await;
        worker.answer_as(&ask, answer).await;
        question
    };
    soon("an answer through the worker", async { tokio::join!(server.api.get(path), answering) })
        .await
}

fn file(mime_type: &Value, data: &'static [u8]) -> Answer {
    let json = json!({"mime_type": mime_type}).to_string().into();
    Answer { json, data: data.into(), ..Answer::default() }
}

#[tokio::test]
async fn files_are_listed_as_the_worker_tells() {
    let mut saved = saved().await;
    let path = saved.2.clone();
    let told = json!({"items": [
        {"name": "chart.png", "versions": [0, 1], "mime_type": "image/png", "size": 7},
        {"name": "user:notes"},
    ]});
    let answer = Answer { json: told.to_string().into(), ..Answer::default() };
    let (answer, question) = get(&mut saved, &path, answer).await;
    assert_eq!(
        answer.json(200),
        json!({"items": [
            {"name": "chart.png", "versions": [0, 1], "mime_type": "image/png", "size": 7},
            {"name": "user:notes", "versions": [], "mime_type": null, "size": null},
        ], "next_cursor": null})
    );
    let id = path.split('/').nth(4).unwrap();
    assert_eq!(question, json!({"agent": "math", "session_id": id, "user_id": "ada"}));
}

#[tokio::test]
async fn bytes_come_as_they_were_saved() {
    let mut saved = saved().await;
    let data = b"\x89PNG\r\n\x00\xff";
    let newest = format!("{}/chart.png", saved.2);
    let (answer, question) = get(&mut saved, &newest, file(&json!("image/png"), data)).await;
    assert_eq!((answer.status.as_u16(), answer.bytes.as_slice()), (200, data.as_slice()));
    assert_eq!(answer.header("content-type"), "image/png");
    assert_eq!((&question["name"], question.get("version")), (&json!("chart.png"), None));

    let old = format!("{}/user%3Amy%20%22%C3%BC%22%2Fa.txt?version=0", saved.2);
    let (answer, question) = get(&mut saved, &old, file(&json!(null), b"")).await;
    assert_eq!((answer.status.as_u16(), answer.bytes.len()), (200, 0));
    assert_eq!(question["name"], "user:my \"ü\"/a.txt");
    assert_eq!(question["version"], 0);
    let disposition = answer.header("content-disposition");
    assert_eq!(disposition, "attachment; filename=\"user_my ____a.txt\"");
}

#[tokio::test]
async fn what_a_tool_saved_never_runs_as_a_page() {
    let mut saved = saved().await;
    let path = format!("{}/page", saved.2);
    let bytes = "application/octet-stream";
    for (told, shown) in [
        (json!("text/html"), bytes),
        (json!("TEXT/HTML; charset=utf-8"), bytes),
        (json!("image/svg+xml"), bytes),
        (json!("application/javascript"), bytes),
        (json!("application/xhtml+xml"), bytes),
        (json!(""), bytes),
        (json!(7), bytes),
        (json!(null), bytes),
        (json!("text/plain;\r\nset-cookie: a=b"), bytes),
        (json!("text/plain; charset=utf-8"), "text/plain; charset=utf-8"),
        (json!("application/json"), "application/json"),
    ] {
        let script = b"<script>alert(1)</script>";
        let (answer, _) = get(&mut saved, &path, file(&told, script)).await;
        assert_eq!((answer.status.as_u16(), answer.bytes.as_slice()), (200, script.as_slice()));
        assert_eq!(answer.header("content-type"), shown, "{told}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("content-security-policy"), "sandbox; default-src 'none'");
        assert!(answer.header("content-disposition").starts_with("attachment;"));
        assert_eq!(answer.header("set-cookie"), "");
    }
}

#[tokio::test]
async fn what_the_worker_cannot_give_is_refused() {
    let mut saved = saved().await;
    let list = saved.2.clone();
    let one = format!("{list}/chart.png");
    let failed =
        |error: &str, not_found| Answer { error: error.to_owned(), not_found, ..Answer::default() };
    for path in [&list, &one] {
        let (answer, _) = get(&mut saved, path, failed("no such file", true)).await;
        answer.problem(404, "nothing_there");
        let (answer, _) = get(&mut saved, path, failed("the bucket is gone", false)).await;
        let problem = answer.problem(502, "worker_failed");
        assert!(problem["detail"].as_str().unwrap().contains("the bucket is gone"), "{problem}");
    }
    let (answer, _) = get(&mut saved, &list, Answer::default()).await;
    answer.problem(502, "worker_failed");

    let (server, worker, _) = saved;
    server.api.get(&format!("{one}?version=newest")).await.problem(400, "bad_request");
    let nobody = "/api/v1/sessions/00000000-0000-4000-8000-000000000000/artifacts";
    server.api.get(nobody).await.problem(404, "session_not_found");
    let no_agent = server.api.session().await;
    let path = format!("/api/v1/sessions/{no_agent}/artifacts");
    server.api.get(&path).await.problem(409, "no_agent");
    drop(worker);
    server.api.until_connected("math", false).await;
    for path in [&list, &one] {
        server.api.get(path).await.problem(409, "no_worker");
    }
}
