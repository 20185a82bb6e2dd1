//! What the server answered.

use reqwest::StatusCode;
use reqwest::header::{CONTENT_TYPE, HeaderMap};
use serde_json::Value;

/// A whole HTTP answer.
#[derive(Debug)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as text.
    pub body: String,
    /// The body as it came.
    pub bytes: Vec<u8>,
}

impl Answer {
    pub(crate) async fn read(response: reqwest::Response) -> Self {
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.bytes().await.expect("the body can be read").to_vec();
        let body = String::from_utf8_lossy(&bytes).into_owned();
        Self { status, headers, body, bytes }
    }

    /// A header, or the empty text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().expect("headers are text"))
    }

    /// The JSON of an answer with this status.
    #[track_caller]
    pub fn json(&self, status: u16) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.header(CONTENT_TYPE.as_str()), "application/json", "{}", self.body);
        serde_json::from_str(&self.body).expect("the body is JSON")
    }

    /// The problem of a refusal, checked to be a complete one with this status and code.
    #[track_caller]
    pub fn problem(&self, status: u16, code: &str) -> Value {
        assert_eq!(self.status.as_u16(), status, "{}", self.body);
        assert_eq!(self.header(CONTENT_TYPE.as_str()), "application/problem+json");
        let problem: Value = serde_json::from_str(&self.body).expect("the body is JSON");
        assert_eq!(problem["code"], code, "{problem}");
        assert_eq!(problem["status"], status, "{problem}");
        assert_eq!(problem["type"], "about:blank", "{problem}");
        assert_eq!(problem["title"], self.status.canonical_reason().expect("known"), "{problem}");
        let instance = problem["instance"].as_str().expect("an instance");
        let id = instance.strip_prefix("urn:uuid:").expect("a urn");
        assert!(uuid::Uuid::try_parse(id).is_ok(), "{problem}");
        let detail = problem["detail"].as_str().expect("a detail");
        assert!(!detail.is_empty(), "{problem}");
        // Words that only the inside of the server uses.
        for internal in ["rusqlite", "SQLite", "sqlx", "panicked", ".rs:", "src/", "tokio"] {
            assert!(!self.body.contains(internal), "`{internal}` leaks: {}", self.body);
        }
        problem
    }
}
