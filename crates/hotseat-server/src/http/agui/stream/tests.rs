//! Streams that go wrong. The translator makes none, so they are made by hand.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Level, Metadata, Subscriber};

use super::*;

/// What the log says: how bad it is, and why.
#[derive(Debug, Clone, Default)]
struct Heard(Arc<Mutex<Vec<(Level, String)>>>);

impl Heard {
    fn lines(&self) -> Vec<(Level, String)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Subscriber for Heard {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("hotseat_server::http::agui")
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &tracing::Event<'_>) {
        let mut reason = Reason(String::new());
        event.record(&mut reason);
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push((*event.metadata().level(), reason.0));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

struct Reason(String);

impl Visit for Reason {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if ["reason", "error"].contains(&field.name()) {
            self.0 = format!("{value:?}");
        }
    }
}

fn started() -> AguiRun {
    let (thread_id, run_id) = ("t".to_owned(), "r".to_owned());
    let mut run = AguiRun::new(Start { thread_id, run_id, ..Start::default() });
    let events = run.translator.start();
    run.send(events);
    run
}

/// All that is sent, and what the log says of it.
async fn sent(mut run: AguiRun) -> (Vec<Value>, Vec<(Level, String)>) {
    let heard = Heard::default();
    let _listening = tracing::subscriber::set_default(heard.clone());
    let mut text = String::new();
    while let Some(frame) = run.next_frame(Encoding::Sse).await {
        text.push_str(std::str::from_utf8(&frame).unwrap());
    }
    let events = text.lines().filter_map(|line| line.strip_prefix("data: "));
    (events.map(|event| serde_json::from_str(event).unwrap()).collect(), heard.lines())
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn an_event_that_breaks_the_rules_ends_the_stream_with_an_error_and_a_line_in_the_log() {
    let mut run = started();
    let message_id = "never begun".to_owned();
    run.send(vec![Event::new(Body::TextMessageEnd { message_id })]);
    let end = run.translator.finish(None);
    run.send(end);
    let (events, log) = sent(run).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_ERROR"]);
    assert_eq!(events[1]["code"], "internal");
    assert!(!events[1]["message"].as_str().unwrap().contains("never begun"), "{events:?}");
    let [(Level::ERROR, reason)] = log.as_slice() else { panic!("one line: {log:?}") };
    assert!(reason.contains("TEXT_MESSAGE_END") && reason.contains("never begun"), "{reason}");
}

#[tokio::test]
async fn a_stream_that_ends_without_its_end_says_so() {
    let (events, log) = sent(started()).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_ERROR"]);
    assert!(matches!(log.as_slice(), [(Level::ERROR, _)]), "{log:?}");
}

#[tokio::test]
async fn nothing_is_sent_after_the_end() {
    let mut run = started();
    let end = run.translator.finish(None);
    run.send([end.clone(), end].concat());
    let (events, log) = sent(run).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_FINISHED"]);
    assert!(matches!(log.as_slice(), [(Level::ERROR, _)]), "{log:?}");
}

#[tokio::test]
async fn what_no_client_can_read_ends_the_stream_also_when_the_end_was_ready_behind_it() {
    let mut run = started();
    let snapshot = json!({"long": "x".repeat(11 * 1024 * 1024)});
    run.send(vec![Event::new(Body::StateSnapshot { snapshot })]);
    let end = run.translator.finish(None);
    run.send(end);
    let (events, log) = sent(run).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_ERROR"]);
    assert_eq!(events[1]["code"], "too_large");
    assert!(events[1]["message"].as_str().unwrap().starts_with("STATE_SNAPSHOT"), "{events:?}");
    assert!(matches!(log.as_slice(), [(Level::WARN, _)]), "{log:?}");
}

#[tokio::test]
async fn an_end_that_no_client_can_read_is_an_error() {
    let mut run = started();
    let mut end = run.translator.finish(None);
    if let Some(Event { body: Body::RunFinished { outcome, .. }, .. }) = end.last_mut() {
        let id = "x".repeat(11 * 1024 * 1024);
        let interrupts = vec![Interrupt { id, ..Interrupt::default() }];
        *outcome = Some(Outcome::Interrupt { interrupts });
    }
    run.send(end);
    let (events, _) = sent(run).await;
    assert_eq!(types(&events), ["RUN_STARTED", "RUN_ERROR"]);
}
