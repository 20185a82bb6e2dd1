//! What a collector gets to see.

use opentelemetry_proto::tonic::trace::v1::Span;
use reqwest::Method;
use serde_json::json;

use hotseat_testkit::providers::{Provider, Reply, Script};
use hotseat_testkit::{Launch, ScriptedWorker, sample};

use super::collector::Collector;
use super::{KEY, desk, started};
use crate::HOTSEAT;

fn named<'a>(spans: &'a [Span], name: &str) -> Vec<&'a Span> {
    spans.iter().filter(|span| span.name == name).collect()
}

/// Has a conversation with a tool in it and gives the spans of it.
async fn traced(
    collector: &mut Collector,
    told: impl FnOnce(Launch, &str) -> Launch,
) -> (Vec<Span>, String) {
    let script = Script::of([
        Reply::call("shout", json!({"text": "hello"})),
        Reply::text("HELLO"),
        Reply::text("I shouted."),
    ]);
    let provider = Provider::start(script).await;
    let hotseat = started(&told(desk(&provider), &collector.url)).await;
    let answer = hotseat.api.post("/agent/desk/chat", &json!({"message": "Shout hello"})).await;
    assert_eq!(answer.json(200)["content"], "I shouted.");
    let ended = tokio::task::spawn_blocking(move || hotseat.signal("TERM")).await.unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    collector.spans()
}

#[tokio::test]
async fn a_request_a_run_its_turns_and_its_tools_are_one_trace_without_what_was_said() {
    let mut collector = Collector::start();
    // A quiet log does not silence the traces.
    let (spans, all) = traced(&mut collector, |launch, url| {
        launch
            .argument("--otlp-endpoint")
            .argument(url)
            .argument("--log-level=error")
            .argument("--debug")
    })
    .await;
    let [request] = named(&spans, "POST /agent/desk/chat")[..] else { panic!("{all}") };
    let [run] = named(&spans, "run")[..] else { panic!("{all}") };
    let turns = named(&spans, "turn");
    let [tool] = named(&spans, "tool")[..] else { panic!("{all}") };
    assert_eq!(turns.len(), 2, "{all}");
    assert_eq!(run.parent_span_id, request.span_id);
    for inner in turns.iter().chain([&tool]) {
        assert_eq!(inner.parent_span_id, run.span_id, "{inner:?}");
    }
    for span in [request, run, tool, turns[0], turns[1]] {
        assert_eq!(span.trace_id, request.trace_id);
        assert!(span.start_time_unix_nano >= request.start_time_unix_nano);
        assert!(span.end_time_unix_nano >= span.start_time_unix_nano);
        assert!(span.events.is_empty(), "{span:?}");
    }
    let keys: Vec<_> = turns[0].attributes.iter().map(|attribute| attribute.key.as_str()).collect();
    assert!(keys.contains(&"gen_ai.usage.input_tokens"), "{keys:?}");
    for said in ["Shout hello", "HELLO", "I shouted.", "You help at the desk.", KEY] {
        assert!(!all.contains(said), "`{said}` is in the traces: {all}");
    }
}

#[tokio::test]
async fn the_usual_variable_names_the_collector_too() {
    let mut collector = Collector::start();
    let (spans, all) =
        traced(&mut collector, |launch, url| launch.variable("OTEL_EXPORTER_OTLP_ENDPOINT", url))
            .await;
    assert_eq!(named(&spans, "run").len(), 1, "{all}");
    assert!(all.contains("service.name") && all.contains("hotseat"), "{all}");
}

#[tokio::test]
async fn a_collector_that_is_gone_keeps_nobody_from_an_answer() {
    let mut collector = Collector::start();
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let (spans, _) = traced(&mut collector, |launch, _| {
        launch.variable("HOTSEAT_OTLP_ENDPOINT", &format!("http://{gone}"))
    })
    .await;
    assert!(spans.is_empty());
}

/// A run of a worker's is traced as one of the server's own, below the trace of its caller.
#[tokio::test]
async fn a_run_of_a_worker_is_part_of_its_callers_trace() {
    const CALLER: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut collector = Collector::start();
    let launch = Launch::new(HOTSEAT).argument("--otlp-endpoint").argument(&collector.url);
    let hotseat = launch.start();
    let mut worker = ScriptedWorker::attach(&hotseat.api, "w", "math").await;
    let chat = {
        let api = hotseat.api.clone();
        let request = api.request(Method::POST, "/agent/math/chat");
        let body = json!({"message": "What is in the secret file?"});
        let request = request.header("traceparent", CALLER).json(&body);
        tokio::spawn(async move { api.send(request).await })
    };
    let run = worker.run().await;
    let turn = worker.grpc.ask(&run.session_id).await;
    let decision = format!("/api/v1/sessions/{}/turns/{turn}/decision", run.session_id);
    hotseat.api.post(&decision, &sample::says("It is secret.")).await.json(200);
    for status in ["started", "succeeded"] {
        let told = json!({"call_id": "c", "tool_name": "look", "status": status});
        worker.append(&run, "tool_run", status, &told).await.unwrap();
    }
    worker.append(&run, "event", "", &sample::agent_event("a", "math", "Secret.")).await.unwrap();
    worker.end(&run, "finished").await;
    chat.await.unwrap().json(200);
    drop(worker);
    let ended = tokio::task::spawn_blocking(move || hotseat.signal("TERM")).await.unwrap();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let (spans, all) = collector.spans();
    let [request] = named(&spans, "POST /agent/math/chat")[..] else { panic!("{all}") };
    let hex =
        |bytes: &[u8]| bytes.iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"));
    assert_eq!(hex(&request.parent_span_id), "b7ad6b7169203331", "{all}");
    let [run] = named(&spans, "run")[..] else { panic!("{all}") };
    assert_eq!(run.parent_span_id, request.span_id);
    let [turn] = named(&spans, "turn")[..] else { panic!("{all}") };
    let [tool] = named(&spans, "tool")[..] else { panic!("{all}") };
    for span in [request, run, turn, tool] {
        assert_eq!(hex(&span.trace_id), "0af7651916cd43dd8448eb211c80319c", "{span:?}");
    }
    for inner in [turn, tool] {
        assert_eq!(inner.parent_span_id, run.span_id, "{inner:?}");
    }
    assert!(!all.to_lowercase().contains("secret"), "{all}");
}
