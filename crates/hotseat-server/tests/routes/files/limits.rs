//! What is too much, too many, or not what it says.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use hotseat_testkit::providers::Script;
use hotseat_testkit::{Answer, ScriptedWorker, TestServer, soon};

use super::form::{BOUNDARY, DOCX, File, field, form, post_form};
use crate::native::Desk;

const CHAT: &str = "/agent/desk/chat";
const MIB: usize = 1024 * 1024;

async fn desk() -> Desk {
    Desk::with_person(Script::of([])).await
}

async fn send(desk: &Desk, fields: &[(&str, &str)], files: &[File]) -> Answer {
    desk.api().send(post_form(desk.api(), CHAT, form(fields, files))).await
}

/// Sends the beginning of a form over a socket, never its end, and gives the answer.
async fn send_begin(server: &TestServer, pieces: &[(&[u8], usize)]) -> String {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST /agent/math/chat HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: multipart/form-data; boundary={BOUNDARY}\r\ncontent-length: {}\r\n\r\n",
        server.address(),
        TestServer::TOKEN,
        120 * MIB,
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    for (piece, times) in pieces {
        for _ in 0..*times {
            socket.write_all(piece).await.unwrap();
        }
    }
    let mut answer = Vec::new();
    while !String::from_utf8_lossy(&answer).contains("too_large") {
        let read = soon("a refusal", socket.read_buf(&mut answer)).await.unwrap();
        assert_ne!(read, 0, "{}", String::from_utf8_lossy(&answer));
    }
    String::from_utf8(answer).unwrap()
}

#[tokio::test]
async fn a_file_that_is_too_large_is_refused_before_its_end_is_sent() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let large = File::new("large.txt", "text/plain", b"");
    let head = field("message", "Read") + &large.head();
    let (chunk, more) = (vec![b'a'; MIB], vec![b'a'; 200]);
    let answer = send_begin(&server, &[(head.as_bytes(), 1), (&chunk, 50), (&more, 1)]).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("large.txt") && answer.contains("50 MiB"), "{answer}");
}

#[tokio::test]
async fn files_that_are_too_large_together_are_refused_before_their_end_is_sent() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let [first, next] = ["a.txt", "b.txt"].map(|name| File::new(name, "text/plain", b"").head());
    let [first, next] = [field("message", "Read") + &first, format!("\r\n{next}")];
    let (chunk, more) = (vec![b'a'; MIB], vec![b'a'; 200]);
    let answer = send_begin(
        &server,
        &[
            (first.as_bytes(), 1),
            (&chunk, 50),
            (next.as_bytes(), 1),
            (&chunk, 50),
            (next.as_bytes(), 1),
            (&more, 1),
        ],
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("100 MiB"), "{answer}");
}

#[tokio::test]
async fn a_file_in_json_is_measured_before_it_is_decoded() {
    let desk = desk().await;
    // No base64 at all, so it must not have been decoded.
    let content = "%".repeat((50 * MIB + 3) / 3 * 4);
    let file = json!({"content": content, "mime_type": "text/plain", "filename": "large.txt"});
    let refused = desk.chat(&json!({"message": "Read", "files": [file]})).await;
    let problem = refused.problem(413, "too_large");
    assert!(problem["detail"].as_str().unwrap().contains("large.txt"), "{problem}");
}

#[tokio::test]
async fn eleven_files_are_refused() {
    let desk = desk().await;
    let files = vec![File::new("a.txt", "text/plain", b"a"); 11];
    send(&desk, &[("message", "Read")], &files).await.problem(422, "invalid");
    let files: Vec<Value> = files.iter().map(File::json).collect();
    desk.chat(&json!({"message": "Read", "files": files})).await.problem(422, "invalid");
}

#[tokio::test]
async fn a_file_that_is_not_what_it_says_is_refused_by_its_name() {
    let desk = desk().await;
    let pdf = File::fixture("chapters.pdf", "application/pdf").bytes;
    for (file, status, code) in [
        (File::new("fake.docx", DOCX, &pdf), 415, "unsupported_file"),
        (File::new("film.mp4", "video/mp4", b"x"), 415, "unsupported_file"),
        (File::fixture("encrypted.pdf", "application/pdf"), 422, "unreadable_file"),
        (File::fixture("encrypted.docx", DOCX), 422, "unreadable_file"),
        (File::new("half.pdf", "application/pdf", &pdf[..200]), 422, "unreadable_file"),
    ] {
        let problem = send(&desk, &[("message", "Read")], std::slice::from_ref(&file))
            .await
            .problem(status, code);
        assert!(problem["detail"].as_str().unwrap().contains(file.name), "{problem}");
        let in_json = json!({"message": "Read", "files": [file.json()]});
        let problem = desk.chat(&in_json).await.problem(status, code);
        assert!(problem["detail"].as_str().unwrap().contains(file.name), "{problem}");
    }
    let sessions = desk.api().get("/api/v1/sessions").await.json(200);
    assert_eq!(sessions["items"], json!([]), "nothing of it is kept");
}

#[tokio::test]
async fn a_form_has_a_message_and_no_fields_that_nobody_reads() {
    let desk = desk().await;
    let missing = send(&desk, &[], &[File::new("a.txt", "text/plain", b"a")]).await;
    let problem = missing.problem(422, "invalid");
    assert!(problem["detail"].as_str().unwrap().contains("`message`"), "{problem}");
    let odd = send(&desk, &[("message", "Read"), ("colour", "red")], &[]).await;
    let problem = odd.problem(422, "invalid");
    assert!(problem["detail"].as_str().unwrap().contains("`colour`"), "{problem}");
    let long = "a".repeat(40_001);
    send(&desk, &[("message", &long)], &[]).await.problem(422, "invalid");
    let cut =
        b"--------of-the-tests\r\ncontent-disposition: form-data; name=\"message\"\r\n\r\nhalf"
            .to_vec();
    desk.api().send(post_form(desk.api(), CHAT, cut)).await.problem(400, "bad_request");
}
