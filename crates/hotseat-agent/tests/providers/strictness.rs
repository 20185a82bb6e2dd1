//! The scripted provider refuses what the real ones refuse. Without that, the other
//! tests would prove little.

use hotseat_agent::provider::install_crypto;
use hotseat_testkit::providers::{Provider, Reply, Script, Wire};
use serde_json::{Value, json};

fn client() -> reqwest::Client {
    install_crypto();
    reqwest::Client::builder().no_proxy().tls_certs_only([]).build().unwrap()
}

/// What the provider says to this body.
async fn post(provider: &Provider, wire: Wire, body: &Value) -> (u16, Value) {
    let path = match wire {
        Wire::OpenAi => "/v1/chat/completions",
        Wire::Azure => "/openai/deployments/m/chat/completions?api-version=1",
        Wire::Anthropic => "/v1/messages",
        Wire::Gemini => "/v1beta/models/gemini-3-pro:generateContent",
        Wire::Ollama => "/api/chat",
    };
    let mut request = client().post(format!("{}{path}", provider.url)).json(body);
    for key in ["authorization", "api-key", "x-api-key", "x-goog-api-key", "anthropic-version"] {
        request = request.header(key, "k");
    }
    let response = request.send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

fn good(wire: Wire) -> Value {
    match wire {
        Wire::OpenAi | Wire::Azure => json!({"model": "m", "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "add", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "c", "content": "5"},
        ]}),
        Wire::Anthropic => json!({"model": "m", "max_tokens": 9, "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "add", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "5"}]},
        ]}),
        Wire::Gemini => json!({"contents": [
            {"role": "user", "parts": [{"text": "Hi"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "add", "args": {}}, "thoughtSignature": "eA=="}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "add", "response": {}}}]},
        ]}),
        Wire::Ollama => {
            json!({"model": "m", "stream": false, "messages": [{"role": "user", "content": "Hi"}]})
        }
    }
}

#[tokio::test]
async fn a_right_request_is_answered_whole_if_it_wants_that() {
    let provider = Provider::start(Script::always(Reply::text("Hello."))).await;
    for (wire, place) in [
        (Wire::OpenAi, "/choices/0/message/content"),
        (Wire::Azure, "/choices/0/message/content"),
        (Wire::Anthropic, "/content/0/text"),
        (Wire::Gemini, "/candidates/0/content/parts/0/text"),
        (Wire::Ollama, "/message/content"),
    ] {
        let (status, answer) = post(&provider, wire, &good(wire)).await;
        assert_eq!(
            (status, answer.pointer(place)),
            (200, Some(&json!("Hello."))),
            "{wire:?}: {answer}"
        );
    }
}

#[tokio::test]
async fn wrong_requests_are_refused_in_the_providers_format() {
    let provider = Provider::start(Script::always(Reply::text("Hello."))).await;
    let schema = json!([{"functionDeclarations": [{"name": "add", "parametersJsonSchema": {"type": "object", "pattern": "x"}}]}]);
    for (wire, change, value, named) in [
        (
            Wire::OpenAi,
            "/messages/2",
            json!({"role": "user", "content": "?"}),
            "must be followed by tool messages",
        ),
        (
            Wire::OpenAi,
            "/messages/2/tool_call_id",
            json!("other"),
            "must be a response to a preceding message",
        ),
        (Wire::OpenAi, "/messages/1/tool_calls/0/id", json!("x".repeat(41)), "string too long"),
        (Wire::OpenAi, "/messages/1/tool_calls/0/function/arguments", json!({}), "not a string"),
        (Wire::OpenAi, "/stream_options", json!({"include_usage": true}), "stream is enabled"),
        (
            Wire::Azure,
            "/messages/0/content",
            json!([{"type": "image_url", "image_url": {"url": "data:image/png;base64,-_8="}}]),
            "base64",
        ),
        (Wire::Anthropic, "/max_tokens", Value::Null, "max_tokens: Field required"),
        (Wire::Anthropic, "/messages/1/role", json!("user"), "roles must alternate"),
        (Wire::Anthropic, "/messages/2/content", json!("Hi"), "without `tool_result` blocks"),
        (
            Wire::Anthropic,
            "/messages/2/content/0/tool_use_id",
            json!("other"),
            "without `tool_result` blocks",
        ),
        (
            Wire::Anthropic,
            "/messages/0/content",
            json!([{"type": "text", "text": " "}]),
            "non-whitespace",
        ),
        (
            Wire::Anthropic,
            "/messages/1/content/0",
            json!({"type": "thinking", "thinking": "x", "signature": "no"}),
            "Invalid `signature`",
        ),
        (
            Wire::Anthropic,
            "/thinking",
            json!({"type": "enabled", "budget_tokens": 2000}),
            "must be greater",
        ),
        (
            Wire::Gemini,
            "/contents/2/parts",
            json!([{"text": "Hi"}]),
            "number of function response parts",
        ),
        (
            Wire::Gemini,
            "/contents/1/parts/0",
            json!({"functionCall": {"name": "add", "args": {}}}),
            "missing a thought_signature",
        ),
        (Wire::Gemini, "/contents/0/role", json!("system"), "valid role"),
        (Wire::Gemini, "/tools", schema, "pattern"),
        (Wire::Ollama, "/messages/0/role", json!("model"), "invalid role"),
        (Wire::Ollama, "/model", Value::Null, "model is required"),
    ] {
        let mut body = good(wire);
        match body.pointer_mut(change) {
            Some(place) => *place = value,
            None => body[&change[1..]] = value,
        }
        let (status, answer) = post(&provider, wire, &body).await;
        let place = if wire == Wire::Ollama { "/error" } else { "/error/message" };
        let message = answer.pointer(place).and_then(Value::as_str).unwrap_or_default();
        assert_eq!(status, 400, "{wire:?} {change}: {answer}");
        assert!(message.contains(named), "{wire:?} {change}: {answer}");
    }
}

#[tokio::test]
async fn keys_paths_and_scripts_have_an_end() {
    let provider = Provider::start(Script::of([])).await;
    let client = client();
    for path in ["/v1/chat/completions", "/v1/messages", "/v1beta/models/m:generateContent"] {
        let response = client.post(format!("{}{path}", provider.url)).json(&json!({})).send().await;
        assert_eq!(response.unwrap().status(), 401, "{path}");
    }
    let nowhere = client.post(format!("{}/v2/chat", provider.url)).json(&json!({})).send().await;
    assert_eq!(nowhere.unwrap().status(), 404);
    assert_eq!(post(&provider, Wire::OpenAi, &good(Wire::OpenAi)).await.0, 500);
}
