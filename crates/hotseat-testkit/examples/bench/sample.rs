//! Events to measure with.

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
