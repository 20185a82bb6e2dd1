//! What is too much, too many, or not what it says.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use hotseat_testkit::providers::Script;
use hotseat_testkit::{Answer, ScriptedWorker, TestServer, soon};

use super::form::{BOUNDARY, DOCX, File, field, form, post_form};
use super::reading::with_model;
use crate::native::{Desk, texts};

const CHAT: &str = "/agent/desk/chat";
const MIB: usize = 1024 * 1024;

async fn desk() -> Desk {
    Desk::with_person(Script::of([])).await
}

async fn send(desk: &Desk, fields: &[(&str, &str)], files: &[File]) -> Answer {
    desk.api().send(post_form(desk.api(), CHAT, form(fields, files))).await
}

/// The type of the forms here.
fn a_form() -> String {
    format!("multipart/form-data; boundary={BOUNDARY}")
}

/// Sends the beginning of a body over a socket, never its end, and gives the answer.
async fn send_begin(server: &TestServer, kind: &str, pieces: &[(&[u8], usize)]) -> String {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    let head = format!(
        "POST /agent/math/chat HTTP/1.1\r\nhost: {}\r\nauthorization: Bearer {}\r\n\
         content-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        server.address(),
        TestServer::TOKEN,
        150 * MIB,
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
    let pieces: [(&[u8], usize); 3] = [(head.as_bytes(), 1), (&chunk, 50), (&more, 1)];
    let answer = send_begin(&server, &a_form(), &pieces).await;
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
        &a_form(),
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
async fn a_file_in_json_that_is_too_large_is_refused_before_its_end_is_sent() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let begin = br#"{"message": "Read", "files": [{"content": "eA==", "mime_type": "text/plain"}, {"content": ""#;
    let (chunk, more) = (vec![b'a'; MIB], vec![b'a'; 701_000]);
    let pieces: [(&[u8], usize); 3] = [(begin, 1), (&chunk, 66), (&more, 1)];
    let answer = send_begin(&server, "application/json", &pieces).await;
    assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
    assert!(answer.contains("file 2 in the body is larger than 50 MiB"), "{answer}");
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused_before_its_end_is_sent() {
    let server = TestServer::scratch().await;
    let _worker = ScriptedWorker::attach(&server.api, "w", "math").await;
    let (chunk, more) = (vec![b'a'; MIB], vec![b'a'; 350_000]);
    let (file, next): (&[u8], &[u8]) =
        (br#"{"message": "Read", "files": [{"content": ""#, br#""}, {"content": ""#);
    let answer = send_begin(
        &server,
        "application/json",
        &[(file, 1), (&chunk, 60), (next, 1), (&chunk, 60), (next, 1), (&chunk, 14), (&more, 1)],
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("134 MiB"), "{answer}");
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

/// Programs such as curl know few types and call all others `application/octet-stream`.
const UNKNOWN: &str = "application/octet-stream";

#[tokio::test]
async fn a_label_that_says_nothing_leaves_it_to_the_name_and_the_content() {
    let desk = with_model().await;
    let mut files: Vec<File> = ["report.docx", "book.xlsx", "deck.pptx", "invoice.webp"]
        .map(|name| File::fixture(name, UNKNOWN))
        .to_vec();
    files.push(File::new("notes.md", UNKNOWN, b"# Notes\n\nRemember the milk."));
    files.push(File::new("prices.csv", UNKNOWN, b"fruit,price\napple,3\n"));
    files.push(File::new("LICENSE", UNKNOWN, b"Do what you want."));
    files.push(File::new("sums.csv", "application/vnd.ms-excel", b"a,b\n1,2\n"));
    send(&desk, &[("message", "Read")], &files).await.json(200);
    let told = texts(&desk.provider.last_asked().body);
    for said in ["After the table.", "## Sales", "Invoice number 4711", "Remember the milk."] {
        assert!(told.contains(said), "`{said}` is not in {told}");
    }
    for said in ["| apple | 3 |", "Do what you want.", "| 1 | 2 |", "image/webp;base64,"] {
        assert!(told.contains(said), "`{said}` is not in {told}");
    }
    let pdf = File::fixture("chapters.pdf", UNKNOWN).bytes;
    for file in [
        File::new("fake.docx", UNKNOWN, &pdf),
        File::new("fake.png", UNKNOWN, b"no picture"),
        File::new("film.mp4", UNKNOWN, &[0, 0, 0, 0x18, b'f', b't', b'y', b'p', 0xff]),
        File::new("page.html", "text/html", b"<p>"),
    ] {
        let refused = send(&desk, &[("message", "Read")], std::slice::from_ref(&file)).await;
        let problem = refused.problem(415, "unsupported_file");
        assert!(problem["detail"].as_str().unwrap().contains(file.name), "{problem}");
    }
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
