use hotseat_core::{MergeAction, NewCase, merge};
use insta::assert_snapshot;
use jiff::Timestamp;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::log::SESSION;

const OTHER_SESSION: &str = "1d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a99";

fn new_case(session: &str, eval_id: &str) -> NewCase {
    NewCase {
        session_id: session.parse().unwrap(),
        agent_name: "Math Agent".to_owned(),
        case: json!({
            "eval_id": eval_id,
            "conversation": [{"invocation_id": format!("{session}_inv_0"), "user_content": {"parts": [{"text": "x"}]}}],
            "creation_timestamp": 1.5,
        }),
    }
}

/// A file with a case in it, its text in one piece.
struct Added {
    text: String,
    eval_id: String,
    case: Value,
    action: MergeAction,
}

fn add(existing: Option<&str>, case: NewCase) -> Added {
    let now: Timestamp = "2025-12-23T14:30:00Z".parse().unwrap();
    let merged = merge(existing, case, now).unwrap();
    let (text, eval_id) = (merged.text.to_string(), merged.eval_id);
    Added { text, eval_id, case: merged.case, action: merged.action }
}

fn refusal(existing: &str) -> String {
    let now: Timestamp = "2025-12-23T14:30:00Z".parse().unwrap();
    merge(Some(existing), new_case(SESSION, "a"), now).unwrap_err().to_string()
}

/// FR-022
#[test]
fn a_new_file_is_an_eval_set() {
    let merged = add(None, new_case(SESSION, "math_agent_20251223T143000Z"));
    assert_eq!(
        (merged.action, merged.eval_id.as_str()),
        (MergeAction::Created, "math_agent_20251223T143000Z")
    );
    assert_snapshot!(merged.text, @r#"
    {
      "eval_set_id": "math_agent_evals",
      "name": "Math Agent Evaluation Set",
      "description": "Golden traces captured with Hotseat for Math Agent",
      "eval_cases": [
        {
          "eval_id": "math_agent_20251223T143000Z",
          "conversation": [
            {
              "invocation_id": "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11_inv_0",
              "user_content": {
                "parts": [
                  {
                    "text": "x"
                  }
                ]
              }
            }
          ],
          "creation_timestamp": 1.5
        }
      ],
      "creation_timestamp": 1766500200.0
    }
    "#);
    assert_eq!(add(Some(" \n"), new_case(SESSION, "a")).action, MergeAction::Created);
}

/// A file as others write it: own indentation, unknown fields, camelCase, odd numbers.
const THEIRS: &str = r#"{
   "x-comment": "keep me",
   "evalCases" : [
      {"evalId": "hand", "conversation_scenario": {"a": 1180591620717411303424}, "n": 1.50},
      { "eval_id": "a",   "conversation": [] }
   ], "eval_set_id": "s"
}
"#;

