//! A native agent called `desk`, and those who talk to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hotseat_agent::AgentFile;
use hotseat_core::{Player, Recording, Seat};
use hotseat_server::Config;
use reqwest::Method;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use hotseat_testkit::providers::{Provider, Script, Wire};
use hotseat_testkit::{Answer, Api, SseReader, TestServer, soon};

/// The key that nobody but the provider may see.
pub(crate) const KEY: &str = "sk-of-the-tests";

/// A server with a native agent and the provider of its model.
pub(crate) struct Desk {
    pub(crate) server: TestServer,
    pub(crate) provider: Provider,
    folder: TempDir,
    hosting: JoinHandle<()>,
}

impl Desk {
    /// With the model in the seat.
    pub(crate) async fn with_model(script: Script) -> Self {
        Self::told(script, "", |config| config.seats.default = Seat::Model).await
    }

    /// With a person in the seat; the script is for its tool.
    pub(crate) async fn with_person(script: Script) -> Self {
        Self::told(script, "", |_| {}).await
    }

    /// With further lines in its file, and a server that is told more.
    pub(crate) async fn told(script: Script, more: &str, change: impl FnOnce(&mut Config)) -> Self {
        let provider = Provider::start(script).await;
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), &provider, more);
        let server = TestServer::told(change).await;
        let hosting = host(&server, folder.path()).await;
        Self { server, provider, folder, hosting }
    }

    /// A server over the same store, as after a crash: nothing of the first one is finished.
    pub(crate) async fn again(self, change: impl FnOnce(&mut Config)) -> Self {
        let Self { server, provider, folder, hosting } = self;
        server.app.close();
        soon("the end of the first server", hosting).await.unwrap();
        let server = server.again(change).await;
        let hosting = host(&server, folder.path()).await;
        Self { server, provider, folder, hosting }
    }

    pub(crate) fn api(&self) -> &Api {
        &self.server.api
    }

    /// A file beside the agent's.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Says something over REST and waits for the whole answer.
    pub(crate) async fn chat(&self, body: &Value) -> Answer {
        self.api().post("/agent/desk/chat", body).await
    }

    /// Says something over REST while the test goes on.
    pub(crate) fn chatting(&self, path: &str, body: Value) -> JoinHandle<Answer> {
        let (api, path) = (self.api().clone(), path.to_owned());
        tokio::spawn(async move { api.post(&path, &body).await })
    }

    /// Says something over REST and reads the answer as it comes.
    pub(crate) async fn stream(&self, body: &Value) -> SseReader {
        self.post_stream("/agent/desk/chat/stream", body).await
    }

    pub(crate) async fn post_stream(&self, path: &str, body: &Value) -> SseReader {
        self.api().stream_with(self.api().request(Method::POST, path).json(body)).await
    }

    /// Makes the session that `/run` and `/run_sse` need, and gives their request.
    pub(crate) async fn adk_request(&self, text: &str) -> Value {
        self.api().post("/apps/desk/users/ada/sessions/s", &json!({})).await.json(200);
        json!({"appName": "desk", "userId": "ada", "sessionId": "s", "streaming": true,
            "newMessage": {"role": "user", "parts": [{"text": text}]}})
    }
}

/// Writes the agent's file. Further lines may bring a model and instructions of their own.
fn write(folder: &Path, provider: &Provider, more: &str) {
    let endpoint = provider.endpoint(Wire::OpenAi);
    let usual =
        format!("model: {{provider: openai, name: small, endpoint: ENDPOINT, api_key: {KEY}}}\n");
    let model = if more.contains("model:") { String::new() } else { usual };
    let usual = "instructions: {inline: 'You help at the desk.'}\n";
    let instructions = if more.contains("instructions:") { "" } else { usual };
    let text = format!(
        "name: desk
eval_set_path: desk.evalset.json
{instructions}{model}{more}
tools:
  - type: prompt
    name: shout
    description: Shouts.
    template: 'Shout: {{{{text}}}}'
    parameters: {{text: {{type: string}}}}
"
    );
    std::fs::write(folder.join("agent.yaml"), text.replace("ENDPOINT", &endpoint)).unwrap();
}

async fn host(server: &TestServer, folder: &Path) -> JoinHandle<()> {
    let file = AgentFile::read(folder, &|_| None).unwrap();
    let hosting = tokio::spawn(server.app.clone().host_native(file));
    server.api.until_connected("desk", true).await;
    hosting
}

/// A request of AG-UI with one message.
pub(crate) fn agui(thread: &str, run: &str, text: &str) -> Value {
    json!({"threadId": thread, "runId": run, "state": {}, "tools": [], "context": [], "forwardedProps": {},
        "messages": [{"id": format!("m-{run}"), "role": "user", "content": text}]})
}

pub(crate) fn message(text: &str) -> Value {
    json!({"message": text})
}

/// The id of a session, as everything but REST spells it.
pub(crate) fn uuid_of(ulid: &Value) -> String {
    let ulid = ulid::Ulid::from_string(ulid.as_str().unwrap()).unwrap();
    uuid::Uuid::from_u128(ulid.0).to_string()
}

/// The next turn that waits anywhere.
pub(crate) async fn until_turn(api: &Api) -> Value {
    soon("a turn", async {
        loop {
            let turns = api.get("/api/v1/turns?state=pending").await.json(200);
            if let Some(turn) = turns["items"].as_array().unwrap().first() {
                let pending = api.pending(turn["session_id"].as_str().unwrap()).await;
                assert_eq!(
                    (&pending[0]["turn_id"], &turn["head"]),
                    (&turn["turn_id"], &json!(true))
                );
                return pending[0].clone();
            }
        }
    })
    .await
}

/// Everything that is said in JSON of any shape: all its texts, line by line.
pub(crate) fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text}\n"),
        Value::Array(values) => values.iter().map(texts).collect(),
        Value::Object(fields) => fields.values().map(texts).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

/// A recording in which each question has its answer, one conversation after the other.
pub(crate) fn recording(conversations: &[Vec<(String, String)>]) -> Value {
    let said = |role: &str, text: &str| json!({"role": role, "parts": [{"text": text}]});
    let cases: Vec<Value> = conversations
        .iter()
        .enumerate()
        .map(|(number, turns)| {
            let conversation: Vec<Value> = turns
                .iter()
                .map(|(asked, answered)| {
                    json!({"user_content": said("user", asked), "final_response": said("model", answered)})
                })
                .collect();
            json!({"eval_id": format!("case-{number}"), "conversation": conversation})
        })
        .collect();
    json!({"eval_set_id": "set", "eval_cases": cases})
}

pub(crate) fn player(recording: &Value) -> Player {
    Arc::new(Recording::read(recording.to_string().as_bytes()).unwrap()).player(None).unwrap()
}
