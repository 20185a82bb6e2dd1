use hotseat_agui::{
    Body, Content, ContentPart, Encoding, Event, MAX_FRAME_BYTES, Message, MessageBody,
    NotAcceptable, Source, encode_proto, encode_sse,
};
use serde_json::{Map, Value, json};

use crate::samples::samples;

const PROTO: &str = "application/vnd.ag-ui.event+proto";

#[test]
fn nothing_optional_is_ever_null() {
    fn nulls(value: &Value, path: &str, found: &mut Vec<String>) {
        match value {
            Value::Null => found.push(path.to_owned()),
            Value::Object(object) => {
                object
                    .iter()
                    .for_each(|(key, value)| nulls(value, &format!("{path}/{key}"), found));
            }
            Value::Array(items) => items.iter().for_each(|item| nulls(item, path, found)),
            _ => {}
        }
    }
    // Free JSON may hold null; the protocol's own fields may not.
    let free = ["/metadata", "/rawEvent", "/snapshot", "/value", "/delta/value", "/patch/value"];
    for event in samples() {
        let mut found = Vec::new();
        nulls(&serde_json::to_value(&event).unwrap(), "", &mut found);
        found.retain(|path| !free.iter().any(|free| path.starts_with(free)));
        assert!(found.is_empty(), "{found:?} in {event:?}");
    }
}

#[test]
fn all_31_events_are_named_as_they_are_written() {
    let mut names: Vec<String> = Vec::new();
    for event in samples() {
        let json = serde_json::to_value(&event).unwrap();
        assert_eq!(json["type"], event.body.name());
        names.push(event.body.name().to_owned());
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 31);
}

#[test]
fn a_server_sent_event_has_one_line_of_data_and_lf_only() {
    for event in samples() {
        let frame = encode_sse(&event, Some(7));
        let (head, data) = frame.split_once('\n').unwrap();
        assert_eq!(head, "id: 7");
        let json = data.strip_prefix("data: ").unwrap().strip_suffix("\n\n").unwrap();
        assert!(!json.contains(['\n', '\r']));
        let read: Value = serde_json::from_str(json).unwrap();
        assert_eq!(read, serde_json::to_value(&event).unwrap());
    }
    let end = Event::new(Body::TextMessageEnd { message_id: "m".to_owned() });
    let data = "data: {\"type\":\"TEXT_MESSAGE_END\",\"messageId\":\"m\"}\n\n";
    assert_eq!(encode_sse(&end, None), data);
}

#[test]
fn a_protobuf_frame_says_its_length_and_names_its_event() {
    let event = Event::of(
        Some("s"),
        Body::TextMessageContent { message_id: "m".to_owned(), delta: "hi".to_owned() },
    );
    assert_eq!(
        encode_proto(&event),
        [
            &[0, 0, 0, 16][..],
            // The envelope's field 2 with 14 bytes; in it the common fields, type 1.
            &[0x12, 14, 0x0a, 2, 0x08, 1],
            &[0x12, 1, b'm', 0x1a, 2, b'h', b'i', 0x22, 1, b's'],
        ]
        .concat()
    );
    for event in samples() {
        let frame = encode_proto(&event);
        let length = u32::from_be_bytes(frame[..4].try_into().unwrap()) as usize;
        assert_eq!(length, frame.len() - 4);
        assert!(length > 4, "{event:?}");
    }
}

#[test]
fn protobuf_has_to_be_asked_for() {
    let choose = |accept| Encoding::choose(Some(accept));
    for accept in [
        "text/event-stream",
        "*/*",
        "",
        "text/*",
        "text/event-stream, application/vnd.ag-ui.event+proto;q=0.1",
        "application/json, */*;q=0.1",
        "application/vnd.ag-ui.event+proto;q=0, */*",
    ] {
        assert_eq!(choose(accept), Ok(Encoding::Sse), "{accept}");
    }
    for accept in [
        PROTO,
        "application/vnd.ag-ui.event+proto, */*",
        "text/event-stream;q=0.5, application/vnd.ag-ui.event+proto;q=0.5",
        "TEXT/Event-Stream;q=0.2 , Application/vnd.AG-UI.event+proto ; q=0.9",
        "application/*",
    ] {
        assert_eq!(choose(accept), Ok(Encoding::Protobuf), "{accept}");
    }
    assert_eq!(Encoding::choose(None), Ok(Encoding::Sse));
    for accept in ["application/json", "text/event-stream;q=0", "image/*"] {
        assert_eq!(choose(accept), Err(NotAcceptable { accept: accept.to_owned() }));
    }
    assert_eq!(Encoding::Protobuf.content_type(), PROTO);
}

