//! Events to measure with, and what is said of a measurement.

use std::time::Duration;

use serde_json::{Value, json};

/// Bytes of one event, about what real ones have.
const EVENT_BYTES: usize = 600;

/// An event as ADK writes it, of the usual size.
pub(crate) fn event(n: usize) -> String {
    let head = format!(
        r#"{{"id":"{}","invocationId":"e-{}","author":"agent","timestamp":1767607200.{n:06},"content":{{"role":"model","parts":[{{"text":""#,
        uuid::Uuid::new_v4(),
        n / 10,
    );
    let tail = r#""}]},"actions":{"stateDelta":{},"artifactDelta":{}}}"#;
    let text = "x".repeat(EVENT_BYTES.saturating_sub(head.len() + tail.len()));
    format!("{head}{text}{tail}")
}

/// How many appends there were, how long they took, and how many failed.
pub(crate) fn report(
    clients: usize,
    mut times: Vec<Duration>,
    lasted: Duration,
    errors: usize,
) -> Value {
    times.sort_unstable();
    let at = |percent: usize| {
        let index = (times.len() * percent / 100).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| time.as_secs_f64() * 1000.0)
    };
    #[expect(clippy::cast_precision_loss, reason = "a count of a few seconds")]
    let rate = times.len() as f64 / lasted.as_secs_f64();
    json!({"clients": clients, "appends_per_second": rate, "p50_ms": at(50), "p99_ms": at(99),
        "errors": errors})
}
