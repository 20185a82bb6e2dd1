//! The text and number forms of a point in time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serializer;
use serde_json::{Number, Value};

/// RFC 3339 in UTC with milliseconds, the form of every time in the HTTP API.
pub fn rfc3339(timestamp: Timestamp) -> String {
    match digits(timestamp) {
        Some(digits) => digits.iter().copied().map(char::from).collect(),
        None => format!("{timestamp:.3}"),
    }
}

/// The same behind what is there already. A page of the log has a thousand of them.
pub fn write_rfc3339(timestamp: Timestamp, out: &mut Vec<u8>) {
    match digits(timestamp) {
        Some(digits) => out.extend_from_slice(&digits),
        None => out.extend_from_slice(format!("{timestamp:.3}").as_bytes()),
    }
}

/// The days of 400 years, after which the calendar begins anew, and of those before 1970 from the
/// first of March of the year 0 on.
const DAYS_OF_ERA: u64 = 146_097;
const DAYS_BEFORE_1970: u64 = 719_468;

/// The form of a time from 1970 to the year 9999; none for the others.
fn digits(timestamp: Timestamp) -> Option<[u8; 24]> {
    let milliseconds = u64::try_from(timestamp.as_millisecond()).ok()?;
    let (seconds, millisecond) = (milliseconds / 1000, milliseconds % 1000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // The year is taken to begin in March, so that the day that some lack is its last.
    let days = days + DAYS_BEFORE_1970;
    let (era, day) = (days / DAYS_OF_ERA, days % DAYS_OF_ERA);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + 400 * era + u64::from(month <= 2);
    if year > 9999 {
        return None;
    }
    let mut digits = *b"0000-00-00T00:00:00.000Z";
    let mut set = |from: usize, to: usize, mut number: u64| {
        for digit in digits[from..to].iter_mut().rev() {
            *digit = b'0' + (number % 10) as u8;
            number /= 10;
        }
    };
    set(0, 4, year);
    set(5, 7, month);
    set(8, 10, day);
    set(11, 13, second / 3600);
    set(14, 16, second / 60 % 60);
    set(17, 19, second % 60);
    set(20, 23, millisecond);
    Some(digits)
}

/// [`rfc3339`] for `#[serde(serialize_with)]`.
pub(crate) fn serialize_rfc3339<S: Serializer>(
    timestamp: &Timestamp,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&rfc3339(*timestamp))
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn a_time_reads_as_the_library_of_times_writes_it(
            second in Timestamp::MIN.as_second()..=Timestamp::MAX.as_second(),
            nanosecond in 0..1_000_000_000,
        ) {
            let time = Timestamp::new(second, nanosecond).unwrap_or(Timestamp::MAX);
            let mut written = Vec::new();
            write_rfc3339(time, &mut written);
            prop_assert_eq!(String::from_utf8(written).unwrap(), format!("{time:.3}"));
            prop_assert_eq!(rfc3339(time), format!("{time:.3}"));
        }
    }

    #[test]
    fn a_time_has_three_forms() {
        let time: Timestamp = "2025-12-23T14:30:00.25Z".parse().unwrap();
        assert_eq!(rfc3339(time), "2025-12-23T14:30:00.250Z");
        assert_eq!(basic_iso(time), "20251223T143000Z");
        assert_eq!(seconds(time), json!(1_766_500_200.25));
    }
}
