//! Whatever JSON a front end sends, it is an input that says the same again, or is refused
//! by the name of what is wrong. Inputs that once were of interest are kept in `hostile/`.

use hotseat_agui::{RunAgentInput, incoming};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

const KEPT: [&str; 3] = [
    include_str!("hostile/every-role.json"),
    include_str!("hostile/results-of-nothing.json"),
    include_str!("hostile/nulls.json"),
];

/// Values that are hard to read, of all kinds.
const WORST: &str = include_str!("../../../hotseat-core/tests/core/hostile/worst.jsonl");

/// Names and words of the protocol, and some that are not.
const WORDS: [&str; 28] = [
    "threadId",
    "runId",
    "messages",
    "id",
    "role",
    "user",
    "assistant",
    "tool",
    "content",
    "toolCalls",
    "toolCallId",
    "function",
    "name",
    "arguments",
    "type",
    "text",
    "image",
    "source",
    "data",
    "url",
    "value",
    "mimeType",
    "state",
    "tools",
    "context",
    "resume",
    "interruptId",
    "ü",
];

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        Just(json!(1.5)),
        "\\PC{0,6}".prop_map(Value::from),
        prop::sample::select(WORDS.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        let field = (prop::sample::select(WORDS.to_vec()), inner.clone());
        prop_oneof![
            1 => prop::collection::vec(inner, 0..4).prop_map(Value::from),
            3 => prop::collection::vec(field, 0..6).prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

fn read(value: &Value) -> Result<(), TestCaseError> {
    match RunAgentInput::read(value) {
        Err(refused) => prop_assert!(!refused.to_string().is_empty()),
        Ok(input) => {
            let told = input.to_value();
            let again = RunAgentInput::read(&told);
            prop_assert_eq!(again.map(|input| input.to_value()).ok(), Some(told));
            for known in [true, false] {
                let _ = incoming(&input, &|_| known);
            }
        }
    }
    Ok(())
}

#[test]
fn kept_inputs_are_read_or_refused() {
    for text in KEPT {
        read(&serde_json::from_str(text).unwrap()).unwrap();
    }
}

/// Each of the worst values in every place of every kept input.
#[test]
fn the_worst_values_are_read_or_refused_wherever_they_stand() {
    for text in KEPT {
        let kept: Value = serde_json::from_str(text).unwrap();
        let mut places = Vec::new();
        pointers(&kept, String::new(), &mut places);
        for place in &places {
            // What is no JSON to begin with is refused before.
            for worst in WORST.lines().filter_map(|worst| serde_json::from_str(worst).ok()) {
                let mut input = kept.clone();
                *input.pointer_mut(place).unwrap() = worst;
                read(&input).unwrap();
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_an_input_or_refused(value in any_json()) {
        read(&value)?;
    }

    /// A good input in which one thing is something else.
    #[test]
    fn a_kept_input_with_a_change_is_read_or_refused(
        text in prop::sample::select(KEPT.to_vec()),
        at in any::<prop::sample::Index>(),
        new in any_json(),
    ) {
        let mut input: Value = serde_json::from_str(text).unwrap();
        let mut places = Vec::new();
        pointers(&input, String::new(), &mut places);
        *input.pointer_mut(&places[at.index(places.len())]).unwrap() = new;
        read(&input)?;
    }
}

/// Where everything in `value` is.
fn pointers(value: &Value, here: String, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                pointers(item, format!("{here}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, item) in fields {
                pointers(item, format!("{here}/{name}"), found);
            }
        }
        _ => {}
    }
    found.push(here);
}
