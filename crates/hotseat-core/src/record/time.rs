//! The time that a writer gave, in either of the forms that are in use.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// Seconds since 1970, or ISO 8601; without an offset it is UTC, because a log
/// cannot know where it was written.
pub(crate) fn read_time(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Number(seconds) => {
            // Rounded, because a float of today's size does not know nanoseconds.
            let seconds = SignedDuration::try_from_secs_f64(seconds.as_f64()?).ok()?;
            let micros = i64::try_from((seconds.as_nanos() + 500).div_euclid(1000)).ok()?;
            Timestamp::from_microsecond(micros).ok()
        }
        Value::String(text) => text.parse().ok().or_else(|| {
            let local: DateTime = text.parse().ok()?;
            local.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp())
        }),
        _ => None,
    }
}