/// FR-023
#[test]
fn every_byte_around_an_appended_case_stays() {
    let merged = add(Some(THEIRS), new_case(SESSION, "a"));
    assert_eq!((merged.action, merged.eval_id.as_str()), (MergeAction::Appended, "a_2"));
    assert_snapshot!(merged.text, @r#"
    {
       "x-comment": "keep me",
       "evalCases" : [
          {"evalId": "hand", "conversation_scenario": {"a": 1180591620717411303424}, "n": 1.50},
          { "eval_id": "a",   "conversation": [] },
          {
            "eval_id": "a_2",
            "conversation": [
              {
                "invocation_id": "7d0f6a52-32f1-4b3e-9e0d-1f4f9f6b2a11_inv_0",
                "user_content": {
                  "parts": [
                    {
                      "text": "x"
                    }
                  ]
                }
              }
            ],
            "creation_timestamp": 1.5
          }
       ], "eval_set_id": "s"
    }
    "#);
}

#[test]
fn exporting_again_replaces_the_case_of_the_session() {
    let first = add(Some(THEIRS), new_case(SESSION, "a"));
    let second = add(Some(&first.text), new_case(OTHER_SESSION, "a"));
    assert_eq!(second.eval_id, "a_3");
    let rated = second.text.replacen(
        "\"creation_timestamp\": 1.5",
        "\"rubrics\": [{\"n\": 1180591620717411303424}]",
        1,
    );

    let third = add(Some(&rated), new_case(SESSION, "renamed_agent_1"));

    assert_eq!((third.action, third.eval_id.as_str()), (MergeAction::Updated, "a_2"));
    assert_eq!(third.case["rubrics"].to_string(), "[{\"n\":1180591620717411303424}]");
    let file: Value = serde_json::from_str(&third.text).unwrap();
    let ids: Vec<&str> = file["evalCases"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|case| case["eval_id"].as_str())
        .collect();
    assert_eq!(ids, ["a", "a_2", "a_3"]);
    assert!(third.text.starts_with(&THEIRS[..THEIRS.find("   ], ").unwrap() - 1]));
    assert_eq!(add(Some(&third.text), new_case(SESSION, "b")).text, third.text);
}

#[test]
fn an_empty_set_takes_its_first_case() {
    let text = add(Some(r#"{"eval_set_id": "s", "eval_cases": []}"#), new_case(SESSION, "a")).text;
    let file: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(file["eval_cases"].as_array().unwrap().len(), 1);
}

#[test]
fn what_is_not_an_eval_set_is_left_alone() {
    for (file, message) in [
        ("{", "the file is not JSON"),
        ("7", "the file is not JSON"),
        (
            "[{\"name\": \"old\", \"data\": []}]",
            "the file has ADK's legacy format, a list: convert it to an EvalSet first",
        ),
        ("{}", "the file is not an EvalSet: it has no eval_set_id"),
        (
            r#"{"eval_set_id": 1, "eval_cases": []}"#,
            "the file is not an EvalSet: its eval_set_id is not a string",
        ),
        (r#"{"eval_set_id": "s"}"#, "the file is not an EvalSet: it has no eval_cases"),
        (
            r#"{"eval_set_id": "s", "eval_cases": {}}"#,
            "the file is not an EvalSet: its eval_cases are not a list",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [], "evalCases": []}"#,
            "the file is not an EvalSet: a field is there twice",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}, {}]}"#,
            "case 1 of the EvalSet cannot be read",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a"}, {"eval_id": "b", "evalId": "b"}]}"#,
            "case 1 of the EvalSet cannot be read",
        ),
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "conversation": "none"}]}"#,
            "case 0 of the EvalSet cannot be read",
        ),
        (r#"{"eval_set_id": "s", "eval_cases": [7]}"#, "case 0 of the EvalSet cannot be read"),
        (
            r#"{"eval_set_id": "s", "eval_cases": [{"eval_id": "a", "n": 01}]}"#,
            "the file is not JSON",
        ),
        (r#"{"eval_set_id": "s", "eval_cases": []} x"#, "the file is not JSON"),
    ] {
        assert_eq!(refusal(file), message, "{file}");
    }
}

#[test]
fn a_big_file_on_one_line_takes_a_case() {
    let case = format!(
        r#"{{"eval_id": "c", "conversation": [{{"invocation_id": "i", "x": "{}"}}]}}"#,
        "y".repeat(100_000)
    );
    let file = format!(r#"{{"eval_set_id": "s", "eval_cases": [{}]}}"#, vec![case; 200].join(","));
    let merged = add(Some(&file), new_case(SESSION, "a"));
    assert!(merged.text.len() > file.len());
}

proptest! {
    #[test]
    fn no_text_panics_and_none_is_lost(text in ".*", note in "\\PC*") {
        let _ = merge(Some(&text), new_case(SESSION, "a"), Timestamp::UNIX_EPOCH);
        let file = format!(r#"{{"note": {}, "eval_set_id": "s", "eval_cases": [ {{"eval_id": "z"}} ] }}"#, Value::from(note));
        let merged = add(Some(&file), new_case(SESSION, "a"));
        let (before, after) = file.split_at(file.rfind(" ] }").unwrap());
        prop_assert!(merged.text.starts_with(before) && merged.text.ends_with(after));
        prop_assert!(serde_json::from_str::<Value>(&merged.text).is_ok());
    }
}
