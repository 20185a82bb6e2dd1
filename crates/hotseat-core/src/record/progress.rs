//! The message that tells how research goes: one for each invocation, written
//! again with every event until it holds the report.

use std::io;

use serde::Serialize;
use serde_json::ser::Formatter;
use serde_json::{Map, Serializer, Value};

use super::{Message, read_time};
use crate::{NewEvent, alias};

/// How many partial results are shown.
const SHOWN_RESULTS: usize = 2;

/// The progress as the writer gave it: a number, or text that is one.
pub(super) fn value(payload: &Map<String, Value>) -> Option<f64> {
    let value = match alias::get(payload, "overall_progress")? {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => text.trim().parse().ok()?,
        _ => return None,
    };
    value.is_finite().then_some(value)
}

/// Writers give 0 to 1 or 0 to 100; above 1 it is percent.
pub(super) fn fraction(value: f64) -> f64 {
    if value <= 1.0 { value } else { value / 100.0 }
}

/// The message of `event`'s invocation.
pub(super) fn message(
    content: String,
    completed: bool,
    raw: &Map<String, Value>,
    event: &NewEvent,
) -> Message {
    let invocation = event
        .invocation_id
        .as_deref()
        .or_else(|| alias::get(raw, "invocation_id")?.as_str())
        .filter(|id| !id.is_empty())
        .unwrap_or("session");
    let mut metadata = Map::from_iter([("kind".to_owned(), "assistant-progress".into())]);
    if completed {
        metadata.insert("completed".to_owned(), true.into());
    }
    let times = [raw.get("timestamp"), raw.get("data").and_then(|data| data.get("timestamp"))];
    Message {
        id: format!("msg_{invocation}_assistant_progress"),
        role: "assistant".to_owned(),
        content,
        timestamp: times.into_iter().flatten().find_map(read_time).unwrap_or(event.timestamp),
        metadata: Some(metadata),
    }
}

/// What is said as long as there is no report.
pub(super) fn content(payload: &Map<String, Value>, phase: Option<&str>) -> String {
    let mut lines = vec![format!("**{}**", phase.unwrap_or("Processing"))];
    if let Some(value) = value(payload) {
        let percent = if value <= 1.0 { value * 100.0 } else { value };
        lines.push(format!("Progress: {:.0}%", percent.round_ties_even().clamp(0.0, 100.0).abs()));
    }
    if let Some(Value::Object(results)) = alias::get(payload, "partial_results") {
        for (key, result) in results.iter().take(SHOWN_RESULTS) {
            let result = match result {
                Value::String(words) => words.clone(),
                other => readable_json(other),
            };
            lines.push(format!("- {}: {result}", title_case(key)));
        }
    }
    lines.join("\n\n")
}

/// `key_findings` as `Key Findings`: every run of letters begins with its only
/// capital.
fn title_case(key: &str) -> String {
    let mut title = String::with_capacity(key.len());
    let mut inside = false;
    for c in key.chars() {
        match c {
            '_' => title.push(' '),
            _ if inside => title.extend(c.to_lowercase()),
            _ => title.extend(c.to_uppercase()),
        }
        inside = c.is_lowercase() || c.is_uppercase();
    }
    title
}

/// JSON on one line, with a space after commas and colons.
pub(super) fn readable_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    let written = value.serialize(&mut Serializer::with_formatter(&mut bytes, Spaced));
    match (written, String::from_utf8(bytes)) {
        (Ok(()), Ok(text)) => text,
        _ => value.to_string(),
    }
}

struct Spaced;

impl Formatter for Spaced {
    fn begin_array_value<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        w.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_key<W: ?Sized + io::Write>(
        &mut self,
        w: &mut W,
        first: bool,
    ) -> io::Result<()> {
        w.write_all(if first { b"" } else { b", " })
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        w.write_all(b": ")
    }
}
