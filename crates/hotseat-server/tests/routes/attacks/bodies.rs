//! Bodies that mean nothing: whatever arrives, the caller is told what is wrong with it,
//! and the server is never at fault.
//!
//! Bodies that once were of interest are kept in `broken/` and tried first.

use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use reqwest::Method;
use serde_json::json;
use tokio::runtime::Runtime;

use hotseat_testkit::providers::{Reply, Script};
use hotseat_testkit::{Answer, Api, ScriptedWorker, TestServer};

use crate::native::desk::Desk;

/// By how much fewer bodies are sent than a runner tries elsewhere: each goes over a socket.
const FEWER: u32 = 5;

/// The longest body that is made up.
const MAX_BYTES: usize = 400;

/// Values that are hard to read, of all kinds.
const WORST: &str = include_str!("../../../../hotseat-core/tests/core/hostile/worst.jsonl");

/// Every call of the contract.
const CALLS: [&str; 18] = [
    "Seat/CreateSession",
    "Seat/GetSession",
    "Seat/ListSessions",
    "Seat/CompleteSession",
    "Seat/SubmitRequest",
    "Seat/SubmitDecision",
    "Seat/DismissTurn",
    "Seat/Subscribe",
    "Sessions/AppendEvents",
    "Sessions/ListEvents",
    "Sessions/CreateAdkSession",
    "Sessions/GetAdkSession",
    "Sessions/ListAdkSessions",
    "Sessions/DeleteAdkSession",
    "Sessions/AppendAdkEvent",
    "Sessions/AppendAdkEvents",
    "Sessions/GetAdkUserState",
    "Worker/Attach",
];

/// A server with a session and an agent whose worker never answers.
struct Target {
    runtime: Runtime,
    server: TestServer,
    session: String,
    _worker: ScriptedWorker,
}

/// A server with an agent that answers whatever can be read, so that everything behind the
/// reading is reached, too.
struct Served {
    runtime: Runtime,
    desk: Desk,
}

impl Served {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let hello = Script::always(Reply::text("Hello."));
        let desk = runtime.block_on(Desk::with_model(hello));
        Self { runtime, desk }
    }

    /// Sends a body to all the addresses at which the agent takes messages over REST.
    fn chat(&self, kind: &str, body: &[u8]) -> Result<(), TestCaseError> {
        for path in ["chat", "chat/multipart", "chat/stream", "chat/stream/multipart"] {
            let path = format!("/agent/desk/{path}");
            is_told(&path, &send(&self.runtime, self.desk.api(), &path, kind, body.to_vec()))?;
        }
        Ok(())
    }

    fn is_well(&self) {
        let hello = self.runtime.block_on(self.desk.chat(&json!({"message": "Hi"})));
        assert_eq!(hello.json(200)["content"], "Hello.");
    }
}

impl Target {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let (server, session, worker) = runtime.block_on(async {
            let server = TestServer::scratch().await;
            let session = server.api.session().await;
            let worker = ScriptedWorker::attach(&server.api, "w", "math").await;
            (server, session, worker)
        });
        Self { runtime, server, session, _worker: worker }
    }

    fn send(&self, path: &str, kind: &str, body: Vec<u8>) -> Answer {
        let path = path.replace("{id}", &self.session);
        send(&self.runtime, &self.server.api, &path, kind, body)
    }

    fn is_well(&self) {
        self.runtime.block_on(self.server.api.get("/health")).json(200);
    }
}

fn send(runtime: &Runtime, api: &Api, path: &str, kind: &str, body: Vec<u8>) -> Answer {
    let request = api.request(Method::POST, path);
    let request = request.header("content-type", kind).header("te", "trailers").body(body);
    runtime.block_on(api.send(request))
}

/// The bodies of a folder of `broken/`.
fn kept(folder: &str) -> Vec<Vec<u8>> {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/routes/attacks/broken").join(folder);
    let mut files: Vec<_> =
        std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    files.into_iter().map(|file| std::fs::read(file).unwrap()).collect()
}

/// Tries the kept bodies, changes of them, and bodies that are made up.
fn try_all(folder: &str, check: impl Fn(Vec<u8>) -> Result<(), TestCaseError>) {
    let kept = kept(folder);
    for body in &kept {
        check(body.clone()).unwrap();
    }
    let made_up = prop::collection::vec(any::<u8>(), 0..MAX_BYTES);
    let changed =
        (prop::sample::select(kept), any::<prop::sample::Index>(), any::<u8>(), any::<bool>());
    let changed = changed.prop_map(|(mut body, at, byte, cut)| {
        let at = at.index(body.len());
        body[at] = byte;
        if cut {
            body.truncate(at);
        }
        body
    });
    let cases = Config::default().cases / FEWER;
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    runner.run(&prop_oneof![1 => made_up, 3 => changed], check).unwrap();
}

