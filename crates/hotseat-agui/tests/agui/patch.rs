use hotseat_agui::patch::{Op, apply, diff};
use proptest::prelude::*;
use serde_json::{Value, json};

fn ops(old: &Value, new: &Value) -> Value {
    serde_json::to_value(diff(old, new)).unwrap()
}

#[test]
fn only_what_differs_is_named() {
    let old = json!({"a": {"b": [1, 2, 3], "same": {}}, "gone": 1});
    let new = json!({"a": {"b": [1, 9, 2, 3], "same": {}}, "new": null});
    assert_eq!(
        ops(&old, &new),
        json!([
            {"op": "remove", "path": "/gone"},
            {"op": "add", "path": "/a/b/1", "value": 9},
            {"op": "add", "path": "/new", "value": null},
        ])
    );
    assert_eq!(ops(&old, &old), json!([]));
}

#[test]
fn keys_are_escaped() {
    let new = json!({"a/b~c": 1, "": 2});
    assert_eq!(
        ops(&json!({}), &new),
        json!([{"op": "add", "path": "/a~1b~0c", "value": 1}, {"op": "add", "path": "/", "value": 2}])
    );
}

#[test]
fn a_patch_that_does_not_fit_changes_nothing() {
    for (op, reason) in [
        (Op::Remove { path: "/x".to_owned() }, "there is no such key"),
        (Op::Replace { path: "/a/3".to_owned(), value: json!(1) }, "the index is beyond the end"),
        (Op::Add { path: "/a/01".to_owned(), value: json!(1) }, "the index is no number"),
        (
            Op::Add { path: "/n/x".to_owned(), value: json!(1) },
            "only objects and arrays hold values",
        ),
        (Op::Add { path: "/q/x".to_owned(), value: json!(1) }, "there is nothing to hold it"),
        (Op::Remove { path: String::new() }, "the whole document cannot be removed"),
        (Op::Remove { path: "a".to_owned() }, "the pointer does not begin with a slash"),
    ] {
        let mut document = json!({"a": [1], "n": 1});
        let first = Op::Add { path: "/a/-".to_owned(), value: json!(2) };
        let error = apply(&mut document, &[first, op]).unwrap_err();
        assert_eq!((error.index, error.reason), (1, reason));
        assert_eq!(document, json!({"a": [1], "n": 1}));
    }
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop::sample::select(vec![json!(null), json!(1), json!("x"), json!([]), json!({})]);
    leaf.prop_recursive(3, 24, 4, |inner| {
        let key = prop::sample::select(vec!["a", "b", "a/b", "~", "0", ""]).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::hash_map(key, inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_applied_to_the_old_is_the_new(old in any_json(), new in any_json()) {
        let mut document = old.clone();
        apply(&mut document, &diff(&old, &new)).unwrap();
        prop_assert_eq!(document, new);
    }
}
