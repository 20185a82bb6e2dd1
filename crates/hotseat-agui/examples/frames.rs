//! Writes every event of AG-UI 1.0, with every field that it can have, as JSON
//! and as protobuf frames into a folder: `cargo run --example frames -- <folder>`.
//!
//! `e2e/agui` reads them with the packages of the protocol's makers and
//! compares. The same samples are what the tests of this crate look at.

use std::path::PathBuf;
use std::{env, fs, io};

use hotseat_agui::patch::Op;
use hotseat_agui::{
    Body, Content, ContentPart, EncryptedSubtype, Event, Interrupt, Media, Message, MessageBody,
    Outcome, ReasoningRole, RunAgentInput, Source, Start, SubagentOutcome, TextRole, ToolCall,
    ToolRole, Translator, Usage, encode_proto, encode_sse,
};
use hotseat_core::{Delta, Piece};
use serde_json::{Map, Value, json};

fn main() -> io::Result<()> {
    let folder = PathBuf::from(env::args().nth(1).unwrap_or_else(|| ".".to_owned()));
    fs::create_dir_all(&folder)?;
    let (mut json, mut frames) = (Vec::new(), Vec::new());
    for (id, event) in (1..).zip(samples()) {
        json.extend_from_slice(encode_sse(&event, Some(id)).as_bytes());
        frames.extend_from_slice(&encode_proto(&event));
    }
    fs::write(folder.join("events.sse"), json)?;
    fs::write(folder.join("events.proto"), frames)?;
    let run = run();
    let json: String = run.iter().map(|event| encode_sse(event, None)).collect();
    fs::write(folder.join("run.sse"), json)?;
    fs::write(folder.join("run.proto"), run.iter().flat_map(encode_proto).collect::<Vec<u8>>())
}

/// A run with a bit of everything, as the translator makes it.
pub(crate) fn run() -> Vec<Event> {
    let mut translator = Translator::new(Start {
        thread_id: text("thread"),
        run_id: text("run"),
        agent: text("root"),
        state: json!({"list": [1], "a/b": {"c": 1}}),
        ..Start::default()
    });
    let part = |delta| Piece {
        invocation_id: text("i"),
        author: text("root"),
        branch: None,
        after_event_id: None,
        delta,
    };
    let said = |author: &str, parts: Value| {
        json!({
            "author": author, "invocation_id": "i", "timestamp": 1_700_000_000.5,
            "content": {"role": "model", "parts": parts}, "model_version": "m",
            "usage_metadata": {"prompt_token_count": 3, "candidates_token_count": 2},
        })
    };
    let call =
        |id: &str, name: &str| json!({"function_call": {"id": id, "name": name, "args": {"q": 1}}});
    let result = |id: &str, name: &str| json!({"function_response": {"id": id, "name": name, "response": {"ok": true}}});
    let mut events = translator.start();
    events.extend(translator.turn_waits("turn", "root"));
    events.extend(translator.piece(&part(Delta::Thought(text("hm")))));
    events.extend(translator.piece(&part(Delta::Text(text("I lo")))));
    let signed = json!({"text": "hm", "thought": true, "thought_signature": "secret"});
    let mut first = said(
        "root",
        json!([signed, {"text": "I look."}, call("c1", "helper"), call("c2", "transfer_to_agent")]),
    );
    first["actions"] = json!({"state_delta": {"list": [1, 2], "a/b": {"c": 2}, "temp:x": 1}});
    events.extend(translator.event(&first));
    for fraction in [0.25, 0.5] {
        let progress = json!({"call_id": "c1", "tool_name": "helper", "status": "progress", "fraction": fraction});
        events.extend(translator.progress(&progress));
    }
    events.extend(translator.inner_event(&said("helper", json!([{"text": "inside"}])), "c1"));
    let mut second =
        said("root", json!([result("c1", "helper"), result("c2", "transfer_to_agent")]));
    second["actions"] = json!({"transfer_to_agent": "sub"});
    events.extend(translator.event(&second));
    let image = json!({"inline_data": {"mime_type": "image/png", "data": "AAAA"}});
    events.extend(
        translator.event(&said("sub", json!([{"text": "Done."}, image, call("c3", "ask_user")]))),
    );
    events.extend(translator.finish(Some(json!({"n": 1}))));
    events
}

