//! The five wire formats, and which request is in which.

use axum::http::{HeaderMap, Method, Uri};
use serde_json::{Value, json};

use super::script::Reply;
use super::{anthropic, gemini, ollama, openai};

/// Whose format a request is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Wire {
    /// `/v1/chat/completions`
    OpenAi,
    /// `/openai/deployments/…/chat/completions?api-version=…`
    Azure,
    /// `/v1/messages`
    Anthropic,
    /// `/v1beta/models/…:streamGenerateContent`
    Gemini,
    /// `/api/chat`
    Ollama,
}

/// A status and what to say with it.
pub(super) type Refused = (u16, String);

impl Wire {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::OpenAi, Self::Azure, Self::Anthropic, Self::Gemini, Self::Ollama];

    pub(super) fn of(method: &Method, uri: &Uri) -> Option<Self> {
        if method != Method::POST {
            return None;
        }
        let path = uri.path();
        match path {
            "/v1/chat/completions" => Some(Self::OpenAi),
            "/v1/messages" => Some(Self::Anthropic),
            "/api/chat" => Some(Self::Ollama),
            _ if path.starts_with("/openai/deployments/")
                && path.ends_with("/chat/completions") =>
            {
                Some(Self::Azure)
            }
            _ if path.starts_with("/v1beta/models/") && path.ends_with("GenerateContent")
                || path.ends_with(":generateContent") =>
            {
                Some(Self::Gemini)
            }
            _ => None,
        }
    }

    /// Refuses what the real provider refuses.
    pub(super) fn check(self, uri: &Uri, headers: &HeaderMap, body: &Value) -> Result<(), Refused> {
        let query = uri.query().unwrap_or_default();
        let key = match self {
            Self::OpenAi => Some("authorization"),
            Self::Azure => Some("api-key"),
            Self::Anthropic => Some("x-api-key"),
            Self::Gemini => Some("x-goog-api-key"),
            Self::Ollama => None,
        };
        if let Some(key) = key
            && !headers.contains_key(key)
        {
            return Err((401, format!("the header {key} is missing")));
        }
        if self == Self::Azure && !query.contains("api-version=") {
            return Err((404, "Resource not found".to_owned()));
        }
        if self == Self::Anthropic && !headers.contains_key("anthropic-version") {
            return Err((400, "anthropic-version: header is required".to_owned()));
        }
        let checked = match self {
            Self::OpenAi | Self::Azure => openai::check(body),
            Self::Anthropic => anthropic::check(body),
            Self::Gemini => gemini::check(uri, body),
            Self::Ollama => ollama::check(body),
        };
        checked.map_err(|message| (400, message))
    }

    /// Whether the request wants pieces.
    pub(super) fn streams(self, uri: &Uri, body: &Value) -> bool {
        match self {
            Self::OpenAi | Self::Azure | Self::Anthropic => body["stream"] == true,
            Self::Gemini => uri.path().ends_with(":streamGenerateContent"),
            Self::Ollama => body["stream"] != false,
        }
    }

    /// The streamed answer up to its end, and its end.
    pub(super) fn stream(self, number: usize, reply: &Reply) -> (String, String) {
        match self {
            Self::OpenAi | Self::Azure => openai::stream(number, reply),
            Self::Anthropic => anthropic::stream(number, reply),
            Self::Gemini => gemini::stream(reply),
            Self::Ollama => ollama::stream(reply),
        }
    }

    /// The answer in one piece.
    pub(super) fn whole(self, number: usize, reply: &Reply) -> Value {
        match self {
            Self::OpenAi | Self::Azure => openai::whole(number, reply),
            Self::Anthropic => anthropic::whole(number, reply),
            Self::Gemini => gemini::whole(reply),
            Self::Ollama => ollama::whole(reply),
        }
    }

    /// A refusal.
    pub(super) fn refusal(self, status: u16, message: &str) -> Value {
        match self {
            Self::OpenAi | Self::Azure => {
                json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}})
            }
            Self::Anthropic => {
                let kind = match status {
                    400 => "invalid_request_error",
                    401 => "authentication_error",
                    429 => "rate_limit_error",
                    529 => "overloaded_error",
                    _ => "api_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Self::Gemini => {
                json!({"error": {"code": status, "message": message, "status": "INVALID_ARGUMENT"}})
            }
            Self::Ollama => json!({"error": message}),
        }
    }

    /// A failure in the middle of a stream.
    pub(super) fn failed(self, status: u16, message: &str) -> String {
        let refusal = match self {
            Self::OpenAi | Self::Azure => json!({"error": {"message": message, "code": status}}),
            Self::Anthropic | Self::Gemini | Self::Ollama => self.refusal(status, message),
        };
        match self {
            Self::Anthropic => event("error", &refusal),
            Self::OpenAi | Self::Azure | Self::Gemini => data(&refusal),
            Self::Ollama => line(&refusal),
        }
    }

    /// A message that is no JSON.
    pub(super) fn malformed(self) -> String {
        match self {
            Self::OpenAi | Self::Azure | Self::Anthropic | Self::Gemini => {
                "data: {\"broken\n\n".to_owned()
            }
            Self::Ollama => "{\"broken\n".to_owned(),
        }
    }

    pub(super) fn stream_type(self) -> &'static str {
        match self {
            Self::OpenAi | Self::Azure | Self::Anthropic | Self::Gemini => "text/event-stream",
            Self::Ollama => "application/x-ndjson",
        }
    }
}

/// A server-sent event with nothing but data.
pub(super) fn data(value: &Value) -> String {
    format!("data: {value}\r\n\r\n")
}

/// A server-sent event with its type as name.
pub(super) fn event(name: &str, value: &Value) -> String {
    format!("event: {name}\ndata: {value}\n\n")
}

/// A line of JSON.
pub(super) fn line(value: &Value) -> String {
    format!("{value}\n")
}
