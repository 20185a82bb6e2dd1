//! What events tell of a session, event by event.

use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::payload::raw;
use crate::{Effect, Kind};

const ARRIVED: &str = "2025-10-18T14:00:00Z";

fn fold(record: &mut Record, event: &NewEvent) -> Option<Message> {
    record.fold(&Effect::of(event).account, event)
}

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn entry(payload: &Value) -> NewEvent {
    NewEvent {
        event_id: "evt-1".to_owned(),
        timestamp: at(ARRIVED),
        kind: Kind::Event,
        turn_id: None,
        invocation_id: None,
        author: "root".to_owned(),
        agent_name: "root".to_owned(),
        branch: None,
        parent_call_id: None,
        payload: raw(payload),
    }
}

/// The record after these events, and the message of the last.
fn folded(events: &[Value]) -> (Record, Option<Message>) {
    let mut record = Record::default();
    let messages: Vec<_> = events.iter().map(|event| fold(&mut record, &entry(event))).collect();
    (record, messages.into_iter().next_back().flatten())
}

#[test]
fn research_is_told_as_it_goes() {
    let (record, message) = folded(&[
        json!({"type": "research_started", "data": {"status": "running", "current_phase": "Planning"}}),
        json!({"type": "research_progress", "invocationId": "inv-1", "timestamp": 1_729_260_123.456, "data": {
            "overall_progress": 45.5,
            "current_phase": "Reading",
            "partial_results": {"key_findings": "Läuft", "AI_sources": ["a", {"b": 1}], "third": "no"},
        }}),
    ]);
    assert_eq!(
        record,
        Record {
            status: Some("running".into()),
            progress: Some(0.455),
            current_phase: Some("Reading".into()),
            ..Record::default()
        }
    );
    let message = message.unwrap();
    assert_eq!(message.id, "msg_inv-1_assistant_progress");
    assert_eq!(message.role, "assistant");
    assert_eq!(
        message.content,
        "**Reading**\n\nProgress: 46%\n\n- Key Findings: Läuft\n\n- Ai Sources: [\"a\", {\"b\": 1}]"
    );
    assert_eq!(message.timestamp, at("2024-10-18T14:02:03.456Z"));
    assert_eq!(message.metadata, json!({"kind": "assistant-progress"}).as_object().cloned());
}

#[test]
fn the_report_takes_the_place_of_the_progress() {
    let progress = json!({"type": "research_progress", "current_phase": "Writing"});
    for complete in [
        json!({"type": "research_complete", "data": {"status": "completed", "final_report": "# Bern"}}),
        json!({"type": "research_complete", "status": "completed", "content": "# Bern"}),
    ] {
        let (record, message) = folded(&[progress.clone(), complete]);
        assert_eq!(record.status.as_deref(), Some("completed"));
        assert_eq!(record.final_report.as_deref(), Some("# Bern"));
        let message = message.unwrap();
        assert_eq!(message.id, "msg_session_assistant_progress");
        assert_eq!(message.content, "# Bern");
        let metadata = json!({"kind": "assistant-progress", "completed": true});
        assert_eq!(message.metadata.map(Value::Object), Some(metadata));
    }
    let (record, message) = folded(&[progress, json!({"type": "research_complete"})]);
    assert_eq!(record.final_report, None);
    assert_eq!(message.unwrap().content, "**Writing**");
}

#[test]
fn progress_is_a_fraction_or_percent_and_nothing_else() {
    for (given, kept, shown) in [
        (json!(0.25), Some(0.25), Some("Progress: 25%")),
        (json!(1), Some(1.0), Some("Progress: 100%")),
        (json!(44.5), Some(0.445), Some("Progress: 44%")),
        (json!("30"), Some(0.3), Some("Progress: 30%")),
        (json!(250), Some(2.5), Some("Progress: 100%")),
        (json!(-3), Some(-3.0), Some("Progress: 0%")),
        (json!(-0.0), Some(-0.0), Some("Progress: 0%")),
        (json!("half"), None, None),
        (json!("NaN"), None, None),
        (json!([1]), None, None),
        (json!(null), None, None),
    ] {
        let (record, message) =
            folded(&[json!({"type": "research_progress", "overall_progress": given})]);
        assert_eq!(record.progress, kept, "{given}");
        let content = message.unwrap().content;
        assert_eq!(content.strip_prefix("**Processing**\n\n"), shown, "{given}");
    }
}

