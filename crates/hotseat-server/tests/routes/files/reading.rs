//! What files say reaches the model, the person and the log.

use hotseat_core::Seat;
use serde_json::{Value, json};

use hotseat_testkit::providers::{Reply, Script};
use hotseat_testkit::{Answer, SseReader};

use super::form::{DOCX, File, XLSX, form, post_form};
use crate::native::{Desk, agui, texts, until_turn, uuid_of};

fn documents() -> Vec<File> {
    vec![
        File::fixture("report.docx", DOCX),
        File::fixture("book.xlsx", XLSX),
        File::fixture("chapters.pdf", "application/pdf"),
        File::new("prices.csv", "text/csv", b"fruit,price\napple,3\n"),
    ]
}

/// What has to be readable of each of the documents, in their order.
const SAID: [&str; 8] = [
    "## File: report.docx",
    "After the table.",
    "## File: book.xlsx",
    "| --- |",
    "## File: chapters.pdf",
    "# Chapter three",
    "## File: prices.csv",
    "| apple | 3 |",
];

fn assert_read(text: &str) {
    let mut rest = text;
    for said in SAID {
        let at = rest.find(said).unwrap_or_else(|| panic!("`{said}` is not in: {text}"));
        rest = &rest[at..];
    }
}

pub(super) async fn with_model() -> Desk {
    let script = Script::always(Reply::text("I read them."));
    Desk::told(script, "", |config| config.seats.default = Seat::Model).await
}

async fn ended(mut stream: SseReader) -> Value {
    stream.next_of("stream_end").await.data()
}

/// Checks that the model and the log have what the files say.
async fn assert_told(desk: &Desk, answer: &Value) {
    assert_eq!(answer["content"], "I read them.");
    let asked = texts(&desk.provider.last_asked().body["messages"]);
    assert!(asked.contains("Read these"), "{asked}");
    assert_read(&asked);
    let log = desk.api().events(&uuid_of(&answer["session_id"])).await;
    let said = log.iter().find(|event| event["event"]["author"] == "user").unwrap();
    assert_read(&texts(&said["event"]["content"]));
}

#[tokio::test]
async fn documents_in_json_and_in_forms_are_read_on_every_path() {
    let desk = with_model().await;
    let files: Vec<Value> = documents().iter().map(File::json).collect();
    let said = json!({"message": "Read these", "files": files});
    let whole = form(&[("message", "Read these")], &documents());
    let api = desk.api();

    assert_told(&desk, &desk.chat(&said).await.json(200)).await;
    assert_told(&desk, &ended(desk.stream(&said).await).await).await;
    for path in ["/agent/desk/chat", "/agent/desk/chat/multipart"] {
        let answer: Answer = api.send(post_form(api, path, whole.clone())).await;
        assert_told(&desk, &answer.json(200)).await;
    }
    for path in ["/agent/desk/chat/stream", "/agent/desk/chat/stream/multipart"] {
        let stream = api.stream_with(post_form(api, path, whole.clone())).await;
        assert_told(&desk, &ended(stream).await).await;
    }
}

#[tokio::test]
async fn a_person_sees_what_documents_say() {
    let desk = Desk::with_person(Script::of([])).await;
    let files: Vec<Value> = documents().iter().map(File::json).collect();
    let said = json!({"message": "Read these", "files": files});
    let chat = desk.chatting("/agent/desk/chat", said);
    let turn = until_turn(desk.api()).await;
    let parts = &turn["request"]["contents"][0]["parts"];
    assert_eq!(parts[0]["text"], "Read these");
    assert_eq!(parts.as_array().unwrap().len(), 5, "one part for each file: {parts}");
    assert_read(&texts(parts));
    let decision = json!({"candidates": [{"parts": [{"text": "Done."}]}]});
    let id = |key: &str| turn[key].as_str().unwrap();
    desk.api().decide(id("session_id"), id("turn_id"), &decision).await.json(200);
    assert_eq!(chat.await.unwrap().json(200)["content"], "Done.");
}

#[tokio::test]
async fn an_image_arrives_as_an_image_and_as_the_text_in_it() {
    let desk = with_model().await;
    let invoice = File::fixture("invoice.png", "image/png");
    let body = form(&[("message", "What is this?")], std::slice::from_ref(&invoice));
    let answer = desk.api().send(post_form(desk.api(), "/agent/desk/chat", body)).await;
    let answer = answer.json(200);
    let asked = desk.provider.last_asked().body;
    let data = format!("data:image/png;base64,{}", invoice.base64());
    assert!(texts(&asked).contains(&data), "the image itself is there");
    assert!(texts(&asked).contains("Invoice number 4711"), "{}", texts(&asked));
    let log = desk.api().events(&uuid_of(&answer["session_id"])).await;
    let said = log.iter().find(|event| event["event"]["author"] == "user").unwrap();
    let parts = &said["event"]["content"]["parts"];
    assert_eq!(parts[2]["inline_data"]["mime_type"], "image/png");
    assert_eq!(parts[2]["inline_data"]["data"], invoice.base64());
}

/// A request of a front end with these parts beside a text.
fn with_parts(run: &str, parts: &[Value]) -> Value {
    let mut request = agui(run, run, "");
    let mut content = vec![json!({"type": "text", "text": "Read these"})];
    content.extend_from_slice(parts);
    request["messages"][0]["content"] = json!(content);
    request
}

#[tokio::test]
async fn files_of_front_ends_reach_the_model_too() {
    let desk = with_model().await;
    let source =
        |file: &File| json!({"type": "data", "value": file.base64(), "mimeType": file.mime});
    let [report, _, _, prices] = &documents()[..] else { unreachable!() };
    let invoice = File::fixture("invoice.png", "image/png");
    let request = with_parts(
        "r1",
        &[
            json!({"type": "document", "source": source(report), "metadata": {"filename": report.name}}),
            json!({"type": "image", "source": source(&invoice)}),
            json!({"type": "binary", "mimeType": prices.mime, "data": prices.base64(), "filename": prices.name}),
        ],
    );
    let mut stream = desk.post_stream("/ag-ui/desk", &request).await;
    let mut last = Value::Null;
    while let Some(event) = stream.next().await {
        last = event.data();
    }
    assert_eq!(last["type"], "RUN_FINISHED", "{last}");
    let asked = texts(&desk.provider.last_asked().body);
    for said in
        ["Read these", "## File: report.docx", "After the table.", "Invoice", "| apple | 3 |"]
    {
        assert!(asked.contains(said), "`{said}` is not in {asked}");
    }
    assert!(asked.contains(&format!("data:image/png;base64,{}", invoice.base64())));
}

#[tokio::test]
async fn files_of_front_ends_that_cannot_be_read_are_refused_before_the_stream() {
    let desk = with_model().await;
    let locked = File::fixture("encrypted.pdf", "application/pdf").base64();
    let part = json!({"type": "binary", "mimeType": "application/pdf", "data": locked, "filename": "odd.pdf"});
    let refused = desk.api().post("/ag-ui/desk", &with_parts("r", &[part])).await;
    let problem = refused.problem(422, "unreadable_file");
    assert!(problem["detail"].as_str().unwrap().contains("odd.pdf"), "{problem}");
    let many = vec![json!({"type": "binary", "mimeType": "text/plain", "data": "eA=="}); 11];
    desk.api().post("/ag-ui/desk", &with_parts("r", &many)).await.problem(422, "invalid");
    assert!(desk.provider.asked().is_empty());
}