/// Every event, some in several forms.
pub(crate) fn samples() -> Vec<Event> {
    let mut samples: Vec<Event> =
        run_events().into_iter().chain(subagent_events()).map(Event::new).collect();
    let attributable = text_events()
        .into_iter()
        .chain(call_events())
        .chain(state_events())
        .chain(reasoning_events())
        .chain(other_events());
    for body in attributable {
        samples.push(Event::of(Some("sub 1"), body.clone()));
        samples.push(Event::new(body));
    }
    for (index, event) in (0..).zip(&mut samples) {
        if index % 2 == 0 {
            event.timestamp = Some(1_700_000_000_123 + index);
            event.metadata = Some(object(&json!({"a": {"b": [1, null, "ü", true, 1.5]}})));
            event.raw_event = Some(json!({"id": "raw", "n": -3}));
        }
    }
    samples
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

fn text(value: &str) -> String {
    value.to_owned()
}

#[expect(clippy::unnecessary_wraps, reason = "shorter than writing it around each text")]
fn some(value: &str) -> Option<String> {
    Some(value.to_owned())
}

fn finished(outcome: Option<Outcome>, result: Option<Value>) -> Body {
    let (thread_id, run_id) = (text("thread"), text("run"));
    let usage = if result.is_some() { vec![usage(), Usage::default()] } else { Vec::new() };
    Body::RunFinished { thread_id, run_id, result, outcome, usage }
}

fn usage() -> Usage {
    Usage {
        provider: some("provider"),
        model: some("model"),
        input_tokens: Some(9_007_199_254_740_991),
        output_tokens: Some(0),
        total_tokens: Some(3),
        reasoning_tokens: Some(4),
        cached_input_tokens: Some(5),
        cache_write_input_tokens: Some(6),
    }
}

fn run_events() -> Vec<Body> {
    let input = json!({
        "threadId": "thread", "runId": "run", "protocolVersion": "1.0", "parentRunId": "p",
        "state": {"a": 1}, "tools": [{"name": "t", "description": "d", "parameters": {"type": "object"}}],
        "messages": [{"id": "1", "role": "user", "content": "hi"}],
        "context": [{"description": "d", "value": "v"}], "forwardedProps": {"x": [1]},
        "resume": [{"interruptId": "i", "status": "resolved", "payload": {"ok": true}, "metadata": {"m": 1}}],
    });
    let input = RunAgentInput::read(&input).map(|input| input.to_value()).ok();
    let started = |parent_run_id, protocol_version, input| Body::RunStarted {
        thread_id: text("thread"),
        run_id: text("run"),
        protocol_version,
        parent_run_id,
        input,
    };
    let interrupt = Interrupt {
        id: text("i"),
        reason: text("confirmation"),
        message: some("Really?"),
        tool_call_id: some("c"),
        response_schema: Some(object(&json!({"type": "object"}))),
        expires_at: some("2030-01-01T00:00:00Z"),
        metadata: Some(object(&json!({"m": 1}))),
        subagent_run_id: some("sub 1"),
    };
    let plain = Interrupt { id: text("j"), reason: text("input"), ..Interrupt::default() };
    let pending = vec![text("c"), text("d")];
    vec![
        started(some("parent"), some("1.0"), input),
        started(None, None, None),
        finished(Some(Outcome::Success { pending_tool_call_ids: pending }), Some(json!({"r": 1}))),
        finished(Some(Outcome::Success { pending_tool_call_ids: Vec::new() }), None),
        finished(Some(Outcome::Interrupt { interrupts: vec![interrupt, plain] }), None),
        finished(Some(Outcome::Cancelled), None),
        finished(None, Some(json!("text"))),
        Body::RunError { message: text("m"), code: some("c"), usage: vec![usage()] },
        Body::RunError { message: String::new(), code: None, usage: Vec::new() },
        Body::MessagesSnapshot { messages: messages() },
    ]
}

fn messages() -> Vec<Message> {
    let mut call = ToolCall::new("c", "tool", text("{\"a\":1}"));
    call.encrypted_value = some("secret");
    let assistant = |content, tool_calls| MessageBody::Assistant {
        content,
        name: some("agent"),
        tool_calls,
        encrypted_value: some("e"),
    };
    let mut messages: Vec<Message> = [
        MessageBody::Developer { content: text("d"), name: some("n") },
        MessageBody::System { content: text("s"), name: None },
        assistant(some("hello"), Vec::new()),
        assistant(None, vec![call]),
        MessageBody::User { content: Content::Text(text("hi")), name: some("n") },
        MessageBody::User { content: Content::Parts(parts()), name: None },
        MessageBody::Tool {
            content: Content::Text(text("{}")),
            tool_call_id: text("c"),
            error: some("broken"),
        },
        MessageBody::Tool {
            content: Content::Parts(parts()),
            tool_call_id: text("c"),
            error: None,
        },
        MessageBody::Activity { activity_type: text("t"), content: object(&json!({"x": {}})) },
        MessageBody::Reasoning { content: text("hm"), encrypted_value: some("e") },
    ]
    .into_iter()
    .zip(1..)
    .map(|(body, id)| Message::new(id.to_string(), body))
    .collect();
    messages[2].subagent_run_id = some("sub 1");
    messages[3].metadata = Some(object(&json!({"k": "v"})));
    messages
}

fn parts() -> Vec<ContentPart> {
    let media = |source, metadata| Media { source, metadata };
    let (value, mime_type) = (text("AAAA"), text("image/png"));
    let url = text("https://example.org/a.mp3");
    vec![
        ContentPart::Text { text: text("words") },
        ContentPart::Image(media(
            Source::Data { value, mime_type },
            Some(json!({"filename": "a"})),
        )),
        ContentPart::Audio(media(Source::Url { value: url, mime_type: None }, None)),
        ContentPart::Video(media(
            Source::Url { value: text("gs://b/v"), mime_type: some("video/mp4") },
            None,
        )),
        ContentPart::Document(media(
            Source::File {
                value: text("file-1"),
                provider: some("p"),
                mime_type: some("application/pdf"),
            },
            None,
        )),
    ]
}

fn subagent_events() -> Vec<Body> {
    let finished = |result, outcome| Body::SubagentFinished { id: text("sub 1"), result, outcome };
    let interrupt_ids = vec![text("i")];
    vec![
        Body::SubagentStarted {
            id: text("sub 1"),
            name: text("helper"),
            description: some("helps"),
            parent_subagent_run_id: some("sub 0"),
            parent_tool_call_id: some("c"),
            parent_message_id: some("m"),
        },
        finished(Some(json!([1])), Some(SubagentOutcome::Success)),
        finished(None, Some(SubagentOutcome::Suspended { interrupt_ids })),
        finished(None, None),
        Body::SubagentError { id: text("sub 1"), message: text("m"), code: some("c") },
    ]
}

fn text_events() -> Vec<Body> {
    let message_id = || text("m");
    vec![
        Body::StepStarted { step_name: text("s") },
        Body::StepFinished { step_name: text("s") },
        Body::TextMessageStart {
            message_id: message_id(),
            role: Some(TextRole::Developer),
            name: some("n"),
        },
        Body::TextMessageStart { message_id: message_id(), role: None, name: None },
        Body::TextMessageContent { message_id: message_id(), delta: text("a\n\"ü\" 😀\r\n") },
        Body::TextMessageContent { message_id: message_id(), delta: String::new() },
        Body::TextMessageEnd { message_id: message_id() },
        Body::TextMessageChunk {
            message_id: some("m"),
            role: Some(TextRole::User),
            delta: some("d"),
            name: some("n"),
        },
        Body::TextMessageChunk { message_id: None, role: None, delta: None, name: None },
    ]
}

fn call_events() -> Vec<Body> {
    let tool_call_id = || text("c");
    let result = |content, role| Body::ToolCallResult {
        message_id: text("r"),
        tool_call_id: text("c"),
        content,
        role,
    };
    vec![
        Body::ToolCallStart {
            tool_call_id: tool_call_id(),
            tool_call_name: text("tool"),
            parent_message_id: some("m"),
        },
        Body::ToolCallArgs { tool_call_id: tool_call_id(), delta: text("{\"a\":") },
        Body::ToolCallEnd { tool_call_id: tool_call_id() },
        Body::ToolCallChunk {
            tool_call_id: some("c"),
            tool_call_name: some("tool"),
            parent_message_id: some("m"),
            delta: some("{}"),
        },
        result(Content::Text(text("{\"ok\":true}")), Some(ToolRole::Tool)),
        result(Content::Parts(parts()), None),
        result(Content::Text(String::new()), None),
    ]
}

fn state_events() -> Vec<Body> {
    let ops = || {
        vec![
            Op::Add { path: text("/a~1b"), value: json!(null) },
            Op::Remove { path: text("/c/0") },
            Op::Replace { path: text(""), value: json!({"x": [1, {"y": "z"}]}) },
        ]
    };
    let (message_id, activity_type) = (|| text("m"), || text("t"));
    vec![
        Body::StateSnapshot { snapshot: json!({"a": [1, 2.5, "x", null, false], "b": {}}) },
        Body::StateSnapshot { snapshot: json!("any") },
        Body::StateDelta { delta: ops() },
        Body::ActivitySnapshot {
            message_id: message_id(),
            activity_type: activity_type(),
            content: object(&json!({"k": [1]})),
            replace: Some(false),
        },
        Body::ActivitySnapshot {
            message_id: message_id(),
            activity_type: activity_type(),
            content: Map::new(),
            replace: None,
        },
        Body::ActivityDelta {
            message_id: message_id(),
            activity_type: activity_type(),
            patch: ops(),
        },
    ]
}

fn reasoning_events() -> Vec<Body> {
    let message_id = || text("m");
    let encrypted = |subtype| Body::ReasoningEncryptedValue {
        subtype,
        entity_id: text("m"),
        encrypted_value: text("secret"),
    };
    vec![
        Body::ReasoningStart { message_id: message_id() },
        Body::ReasoningMessageStart { message_id: message_id(), role: ReasoningRole::Reasoning },
        Body::ReasoningMessageContent { message_id: message_id(), delta: text("hm") },
        Body::ReasoningMessageEnd { message_id: message_id() },
        Body::ReasoningMessageChunk { message_id: some("m"), delta: some("hm") },
        Body::ReasoningEnd { message_id: message_id() },
        encrypted(EncryptedSubtype::ToolCall),
        encrypted(EncryptedSubtype::Message),
    ]
}

fn other_events() -> Vec<Body> {
    vec![
        Body::Raw { event: json!({"any": [1]}), source: some("adk") },
        Body::Custom { name: text("n"), value: json!([true, {"x": null}]) },
        Body::Custom { name: text("n"), value: Value::Null },
    ]
}