#[test]
fn an_error_says_what_went_wrong_wherever_it_is_written() {
    for event in [
        json!({"type": "error", "error": "quota"}),
        json!({"type": "error", "data": {"error": "quota"}}),
        json!({"type": "error", "data": {"message": "quota"}}),
        json!({"type": "error", "data": {"data": {"error": "quota"}}}),
        json!({"type": "error", "data": "quota"}),
    ] {
        let (record, message) = folded(std::slice::from_ref(&event));
        assert_eq!(record.error.as_deref(), Some("quota"), "{event}");
        assert_eq!(record.status.as_deref(), Some("error"), "{event}");
        assert_eq!(message, None);
    }
    let (record, _) =
        folded(&[json!({"type": "error", "status": "timeout", "error": {"code": 1}})]);
    assert_eq!(record.status.as_deref(), Some("timeout"));
    assert_eq!(record.error.as_deref(), Some("{\"code\": 1}"));
}

#[test]
fn a_late_success_does_not_undo_a_failure_but_new_research_does() {
    let failed = json!({"type": "error", "error": "quota"});
    for late in ["research_progress", "research_complete", "error"] {
        let (record, _) = folded(&[failed.clone(), json!({"type": late, "status": "completed"})]);
        assert_eq!(record.status.as_deref(), Some("error"), "{late}");
        assert_eq!(record.error.as_deref(), Some("quota"), "{late}");
    }
    let (record, _) = folded(&[failed.clone(), json!({"type": "error", "status": "cancelled"})]);
    assert_eq!(record.status.as_deref(), Some("cancelled"));
    let (record, _) = folded(&[failed, json!({"type": "research_started", "status": "running"})]);
    assert_eq!((record.status.as_deref(), record.error), (Some("running"), None));
}

#[test]
fn what_is_malformed_or_unknown_derives_nothing() {
    for event in [
        json!({"type": "research_started", "data": [1]}),
        json!({"type": "research_update", "status": "running", "author": "a", "content": {"parts": [{"text": "x"}]}}),
        json!({"type": "error", "parent": 1, "status": 7, "data": null, "error": ""}),
        json!([]),
        json!(null),
        json!({"author": "root", "partial": true, "content": {"parts": [{"text": "x"}]}}),
        json!({"author": "root", "content": {"parts": [{"functionCall": {"name": "f"}}]}}),
        json!({"author": "root", "content": {"parts": [{"text": "hm", "thought": true}]}}),
        json!({"author": "user", "content": {"parts": [{"functionResponse": {"name": "f"}}]}}),
        json!({"author": "user", "content": {"parts": [{"text": " "}]}}),
    ] {
        let (record, message) = folded(std::slice::from_ref(&event));
        let expected = if event["type"] == "error" { Some("error".to_owned()) } else { None };
        assert_eq!(record, Record { status: expected, ..Record::default() }, "{event}");
        assert_eq!(message, None, "{event}");
    }
    let said = json!({"author": "root", "content": {"parts": [{"text": "x"}]}});
    let inner = NewEvent { parent_call_id: Some("call-1".into()), ..entry(&said) };
    let other = NewEvent { kind: Kind::Response, ..entry(&said) };
    assert_eq!(fold(&mut Record::default(), &inner), None);
    assert_eq!(fold(&mut Record::default(), &other), None);
}

#[test]
fn plain_events_become_what_was_said() {
    let (_, user) = folded(&[json!({
        "author": "user", "timestamp": "2025-10-18T10:00:00.5",
        "content": {"role": "user", "parts": [{"text": "Look"}, {"inlineData": {"mimeType": "image/png"}}]},
    })]);
    assert_eq!(
        user,
        Some(Message {
            id: "evt-1".into(),
            role: "user".into(),
            content: "Look\n[image/png]".into(),
            timestamp: at("2025-10-18T10:00:00.5Z"),
            metadata: None,
        })
    );
    let (record, agent) = folded(&[json!({
        "author": "planner",
        "content": {"parts": [{"text": "I "}, {"text": "think"}, {"functionCall": {"name": "f"}}]},
    })]);
    assert_eq!(record, Record::default());
    let agent = agent.unwrap();
    assert_eq!((agent.role.as_str(), agent.content.as_str()), ("assistant", "I think"));
    assert_eq!(agent.timestamp, at(ARRIVED));
    assert_eq!(agent.metadata.map(Value::Object), Some(json!({"author": "planner"})));
}