/// A success, or a problem that names itself.
fn is_told(path: &str, answer: &Answer) -> Result<(), TestCaseError> {
    let status = answer.status.as_u16();
    prop_assert!(status < 500, "{} {}: {}", path, status, answer.body);
    if status >= 400 {
        let problem: serde_json::Value = serde_json::from_str(&answer.body)
            .map_err(|_| TestCaseError::fail(format!("{path}: {}", answer.body)))?;
        prop_assert!(problem["code"].is_string() && problem["detail"].is_string(), "{}", problem);
    }
    Ok(())
}

#[test]
fn no_json_is_the_servers_fault() {
    let target = Target::new();
    try_all("json", |body| {
        for path in [
            "/api/v1/sessions",
            "/api/v1/sessions/{id}/events",
            "/api/v1/sessions/{id}/query",
            "/api/v1/sessions/{id}/messages",
            "/ag-ui/math",
            "/run",
        ] {
            is_told(path, &target.send(path, "application/json", body.clone()))?;
        }
        Ok(())
    });
    target.is_well();
}

/// The worst values as a body, as a message, in an event and in an answer.
#[test]
fn no_value_is_the_servers_fault() {
    let target = Target::new();
    let turn = target
        .runtime
        .block_on(async { target.server.api.grpc().await.ask(&target.session).await });
    let decision = format!("/api/v1/sessions/{{id}}/turns/{turn}/decision");
    for worst in WORST.lines() {
        for (path, body) in [
            ("/api/v1/sessions", worst.to_owned()),
            ("/api/v1/sessions", format!(r#"{{"description":{worst},"agent":{worst}}}"#)),
            ("/api/v1/sessions/{id}/events", format!(r#"{{"author":"a","content":{worst}}}"#)),
            (
                "/api/v1/sessions/{id}/events",
                format!(r#"[{{"id":{worst},"author":"a","actions":{{"state_delta":{worst}}}}}]"#),
            ),
            ("/api/v1/sessions/{id}/messages", format!(r#"{{"role":"user","content":{worst}}}"#)),
            ("/api/v1/sessions/{id}/query", format!(r#"{{"structured":{worst}}}"#)),
            (&decision, format!(r#"{{"candidates":{worst}}}"#)),
            ("/ag-ui/math", format!(r#"{{"threadId":"t","runId":"r","messages":{worst}}}"#)),
            ("/run", format!(r#"{{"app_name":"math_app","user_id":"u","new_message":{worst}}}"#)),
            ("/apps/math_app/users/u/sessions", format!(r#"{{"state":{worst}}}"#)),
        ] {
            is_told(path, &target.send(path, "application/json", body.into_bytes())).unwrap();
        }
    }
    target.is_well();
}

#[test]
fn no_form_is_the_servers_fault() {
    let served = Served::new();
    try_all("form", |body| served.chat("multipart/form-data; boundary=b", &body));
    served.is_well();
}

#[test]
fn no_message_as_json_is_the_servers_fault() {
    let served = Served::new();
    try_all("chat", |body| served.chat("application/json", &body));
    for worst in WORST.lines() {
        for body in [
            worst.to_owned(),
            format!(r#"{{"message":{worst}}}"#),
            format!(r#"{{"message":"Hi","session_id":{worst}}}"#),
            format!(r#"{{"message":"Hi","files":{worst}}}"#),
            format!(
                r#"{{"message":"Hi","files":[{{"content":{worst},"mime_type":"text/plain"}}]}}"#
            ),
            format!(
                r#"{{"message":"Hi","files":[{{"content":"SGk=","mime_type":{worst},"filename":{worst}}}]}}"#
            ),
        ] {
            served.chat("application/json", body.as_bytes()).unwrap();
        }
    }
    served.is_well();
}

#[test]
fn no_message_of_grpc_is_the_servers_fault() {
    let target = Target::new();
    try_all("grpc", |message| {
        for call in CALLS {
            let length = u32::try_from(message.len()).unwrap().to_be_bytes();
            let framed = [&[0_u8], length.as_slice(), &message].concat();
            // With its frame, and as if it were one.
            for body in [framed, message.clone()] {
                let path = format!("/hotseat.v1.{call}");
                let answer = target.send(&path, "application/grpc", body);
                prop_assert_eq!(answer.status.as_u16(), 200);
                // 2 and 13: something happened that nobody thought of.
                let status = answer.header("grpc-status");
                prop_assert!(
                    !["2", "13"].contains(&status) || framing(&answer),
                    "{} {:?}",
                    path,
                    answer.headers
                );
            }
        }
        Ok(())
    });
    target.is_well();
}

/// What the protocol itself says of bytes that are no message of it.
fn framing(answer: &Answer) -> bool {
    let words = answer.header("grpc-message");
    ["decode", "protocol%20error", "compress", "message", "EOF", "body"]
        .iter()
        .any(|word| words.contains(word))
}