#[test]
fn a_delta_that_is_too_long_is_cut_between_characters() {
    let delta = "\u{1}ü😀".repeat(1_700_000);
    let event =
        Event::new(Body::TextMessageContent { message_id: "m".to_owned(), delta: delta.clone() });
    let frames = Encoding::Sse.frames(&event, None).unwrap();
    assert!(frames.len() > 1 && frames.iter().all(|frame| frame.len() <= MAX_FRAME_BYTES));
    let said: String = frames
        .iter()
        .map(|frame| {
            let json: Value = serde_json::from_slice(&frame["data: ".len()..]).unwrap();
            json["delta"].as_str().unwrap().to_owned()
        })
        .collect();
    assert!(said == delta);
}

#[test]
fn what_cannot_be_cut_is_left_out_with_a_note_or_refused() {
    let long = "x".repeat(MAX_FRAME_BYTES);
    let result = Event::new(Body::ToolCallResult {
        message_id: "m".to_owned(),
        tool_call_id: "c".to_owned(),
        content: Content::Text(long.clone()),
        role: None,
    });
    let frames = Encoding::Sse.frames(&result, None).unwrap();
    let json: Value = serde_json::from_slice(&frames[0]["data: ".len()..]).unwrap();
    assert!(json["content"].as_str().unwrap().contains("the session's log has it"));
    assert_eq!(json["toolCallId"], "c");

    let state = Event::new(Body::StateSnapshot { snapshot: json!({"a": long}) });
    let refused = Encoding::Protobuf.frames(&state, None).unwrap_err();
    assert_eq!(refused.event, "STATE_SNAPSHOT");
}

#[test]
fn a_conversation_that_is_too_large_loses_its_files_and_nothing_that_was_said() {
    let file = |mime_type: &str| {
        let source =
            Source::Data { value: "QUJD".repeat(1_000_000), mime_type: mime_type.to_owned() };
        ContentPart::media(source, None)
    };
    let text = |text: &str| ContentPart::Text { text: text.to_owned() };
    let elsewhere = Source::Url { value: "https://a.example/b.png".to_owned(), mime_type: None };
    let elsewhere = ContentPart::media(elsewhere, None);
    let said = vec![text("Look"), file("image/png"), elsewhere.clone()];
    let content = Content::Parts(vec![text("{}"), file("audio/mpeg")]);
    let shown = Map::from_iter([("part".to_owned(), json!(file("video/mp4")))]);
    let messages = vec![
        Message::new("u", MessageBody::User { content: Content::Parts(said), name: None }),
        Message::new("t", MessageBody::Tool { content, tool_call_id: "c".to_owned(), error: None }),
        Message::new(
            "f",
            MessageBody::Activity { activity_type: "hotseat.media".to_owned(), content: shown },
        ),
    ];
    let snapshot = Event::new(Body::MessagesSnapshot { messages });
    let frames = Encoding::Sse.frames(&snapshot, None).unwrap();
    let json: Value = serde_json::from_slice(&frames[0]["data: ".len()..]).unwrap();
    let note = |what| json!({"type": "text", "text": format!("[{what} of 3000000 bytes left out: the session's log has it]")});
    let messages = &json["messages"];
    assert_eq!(messages[0]["content"], json!([text("Look"), note("image"), elsewhere]));
    assert_eq!(messages[1]["content"], json!([text("{}"), note("audio")]));
    assert_eq!(messages[2]["content"]["part"], note("file"));

    let content = Content::Text("x".repeat(MAX_FRAME_BYTES));
    let messages = vec![Message::new("u", MessageBody::User { content, name: None })];
    let refused = Encoding::Sse.frames(&Event::new(Body::MessagesSnapshot { messages }), None);
    assert_eq!(refused.unwrap_err().event, "MESSAGES_SNAPSHOT");
}
