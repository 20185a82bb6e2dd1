//! The text and number forms of a point in time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serializer;
use serde_json::{Number, Value};

/// RFC 3339 in UTC with milliseconds, the form of every time in the HTTP API.
pub fn rfc3339(timestamp: Timestamp) -> String {
    format!("{timestamp:.3}")
}

/// [`rfc3339`] for `#[serde(serialize_with)]`.
pub(crate) fn serialize_rfc3339<S: Serializer>(
    timestamp: &Timestamp,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{timestamp:.3}"))
}

/// ISO 8601 in its basic form, to the second: `20251223T143000Z`. Without
/// colons, because `adk eval file.json:eval_id` splits at them.
pub(crate) fn basic_iso(timestamp: Timestamp) -> String {
    TimeZone::UTC.to_datetime(timestamp).strftime("%Y%m%dT%H%M%SZ").to_string()
}

/// Seconds since 1970 as a JSON number, the way ADK writes times.
pub(crate) fn seconds(timestamp: Timestamp) -> Value {
    Number::from_f64(timestamp.as_duration().as_secs_f64()).map_or(Value::Null, Value::Number)
}

/// Whole milliseconds from `earlier` to `later`; none if the clock went back.
pub(crate) fn millis_between(earlier: Timestamp, later: Timestamp) -> u64 {
    u64::try_from(later.duration_since(earlier).as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_time_has_three_forms() {
        let time: Timestamp = "2025-12-23T14:30:00.25Z".parse().unwrap();
        assert_eq!(rfc3339(time), "2025-12-23T14:30:00.250Z");
        assert_eq!(basic_iso(time), "20251223T143000Z");
        assert_eq!(seconds(time), json!(1_766_500_200.25));
    }
}
