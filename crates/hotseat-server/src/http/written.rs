//! An event of the log written where it lies.
//!
//! It reads as [`EventView::whole`](super::view::EventView::whole) would write it. Its payload is
//! passed on as it is: that it is JSON was seen when it came. A page holds a thousand events, so
//! what is known to need no escape is not looked at letter by letter.

use hotseat_core::write_rfc3339;
use hotseat_store::EventRef;
use serde::Serialize;

/// Writes an event behind what is there already.
pub(super) fn write(event: &EventRef<'_>, out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"seq\":");
    json(&event.seq.get(), out);
    out.extend_from_slice(b",\"event_id\":");
    text(event.event_id, out);
    out.extend_from_slice(b",\"session_id\":\"");
    let mut id = [0; uuid::fmt::Hyphenated::LENGTH];
    out.extend_from_slice(event.session_id.uuid().hyphenated().encode_lower(&mut id).as_bytes());
    out.extend_from_slice(b"\",\"timestamp\":\"");
    write_rfc3339(event.timestamp, out);
    out.extend_from_slice(b"\",\"kind\":\"");
    out.extend_from_slice(event.kind.as_str().as_bytes());
    out.extend_from_slice(b"\",\"turn_id\":");
    json(&event.turn_id, out);
    out.extend_from_slice(b",\"invocation_id\":");
    text_if(event.invocation_id, out);
    out.extend_from_slice(b",\"author\":");
    text(event.author, out);
    out.extend_from_slice(b",\"agent_name\":");
    text(event.agent_name, out);
    out.extend_from_slice(b",\"branch\":");
    text_if(event.branch, out);
    out.extend_from_slice(b",\"parent_call_id\":");
    text_if(event.parent_call_id, out);
    out.extend_from_slice(b",\"event\":");
    out.extend_from_slice(event.payload.as_bytes());
    out.push(b'}');
}

fn text_if(words: Option<&str>, out: &mut Vec<u8>) {
    match words {
        Some(words) => text(words, out),
        None => out.extend_from_slice(b"null"),
    }
}

#[expect(clippy::needless_bitwise_bool, reason = "with a way out it would go letter by letter")]
fn text(words: &str, out: &mut Vec<u8>) {
    let plain = words
        .bytes()
        .fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\'));
    if plain {
        out.push(b'"');
        out.extend_from_slice(words.as_bytes());
        out.push(b'"');
    } else {
        json(words, out);
    }
}

fn json(value: &(impl Serialize + ?Sized), out: &mut Vec<u8>) {
    // Texts and numbers can always be written, and a `Vec` takes them.
    let _ = serde_json::to_writer(out, value);
}

#[cfg(test)]
mod tests {
    use hotseat_core::{Event, Kind, NewEvent, Seq, SessionId, TurnId};
    use jiff::Timestamp;
    use serde_json::value::RawValue;

    use super::super::view::EventView;
    use super::*;

    fn event(optional: Option<&str>) -> Event {
        let text = r#"{"author": "us\u0065r", "n": 1.0, "deep": [null, {"a": "\"b\""}]}"#;
        let entry = NewEvent {
            event_id: "e \"1\"\n".to_owned(),
            timestamp: Timestamp::from_millisecond(1_780_000_000_123).unwrap(),
            kind: Kind::Event,
            turn_id: optional.map(|_| TurnId::new(uuid::Uuid::from_u128(7))),
            invocation_id: optional.map(str::to_owned),
            author: "user".to_owned(),
            agent_name: "ü".to_owned(),
            branch: optional.map(str::to_owned),
            parent_call_id: optional.map(str::to_owned),
            payload: RawValue::from_string(text.to_owned()).unwrap(),
        };
        let session_id = SessionId::new(uuid::Uuid::from_u128(42));
        Event { session_id, seq: Seq::new(3), entry }
    }

    #[test]
    fn an_event_written_where_it_lies_reads_like_its_view() {
        for optional in [None, Some("x\ty"), Some("plain, ünd léng enough for more than one look")]
        {
            let mut written = Vec::new();
            write(&(&event(optional)).into(), &mut written);
            let view = serde_json::to_string(&EventView::whole(event(optional))).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), view);
        }
    }
}