#[test]
fn a_message_that_is_written_takes_what_is_missing_from_its_entry() {
    let read = |value: Value| read_message(&raw(&value), "evt-9", at(ARRIVED));
    assert_eq!(
        read(json!({"content": "Hi", "metadata": {}})).unwrap(),
        Message {
            id: "evt-9".into(),
            role: "assistant".into(),
            content: "Hi".into(),
            timestamp: at(ARRIVED),
            metadata: None,
        }
    );
    let full = read(json!({
        "id": "m1", "role": "user", "content": "Hi", "timestamp": "2025-10-18T12:00:00+02:00", "metadata": {"a": 1},
    }));
    let full = full.unwrap();
    assert_eq!((full.id.as_str(), full.role.as_str()), ("m1", "user"));
    assert_eq!(full.timestamp, at("2025-10-18T10:00:00Z"));
    for (refused, why) in [
        (json!([]), "a message must be an object, not an array"),
        (json!({"role": "user"}), "the message has no content"),
        (json!({"content": 1}), "content of the message must be a string, not a number"),
        (
            json!({"content": "", "metadata": 1}),
            "metadata of the message must be an object, not a number",
        ),
        (
            json!({"content": "", "timestamp": "soon"}),
            "timestamp of the message must be RFC 3339 or seconds since 1970",
        ),
    ] {
        assert_eq!(read(refused).unwrap_err().to_string(), why);
    }
}

#[test]
fn a_later_message_of_the_same_id_takes_over_but_for_the_role() {
    let read = |value: Value| read_message(&raw(&value), "evt-9", at(ARRIVED)).unwrap();
    let mut message = read(json!({"role": "user", "content": "a", "metadata": {"k": 1}}));
    message.replace(read(json!({"role": "assistant", "content": "b", "timestamp": 0})));
    let expected = json!({"role": "user", "content": "b", "timestamp": 0, "metadata": {"k": 1}});
    assert_eq!(message, read(expected));
}

#[test]
fn a_message_can_stand_for_an_event_and_gives_itself_back() {
    let read = |value: Value| read_message(&raw(&value), "m1", at(ARRIVED)).unwrap();
    let user = read(json!({"role": "user", "content": "Hi", "timestamp": 1000.25}));
    let event = backfill_event("s-1", &user);
    assert_eq!(
        event,
        json!({
            "id": "m1", "invocationId": "backfill_s-1", "author": "user", "timestamp": 1000.25,
            "content": {"role": "user", "parts": [{"text": "Hi"}]},
        })
    );
    let (_, again) = folded(std::slice::from_ref(&event));
    assert_eq!(again, Some(Message { id: "evt-1".into(), ..user }));
    let answer = backfill_event("s-1", &read(json!({"content": "Yes"})));
    assert_eq!(
        (&answer["author"], &answer["content"]["role"]),
        (&json!("assistant"), &json!("model"))
    );
}

#[test]
fn times_are_read_to_the_microsecond_in_any_form() {
    for (given, time) in [
        (json!(1_729_260_123.456), "2024-10-18T14:02:03.456Z"),
        (json!(1_729_260_123), "2024-10-18T14:02:03Z"),
        (json!(-0.000_001), "1969-12-31T23:59:59.999999Z"),
        (json!("2025-10-18T10:00:00.123456"), "2025-10-18T10:00:00.123456Z"),
        (json!("2025-10-18T10:00:00+00:00"), "2025-10-18T10:00:00Z"),
    ] {
        assert_eq!(read_time(&given), Some(at(time)), "{given}");
    }
    for given in [json!(1e300), json!("noon"), json!(""), json!(true), json!({})] {
        assert_eq!(read_time(&given), None, "{given}");
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop_oneof![
            "(type|data|status|error|message|content|parts|text|author|timestamp|overall_progress|partial_results)",
            ".{0,5}",
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((key, inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_log_folds_and_folds_the_same_again(
        events in prop::collection::vec((any_json(), 0..5_usize), 0..6)
    ) {
        let types = ["research_started", "research_progress", "research_complete", "error", ""];
        let events: Vec<Value> = events.into_iter().map(|(mut event, kind)| {
            if let Some(fields) = event.as_object_mut() {
                fields.insert("type".into(), types[kind].into());
            }
            event
        }).collect();
        prop_assert_eq!(folded(&events), folded(&events));
    }
}
