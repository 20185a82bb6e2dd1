//! What a collector gets to see.

use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::json;

use hotseat_testkit::Launch;
use hotseat_testkit::providers::{Provider, Reply, Script};

use super::collector::Collector;
use super::{KEY, desk, started};

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
