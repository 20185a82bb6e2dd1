use hotseat_core::{EvalSetError, MergeAction, read_eval_set};
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A file as others write it: own indentation, unknown fields, camelCase, odd numbers.
const THEIRS: &str = r#"{
   "x-comment": "keep me", "name": "Set", "description": null,
   "evalCases" : [
      {"evalId": "hand", "conversation_scenario": {"a": 1180591620717411303424}, "n": 1.50},
      { "eval_id": "a",   "conversation": [] }
   ], "eval_set_id": "s"
}
"#;

/// [`hotseat_core::put_case`], its text in one piece.
fn put_case(
    text: &str,
    case: &Value,
    index: Option<usize>,
) -> Result<(String, MergeAction), EvalSetError> {
    hotseat_core::put_case(text, case, index).map(|(text, action)| (text.to_string(), action))
}

/// [`hotseat_core::remove_case`], its text in one piece.
fn remove_case(text: &str, id: &str) -> Result<Option<(String, Value, usize)>, EvalSetError> {
    let removed = hotseat_core::remove_case(text, id)?;
    Ok(removed.map(|(text, case, index)| (text.to_string(), case, index)))
}

fn ids(text: &str) -> Vec<String> {
    let id = |case: &Value| {
        case.get("eval_id").or(case.get("evalId")).unwrap().as_str().unwrap().to_owned()
    };
    read_eval_set(text).unwrap().cases.iter().map(id).collect()
}

#[test]
fn a_set_is_read_with_its_cases_as_they_are() {
    let set = read_eval_set(THEIRS).unwrap();
    assert_eq!((set.eval_set_id.as_str(), set.name.as_deref()), ("s", Some("Set")));
    assert_eq!(set.description, None);
    assert_eq!(
        set.cases[0].to_string(),
        r#"{"evalId":"hand","conversation_scenario":{"a":1180591620717411303424},"n":1.50}"#
    );
    assert_eq!(read_eval_set("").unwrap_err().to_string(), "the file is not JSON");
}

#[test]
fn a_case_replaces_the_one_with_its_id_where_that_stands() {
    let (text, action) = put_case(THEIRS, &json!({"evalId": "hand", "n": 2}), Some(1)).unwrap();
    assert_eq!(action, MergeAction::Updated);
    assert_snapshot!(text, @r#"
    {
       "x-comment": "keep me", "name": "Set", "description": null,
       "evalCases" : [
          {
            "evalId": "hand",
            "n": 2
          },
          { "eval_id": "a",   "conversation": [] }
       ], "eval_set_id": "s"
    }
    "#);
}

#[test]
fn a_new_case_comes_where_it_is_wanted_or_last() {
    let put = |index| put_case(THEIRS, &json!({"eval_id": "new"}), index).unwrap();
    assert_eq!(ids(&put(Some(0)).0), ["new", "hand", "a"]);
    assert_eq!(ids(&put(Some(1)).0), ["hand", "new", "a"]);
    assert_eq!(ids(&put(Some(7)).0), ["hand", "a", "new"]);
    assert_eq!((ids(&put(None).0), put(None).1), (ids(&put(Some(2)).0), MergeAction::Appended));
    for case in [json!({}), json!({"eval_id": ""}), json!([])] {
        let refused = put_case(THEIRS, &case, None).unwrap_err();
        assert_eq!(refused.to_string(), "the new case has no eval_id");
    }
}

#[test]
fn a_removed_case_can_be_put_back() {
    let (text, case, index) = remove_case(THEIRS, "hand").unwrap().unwrap();
    assert_eq!((ids(&text), index), (vec!["a".to_owned()], 0));
    assert!(text.contains(
        r#"[
      { "eval_id": "a",   "conversation": [] }
   ], "eval_set_id""#
    ));
    let (text, _) = put_case(&text, &case, Some(index)).unwrap();
    assert_eq!(read_eval_set(&text).unwrap().cases, read_eval_set(THEIRS).unwrap().cases);
    assert!(remove_case(THEIRS, "nobody").unwrap().is_none());

    let (empty, ..) =
        remove_case(&remove_case(THEIRS, "a").unwrap().unwrap().0, "hand").unwrap().unwrap();
    assert!(empty.contains(r#""evalCases" : [], "eval_set_id""#));
}

type Case = (String, String, &'static str, bool, String);

/// Files with the list of cases in any place, and cases with any field last.
fn any_file() -> impl Strategy<Value = (String, usize)> {
    let space = "[ \n\t]{0,4}";
    let conversation = prop::sample::select(vec![
        "null",
        "[ ]",
        "[{}]",
        r#"[ {"invocation_id": "}], {" , "x": []} , {"y": {"z": [1]} } ]"#,
    ]);
    let case = (space, "\\PC{0,5}", conversation, any::<bool>(), space);
    let cases = prop::collection::vec(case, 0..5);
    (cases, "\\PC*", 0..4_usize, space).prop_map(|(cases, note, place, between)| {
        let count = cases.len();
        let case = |(n, (before, note, conversation, turned, after)): (usize, Case)| {
            let mut fields = [
                format!(r#""eval_id" :"c{n}""#),
                format!(r#""note": {}"#, Value::from(note)),
                format!(r#""conversation":{before}{conversation}{after}"#),
            ];
            if turned {
                fields.reverse();
            }
            format!("{before}{{{after}{}{before}}}{after}", fields.join(","))
        };
        let cases: Vec<_> = cases.into_iter().enumerate().map(case).collect();
        let mut fields = vec![
            format!(r#""note": {}"#, Value::from(note)),
            r#""eval_set_id": "s""#.to_owned(),
            r#""x": [{"eval_id": "no case"}]"#.to_owned(),
        ];
        let list = format!(r#""eval_c\u0061ses"{between}:{between}[{}]"#, cases.join(","));
        fields.insert(place, format!("{between}{list}{between}"));
        (format!("{between}{{{}}}{between}", fields.join(",")), count)
    })
}

proptest! {
    #[test]
    fn putting_a_case_and_removing_it_leaves_every_byte(
        (file, count) in any_file(),
        index in prop::option::of(0..7_usize),
    ) {
        let case = json!({"eval_id": "new", "conversation": [{"x": "\n"}]});
        let (with, action) = put_case(&file, &case, index).unwrap();
        prop_assert_eq!(action, MergeAction::Appended);
        let (without, removed, at) = remove_case(&with, "new").unwrap().unwrap();
        prop_assert_eq!(without, file);
        prop_assert_eq!(removed, case);
        prop_assert_eq!(at, index.unwrap_or(count).min(count));
    }

    #[test]
    fn no_text_panics(text in ".*") {
        let _ = read_eval_set(&text);
        let _ = put_case(&text, &json!({"eval_id": "a"}), Some(0));
        let _ = remove_case(&text, "a");
    }
}
