//! All that is promised is taken: what does not fit into one message is left out of it
//! and named, never refused.

use serde_json::json;

use super::form::{File, form, post_form};
use super::reading::with_model;
use crate::native::{Desk, texts};

const MIB: usize = 1024 * 1024;

/// Sends files in a form and gives all that the model was then told.
async fn told(desk: &Desk, files: &[File]) -> String {
    let body = form(&[("message", "Read")], files);
    desk.api().send(post_form(desk.api(), "/agent/desk/chat", body)).await.json(200);
    texts(&desk.provider.last_asked().body)
}

/// A picture with text in it, of at least so many bytes. Readers stop at its end.
fn picture(name: &'static str, bytes: usize) -> File {
    let mut file = File::fixture("invoice.png", "image/png");
    file.name = name;
    file.bytes.resize(bytes, 0);
    file
}

#[tokio::test]
async fn ten_long_files_share_the_room_of_a_message() {
    let desk = with_model().await;
    let long = "Привет, мир! ".repeat(70_000);
    let names = ["a.txt", "b.txt", "c.txt", "d.txt", "e.txt", "f.txt", "g.txt", "h.txt", "i.txt"];
    let mut files: Vec<_> =
        names.iter().map(|name| File::new(name, "text/plain", long.as_bytes())).collect();
    files.push(File::new("short.txt", "text/plain", "And that is all.".as_bytes()));
    let told = told(&desk, &files).await;
    for name in names {
        assert!(told.contains(&format!("## File: {name}\n\nПривет, мир! ")), "{name}");
        assert!(told.contains(&format!("> `{name}` is cut here: ")), "{name}");
    }
    assert!(told.contains("And that is all.") && !told.contains("`short.txt` is cut"));
}

#[tokio::test]
async fn a_text_file_of_49_mib_is_taken_and_cut() {
    let desk = with_model().await;
    let line = "The quick brown fox jumps over the lazy dog.\n";
    let bytes = line.repeat(49 * MIB / line.len());
    let told = told(&desk, &[File::new("large.txt", "text/plain", bytes.as_bytes())]).await;
    assert!(told.contains("text was cut at 1000000 characters"));
    assert!(told.contains("The quick brown fox"));
}

#[tokio::test]
async fn two_images_of_4_mib_are_taken_and_one_of_them_is_only_read() {
    let desk = with_model().await;
    let [one, two] = [picture("one.png", 4 * MIB), picture("two.png", 4 * MIB)];
    let told = told(&desk, &[one.clone(), two]).await;
    assert_eq!(told.matches("Invoice number 4711").count(), 2, "both are read");
    assert_eq!(told.matches("data:image/png;base64,").count(), 1);
    assert!(told.contains(&one.base64()));
    assert!(told.contains("> The image `two.png` itself was left out: the images before it"));
}

#[tokio::test]
async fn an_image_that_is_too_large_to_pass_on_is_read_and_says_so() {
    let desk = with_model().await;
    let told = told(&desk, &[picture("large.png", 6 * MIB)]).await;
    assert!(told.contains("Invoice number 4711") && !told.contains("base64,"));
    assert!(told.contains("> The image `large.png` itself was left out: it has 6 MiB"));
}

#[tokio::test]
async fn files_of_front_ends_have_the_same_room() {
    let desk = with_model().await;
    let image = |name| {
        let file = picture(name, 4 * MIB);
        json!({"inlineData": {"mimeType": file.mime, "data": file.base64(), "displayName": name}})
    };
    let mut request = desk.adk_request("Read").await;
    let parts = request["newMessage"]["parts"].as_array_mut().unwrap();
    parts.extend([image("one.png"), json!({"text": "In between."}), image("two.png")]);
    desk.api().post("/run", &request).await.json(200);
    let told = texts(&desk.provider.last_asked().body);
    let places = ["## File: one.png", "In between.", "## File: two.png", "`two.png` itself was"];
    let places = places.map(|said| told.find(said).unwrap());
    assert!(places.is_sorted(), "{places:?}");
}

#[tokio::test]
async fn a_file_of_exactly_50_mib_is_taken_in_json_and_in_a_form() {
    let desk = with_model().await;
    let file = File::new("large.txt", "text/plain", &vec![b'a'; 50 * MIB]);
    desk.chat(&json!({"message": "Read", "files": [file.json()]})).await.json(200);
    told(&desk, &[file]).await;
}
