//! What a provider says when it refuses.
//!
//! All of them answer with JSON around a message, in slightly different places;
//! proxies in front of them answer with anything. What is kept is short and does
//! not hold the key, even if the provider repeats it.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use serde_json::Value;

/// Most bytes of a refusal that are read.
pub(super) const MAX_REFUSAL_BYTES: usize = 64 << 10;
/// Most characters of a message that are kept.
const MAX_MESSAGE_CHARS: usize = 600;

/// The message in the body of a refusal, or the body itself.
pub(super) fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let json: Option<Value> = serde_json::from_str(&text).ok();
    match json.as_ref().and_then(json_message) {
        Some(message) => cut(&message),
        None if text.trim().is_empty() => "it gave no reason".to_owned(),
        None => cut(text.trim()),
    }
}

/// The message in a JSON refusal.
pub(super) fn json_message(body: &Value) -> Option<String> {
    let places = ["/error/message", "/0/error/message", "/error", "/message", "/detail"];
    let message = places.into_iter().find_map(|place| body.pointer(place)?.as_str())?;
    // The kind says more than some messages do.
    let kind = ["/error/type", "/error/status", "/error/code"]
        .into_iter()
        .find_map(|place| body.pointer(place)?.as_str());
    Some(match kind {
        Some(kind) if !message.contains(kind) => format!("{message} ({kind})"),
        _ => message.to_owned(),
    })
}

/// When the provider wants to be asked again.
pub(super) fn retry_after(headers: &HeaderMap, body: &[u8]) -> Option<Duration> {
    let header = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    if let Some(millis) = header("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    if let Some(after) = header(RETRY_AFTER.as_str()) {
        if let Some(wait) = seconds(after) {
            return Some(wait);
        }
        // A date counts from the provider's own clock, which ours need not agree with.
        let until = httpdate::parse_http_date(after).ok()?;
        let now = httpdate::parse_http_date(header(DATE.as_str())?).ok()?;
        return Some(until.duration_since(now).unwrap_or_default());
    }
    // Google says it in the body.
    let body: Value = serde_json::from_slice(body).ok()?;
    let details = body.pointer("/error/details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?)
}

/// The text without the key, should it be in there.
pub(super) fn without_key(text: String, key: Option<&str>) -> String {
    match key {
        Some(key) if !key.is_empty() && text.contains(key) => text.replace(key, "***"),
        _ => text,
    }
}

/// The beginning of a text that may be long.
pub(super) fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_MESSAGE_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn seconds(text: &str) -> Option<Duration> {
    Duration::try_from_secs_f64(text.parse().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderValue;

    use super::*;

    #[test]
    fn the_message_is_found_wherever_a_provider_puts_it() {
        for (body, message_in_it) in [
            (r#"{"error":{"message":"no","type":"bad"}}"#, "no (bad)"),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
                "busy (overloaded_error)",
            ),
            (r#"[{"error":{"code":400,"message":"no","status":"INVALID_ARGUMENT"}}]"#, "no"),
            (r#"{"error":"model not found"}"#, "model not found"),
            ("<html>bad gateway</html>", "<html>bad gateway</html>"),
            ("", "it gave no reason"),
        ] {
            assert_eq!(message(body.as_bytes()), message_in_it, "{body}");
        }
    }

    #[test]
    fn a_time_to_wait_is_read_in_all_four_forms() {
        let with = |pairs: &[(&'static str, &'static str)]| {
            let pairs = pairs.iter().map(|(name, value)| {
                (reqwest::header::HeaderName::from_static(name), HeaderValue::from_static(value))
            });
            pairs.collect::<HeaderMap>()
        };
        let date = with(&[
            ("retry-after", "Wed, 21 Oct 2026 07:28:07 GMT"),
            ("date", "Wed, 21 Oct 2026 07:28:00 GMT"),
        ]);
        let google = br#"{"error":{"details":[{"@type":"x"},{"retryDelay":"7s"}]}}"#;
        let seven = Some(Duration::from_secs(7));

        assert_eq!(retry_after(&with(&[("retry-after", "7")]), b""), seven);
        assert_eq!(retry_after(&with(&[("retry-after-ms", "7000")]), b""), seven);
        assert_eq!(retry_after(&date, b""), seven);
        assert_eq!(retry_after(&HeaderMap::new(), google), seven);
        assert_eq!(retry_after(&with(&[("retry-after", "-7")]), b""), None);
        assert_eq!(retry_after(&HeaderMap::new(), b"no json"), None);
    }

    #[test]
    fn long_messages_are_cut_between_characters() {
        let long = "ü".repeat(5_000);
        assert_eq!(message(long.as_bytes()).chars().count(), MAX_MESSAGE_CHARS + 1);
    }
}
