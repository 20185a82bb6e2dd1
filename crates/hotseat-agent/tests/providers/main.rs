//! Model providers against a scripted one on a real socket, all five in one table.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on must stop where it stands"
)]

mod answers;
mod connecting;
mod failures;
mod questions;
mod round_trips;
mod strictness;

use std::time::Duration;

use hotseat_agent::provider::connect;
use hotseat_agent::{Model, ModelError, ModelSpec, ProviderKind, SeatAnswer, Secret};
use hotseat_core::Delta;
use hotseat_testkit::providers::{Provider, Reply, Script, Wire};
use serde_json::{Value, json};

/// The key that all tests send.
const KEY: &str = "sk-key-of-the-tests";

/// A provider and a model that is connected to it.
struct Seat {
    provider: Provider,
    wire: Wire,
    spec: ModelSpec,
}

/// What came of a request.
struct Heard {
    pieces: Vec<Delta>,
    answer: Result<SeatAnswer, ModelError>,
}

impl Seat {
    async fn new(wire: Wire, replies: impl IntoIterator<Item = Reply>) -> Self {
        Self::with(wire, Script::of(replies)).await
    }

    async fn with(wire: Wire, script: Script) -> Self {
        let provider = Provider::start(script).await;
        let mut spec = ModelSpec::new(kind(wire), "model-1");
        spec.endpoint = Some(provider.endpoint(wire));
        spec.api_key = Some(Secret::new(KEY));
        // Failing tests should fail soon.
        spec.timeout = Duration::from_secs(20);
        spec.idle_timeout = Duration::from_secs(10);
        Self { provider, wire, spec }
    }

    fn model(&self) -> std::sync::Arc<dyn Model> {
        connect(&self.spec).unwrap()
    }

    async fn ask(&self, request: &Value) -> Heard {
        let mut pieces = Vec::new();
        let answer = self.model().generate(request, &mut |piece| pieces.push(piece)).await;
        Heard { pieces, answer }
    }

    /// The body of the last request.
    fn body(&self) -> Value {
        self.provider.last_asked().body
    }
}

impl Heard {
    fn answer(&self) -> &SeatAnswer {
        self.answer.as_ref().unwrap()
    }

    fn error(&self) -> &ModelError {
        self.answer.as_ref().unwrap_err()
    }

    fn parts(&self) -> &[Value] {
        self.answer().content["parts"].as_array().unwrap()
    }

    /// The call of this position: its id, its name and its arguments.
    fn call(&self, n: usize) -> &Value {
        let mut calls = self.parts().iter().filter_map(|part| part.get("function_call"));
        calls.nth(n).unwrap_or_else(|| panic!("no call {n} in {:?}", self.parts()))
    }

    /// The text, the thoughts and the calls (id, name, arguments as text) of the pieces.
    fn joined(&self) -> (String, String, Vec<(String, String, String)>) {
        let (mut text, mut thought) = (String::new(), String::new());
        let mut calls: Vec<(String, String, String)> = Vec::new();
        for piece in &self.pieces {
            match piece {
                Delta::Text(more) => text += more,
                Delta::Thought(more) => thought += more,
                Delta::Call { id, name } => calls.push((id.clone(), name.clone(), String::new())),
                Delta::Args { id, json } => {
                    let call = calls.iter_mut().find(|(other, ..)| other == id);
                    call.expect("a call begins before its arguments").2 += json;
                }
            }
        }
        (text, thought, calls)
    }
}

fn kind(wire: Wire) -> ProviderKind {
    match wire {
        Wire::OpenAi => ProviderKind::OpenAi,
        Wire::Azure => ProviderKind::Azure,
        Wire::Anthropic => ProviderKind::Anthropic,
        Wire::Gemini => ProviderKind::Gemini,
        Wire::Ollama => ProviderKind::Ollama,
    }
}

/// A request that says `text` and offers the tool `add`.
fn request(text: &str) -> Value {
    conversation(&json!([{"role": "user", "parts": [{"text": text}]}]))
}

/// A request with these contents and the tool `add`.
fn conversation(contents: &Value) -> Value {
    json!({
        "model": "model-1",
        "contents": contents,
        "config": {
            "system_instruction": "You are good at sums.",
            "tools": [{"function_declarations": [{
                "name": "add",
                "description": "Adds two integers.",
                "parameters_json_schema": {
                    "type": "object",
                    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                    "required": ["a", "b"],
                    "additionalProperties": false,
                },
            }]}],
        },
    })
}
