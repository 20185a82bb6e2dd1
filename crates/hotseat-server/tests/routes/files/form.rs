//! Forms with files, written byte by byte, and the documents of the tests.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use hotseat_testkit::Api;

pub(super) const DOCX: &str =
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
pub(super) const XLSX: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// What divides the fields.
pub(super) const BOUNDARY: &str = "------of-the-tests";

/// A document of the tests: its name, its type, and its bytes.
#[derive(Clone)]
pub(crate) struct File {
    pub(super) name: &'static str,
    pub(super) mime: &'static str,
    pub(super) bytes: Vec<u8>,
}

impl File {
    pub(super) fn new(name: &'static str, mime: &'static str, bytes: &[u8]) -> Self {
        Self { name, mime, bytes: bytes.to_vec() }
    }

    /// One of the documents that the readers are tested with.
    pub(crate) fn fixture(name: &'static str, mime: &'static str) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../hotseat-extract/tests/fixtures");
        let bytes = std::fs::read(format!("{folder}/{name}")).unwrap();
        Self { name, mime, bytes }
    }

    /// As a file inside JSON.
    pub(crate) fn json(&self) -> Value {
        json!({"filename": self.name, "mime_type": self.mime, "content": self.base64()})
    }

    pub(super) fn base64(&self) -> String {
        STANDARD.encode(&self.bytes)
    }

    /// The beginning of its field in a form.
    pub(super) fn head(&self) -> String {
        format!(
            "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"files\"; filename=\"{}\"\r\n\
             content-type: {}\r\n\r\n",
            self.name, self.mime
        )
    }
}

/// A field that is no file.
pub(super) fn field(name: &str, text: &str) -> String {
    format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{text}\r\n")
}

/// A whole form.
pub(super) fn form(fields: &[(&str, &str)], files: &[File]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, text) in fields {
        body.extend(field(name, text).into_bytes());
    }
    for file in files {
        body.extend(file.head().into_bytes());
        body.extend(&file.bytes);
        body.extend(b"\r\n");
    }
    body.extend(format!("--{BOUNDARY}--\r\n").into_bytes());
    body
}

pub(super) fn post_form(api: &Api, path: &str, body: Vec<u8>) -> RequestBuilder {
    let kind = format!("multipart/form-data; boundary={BOUNDARY}");
    api.request(Method::POST, path).header("content-type", kind).body(body)
}
