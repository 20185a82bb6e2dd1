//! Pages and sheets are chosen in JSON for each file, and in a form by the fields around it.

use serde_json::{Value, json};

use super::form::{BOUNDARY, File, XLSX, field, form, post_form};
use super::reading::with_model;
use crate::native::{Desk, texts};

fn pdf() -> File {
    File::fixture("chapters.pdf", "application/pdf")
}

fn book() -> File {
    File::fixture("book.xlsx", XLSX)
}

/// What the model was asked last.
fn asked(desk: &Desk) -> String {
    texts(&desk.provider.last_asked().body)
}

async fn send_json(desk: &Desk, files: Vec<Value>) {
    desk.chat(&json!({"message": "Read", "files": files})).await.json(200);
}

fn with(file: &File, key: &str, value: Value) -> Value {
    let mut file = file.json();
    file[key] = value;
    file
}

#[tokio::test]
async fn pages_and_sheets_are_chosen_in_json() {
    let desk = with_model().await;
    send_json(&desk, vec![with(&pdf(), "pages", json!("3"))]).await;
    let told = asked(&desk);
    assert!(told.contains("Chapter three") && !told.contains("Chapter one"), "{told}");
    send_json(&desk, vec![with(&book(), "sheets", json!(["Sales"]))]).await;
    assert_only_sales(&asked(&desk));
    for (file, key, value) in
        [(pdf(), "pages", json!("nine")), (book(), "sheets", json!(["Nothing"]))]
    {
        let refused =
            desk.chat(&json!({"message": "Read", "files": [with(&file, key, value)]})).await;
        let problem = refused.problem(422, "unreadable_file");
        assert!(problem["detail"].as_str().unwrap().contains(file.name), "{problem}");
    }
}

fn assert_only_sales(told: &str) {
    assert!(told.contains("## Sales") && !told.contains("## Notes & more"), "{told}");
}

/// A form whose fields come in this order.
fn in_order(parts: &[Result<(&str, &str), File>]) -> Vec<u8> {
    let mut body = field("message", "Read").into_bytes();
    for part in parts {
        match part {
            Ok((name, text)) => body.extend(field(name, text).into_bytes()),
            Err(file) => {
                body.extend(file.head().into_bytes());
                body.extend(&file.bytes);
                body.extend(b"\r\n");
            }
        }
    }
    body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
    body
}

#[tokio::test]
async fn in_a_form_a_field_chooses_of_the_file_before_it() {
    let desk = with_model().await;
    let body = in_order(&[
        Err(pdf()),
        Ok(("pages", "3")),
        Err(book()),
        Ok(("sheets", "Sales")),
        Err(File::new("a.txt", "text/plain", b"Something else")),
    ]);
    desk.api().send(post_form(desk.api(), "/agent/desk/chat", body)).await.json(200);
    let told = asked(&desk);
    assert!(told.contains("Chapter three") && !told.contains("Chapter one"), "{told}");
    assert_only_sales(&told);
    assert!(told.contains("Something else") && !told.contains("cannot be chosen"), "{told}");
}

#[tokio::test]
async fn in_a_form_a_field_before_all_files_chooses_of_those_that_have_none_of_their_own() {
    let desk = with_model().await;
    let body = in_order(&[
        Ok(("pages", "3")),
        Ok(("sheets", "Sales")),
        Err(pdf()),
        Err(book()),
        Ok(("sheets", "Notes & more")),
    ]);
    desk.api().send(post_form(desk.api(), "/agent/desk/chat", body)).await.json(200);
    let told = asked(&desk);
    assert!(told.contains("Chapter three") && !told.contains("Chapter one"), "{told}");
    assert!(told.contains("## Notes & more") && !told.contains("## Sales"), "{told}");
    let body = form(&[("message", "Read"), ("pages", "nine")], &[pdf()]);
    let refused = desk.api().send(post_form(desk.api(), "/agent/desk/chat", body)).await;
    refused.problem(422, "unreadable_file");
}
