//! Whatever JSON arrives where something of ADK's is meant to be, it is read faithfully
//! or refused in words. Texts that once were of interest are kept in `hostile/`.

use hotseat_core::{
    AdkEvent, AdkHead, Decision, ModelRequest, Recording, RunChange, ToolRun, camel_event,
    case_problems, put_case, read_eval_set, remove_case,
};
use proptest::prelude::*;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

const KEPT: [&str; 5] = [
    include_str!("hostile/wrong-types.json"),
    include_str!("hostile/extreme-numbers.json"),
    include_str!("hostile/both-spellings.json"),
    include_str!("hostile/lone-surrogate.json"),
    include_str!("hostile/set-of-nulls.json"),
];

/// Values that are hard to read: without end, too large, too deep, not text, not a name.
const WORST: &str = include_str!("hostile/worst.jsonl");

/// Names that mean something to one of the readers, in both spellings, and one that does not.
const NAMES: [&str; 30] = [
    "id",
    "author",
    "content",
    "parts",
    "text",
    "role",
    "functionCall",
    "function_call",
    "args",
    "name",
    "functionResponse",
    "response",
    "actions",
    "stateDelta",
    "state_delta",
    "timestamp",
    "longRunningToolIds",
    "usageMetadata",
    "type",
    "request",
    "config",
    "tools",
    "function_declarations",
    "parameters",
    "candidates",
    "eval_set_id",
    "eval_cases",
    "eval_id",
    "conversation",
    "ünknown",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "(\\PC|[\\x00\\x07]){0,8}".prop_map(Value::from),
        prop::sample::select(NAMES.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 40, 5, |inner| {
        let fields =
            prop::collection::vec((prop::sample::select(NAMES.to_vec()), inner.clone()), 0..6);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..5).prop_map(Value::from),
            3 => fields.prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

/// Gives a text to every reader there is.
fn read_by_all(text: &str) -> Result<(), TestCaseError> {
    let _ = read_eval_set(text);
    let _ = put_case(text, &json!({"eval_id": "a"}), None);
    let _ = remove_case(text, "a");
    let _ = Recording::read(text.as_bytes());
    let Ok(raw) = serde_json::from_str::<Box<RawValue>>(text) else { return Ok(()) };
    // What may come into the log must be readable when it comes out of it.
    let (taken, read) = (AdkHead::checked(&raw), AdkEvent::parse(&raw));
    prop_assert!(taken.is_err() || read.is_ok(), "{}", text);
    // It is the same whether an event comes as text or not.
    let value = serde_json::from_str::<Value>(text).ok();
    let head = value.and_then(|value| AdkHead::of(&value).ok());
    prop_assert_eq!(taken.as_ref().ok(), head.as_ref(), "{}", text);
    if let Err(refused) = taken {
        prop_assert!(!refused.to_string().is_empty());
    }
    let _ = ModelRequest::parse(&raw);
    let _ = RunChange::parse(&raw);
    let _ = ToolRun::parse(&raw);
    let Ok(value) = serde_json::from_str::<Value>(text) else { return Ok(()) };
    let camel = camel_event(value.clone());
    prop_assert_eq!(&camel_event(camel.clone()), &camel, "what is spelt so stays so");
    let _ = case_problems(&value);
    if let Ok(mut decision) = Decision::parse(value) {
        let ids = decision.assign_call_ids(|| "new".to_owned());
        prop_assert_eq!(ids.len(), decision.calls().count());
        let payload = serde_json::from_str(decision.to_payload().get()).unwrap();
        let again = Decision::parse(payload);
        // Two new ids are the same here, and that alone may be wrong with it.
        prop_assert!(again.is_ok() || ids.iter().filter(|id| *id == "new").count() > 1);
    }
    Ok(())
}

#[test]
fn kept_texts_are_read_or_refused_by_every_reader() {
    for text in KEPT {
        read_by_all(text).unwrap();
    }
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    read_by_all(&deep).unwrap();
}

/// Each of the worst values in every place of every kept text.
#[test]
fn the_worst_values_are_read_or_refused_wherever_they_stand() {
    for text in KEPT {
        // Text that JSON can write and Rust cannot hold is kept as text; elsewhere it is a tree.
        let Ok(kept) = serde_json::from_str::<Value>(text) else { continue };
        for place in 0..count(&kept) {
            let holed = with_hole(&kept, &mut (place + 1));
            for worst in WORST.lines() {
                let text = holed.to_string().replace("\"@hole@\"", worst);
                read_by_all(&text).unwrap();
            }
        }
    }
    for worst in WORST.lines() {
        read_by_all(worst).unwrap();
    }
}

/// How many values there are in a value.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(fields) => fields.values().map(count).sum(),
        _ => 0,
    }
}

/// The value with a mark in place of the one that `left` counts down to.
fn with_hole(value: &Value, left: &mut usize) -> Value {
    *left = left.wrapping_sub(1);
    if *left == 0 {
        return Value::from("@hole@");
    }
    match value {
        Value::Array(items) => items.iter().map(|item| with_hole(item, left)).collect(),
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, item)| (name.clone(), with_hole(item, left)));
            Value::Object(fields.collect())
        }
        other => other.clone(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_read_or_refused_by_every_reader(value in any_json()) {
        read_by_all(&value.to_string())?;
        read_by_all(&json!({"eval_set_id": "s", "eval_cases": value}).to_string())?;
        read_by_all(&json!({"author": "a", "content": {"parts": value}}).to_string())?;
        read_by_all(&json!({"request": value}).to_string())?;
    }

    #[test]
    fn a_kept_text_with_a_change_is_read_or_refused(
        text in prop::sample::select(KEPT.to_vec()),
        at in any::<prop::sample::Index>(),
        new in "[\\PC{}\\[\\]\",:0-9e\\-]{0,3}",
    ) {
        let mut letters: Vec<char> = text.chars().collect();
        let at = at.index(letters.len());
        letters.splice(at..=at, new.chars());
        read_by_all(&letters.into_iter().collect::<String>())?;
    }
}
